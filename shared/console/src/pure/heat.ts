// The classes of times of a heatmap, each three or so times as long as the one before, and how many requests a colour stands for.

/** A class of times, in milliseconds, without its end. The first class has all shorter times, too, the last one all longer ones. */
export interface TimeClass {
	from: number;
	to: number;
	kind: 'shorter' | 'between' | 'longer';
}

const edges = [0.3, 1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000];

/** The classes, the shortest first. */
export const timeClasses: readonly TimeClass[] = edges.slice(1).map((to, i) => ({
	from: edges[i] ?? 0, to, kind: i === 0 ? 'shorter' : i === edges.length - 2 ? 'longer' : 'between',
}));

/** inClass is the condition that a time is of a class. The records have times in whole microseconds, the filter in seconds. */
export function inClass(field: string, { from, to, kind }: TimeClass): string {
	if (kind === 'shorter') return `${field}<${to / 1000}`;
	if (kind === 'longer') return `${field}>=${from / 1000}`;
	return `${field} between ${from / 1000} and ${(to * 1000 - 1) / 1_000_000}`;
}

/** The opacities of the colours, the faintest first. */
export const opacities: readonly number[] = [0.16, 0.36, 0.56, 0.78, 1];

/**
 * levelOf returns the colour of a number of requests, from 1 to the number of colours, or 0 for none. The scale is
 * logarithmic: from one colour to the next, the numbers grow by the same factor.
 */
export function levelOf(n: number, most: number): number {
	if (n <= 0) return 0;
	const part = most <= 1 ? 1 : Math.log(n) / Math.log(most);
	return Math.max(1, Math.ceil(opacities.length * part));
}

/** occurring returns the classes from the first to the last one that has requests. */
export function occurring<T extends { values: readonly (number | null)[] }>(classes: readonly T[]): T[] {
	const has = ({ values }: T): boolean => values.some((n) => n !== null && n > 0);
	const first = classes.findIndex(has);
	return first < 0 ? [] : classes.slice(first, classes.findLastIndex(has) + 1);
}
