// What the lines of charts have: requests by class of status, and two sides beside each other.

/** A status, and how many responses have it. */
export interface StatusCount {
	key: string;
	value: number;
}

/** A class of statuses: 4 is that of 400 to 499. */
export interface StatusClass {
	first: number;
	values: number[]; // by segment
	total: number;
}

/** classesOf returns the classes of the statuses of segments, those that occur. */
export function classesOf(segments: readonly (readonly StatusCount[])[]): StatusClass[] {
	const classes = new Map<number, StatusClass>();
	for (const [i, statuses] of segments.entries()) {
		for (const { key, value } of statuses) {
			const first = Math.floor(Number(key) / 100);
			const one = classes.get(first) ?? { first, values: segments.map(() => 0), total: 0 };
			one.values[i] = (one.values[i] ?? 0) + value;
			one.total += value;
			classes.set(first, one);
		}
	}
	return [...classes.values()].sort((a, b) => a.first - b.first);
}

/** Numbers of one value of a field by segment, or of the other values, or of the requests without a value. */
export interface Series {
	series: string | null; // the value
	kind: 'value' | 'other' | 'absent';
	values: number[]; // by segment
	total: number;
}

/**
 * ranked returns the series with the largest segments, the largest first, and after them the other values and those without one.
 * So a value that comes in a short burst is not among the others.
 */
export function ranked(series: readonly Series[], most: number): Series[] {
	const values = series.filter(({ kind }) => kind === 'value')
		.sort((a, b) => Math.max(0, ...b.values) - Math.max(0, ...a.values));
	const others = [...values.slice(most), ...series.filter(({ kind }) => kind === 'other')];
	const other = others.length === 0 ? [] : [others.reduce<Series>((sum, one) => ({
		...sum, values: one.values.map((n, i) => n + (sum.values[i] ?? 0)), total: sum.total + one.total,
	}), { series: null, kind: 'other', values: [], total: 0 })];
	return [...values.slice(0, most), ...other, ...series.filter(({ kind }) => kind === 'absent')];
}

/** stacked adds to each of some columns those before it. null is what is not drawn. */
export function stacked(columns: readonly (readonly (number | null)[])[]): (number | null)[][] {
	const sums: (number | null)[][] = [];
	for (const column of columns) {
		const below = sums.at(-1);
		sums.push(column.map((n, i) => (n === null ? null : n + (below?.[i] ?? 0))));
	}
	return sums;
}

/** The figures of a side of a comparison that can be drawn. */
export const measures = ['requests', 'blocked', 'challenged', 'human', 'refused', 'bytes'] as const;

export type Measure = typeof measures[number];

/** A segment with these figures. */
export type Figures = { time_period: number } & Readonly<Record<Measure, number>>;

/** What the figures of a segment are made of. */
export interface Counts {
	time_period: number;
	num_of_requests: number;
	num_of_blocked_requests: number;
	num_of_human_requests: number;
	sum_of_sent_bytes: number;
}

/** figuresOf joins the segments of all requests of a side with those of two parts of them. */
export function figuresOf(all: readonly Counts[], challenged: readonly Counts[], refused: readonly Counts[]): Figures[] {
	const requestsOf = (part: readonly Counts[]): ((time: number) => number) => {
		const counts = new Map(part.map((one) => [one.time_period, one.num_of_requests]));
		return (time) => counts.get(time) ?? 0;
	};
	const [ofChallenged, ofRefused] = [requestsOf(challenged), requestsOf(refused)];
	return all.map((one) => ({
		time_period: one.time_period, requests: one.num_of_requests, blocked: one.num_of_blocked_requests,
		challenged: ofChallenged(one.time_period), human: one.num_of_human_requests,
		refused: ofRefused(one.time_period), bytes: one.sum_of_sent_bytes,
	}));
}

/** rest returns what the segments have without those of a part of their requests. */
export function rest(all: readonly Figures[], part: readonly Figures[]): Figures[] {
	const parts = new Map(part.map((one) => [one.time_period, one]));
	return all.map((one) => {
		const own = parts.get(one.time_period);
		if (!own) return one;
		return { ...one, ...Object.fromEntries(measures.map((measure) => [measure, one[measure] - own[measure]])) };
	});
}

/** total returns the sum of a figure. */
export function total(segments: readonly Figures[], measure: Measure): number {
	return segments.reduce((sum, one) => sum + one[measure], 0);
}

/** Two sides on the times of the first one. A side has null where it has no segment. */
export interface Aligned {
	times: number[];
	values: [(number | null)[], (number | null)[]];
}

/** aligned puts two sides on each other, the first segment of one on the first segment of the other. */
export function aligned(a: readonly Figures[], b: readonly Figures[], length: number, measure: Measure): Aligned {
	const first = a[0]?.time_period ?? b[0]?.time_period ?? 0;
	const times = Array.from({ length: Math.max(a.length, b.length) }, (_, i) => a[i]?.time_period ?? first + i * length);
	const values = (side: readonly Figures[]): (number | null)[] => times.map((_, i) => side[i]?.[measure] ?? null);
	return { times, values: [values(a), values(b)] };
}
