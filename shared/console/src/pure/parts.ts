// The parts of a record in the order in which a reader asks for them, and what is hidden at first.
import { keyed, type Value } from './filter';
import { listOf, type LogRecord, textOf } from './record';
import { dots, inLists, type Sensitive } from './secrets';

/** A leaf of a record: a field, with its key if it has members, and one value. */
export interface Leaf {
	field: string; // as filters name it
	name: string; // as the group shows it
	text: string;
	value: Value | null; // null: filters have no condition for it
	secret: boolean;
	matched?: readonly string[]; // what rules matched in it; without texts, the rules do not say what
}

/** The triggers of a field: a row for each, a column for each member. A cell has as many leaves as the member has values. */
export interface Triggers {
	field: string;
	members: string[];
	rows: Leaf[][][];
}

/** A group of leaves. */
export interface Group {
	name: GroupName;
	triggers: Triggers[];
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

const grouped = new Set(groups.flatMap(([, fields]) => fields));

/** The other fields that a whole record can have. Any further member of it is no field. */
const ungrouped = new Set(['details', 'logs', 'proxy', 'svcid', 'svcsessionid']);

/** groupsOf returns every leaf of a whole record, in groups. What no group names is in the last one. */
export function groupsOf(record: LogRecord, sensitive: Sensitive): Group[] {
	const rest = Object.keys(record).filter((field) => !grouped.has(field));
	const matched = matchedIn(record);
	return [...groups, ['more', rest] as const].map(([name, fields]): Group => {
		const [tables, others] = [fields.filter((field) => isTable(record, field)), fields.filter((field) => !isTable(record, field))];
		return {
			name,
			triggers: tables.map((field) => triggersOf(field, listOf(record, field).filter(isObject), sensitive)),
			leaves: others.filter((field) => record[field] !== undefined).flatMap((field) => leavesOf(field, record[field], sensitive))
				.map((leaf) => {
					const texts = matched.get(placeOf(leaf.field));
					return texts ? { ...leaf, matched: texts } : leaf;
				}),
		};
	}).filter((group) => group.leaves.length + group.triggers.length > 0);
}

/** isTable reports whether a record has triggers in a field, and nothing else. */
function isTable(record: LogRecord, field: string): boolean {
	const triggers = listOf(record, field);
	return field.endsWith('_triggers') && triggers.length > 0 && triggers.every(isObject);
}

/** The members of triggers in the order of their columns: which rule, what it found, what it did. Others are behind them. */
const triggerMembers = ['trigger_name', 'section', 'name', 'value', 'tags', 'threshold', 'risk_level', 'ruleid', 'trigger_id',
	'acl_action', 'action', 'extra'];

/** triggersOf returns the triggers of a field. Members that none of them has are left out. */
function triggersOf(field: string, triggers: readonly LogRecord[], sensitive: Sensitive): Triggers {
	const there = new Set(triggers.flatMap((one) => Object.keys(one).filter((name) => one[name] !== '' && one[name] !== null)));
	const members = [...triggerMembers.filter((name) => there.delete(name)), ...there];
	return { field, members, rows: triggers.map((one) => {
		const leaves = elementOf(field, one, sensitive);
		return members.map((name) => leaves.filter((leaf) => leaf.field === keyed(field, name) && leaf.text !== ''));
	}) };
}

/** matchedIn returns the parts of the request that rules matched, and what they matched there. */
function matchedIn(record: LogRecord): Map<string, string[]> {
	const triggers = ['cf_triggers', 'cf_restrict_triggers', 'gf_triggers'].flatMap((field) => listOf(record, field)).filter(isObject);
	const found = new Map<string, string[]>();
	for (const one of triggers) {
		const section = textOf(one, 'section');
		const name = textOf(one, 'name');
		const field = sectionFields[section] ?? section;
		const place = placeOf(name === '' || name === section ? field : keyed(field, name));
		const text = textOf(one, 'value') || textOf(one, 'matched');
		found.set(place, [...found.get(place) ?? [], ...(text === '' ? [] : [text])]);
	}
	return found;
}

/** placeOf names a part of the request. The names of headers have no case. */
const placeOf = (field: string): string => (field.startsWith('headers[') ? field.toLowerCase() : field);

/** A piece of a text. */
export interface Piece {
	text: string;
	marked: boolean;
}

/** piecesOf cuts a text where others begin and end in it, whatever their case. Those that are not in it mark nothing. */
export function piecesOf(text: string, others: readonly string[]): Piece[] {
	const marked = new Array<boolean>(text.length).fill(false);
	const searched = text.toLowerCase();
	for (const other of others) {
		const at = searched.length === text.length ? searched.indexOf(other.toLowerCase()) : text.indexOf(other);
		if (at >= 0) marked.fill(true, at, at + other.length);
	}
	const pieces: Piece[] = [];
	for (const [i, mark] of marked.entries()) {
		const last = pieces.at(-1);
		if (last?.marked === mark) last.text += text[i] ?? '';
		else pieces.push({ text: text[i] ?? '', marked: mark });
	}
	return pieces;
}

function leavesOf(field: string, value: unknown, sensitive: Sensitive): Leaf[] {
	if (!grouped.has(field) && !ungrouped.has(field)) return restOf(field, value, sensitive(field), 0);
	if (Array.isArray(value)) return value.flatMap((element) => elementOf(field, element, sensitive));
	return elementOf(field, value, sensitive);
}

/** restOf returns the leaves of a member that is no field, by the names by which the field log_rest finds them. */
function restOf(name: string, value: unknown, secret: boolean, depth: number): Leaf[] {
	if (depth < mostDepth && name.length <= mostName) {
		if (Array.isArray(value)) return value.flatMap((element) => restOf(name, element, secret, depth + 1));
		if (isObject(value)) return Object.entries(value).flatMap(([key, inner]) => restOf(`${name}.${key}`, inner, secret, depth + 1));
	}
	const leaf = leafOf('', keyed('log_rest', name), name, value, secret);
	return [{ ...leaf, name, value: leaf.value === null ? null : leaf.text }];
}

/** How many lists and objects are around a value in log_rest, and how long their names are, at most. */
const mostDepth = 8;
const mostName = 256;

/** elementOf returns the leaves of a value: of each member, if the field has members. */
function elementOf(field: string, value: unknown, sensitive: Sensitive): Leaf[] {
	const leaf = (filterName: string, key: string, one: unknown): Leaf =>
		leafOf(field, filterName, key, one, !inLists.has(field) && isSecret(field, key, value, sensitive));
	if (!isObject(value) || !withMembers.has(field)) return [leaf(field, '', value)];
	const name = memberName(field, value);
	if (name !== null) return [leaf(keyed(field, name), name, value['value'])];
	return Object.entries(value).flatMap(([key, inner]) =>
		(Array.isArray(inner) ? inner : [inner]).map((one) => leaf(keyed(field, key), key, one)));
}

/** memberName returns the name of a member that the record has as an object with a name and a value, else null. */
function memberName(field: string, value: LogRecord): string | null {
	const pairs = field === 'proxy' || field === 'profiling' || field === 'biometric';
	return pairs && typeof value['name'] === 'string' ? value['name'] : null;
}

function isObject(value: unknown): value is LogRecord {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function leafOf(field: string, filterName: string, key: string, value: unknown, secret: boolean): Leaf {
	const plain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
	return {
		field: filterName,
		name: key === '' || field === 'headers' ? key || field : `${field} · ${key}`,
		text: plain ? String(value) : JSON.stringify(value),
		value: plain && !notFiltered.has(field) ? value : null,
		secret,
	};
}

/** The headers that are shown although headers are sensitive: browsers choose their values, not persons. */
const plainHeaders = new Set(('accept accept-encoding accept-language cache-control connection content-length content-type dnt ' +
	'host pragma range sec-ch-ua sec-ch-ua-mobile sec-ch-ua-platform sec-fetch-dest sec-fetch-mode sec-fetch-site ' +
	'sec-fetch-user te upgrade-insecure-requests user-agent').split(' '));

/** The fields that the sections of triggers are parts of. */
const sectionFields: Readonly<Record<string, string>> = { args: 'arguments', uri: 'path' };

/** The members of triggers that repeat a part of the request. */
const matchedMembers = new Set(['value', 'matched', 'extra']);

/** isSecret reports whether a value, or its member with a key, is shown and copied only on demand. */
function isSecret(field: string, key: string, value: unknown, sensitive: Sensitive): boolean {
	if (field === 'headers') return sensitive(field) && !plainHeaders.has(key.toLowerCase());
	if (field === 'proxy') return key === 'realip' && sensitive('ip');
	if (!field.endsWith('_triggers')) return sensitive(field);
	const section = isObject(value) ? textOf(value, 'section') : '';
	return matchedMembers.has(key) && sensitive(sectionFields[section] ?? section);
}

/** withoutSecrets is a record whose secrets are replaced by dots. The names of members stay. */
export function withoutSecrets(record: LogRecord, sensitive: Sensitive): LogRecord {
	return Object.fromEntries(Object.entries(record).map(([field, value]) => [field, masked(field, value, sensitive)]));
}

function masked(field: string, value: unknown, sensitive: Sensitive): unknown {
	if (value === null) return null;
	if (Array.isArray(value)) return value.map((element) => masked(field, element, sensitive));
	const secret = (key: string): boolean => isSecret(field, key, value, sensitive);
	if (!isObject(value)) return !secret('') ? value : field === 'query' ? maskedQuery(String(value)) : dots;
	const name = memberName(field, value);
	if (name !== null) return secret(name) ? { ...value, value: dots } : value;
	return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, secret(key) ? dots : one]));
}

/** maskedQuery keeps the names of a query: ?q=••••••. A part without an equals sign may be a value. */
function maskedQuery(query: string): string {
	return query.replace(/^\?/, '').split('&').map((part) => part.replace(/^([^=]*=)?.+$/s, `$1${dots}`)).join('&');
}
