// Why a request was blocked, in a sentence.
import { type Reason, readReason } from './reason';
import { listOf, numberOf, type LogRecord, resultOf, textOf } from './record';
import { words } from './why.words';

/** why returns the sentence that says what happened to a request, and why. */
export function why(record: LogRecord): string {
	const result = resultOf(record);
	switch (result) {
		case 'blocked': return blocked(record);
		case 'challenged': return challenged(record);
		case 'monitored': return monitored(record);
		case 'refused': return words.refused(lastAttempt(record));
	}
	if (record['result'] === undefined && record['blocked'] === undefined) return words.notJudged;
	return reachedOrigin(record) ? words.answered : words.passed;
}

function blocked(record: LogRecord): string {
	const text = textOf(record, 'reason');
	const reason = readReason(text);
	const end = reachedOrigin(record) ? '' : words.neverSaw;
	if (text === '') return words.noReason + end;
	if (!reason) return words.blocked(text) + end;
	return sentence(reason, record, words.did) + end;
}

/** sentence says which rule acted and what caused it. */
function sentence(reason: Reason, record: LogRecord, verb: string): string {
	const cause = list(reason.causes);
	const rule = reason.rule;
	switch (reason.initiator) {
		case 'acl': return words.acl(named(rule, triggerName(record, 'acl_triggers', rule)), verb, /bot/i.test(reason.verb),
			tags(reason.causes), cause);
		case 'content filter': return words.contentFilter(rule, verb, matchOf(record, 'cf_triggers', reason.place), cause);
		case 'content filter restrict':
			return words.restricted(rule, verb, sectionName(reason.place), cause, memberOf(record, 'cf_restrict_triggers'));
		case 'global filter':
			return words.globalFilter(named(reason.causes[0] ?? '', rule), verb, matchOf(record, 'gf_triggers', reason.place));
		case 'rate limit': {
			const threshold = listOf(record, 'rl_triggers')
				.map((one) => (one as LogRecord | null)?.['threshold']).find((n) => typeof n === 'number');
			return words.rateLimit(rule, verb, typeof threshold === 'number' ? threshold : null);
		}
		case 'dynamic rule': return words.dynamicRule(named(reason.causes[0] ?? '', rule), verb);
		case 'aws-waf': return words.awsWAF(verb, cause, rule);
	}
}

function challenged(record: LogRecord): string {
	const kind = textOf(record, 'challenge_type');
	const how = kind === 'interactive' || record['ichallenge'] === true ? words.puzzle : words.proof;
	const trigger = listOf(record, 'acl_triggers')[0] as LogRecord | undefined;
	if (!trigger) return words.challenged(how);
	const name = named(textOf(trigger, 'trigger_id'), textOf(trigger, 'trigger_name'));
	return words.challengedBy(how, name, tags(listOf(trigger, 'tags')), list(listOf(trigger, 'tags').map(String)));
}

function monitored(record: LogRecord): string {
	const texts = listOf(record, 'monitor_reasons').map(String);
	const reason = readReason(texts[0] ?? '');
	if (!reason) return texts.length === 0 ? words.monitored : words.monitoredBy(texts.join('; '));
	return words.passedThough(sentence(reason, record, words.wouldHave)) + (texts.length > 1 ? words.moreRules(texts.length - 1) : '');
}

function matchOf(record: LogRecord, field: string, place: string): string {
	const trigger = listOf(record, field)[0] as LogRecord | undefined;
	const section = (trigger && textOf(trigger, 'section')) || place;
	const name = trigger ? textOf(trigger, 'name') : '';
	const value = trigger ? textOf(trigger, 'value') || textOf(trigger, 'matched') : '';
	const where = name !== '' && name !== section ? `${singular(section)} ${name}` : words.itsPart(singular(section));
	return value === '' ? where : words.valueIn(value, where);
}

function memberOf(record: LogRecord, field: string): string {
	const trigger = listOf(record, field)[0] as LogRecord | undefined;
	return trigger ? textOf(trigger, 'name') : '';
}

function triggerName(record: LogRecord, field: string, id: string): string {
	const trigger = listOf(record, field).find((one) => textOf(one as LogRecord, 'trigger_id') === id);
	return trigger ? textOf(trigger as LogRecord, 'trigger_name') : '';
}

export const singular = (section: string): string => words.sections[section] ?? section;
const sectionName = (section: string): string => (section === 'request' ? words.parts : words.several(singular(section)));
export const tags = (causes: readonly unknown[]): string => words.tags(causes.length);
export const named = (id: string, name: string): string => (name === '' || name === id ? id : id === '' ? `“${name}”` : `${id} “${name}”`);

export function list(texts: readonly string[]): string {
	const last = texts[texts.length - 1] ?? '';
	return texts.length < 2 ? last : words.listed(texts.slice(0, -1).join(', '), last);
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
