// What differs between two sides, in groups.
import { groupOf as subjectOf } from './tags';

/** What the groups need of a value. */
export interface Finding {
	by: string;
	value: unknown;
	lift: number | null; // null if the other side does not have the value
	selected: { num_of_requests: number };
	baseline: { num_of_requests: number };
}

export const groups = ['new', 'more', 'less', 'gone'] as const;

export type Group = typeof groups[number];

/** groupOf returns the group of a value. */
export function groupOf({ lift }: Pick<Finding, 'lift'>): Group {
	if (lift === null) return 'new';
	if (lift === 0) return 'gone';
	return lift > 1 ? 'more' : 'less';
}

/**
 * grouped returns the values by group, without tags that repeat the value of a field, and without empty groups. A tag of a rule
 * repeats a reason if both sides have them in as many requests.
 */
export function grouped<T extends Finding>(findings: readonly T[]): { group: Group; findings: T[] }[] {
	const fields = findings.filter(({ by }) => by !== 'tags');
	const repeats = (tag: T): boolean => tag.by === 'tags' && fields.some((one) =>
		one.selected.num_of_requests === tag.selected.num_of_requests && one.baseline.num_of_requests === tag.baseline.num_of_requests &&
		(saysThe(String(tag.value), String(one.value)) || (tag.value === one.by && one.value === true) ||
			(one.by === 'reason' && subjectOf(String(tag.value)) === 'rules')));
	const kept = findings.filter((one) => !repeats(one));
	return groups.map((group) => ({ group, findings: kept.filter((one) => groupOf(one) === group) }))
		.filter((one) => one.findings.length > 0);
}

/** saysThe reports whether a tag, such as geo-country:new-zealand, has the text of a value. */
function saysThe(tag: string, value: string): boolean {
	const plain = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '');
	return plain(tag.slice(tag.indexOf(':') + 1)) === plain(value);
}
