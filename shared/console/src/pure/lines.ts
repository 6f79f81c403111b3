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

/** ofClass is the condition that a status is of a class. */
export function ofClass(field: string, first: number): string {
	return `${field} between ${first * 100} and ${first * 100 + 99}`;
}

/** The figures of a side of a comparison that can be drawn. */
export const measures = {
	requests: 'num_of_requests', blocked: 'num_of_blocked_requests', challenged: 'num_of_challenges', human: 'num_of_human_requests',
	refused: 'num_of_origin_blocked_requests', bytes: 'sum_of_sent_bytes',
} as const;

export type Measure = keyof typeof measures;

/** A segment with these figures. */
export type Figures = { time_period: number } & { readonly [member in typeof measures[Measure]]: number };

/** rest returns what the segments have without those of a part of their requests. */
export function rest(all: readonly Figures[], part: readonly Figures[]): Figures[] {
	const parts = new Map(part.map((one) => [one.time_period, one]));
	return all.map((one) => {
		const own = parts.get(one.time_period);
		if (!own) return one;
		const without = Object.values(measures).map((member) => [member, one[member] - own[member]] as const);
		return { ...one, ...Object.fromEntries(without) };
	});
}

/** total returns the sum of a figure. */
export function total(segments: readonly Figures[], measure: Measure): number {
	return segments.reduce((sum, one) => sum + one[measures[measure]], 0);
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
	const values = (side: readonly Figures[]): (number | null)[] => times.map((_, i) => side[i]?.[measures[measure]] ?? null);
	return { times, values: [values(a), values(b)] };
}
