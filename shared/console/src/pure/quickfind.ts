// The quick search in rows that are loaded.
import { type LogRecord, textOf } from './record';

/** holds reports whether one of the fields of a record contains a text, whatever its capitals. */
export function holds(record: LogRecord, fields: readonly string[], text: string): boolean {
	const wanted = text.toLowerCase();
	return fields.some((field) => textOf(record, field).toLowerCase().includes(wanted));
}
