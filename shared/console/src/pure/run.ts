// What a filter of the bar is when it runs: a query string, with the conditions of the saved filters that it names.
import { isJSON, splitPeriod, withPeriod } from './filter';
import { expanded, savedNames } from './names';
import { periodCondition, resolve } from './time';

/** What has to be asked before a filter can run: the filters that it names, or the query string of its JSON form. */
export type Needs = { kind: 'nothing' } | { kind: 'names'; names: readonly string[] } | { kind: 'query'; sent: string };

/** needsOf returns what the text of a filter needs. The JSON form is sent with the period. */
export function needsOf(text: string, period: string, now: number): Needs {
	const names = savedNames(text);
	if (names.length > 0) return { kind: 'names', names };
	return isJSON(text) ? { kind: 'query', sent: filterWith(text, period, now) } : { kind: 'nothing' };
}

/** named returns a filter with the conditions of saved filters in the place of their names, or the names that are not known. */
export function named(text: string, list: readonly { name: string; filters: string }[]): { text: string; unknown: readonly string[] } {
	const known = new Map(list.map((one) => [one.name, one.filters]));
	return { text: expanded(text, known), unknown: savedNames(text).filter((name) => !known.has(name)) };
}

/** queryOf returns a filter by the query string of its JSON form, without a period that only the question had. */
export function queryOf(text: string, sent: string, found: string, now: number): string {
	return sent === text ? found : splitPeriod(found, now).filter;
}

/** ranAs returns the filter and the period of the address. A period in the text goes to the picker. */
export function ranAs(text: string, now: number): { filter: string; period?: string } {
	const { filter, period } = splitPeriod(text.trim(), now);
	return period ? { filter, period } : { filter };
}

/** filterWith joins a filter to a period, unless it is in the JSON form and has one. */
export function filterWith(text: string, period: string, now: number): string {
	const resolved = resolve(period, now);
	if (!resolved || (isJSON(text) && text.includes('"timestamp"'))) return text;
	return withPeriod(text, periodCondition(resolved));
}
