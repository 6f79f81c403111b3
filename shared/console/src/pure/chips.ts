// The conditions of a filter one by one, as the bar shows them below its text. The text stays the truth: what a chip does
// is a change of the text.
import { conditionsOf } from './lex';
import { inverted } from './sides';

/** A condition as the server understood it: headers["host"] ≠ a, b. */
export interface Chip {
	field: string;
	operator: string;
	value: string; // a long list is only counted: 151 values
}

interface Condition {
	field: string;
	key?: string;
	op: string;
	value: unknown;
}

const signs: Readonly<Record<string, string>> = {
	eq: '=', 'not eq': '≠', gt: '>', lt: '<', gte: '≥', lte: '≤', regex: '~', 'not regex': '≁',
};

const mostListed = 8; // values of a list

/**
 * chipsOf returns the chips of a filter from its canonical JSON form, whose first condition is the period that the text
 * does not have. There are none if the server joined conditions of the text, because chips could not act on it then.
 */
export function chipsOf(text: string, json: string): Chip[] {
	const { AND } = JSON.parse(json) as { AND: Condition[] };
	const conditions = AND.slice(1);
	if (conditions.length !== conditionsOf(text).length) return [];
	return conditions.map(({ field, key, op, value }) => ({
		field: key === undefined ? field : `${field}[${key}]`,
		operator: signs[op] ?? op,
		value: !Array.isArray(value) ? String(value) : value.length > mostListed ? `${value.length} values` :
			value.map(String).join(op.endsWith('between') ? ' – ' : ', '),
	}));
}

/** withoutAt takes a condition out of a filter. */
export function withoutAt(text: string, at: number): string {
	return conditionsOf(text).filter((_, i) => i !== at).join(', ');
}

/** invertedAt negates a condition of a filter, or takes its negation away. */
export function invertedAt(text: string, at: number): string {
	return conditionsOf(text).map((condition, i) => (i === at ? inverted(condition) : condition)).join(', ');
}

/**
 * withLists makes lists of alternatives about one field: status=403 or status=471 becomes status in (403, 471). It returns
 * null if that is not what the text has.
 */
export function withLists(text: string): string | null {
	let changed = false;
	const conditions: string[] = [];
	for (const condition of conditionsOf(text)) {
		const sides = alternativesOf(condition);
		if (sides.length < 2) {
			conditions.push(condition);
			continue;
		}
		const list = listOf(sides);
		if (list === null) return null;
		conditions.push(list);
		changed = true;
	}
	return changed ? conditions.join(', ') : null;
}

/** alternativesOf returns the sides of an OR, which may be in brackets. */
function alternativesOf(condition: string): string[] {
	const inner = /^\((.*)\)$/s.exec(condition)?.[1] ?? condition;
	const sides = [''];
	for (const part of inner.match(/"(?:\\.|[^"\\])*"|\s+(?:or|OR|Or)\s+|\s*\|\|\s*|./gs) ?? []) {
		if (/^\s+or\s+$/i.test(part) || /^\s*\|\|\s*$/.test(part)) sides.push('');
		else sides[sides.length - 1] += part;
	}
	return sides.map((side) => side.trim());
}

/** listOf writes alternatives as one condition, if all are about the same field with = or all with ~. */
function listOf(sides: readonly string[]): string | null {
	let [field, operator] = ['', ''];
	const values: string[] = [];
	for (const side of sides) {
		const m = /^(?:([A-Za-z_]\w*(?:\["(?:\\.|[^"\\])*"\])?)\s*(=|~)\s*)?("(?:\\.|[^"\\])*"|[^\s"=~<>!,()]+)$/s.exec(side);
		if (!m || (m[1] === undefined && field === '')) return null;
		if (m[1] !== undefined && field !== '' && (m[1] !== field || m[2] !== operator)) return null;
		field ||= m[1] ?? '';
		operator ||= m[2] ?? '';
		values.push(m[3] ?? '');
	}
	return operator === '=' ? `${field} in (${values.join(', ')})` : `${field}~(${values.map(quoted).join(', ')})`;
}

function quoted(value: string): string {
	return value.startsWith('"') ? value : `"${value.replace(/"/g, '\\"')}"`;
}
