// What a reader can do about what happened to a request. The steps name rules and parts of the request, but no values.
import { likeFilter } from './like';
import { readReason, type Reason } from './reason';
import { listOf, type LogRecord, numberOf, resultOf, textOf } from './record';
import { list, named, singular, tags } from './why';

/** A step, and the requests or the settings to look at before it. */
export interface Step {
	text: string;
	filter?: string; // of the requests
	planets?: true; // the settings of planets
}

/** stepsOf returns what to do about a request, in the order in which a reader does it. */
export function stepsOf(record: LogRecord): Step[] {
	switch (resultOf(record)) {
		case 'blocked': return blocked(record);
		case 'challenged': return challenged(record);
		case 'monitored': return monitored(record);
		case 'refused': return refused(record);
		case 'passed': return passed(record);
	}
}

/** looking is a step with requests to look at, if there is a filter for them. */
const looking = (text: string, filter: string): Step[] => (filter === '' ? [] : [{ text, filter }]);

/** clientOf returns the filter of what the client of a request sent. */
const clientOf = (record: LogRecord): string => likeFilter(record, 'session') || likeFilter(record, 'ip');

/** peopleOf returns the filter of the people among those on whom the rule of a record acted. */
function peopleOf(record: LogRecord): string {
	const filter = likeFilter(record, 'rule');
	return filter === '' ? '' : `${filter}, human is true`;
}

function blocked(record: LogRecord): Step[] {
	return [
		...looking('Look at the people whom the same rule stopped. If they did nothing wrong, it is too strict.', peopleOf(record)),
		...looking('Look at what else the client sent. An attack rarely comes alone.', clientOf(record)),
		{ text: `If it should have passed: ${mended(record)}` },
	];
}

/** mended says what to change so that such a request passes. */
function mended(record: LogRecord): string {
	const text = textOf(record, 'reason');
	const reason = readReason(text);
	if (text === '') return 'the gateway’s own log may have the reason, at the same time.';
	if (!reason) return 'look for the words of the reason in the settings of the gateway.';
	const cause = list(reason.causes);
	const { rule } = reason;
	switch (reason.initiator) {
		case 'acl':
			return `let access control profile ${rule} pass the ${tags(reason.causes)} ${cause}, or do not set the tag for the client.`;
		case 'content filter':
			return `exempt ${placeOf(record, 'cf_triggers', reason)} from ${cause} in content filter ${rule}, and nothing else.`;
		case 'content filter restrict':
			return `raise the limit ${cause} of content filter ${rule}, or exempt ${placeOf(record, 'cf_restrict_triggers', reason)}.`;
		case 'global filter':
			return `take what matched out of global filter ${named(reason.causes[0] ?? '', rule)}.`;
		case 'rate limit':
			return `raise the threshold of rate limit “${rule}”. If many clients share an address, let it count them by session.`;
		case 'dynamic rule':
			return `look at what the client did before, which dynamic rule “${rule}” goes by.`;
		case 'aws-waf':
			return `let the rule ${cause} of ${rule} only count, or exempt the path from it in the web ACL.`;
	}
}

/** placeOf names the part of the request that a rule is about: the argument q. */
function placeOf(record: LogRecord, triggers: string, { place }: Reason): string {
	const trigger = (listOf(record, triggers)[0] ?? {}) as LogRecord;
	const section = textOf(trigger, 'section') || place;
	const name = textOf(trigger, 'name');
	return `the ${singular(section)}${name === '' || name === section ? '' : ` ${name}`}`;
}

function challenged(record: LogRecord): Step[] {
	const trigger = listOf(record, 'acl_triggers')[0] as LogRecord | undefined;
	const profile = trigger && named(textOf(trigger, 'trigger_id'), textOf(trigger, 'trigger_name'));
	const puzzle = record['ichallenge'] === true || textOf(record, 'challenge_type') === 'interactive';
	return [
		...looking('See whether the client solved the challenge: then its next requests passed.', clientOf(record)),
		{ text: 'If it is a program of yours: it has no browser and cannot solve any. ' +
			`Let ${profile ? `access control profile ${profile}` : 'the access control profile'} not challenge it.` },
		...(puzzle ? [{ text: 'If people give up: the texts and looks of the puzzle are in the planet.', planets: true as const }] : []),
	];
}

function monitored(record: LogRecord): Step[] {
	return looking('Nothing was stopped. Before the rule may block, look at the people among its requests.', peopleOf(record));
}

function refused(record: LogRecord): Step[] {
	const path = likeFilter(record, 'path');
	const origin = String(listOf(record, 'upstream_addr').at(-1) ?? '');
	const all = looking('See whether the path fails for others, too. Then the fault is not in this request.',
		path === '' ? '' : `${path}, upstream_status>=400`);
	if (Number(listOf(record, 'upstream_status').at(-1)) >= 500) {
		return [...all, { text: `Look into the log of the origin${origin === '' ? '' : ` ${origin}`} at this time.` }];
	}
	return [...all, ...looking('Look at what else the client asked for. Much that is not there is a scan.', clientOf(record))];
}

function passed(record: LogRecord): Step[] {
	const unknown = record['result'] === undefined && record['blocked'] === undefined;
	if (unknown && (numberOf(record, 'status') ?? 0) < 400) return [];
	return looking('If it was an attack: look at what else the client sent, to find what a rule can go by.', clientOf(record));
}
