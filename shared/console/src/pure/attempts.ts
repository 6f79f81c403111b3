// The rules to try because of a record: what would have stopped it, and what would let it pass.
import { likeFilter } from './like';
import { readReason } from './reason';
import { listOf, type LogRecord, numberOf, resultOf, textOf } from './record';
import { enforced, firstRule } from './trial';

/** A rule to try, and the filter of the requests on which it is tried. */
export interface Attempt {
	why: 'stop' | 'pass' | 'enforce';
	rule: string;
	filter: string;
}

/** attemptsOf returns the rules to try because of a record. */
export function attemptsOf(record: LogRecord): Attempt[] {
	const filter = likeFilter(record, 'ip');
	switch (resultOf(record)) {
		case 'monitored': {
			const rules = new Set(listOf(record, 'monitor_reasons').map((reason) => enforced(String(reason))));
			return [...rules].filter((rule) => rule !== '').map((rule) => ({ why: 'enforce', rule, filter: '' }));
		}
		case 'blocked':
			if (filter === '' || readReason(textOf(record, 'reason'))?.initiator !== 'rate limit') return [];
			return [{ why: 'pass', rule: limitOver(record), filter }];
		case 'challenged': return [];
		default: return filter === '' ? [] : [{ why: 'stop', rule: firstRule, filter }];
	}
}

/** limitOver is a limit with the threshold that a record was over. The log does not have its timeframe. */
function limitOver(record: LogRecord): string {
	const threshold = numberOf((listOf(record, 'rl_triggers')[0] ?? {}) as LogRecord, 'threshold');
	return threshold === null ? firstRule : firstRule.replace(/\d+/, String(threshold));
}
