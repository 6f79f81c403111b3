// Why no request matches: conditions that are left out in turn, and the nearest time with requests.
import { isJSON, remove } from './filter';
import { conditionsOf } from './lex';
import type { Period } from './time';

/** A condition, and the filter without it. */
export interface Without {
	condition: string;
	filter: string;
}

/** mostConditions is how many conditions are left out in turn: each one is a question. */
export const mostConditions = 6;

/** withoutEach leaves out each condition of a filter in turn, the first ones of a long filter. */
export function withoutEach(filter: string): Without[] {
	if (isJSON(filter)) return [];
	const conditions = [...new Set(conditionsOf(filter))].slice(0, mostConditions);
	return conditions.map((condition) => ({ condition, filter: remove(filter, condition) }));
}

/** nearest returns the segment with requests that is nearest to a period, or null if all are empty. */
export function nearest(
	segments: readonly { time_period: number; num_of_requests: number }[], length: number, period: Period,
): (Period & { requests: number }) | null {
	let found: (Period & { requests: number }) | null = null;
	let least = Infinity;
	for (const segment of segments) {
		if (segment.num_of_requests === 0) continue;
		const from = segment.time_period * 1000;
		const to = from + length * 1000;
		const distance = Math.max(0, from - period.to, period.from - to);
		if (distance < least) {
			least = distance;
			found = { from, to, requests: segment.num_of_requests };
		}
	}
	return found;
}

/** extentOf returns the period of all records, as the status has it. A key that is limited to branches does not learn it. */
export function extentOf(status: string): Period | null {
	const { extent } = (JSON.parse(status) as { data: { extent: { from: string | null; to: string } | null } }).data;
	return extent?.from == null ? null : { from: Date.parse(extent.from), to: Date.parse(extent.to) };
}

/** mostNearest is into how many segments the whole data is cut, to find the nearest requests in them. */
export const mostNearest = 400;
