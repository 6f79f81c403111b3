// Why a request was blocked, in a sentence.
import { type Reason, readReason } from './reason';
import { listOf, numberOf, type LogRecord, resultOf, textOf } from './record';

/** why returns the sentence that says what happened to a request, and why. */
export function why(record: LogRecord): string {
	const result = resultOf(record);
	switch (result) {
		case 'blocked': return blocked(record);
		case 'challenged': return challenged(record);
		case 'monitored': return monitored(record);
		case 'refused': return `It passed, and the origin refused it with the status ${lastAttempt(record)}.`;
	}
	if (record['result'] === undefined && record['blocked'] === undefined) {
		return 'The log does not say how the request was judged.';
	}
	return `It passed${reachedOrigin(record) ? ' and the origin answered it' : ''}.`;
}

function blocked(record: LogRecord): string {
	const text = textOf(record, 'reason');
	const reason = readReason(text);
	const end = reachedOrigin(record) ? '' : ' The origin never saw it.';
	if (text === '') return 'It was blocked, and the log gives no reason.' + end;
	if (!reason) return `It was blocked: ${text}.` + end;
	return sentence(reason, record, 'blocked') + end;
}

/** sentence says which rule acted and what caused it. The verb is "blocked" or "would have blocked". */
function sentence(reason: Reason, record: LogRecord, verb: string): string {
	const cause = list(reason.causes);
	const rule = reason.rule;
	switch (reason.initiator) {
		case 'acl': {
			const name = triggerName(record, 'acl_triggers', rule);
			const act = /bot/i.test(reason.verb) ? `${verb} it as a bot` : `${verb} it`;
			return `Access control profile ${named(rule, name)} ${act}, because it carries the ${tags(reason.causes)} ${cause}.`;
		}
		case 'content filter':
			return `Content filter ${rule} ${verb} it: ${matchOf(record, 'cf_triggers', reason.place)} matched ${cause}.`;
		case 'content filter restrict':
			return `Content filter ${rule} ${verb} it: its ${sectionName(reason.place)} exceed the limit ${cause}${
				memberOf(record, 'cf_restrict_triggers')}.`;
		case 'global filter':
			return `Global filter ${named(reason.causes[0] ?? '', rule)} ${verb} it, because ${
				matchOf(record, 'gf_triggers', reason.place)} matches.`;
		case 'rate limit': {
			const threshold = listOf(record, 'rl_triggers')
				.map((one) => (one as LogRecord | null)?.['threshold']).find((n) => typeof n === 'number');
			const limit = typeof threshold === 'number' ? ` of ${threshold} requests` : '';
			return `Rate limit “${rule}” ${verb} it: the client is over the limit${limit}.`;
		}
		case 'dynamic rule':
			return `Dynamic rule ${named(reason.causes[0] ?? '', rule)} ${verb} it, because of what the client did before.`;
		case 'aws-waf':
			return `AWS WAF ${verb} it: the rule ${cause} of ${rule} matched.`;
	}
}

function challenged(record: LogRecord): string {
	const kind = textOf(record, 'challenge_type');
	const how = kind === 'interactive' || record['ichallenge'] === true ?
		'The client had to solve a puzzle' : 'The client’s browser had to prove itself';
	const trigger = listOf(record, 'acl_triggers')[0] as LogRecord | undefined;
	if (!trigger) return `${how} before the request could pass.`;
	const name = named(textOf(trigger, 'trigger_id'), textOf(trigger, 'trigger_name'));
	return `${how}, because access control profile ${name} challenges requests with the ${
		tags(listOf(trigger, 'tags'))} ${list(listOf(trigger, 'tags').map(String))}.`;
}

function monitored(record: LogRecord): string {
	const texts = listOf(record, 'monitor_reasons').map(String);
	const reason = readReason(texts[0] ?? '');
	const more = texts.length > 1 ? ` ${texts.length - 1} more ${texts.length === 2 ? 'rule' : 'rules'} matched.` : '';
	if (!reason) return texts.length === 0 ? 'It passed and was recorded by a rule that only monitors.' : `It passed: ${texts.join('; ')}.`;
	return 'It passed. ' + sentence(reason, record, 'would have blocked') + more;
}

function matchOf(record: LogRecord, field: string, place: string): string {
	const trigger = listOf(record, field)[0] as LogRecord | undefined;
	const section = (trigger && textOf(trigger, 'section')) || place;
	const name = trigger ? textOf(trigger, 'name') : '';
	const value = trigger ? textOf(trigger, 'value') || textOf(trigger, 'matched') : '';
	const where = name !== '' && name !== section ? `${singular(section)} ${name}` : `its ${singular(section)}`;
	return value === '' ? where : `“${value}” in ${where}`;
}

function memberOf(record: LogRecord, field: string): string {
	const trigger = listOf(record, field)[0] as LogRecord | undefined;
	const name = trigger ? textOf(trigger, 'name') : '';
	return name === '' ? '' : ` at ${name}`;
}

function triggerName(record: LogRecord, field: string, id: string): string {
	const trigger = listOf(record, field).find((one) => textOf(one as LogRecord, 'trigger_id') === id);
	return trigger ? textOf(trigger as LogRecord, 'trigger_name') : '';
}

/** The names of the parts of requests in sentences. */
const sections: Readonly<Record<string, string>> = {
	args: 'argument', headers: 'header', cookies: 'cookie', uri: 'path', path: 'path', body: 'body', request: 'request',
	ip: 'address', asn: 'network', country: 'country', method: 'method',
};

export const singular = (section: string): string => sections[section] ?? section;
const sectionName = (section: string): string => (section === 'request' ? 'parts' : `${singular(section)}s`);
export const tags = (causes: readonly unknown[]): string => (causes.length === 1 ? 'tag' : 'tags');
export const named = (id: string, name: string): string => (name === '' || name === id ? id : id === '' ? `“${name}”` : `${id} “${name}”`);

export function list(texts: readonly string[]): string {
	if (texts.length < 2) return texts[0] ?? '';
	return texts.slice(0, -1).join(', ') + ' and ' + texts[texts.length - 1];
}

function lastAttempt(record: LogRecord): string {
	return String(listOf(record, 'upstream_status').at(-1) ?? '');
}

/** reachedOrigin reports whether the request was sent to the origin. */
export function reachedOrigin(record: LogRecord): boolean {
	return listOf(record, 'upstream_status').length > 0;
}

/** A stage of processing, and what happened there. */
export interface Stage {
	name: 'global filter' | 'rate limit' | 'acl' | 'content filter' | 'origin';
	state: 'passed' | 'stopped' | 'not reached';
}

const stages: readonly [Stage['name'], number][] = [
	['global filter', 2], ['rate limit', 3], ['acl', 4], ['content filter', 5], ['origin', 6],
];

/** stagesOf returns the way of a request through the gateway, or nothing if the record does not have it. */
export function stagesOf(record: LogRecord): Stage[] {
	const last = numberOf(record, 'processing_stage');
	if (last === null) return [];
	const result = resultOf(record);
	const stopped = result === 'blocked' || result === 'challenged';
	return stages.map(([name, number]): Stage => ({
		name,
		state: number < last ? 'passed' : number > last ? 'not reached' : stopped ? 'stopped' : 'passed',
	}));
}
