// Requests that are like another one.
import { type Fact, only } from './filter';
import { listOf, type LogRecord } from './record';

export type Likeness = 'ip' | 'session' | 'rule' | 'path';

/** What requests have in common: the members of records that say it. Of several lists, the first one that a record has counts. */
export const likenesses: Readonly<Record<Likeness, readonly (readonly [string, ...string[]])[]>> = {
	ip: [['ip']], session: [['session']], rule: [['reason'], ['monitor_reasons']], path: [['path', 'host']],
};

/** likeFilter returns the filter that finds the requests like a record, or "" if the record has nothing in common with others. */
export function likeFilter(record: LogRecord, likeness: Likeness): string {
	for (const fields of likenesses[likeness]) {
		const facts = fields.flatMap((field): Fact[] => {
			const value = listOf(record, field)[0];
			return typeof value === 'string' && value !== '' ? [{ field, value }] : [];
		});
		if (facts[0]?.field === fields[0]) return facts.map(only).join(', ');
	}
	return '';
}
