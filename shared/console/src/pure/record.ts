// A request record: what lists show of it.
import type { Fact } from './filter';

export type LogRecord = Readonly<Record<string, unknown>>;

/** Result is what happened to a request, with a word of its own and a shape of its own. */
export type Result = 'passed' | 'blocked' | 'challenged' | 'monitored' | 'refused';

/** textOf returns a member that is text, or "". */
export function textOf(record: LogRecord, name: string): string {
	const value = record[name];
	if (typeof value === 'string') return value;
	return typeof value === 'number' ? String(value) : '';
}

/** numberOf returns a member that is a number, or null. */
export function numberOf(record: LogRecord, name: string): number | null {
	const value = record[name];
	return typeof value === 'number' ? value : null;
}

/** listOf returns a member as a list: an absent one is empty, and one that is no list has one element. */
export function listOf(record: LogRecord, name: string): readonly unknown[] {
	const value = record[name];
	if (value === undefined || value === null) return [];
	return Array.isArray(value) ? value : [value];
}

/** referenceOf returns the reference to a record. Every record has one, also if it has no request id. */
export function referenceOf(record: LogRecord): string {
	return textOf(record, 'record_ref');
}

/** pathOf returns the path of a request, with its query if it has one. Some logs keep the question mark in the query. */
export function pathOf(record: LogRecord): string {
	const query = textOf(record, 'query').replace(/^\?/, '');
	return (textOf(record, 'path') || '/') + (query === '' ? '' : `?${query}`);
}

/** resultOf returns what happened to a request. A request that the origin refused had passed. */
export function resultOf(record: LogRecord): Result {
	if (record['blocked'] === true) return 'blocked';
	if (record['challenge'] === true || record['ichallenge'] === true) return 'challenged';
	switch (textOf(record, 'result').toLowerCase()) {
		case 'blocked': return 'blocked';
		case 'challenged': return 'challenged';
		case 'monitored': return 'monitored';
	}
	if (record['monitor'] === true || listOf(record, 'monitor_reasons').length > 0) return 'monitored';
	const attempts = listOf(record, 'upstream_status');
	const last = attempts[attempts.length - 1];
	return typeof last === 'number' && last >= 400 ? 'refused' : 'passed';
}

/** isJudged reports whether a record says what happened to its request. That of an access log does not. */
export function isJudged(record: LogRecord): boolean {
	return resultOf(record) !== 'passed' || (record['result'] ?? record['blocked'] ?? record['upstream_status'] ?? null) !== null;
}

/** factOfResult returns the fact that the record has its result, or null if filters have no condition for that. */
export function factOfResult(record: LogRecord): Fact | null {
	const result = resultOf(record);
	const named = textOf(record, 'result');
	if (named.toLowerCase() === result) return { field: 'result', value: named };
	const flag = (field: string): Fact | null => (record[field] === true ? { field, value: true } : null);
	switch (result) {
		case 'refused': return {
			field: 'upstream_status', value: 'Refused by origin',
			conditions: { only: 'upstream_status>=400', without: 'not upstream_status>=400' },
		};
		case 'blocked': return flag('blocked');
		case 'challenged': return flag('challenge') ?? flag('ichallenge');
		case 'monitored': return flag('monitor');
		case 'passed': return null;
	}
}
