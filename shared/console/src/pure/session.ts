// The requests of a session around one of them. The API has the newest records of a period, so those before a record are the
// first ones of an answer, and those after it the last ones of another.
import { type LogRecord, referenceOf, textOf } from './record';
import type { Period } from './time';

/** How many requests a strip has at most on either side of its record. */
export const mostAround = 20;

/** How many requests after the record are asked for, the most that the API gives. If there are more, the nearest are not known. */
export const mostAfter = 2500;

const longestAfter = 1_800_000; // milliseconds

/** Some requests of a session in the order of time, and the periods with the others. */
export interface Strip {
	records: readonly LogRecord[];
	earlier: Period | null;
	later: Period | null;
}

/** An answer with the newest records of a period. */
export interface Newest {
	records: readonly LogRecord[];
	more: boolean; // older ones match, too
}

/** timeOf returns the time of a record in milliseconds. */
export function timeOf(record: LogRecord): number {
	return Date.parse(textOf(record, 'timestamp'));
}

/** periodsAround are the periods of the two answers: to the millisecond of a record, and after that. */
export function periodsAround(record: LogRecord, period: Period): { before: Period; after: Period } {
	const at = timeOf(record);
	return { before: { from: Math.min(period.from, at), to: at }, after: { from: at + 1, to: at + longestAfter } };
}

/** stripOf puts a record and the nearest ones of the two answers together. The record is always among them. */
export function stripOf(record: LogRecord, period: Period, before: Newest, after: Newest): Strip {
	const reference = referenceOf(record);
	const { before: past, after: future } = periodsAround(record, period);
	const at = before.records.findIndex((one) => referenceOf(one) === reference);
	const older = before.records.slice(at + 1);
	const newer = [...(after.more ? [] : after.records), ...before.records.slice(0, Math.max(0, at))].reverse();
	const [left, right] = [older.slice(0, mostAround).reverse(), newer.slice(0, mostAround)];
	return {
		records: [...left, before.records[at] ?? record, ...right],
		earlier: before.more || older.length > mostAround ? { ...past, to: timeOf(left[0] ?? record) } : null,
		later: after.more || newer.length > mostAround ? { ...future, from: timeOf(right.at(-1) ?? record) } : null,
	};
}
