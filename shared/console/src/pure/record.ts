// A request record: its parts in the order in which a reader asks for them, and what is hidden at first.
import { keyed, type Value } from './filter';
import type { RecordName } from './fragment';

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

/** nameOf names a record in the address. */
export function nameOf(record: LogRecord): RecordName {
	return { id: textOf(record, 'request_id'), time: textOf(record, 'timestamp') };
}

/** isNamed reports whether a record has a name. */
export function isNamed(record: LogRecord, name: RecordName | null): boolean {
	return name !== null && textOf(record, 'request_id') === name.id && textOf(record, 'timestamp') === name.time;
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

/** A leaf of a record: a field, with its key if it has members, and one value. */
export interface Leaf {
	field: string; // as filters name it
	name: string; // as the group shows it
	text: string;
	value: Value | null; // null: filters have no condition for it
	secret: boolean;
}

/** A group of leaves. */
export interface Group {
	name: GroupName;
	leaves: Leaf[];
}

export type GroupName = 'request' | 'headers' | 'client' | 'decision' | 'rules' | 'origin' | 'timing' | 'more';

const groups: readonly [GroupName, readonly string[]][] = [
	['request', ['method', 'host', 'path', 'query', 'url', 'hostname', 'authority', 'protocol', 'port', 'request_id',
		'request_length', 'referer', 'arguments', 'path_parts']],
	['headers', ['headers', 'cookies']],
	['client', ['ip', 'country', 'geo_region', 'asn', 'organization', 'user_agent', 'human', 'bot', 'session',
		'session_ids', 'biometric']],
	['decision', ['result', 'status', 'blocked', 'reason', 'monitor', 'monitor_reasons', 'challenge', 'ichallenge',
		'challenge_type', 'processing_stage', 'branch', 'tags']],
	['rules', ['trigger_counters', 'acl_triggers', 'cf_triggers', 'cf_restrict_triggers', 'dr_triggers', 'gf_triggers',
		'rl_triggers', 'security_config', 'profiling', 'version']],
	['origin', ['upstream_addr', 'upstream_status', 'upstream_data', 'upstream_response_time']],
	['timing', ['timestamp', 'time_period', 'request_time', 'svc_latency', 'bytes_sent']],
];

const withMembers = new Set(['headers', 'cookies', 'arguments', 'path_parts', 'session_ids', 'trigger_counters',
	'security_config', 'acl_triggers', 'cf_triggers', 'cf_restrict_triggers', 'dr_triggers', 'gf_triggers',
	'rl_triggers', 'proxy', 'profiling', 'biometric', 'upstream_data']);

const notFiltered = new Set(['timestamp', 'time_period', 'details', 'logs']);

/** groupsOf returns every leaf of a record, in groups. What no group names is in the last one. */
export function groupsOf(record: LogRecord): Group[] {
	const named = new Set(groups.flatMap(([, fields]) => fields));
	const rest = Object.keys(record).filter((field) => !named.has(field));
	return [...groups, ['more', rest] as const].map(([name, fields]) => ({
		name,
		leaves: fields.filter((field) => record[field] !== undefined).flatMap((field) => leavesOf(field, record[field])),
	})).filter((group) => group.leaves.length > 0);
}

function leavesOf(field: string, value: unknown): Leaf[] {
	if (Array.isArray(value)) return value.flatMap((element) => elementOf(field, element));
	return elementOf(field, value);
}

/** elementOf returns the leaves of a value: of each member, if the field has members. */
function elementOf(field: string, value: unknown): Leaf[] {
	if (typeof value !== 'object' || value === null || !withMembers.has(field)) return [leafOf(field, field, '', value)];
	const members = value as Readonly<Record<string, unknown>>;
	if ((field === 'proxy' || field === 'profiling' || field === 'biometric') && typeof members['name'] === 'string') {
		return [leafOf(field, keyed(field, members['name']), members['name'], members['value'])];
	}
	return Object.entries(members).flatMap(([key, inner]) =>
		(Array.isArray(inner) ? inner : [inner]).map((one) => leafOf(field, keyed(field, key), key, one)));
}

function leafOf(field: string, filterName: string, key: string, value: unknown): Leaf {
	const plain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
	return {
		field: filterName,
		name: key === '' || field === 'headers' ? key || field : `${field} · ${key}`,
		text: plain ? String(value) : JSON.stringify(value),
		value: plain && !notFiltered.has(field) ? value : null,
		secret: isSecret(field, key),
	};
}

const secretHeaders = new Set(['authorization', 'proxy-authorization', 'cookie', 'set-cookie', 'x-api-key']);

/** isSecret reports whether a value could be used to act as the client: it is shown and copied only on demand. */
export function isSecret(field: string, key: string): boolean {
	if (field === 'svcid' || field === 'svcsessionid' || field === 'cookies') return true;
	return field === 'headers' && secretHeaders.has(key.toLowerCase());
}

/** withoutSecrets is a record whose secrets are replaced by dots, for copies. */
export function withoutSecrets(record: LogRecord): LogRecord {
	const masked = (field: string, value: unknown): unknown => {
		if (isSecret(field, '')) {
			if (typeof value !== 'object' || value === null) return dots;
			return Object.fromEntries(Object.keys(value).map((key) => [key, dots]));
		}
		if (field !== 'headers' || typeof value !== 'object' || value === null) return value;
		return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, isSecret(field, key) ? dots : one]));
	};
	return Object.fromEntries(Object.entries(record).map(([field, value]) => [field, masked(field, value)]));
}

export const dots = '••••••';
