// Selections of charts: whole segments, so that the figures of a selection are sums of what the chart has.
import { momentIn, periodCondition, periodIn, resolve } from './time';

/** Neighbouring segments of a chart, by their indexes. Both ends are selected. */
export interface Selection {
	first: number;
	last: number;
}

/** between returns the segments that contain two times and what is between them. The times are those of the begins of segments. */
export function between(times: readonly number[], from: number, to: number): Selection {
	const at = (time: number): number => Math.max(0, times.findLastIndex((begin) => begin <= time));
	return { first: at(Math.min(from, to)), last: at(Math.max(from, to)) };
}

/** drawn leaves out the segments at the ends of a selection of which no line has a number. It returns null if nothing is left. */
export function drawn({ first, last }: Selection, lines: readonly (readonly (number | null)[])[]): Selection | null {
	const has = (i: number): boolean => lines.some((values) => values[i] != null);
	while (first <= last && !has(first)) first++;
	while (last >= first && !has(last)) last--;
	return first > last ? null : { first, last };
}

/** selectedOf returns the numbers of the selected segments, without those that are not known. */
export function selectedOf(values: readonly (number | null)[], { first, last }: Selection): number[] {
	return values.slice(first, last + 1).filter((n) => n !== null);
}

/** conditionOf is the condition of the requests of an absolute period, which are compared with the others. */
export function conditionOf(period: string): string {
	const found = resolve(period, 0);
	return found ? periodCondition(found) : '';
}

/** nameOf names an absolute period in a zone, as the reader of a chart does: an end that is not included is that of the next segment. */
export function nameOf(period: string, zone: string): string {
	const found = resolve(period, 0);
	if (!found) return '';
	const to = found.to % 1000 === 999 ? found.to + 1 : found.to;
	return found.from === to ? momentIn(to, zone) : periodIn({ from: found.from, to }, zone);
}
