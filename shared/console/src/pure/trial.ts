// Ways to the screen that tries a rule on past requests: the rules with which it begins.
import type { Field } from './complete';
import { add } from './filter';
import type { Place } from './fragment';
import { conditionsOf } from './lex';
import { readReason } from './reason';

/** The rule that is tried first. */
export const firstRule = 'limit 60 per 1m by ip';

/** limitOf is the first rule for requests that satisfy conditions. */
export function limitOf(conditions: string): string {
	return conditions === '' ? firstRule : `${firstRule} where ${conditions}`;
}

/** tried is the place where a rule is tried on all requests, by itself. A limit may be compared with the requests of an attack. */
export function tried(rule: string, attack = ''): Partial<Place> {
	return { screen: 'try', rule, otherRule: '', attack, filter: '', record: null };
}

/** attackIn is the requests of an incident that no known person sent. */
export function attackIn(filter: string): string {
	return add(filter, 'not human is true');
}

/** Groups of fields that a gateway only knows after it has judged a request, and other such fields. */
const laterGroups: readonly string[] = ['decision', 'rules', 'origin', 'timing'];
const laterFields: readonly string[] = ['human', 'bot', 'bytes_sent', 'record_ref', 'request_id'];

/** isKnownBefore reports whether a rule can go by a field. */
function isKnownBefore(name: string, fields: readonly Field[]): boolean {
	const group = fields.find((field) => field.name === name)?.group ?? '';
	return name === 'tags' || !laterGroups.includes(group) && !laterFields.includes(name);
}

/** ruleConditions returns the conditions of a filter that a rule can have. */
export function ruleConditions(filter: string, fields: readonly Field[]): string {
	return conditionsOf(filter).filter((condition) =>
		isKnownBefore(/^(?:not\s+)?(\w+)/i.exec(condition)?.[1] ?? '', fields)).join(', ');
}

/** enforced is the rule that blocks what another one only monitors, by a text of monitor_reasons. It is "" for other texts. */
export function enforced(reason: string): string {
	const { action = '', rule = '' } = readReason(reason) ?? {};
	return action === 'Monitor' && rule !== '' ? `enforce ${rule}` : '';
}
