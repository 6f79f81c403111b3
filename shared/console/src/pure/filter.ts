// Filters in the query-string form: conditions of values, added to and taken from the text.
import { conditionsOf } from './lex';
import { type Period, periodCondition, periodText } from './time';

export type Value = string | number | boolean;

/** A field and one of its values: what "only" and "without" act on. */
export interface Fact {
	field: string; // with its key: headers["accept"]
	value: Value;
	conditions?: { only: string; without: string }; // if they are not about the value itself
}

/** quote writes a text in quotes, as the filter language reads it. */
export function quote(text: string): string {
	return '"' + text.replace(/\\(?=["\\]|$)/g, '\\\\').replace(/"/g, '\\"') + '"';
}

/** patternOf writes a text as a pattern that matches it as it is. */
export function patternOf(text: string): string {
	return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/** keyed names a member of a field: headers["accept"]. */
export function keyed(field: string, key: string): string {
	return `${field}[${quote(key)}]`;
}

/** nameOf is the name of a field by which requests are counted, without the key of a member or the length of a prefix. */
export function nameOf(by: string): string {
	return by.replace(/[[/].*$/s, '');
}

/** lengthIn is the length of the prefix of networks by which requests are counted, or null. */
export function lengthIn(by: string): number | null {
	const length = /^[^[]*\/(\d+)$/.exec(by)?.[1];
	return length === undefined ? null : Number(length);
}

/** everyNetwork is the network of all addresses of the family whose networks have a prefix of a length. */
const everyNetwork = (length: number): string => (length > 32 ? '::/0' : '0.0.0.0/0');

/**
 * equals is the condition that a field is, or is not, exactly a value. As a value of ip, a text with a slash would be a network;
 * a value of networks, such as ip/24, is meant as one.
 */
export function equals(field: string, value: string | number, negated = false): string {
	if (lengthIn(field) !== null) return `${nameOf(field)}${negated ? '!=' : '='}${quote(String(value))}`;
	if (typeof value === 'number') return `${field}${negated ? '!=' : '='}${value}`;
	if (field === 'ip' && value.includes('/')) return `${field}${negated ? '!~' : '~'}${quote(`^${patternOf(value)}$`)}`;
	return `${field}${negated ? '!=' : '='}${quote(value)}`;
}

/** only is the condition that keeps the requests with a value. */
export function only(fact: Fact): string {
	const { field, value } = fact;
	if (fact.conditions) return fact.conditions.only;
	if (typeof value === 'boolean') return `${field} is ${value}`;
	return equals(field, value);
}

/** without is the condition that keeps the requests without a value. */
export function without(fact: Fact): string {
	const { field, value } = fact;
	if (fact.conditions) return fact.conditions.without;
	if (typeof value === 'boolean') return `${field} not is ${value}`;
	return equals(field, value, true);
}

/** absent are the conditions that together keep the requests without a value of a field, by operators that its type has. */
export function absent(field: string, type: string): string[] {
	const length = lengthIn(field);
	if (length !== null) return [equals(field, everyNetwork(length), true)];
	switch (type) {
		case 'boolean': return [`${field} not is true`, `${field} not is false`];
		case 'integer': return [`not ${field}>=0`, `not ${field}<0`];
	}
	return [`not ${field}~""`];
}

/** present is the condition that keeps the requests with a value of a field of texts. */
export function present(field: string): string {
	const length = lengthIn(field);
	return length === null ? `${field}~""` : equals(field, everyNetwork(length));
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

/** withPeriod puts the condition of a period before a filter in either form. */
export function withPeriod(filter: string, period: string): string {
	if (filter.trim() === '') return period;
	if (!isJSON(filter)) return `${period}, ${filter}`;
	const value = period.replace('timestamp between ', '').split(' and ');
	const first = JSON.stringify({ field: 'timestamp', op: 'between', value }) + ',';
	const list = /^\s*\[/.exec(filter);
	return list ? list[0] + first + filter.slice(list[0].length) : first + filter;
}

/** isJSON reports whether a text is a filter in the JSON form. */
export function isJSON(text: string): boolean {
	return /^\s*[[{]/.test(text);
}

/** splitPeriod takes the first period out of a filter, so that the picker can show it. A relative one stays relative. */
export function splitPeriod(filter: string, now: number): { filter: string; period: string | null } {
	const conditions = conditionsOf(filter);
	for (const [i, condition] of conditions.entries()) {
		const m = /^timestamp\s+between\s+"?(.+?)"?\s+and\s+"?(.+?)"?$/i.exec(condition);
		if (!m) continue;
		const period = periodText(m[1] ?? '', m[2] ?? '', 'UTC', now);
		if (period === null) continue;
		return { filter: conditions.filter((_, at) => at !== i).join(', '), period };
	}
	return { filter, period: null };
}

/** ofClass is the condition that a status is of a class: 4 is that of 400 to 499. */
export function ofClass(field: string, first: number): string {
	return `${field} between ${first * 100} and ${first * 100 + 99}`;
}
