// Completion in the filter bar: what fits at the caret, best first.
import { quote, type Value } from './filter';
import type { Expected } from './lex';

/** A field of the catalogue. */
export interface Field {
	name: string;
	type: string;
	operators: string[];
	doc: string;
	example?: string;
	group: string; // the part of a record that it is about
	groupable: boolean;
	sensitive: boolean;
	key?: { rule: string; names?: string[] };
}

/** An option: what is put in, and a line that explains it. */
export interface Option {
	insert: string;
	label: string;
	detail: string;
}

export const mostOptions = 12;

const symbols: Readonly<Record<string, readonly string[]>> = {
	eq: ['=', '!='], regex: ['~', '!~'], gt: ['>'], gte: ['>='], lt: ['<'], lte: ['<='],
	in: [' in (', ' not in ('], between: [' between '], is: [' is true', ' is false'],
};

const meanings: Readonly<Record<string, string>> = {
	'=': 'is exactly', '!=': 'is not', '~': 'contains a match of', '!~': 'contains no match of', '>': 'is greater than',
	'>=': 'is at least', '<': 'is less than', '<=': 'is at most', ' in (': 'is one of', ' not in (': 'is none of',
	' between ': 'is between', ' is true': 'is true', ' is false': 'is false',
};

/** fieldOptions returns the fields whose names fit what is typed: those that begin with it, then those that contain it. */
export function fieldOptions(fields: readonly Field[], typed: string): Option[] {
	const wanted = typed.toLowerCase();
	const rank = (field: Field): number => {
		const at = field.name.indexOf(wanted);
		if (at === 0) return field.name === wanted ? 0 : 1;
		return at > 0 ? 2 : wanted.length > 2 && field.doc.toLowerCase().includes(wanted) ? 3 : -1;
	};
	return fields.map((field) => ({ field, rank: rank(field) })).filter((one) => one.rank >= 0)
		.sort((a, b) => a.rank - b.rank || (a.field.name < b.field.name ? -1 : 1))
		.slice(0, mostOptions)
		.map(({ field }) => ({ insert: field.name, label: field.name, detail: field.doc }));
}

/** operatorOptions returns the operators of a field. */
export function operatorOptions(fields: readonly Field[], name: string): Option[] {
	const field = fields.find((one) => one.name === name.replace(/\[.*$/s, ''));
	if (!field) return [];
	return field.operators.flatMap((operator) => symbols[operator] ?? [])
		.slice(0, mostOptions)
		.map((symbol) => ({ insert: symbol, label: symbol.trim(), detail: meanings[symbol] ?? '' }));
}

/** valueOptions makes options of values. */
export function valueOptions(values: readonly Value[]): Option[] {
	return values.slice(0, mostOptions).map((value) => {
		const text = typeof value === 'string' ? quote(value) : String(value);
		return { insert: text, label: String(value), detail: '' };
	});
}

/** take puts an option into the text and returns where the caret is then. */
export function take(text: string, at: Expected, option: Option): { text: string; caret: number } {
	const before = text.slice(0, at.from);
	const insert = before.endsWith(' ') ? option.insert.trimStart() : option.insert;
	return { text: before + insert + text.slice(at.to), caret: before.length + insert.length };
}
