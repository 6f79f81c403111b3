// Filters in the query-string form: conditions of values, added to and taken from the text.
import { conditionsOf } from './lex';
import { parseTime, type Period, periodCondition } from './time';

export type Value = string | number | boolean;

/** A field and one of its values: what "only" and "without" act on. */
export interface Fact {
	field: string; // with its key: headers["accept"]
	value: Value;
}

/** quote writes a text in quotes, as the filter language reads it. */
export function quote(text: string): string {
	return '"' + text.replace(/\\(?=["\\]|$)/g, '\\\\').replace(/"/g, '\\"') + '"';
}

/** keyed names a member of a field: headers["accept"]. */
export function keyed(field: string, key: string): string {
	return `${field}[${quote(key)}]`;
}

/** only is the condition that keeps the requests with a value. */
export function only(fact: Fact): string {
	const { field, value } = fact;
	if (typeof value === 'boolean') return `${field} is ${value}`;
	return `${field}=${typeof value === 'number' ? String(value) : quote(value)}`;
}

/** without is the condition that keeps the requests without a value. */
export function without(fact: Fact): string {
	const { field, value } = fact;
	if (typeof value === 'boolean') return `${field} not is ${value}`;
	return `${field}!=${typeof value === 'number' ? String(value) : quote(value)}`;
}

/** add adds a condition to a filter. A condition that is there already is not added again. */
export function add(filter: string, condition: string): string {
	const conditions = conditionsOf(filter);
	if (conditions.includes(condition)) return filter;
	return [...conditions, condition].join(', ');
}

/** addOnly keeps only the requests with a value; that they are without it is no longer asked. */
export function addOnly(filter: string, fact: Fact): string {
	return add(remove(filter, without(fact)), only(fact));
}

/** addWithout keeps only the requests without a value. */
export function addWithout(filter: string, fact: Fact): string {
	return add(remove(filter, only(fact)), without(fact));
}

/** remove takes a condition from a filter. */
export function remove(filter: string, condition: string): string {
	const conditions = conditionsOf(filter);
	if (!conditions.includes(condition)) return filter;
	return conditions.filter((c) => c !== condition).join(', ');
}

/** filtersOf joins a period and conditions to what the API takes. */
export function filtersOf(filter: string, period: Period): string {
	return filter.trim() === '' ? periodCondition(period) : `${periodCondition(period)}, ${filter}`;
}

/** isJSON reports whether a text is a filter in the JSON form. */
export function isJSON(text: string): boolean {
	return /^\s*[[{]/.test(text);
}

/** splitPeriod takes the first period out of a filter, so that the picker can show it. */
export function splitPeriod(filter: string): { filter: string; period: Period | null } {
	const conditions = conditionsOf(filter);
	for (const [i, condition] of conditions.entries()) {
		const m = /^timestamp\s+between\s+"?(.+?)"?\s+and\s+"?(.+?)"?$/i.exec(condition);
		if (!m) continue;
		const a = parseTime(m[1] ?? '', 'UTC');
		const b = parseTime(m[2] ?? '', 'UTC');
		if (a === null || b === null) continue;
		const rest = conditions.filter((_, at) => at !== i).join(', ');
		return { filter: rest, period: { from: Math.min(a, b), to: Math.max(a, b) } };
	}
	return { filter, period: null };
}
