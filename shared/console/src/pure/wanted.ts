// The condition that finds in all records what was searched in rows.
import type { Field } from './complete';
import { equals, patternOf, quote } from './filter';
import { holds } from './quickfind';
import { type LogRecord, textOf } from './record';

/**
 * conditionFor returns the condition for a text that was searched in rows: about the field in which most of them contain
 * it. It returns "" if no row does, or if filters cannot ask for it.
 */
export function conditionFor(rows: readonly LogRecord[], names: readonly string[], text: string, fields: readonly Field[]): string {
	let best = { rows: 0, condition: '' };
	for (const name of names) {
		const field = fields.find((one) => one.name === name);
		const found = field ? rows.filter((row) => holds(row, [name], text)) : [];
		if (!field || found.length <= best.rows) continue;
		const condition = conditionOf(field, found, text);
		if (condition !== '') best = { rows: found.length, condition };
	}
	return best.condition;
}

function conditionOf(field: Field, found: readonly LogRecord[], text: string): string {
	const whole = found.every((row) => textOf(row, field.name) === text);
	if (whole) return field.type === 'integer' ? `${field.name}=${text}` : equals(field.name, text);
	if (!field.operators.includes('regex')) return '';
	return `${field.name}~${quote((/[a-z]/i.test(text) ? '(?i)' : '') + patternOf(text))}`;
}
