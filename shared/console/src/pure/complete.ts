// Completion in the filter bar: what fits at the caret, best first.
import { patternOf, quote, type Value } from './filter';
import { fuzzy } from './fuzzy';
import { type Token, tokensOf } from './lex';

/** A field of the catalogue. */
export interface Field {
	name: string;
	type: string;
	operators: string[];
	doc: string;
	example?: string;
	group: string; // the part of a record that it is about
	groupable: boolean;
	networks?: string[]; // of its addresses, by which requests are counted as well: ip/24
	sensitive: boolean;
	aliases?: string[]; // names that other products have for it
	key?: { rule: string; names?: string[]; members?: { name: string }[] };
}

/** What may stand at a place: a field, a key or an operator of a field, a value, or what goes on after a whole value. */
export interface Expected {
	kind: 'field' | 'key' | 'operator' | 'value' | 'next';
	field: string; // with its key, for operators and values; the name alone for keys
	from: number; // where the token begins that a completion replaces
	to: number;
	typed: string; // what there is of it before the caret
	list: boolean; // inside the brackets of a list
	operator: string; // the last one of the condition
}

/** An option: what is put in, and lines that explain it. */
export interface Option {
	insert: string;
	back?: number; // how far before the end of what is put in the caret is then
	label: string;
	detail: string;
	example?: string;
}

export const mostOptions = 12;

/** The fields that are offered before anything is typed. */
const common = ['status', 'blocked', 'path', 'host', 'ip', 'country', 'method', 'reason', 'result', 'user_agent', 'organization', 'url'];

const wholeString = /^"(?:\\["\\]|[^"\\]|\\(?!["\\]))*"$/s;

/** expectedAt returns what may stand at a place of a filter. */
export function expectedAt(text: string, caret: number): Expected {
	const tokens = tokensOf(text.slice(0, caret));
	const last = tokens.at(-1);
	const partOf = (token: Token): string => text.slice(token.from, token.to);
	let field = '';
	let key = '';
	let operator = '';
	let depth = 0; // of brackets
	let state: Exclude<Expected['kind'], 'next'> = 'field';
	for (const token of tokens) {
		const part = partOf(token);
		if (token.kind === 'mark' && part === '(') depth++;
		if (token.kind === 'mark' && part === ')') depth--;
		if (token.kind === 'mark' && part === ',' && depth <= 0) {
			field = operator = '';
			state = 'field';
		} else if (token.kind === 'field') {
			field = part;
		} else if (token.kind === 'mark' && part === '[') {
			state = 'key';
		} else if (token.kind === 'key') {
			key = part;
		} else if (token.kind === 'space' && state === 'field' && field !== '') {
			state = 'operator';
		} else if (token.kind === 'mark' && part === ']') {
			field += `[${key}]`;
			state = 'operator';
		} else if (state !== 'key' && (token.kind === 'operator' || (token.kind === 'word' && field !== '' && !/^not$/i.test(part)))) {
			operator = part.toLowerCase();
			state = 'value';
		}
	}
	const list = depth > 0;
	const before = tokens.filter((token) => token.kind !== 'space').at(-1);
	const whole = before && (before.kind === 'value' ? wholeString.test(partOf(before)) : before.kind === 'mark' && partOf(before) === ')');
	if (state === 'value' && whole && text.slice(caret).trim() === '') {
		return { kind: 'next', field, from: before.to, to: caret, typed: '', list, operator };
	}
	const replaces = last && (
		(state === 'field' && last.kind === 'field') || (state === 'key' && last.kind === 'key') ||
		(state === 'value' && last.kind === 'value') ||
		(state === 'operator' && last.kind === 'value')
	);
	const from = replaces ? last.from : caret;
	const rest = tokensOf(text).find((token) => token.from === from);
	const to = replaces && rest ? Math.max(rest.to, caret) : caret;
	return { kind: state, field: state === 'field' ? '' : field, from, to, typed: text.slice(from, caret), list, operator };
}

/** fieldOptions returns the fields whose names fit what is typed: those that begin with it, contain it, or have its letters. */
export function fieldOptions(fields: readonly Field[], typed: string): Option[] {
	const wanted = typed.toLowerCase();
	const rank = (field: Field): number => {
		if (wanted === '') return common.includes(field.name) ? common.indexOf(field.name) : common.length;
		const at = field.name.indexOf(wanted);
		if (at === 0) return field.name === wanted ? 0 : 1;
		if (at > 0) return 2;
		if (wanted.length < 3) return Infinity;
		if (field.aliases?.some((alias) => alias.toLowerCase().includes(wanted))) return 3;
		return field.doc.toLowerCase().includes(wanted) ? 4 : Infinity;
	};
	const ranked = fields.map((field) => ({ field, rank: rank(field) })).filter((one) => one.rank < Infinity)
		.sort((a, b) => a.rank - b.rank || (a.field.name < b.field.name ? -1 : 1)).map(({ field }) => field);
	return [...new Set([...ranked, ...fuzzy(fields, wanted, (field) => field.name)])].slice(0, mostOptions)
		.map(({ name, doc, type, example }) => ({
			insert: name, label: name, detail: doc, ...(example ? { example: `${type}: ${example}` } : {}),
		}));
}

/** keyOptions returns the known members of a field whose names contain what is typed. */
export function keyOptions(fields: readonly Field[], name: string, typed: string): Option[] {
	const key = fields.find((one) => one.name === name)?.key;
	const wanted = typed.replace(/"/g, '').toLowerCase();
	return [...key?.names ?? [], ...(key?.members ?? []).map((member) => member.name)].filter((one) => one.toLowerCase().includes(wanted))
		.slice(0, mostOptions).map((one) => ({ insert: `${quote(one)}]`, label: one, detail: '' }));
}

const symbols: Readonly<Record<string, readonly Option[]>> = {
	eq: [option('=', 'is exactly'), option('!=', 'is not')],
	regex: [
		{ insert: '~"(?i)"', back: 1, label: 'contains', detail: 'has this text or pattern in it, in any case' },
		{ insert: '~"^"', back: 1, label: 'begins with', detail: 'has this text or pattern at its beginning' },
		{ insert: '~"$"', back: 2, label: 'ends with', detail: 'has this text or pattern at its end' },
		{ insert: '~""', label: 'has a value', detail: 'whatever it is' },
		option('~', 'contains a match of'), option('!~', 'contains no match of'),
	],
	gt: [option('>', 'is greater than')], gte: [option('>=', 'is at least')], lt: [option('<', 'is less than')],
	lte: [option('<=', 'is at most')],
	in: [option(' in (', 'is one of'), option(' not in (', 'is none of')], between: [option(' between ', 'is between')],
	is: [option(' is true', 'is true'), option(' is false', 'is false')],
};

function option(insert: string, detail: string): Option {
	return { insert, label: insert.trim(), detail };
}

/** operatorOptions returns the operators of a field that fit what is typed: a sign, or what it does in words. */
export function operatorOptions(fields: readonly Field[], name: string, typed = ''): Option[] {
	const field = fields.find((one) => one.name === name.replace(/\[.*$/s, ''));
	const wanted = typed.toLowerCase();
	return (field?.operators ?? []).flatMap((operator) => symbols[operator] ?? [])
		.filter(({ label, detail }) => `${label} ${detail}`.includes(wanted))
		.sort((a, b) => Number(b.label.startsWith(wanted)) - Number(a.label.startsWith(wanted)))
		.slice(0, mostOptions);
}

/** What is looked for among values: a text that they begin with or contain. */
export interface Sought {
	text: string;
	part: 'prefix' | 'contains';
}

/** soughtOf returns what is looked for at a place where a value is expected. A pattern is searched in values. */
export function soughtOf({ typed, operator }: Expected): Sought {
	const text = typed.replace(/^"|"$/g, '');
	if (!operator.endsWith('~')) return { text, part: 'prefix' };
	const { begin, literal } = patternIn(text);
	return { text: literal, part: begin === '^' ? 'prefix' : 'contains' };
}

/** patternIn takes the beginning of a pattern from the text that it is about. */
function patternIn(text: string): { begin: string; literal: string } {
	const begin = /^(\(\?i\)|\^)?/.exec(text)?.[0] ?? '';
	return { begin, literal: text.slice(begin.length).replace(/\\(.)|\$$/g, '$1') };
}

/** valueOptions makes options of the values that fit a place. Where a pattern is expected, they are patterns. */
export function valueOptions(values: readonly Value[], { typed, operator }: Pick<Expected, 'typed' | 'operator'>): Option[] {
	const begin = patternIn(typed.replace(/^"/, '')).begin;
	return values.slice(0, mostOptions).map((value) => {
		const text = String(value);
		const insert = operator.endsWith('~') ? quote(begin + patternOf(text)) : typeof value === 'string' ? quote(value) : text;
		return { insert, label: text, detail: '' };
	});
}

/** nextOptions returns what may follow a whole value. */
export function nextOptions({ list, operator }: Expected): Option[] {
	if (operator === 'between') return [{ insert: ' and ', label: 'and', detail: 'the end of the range' }];
	if (!list) return [{ insert: ', ', label: ',', detail: 'and another condition' }];
	return [{ insert: ', ', label: ',', detail: 'or another value' }, { insert: ')', label: ')', detail: 'the end of the list' }];
}

/** take puts an option into the text and returns where the caret is then. */
export function take(text: string, at: Expected, { insert: wanted, back = 0 }: Option): { text: string; caret: number } {
	const before = text.slice(0, at.from);
	const after = text.slice(at.kind === 'key' && text[at.to] === ']' ? at.to + 1 : at.to);
	const insert = before.endsWith(' ') ? wanted.trimStart() : wanted;
	return { text: before + insert + after, caret: before.length + insert.length - back };
}
