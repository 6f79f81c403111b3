// Rules that are tried, as a form has them and as the API reads them:
//
//	rule  = limit | ("block" | "challenge") "where" conditions | "enforce" name | other .
//	limit = "limit" threshold "per" length "by" field { "," field } [ "with" field ] above [ "where" conditions ] .
//
// Other rules, such as those of the gateway in JSON, are a text.
import { firstRule } from './trial';

export const kinds = ['limit', 'block', 'challenge', 'enforce', 'text'] as const;

export type Kind = typeof kinds[number];

/** A rule. Of another kind of rule, the members are what the form offers for it. */
export interface Rule {
	kind: Kind;
	threshold: string;
	per: string;
	by: string;
	counted: string; // a field whose different values are counted; "": requests are
	above: string; // what happens above the threshold: "" blocks, "ban 10m", "action challenge"
	where: string;
	name: string; // of the rule that is enforced
	text: string;
}

/** What the form offers for parts that a rule does not have: those of firstRule. */
const usual: Rule = { kind: 'limit', threshold: '60', per: '1m', by: 'ip', counted: '', above: '', where: '', name: '', text: '' };

/** readRule reads a rule. A text of no other kind is kept as it is. */
export function readRule(text: string): Rule {
	return { ...usual, ...partsOf(text), text };
}

function partsOf(text: string): Partial<Rule> {
	const m = /^\s*(\S+)(?:\s+(.*))?$/s.exec(text);
	const [, kind = '', rest = ''] = m ?? [];
	if (kind === 'enforce') return { kind, name: rest.trim() };
	const [head = '', where = ''] = rest.split(/(?:^|\s+)where(?:\s+|$)(.*)$/s);
	if ((kind === 'block' || kind === 'challenge') && head === '') return { kind, where: where.trim() };
	const limit = /^(\d+) per (\S+) by ((?:\S|, )+)(?: with (\S+))?((?: (?:ban|action) \S+)*)$/
		.exec(head.trim().replace(/\s+/g, ' ').replace(/ ?, ?/g, ', '));
	if (kind !== 'limit' || !limit) return { kind: 'text' };
	const [, threshold = '', per = '', by = '', counted = '', above = ''] = limit;
	return { kind, threshold, per, by, counted, above: above.trim(), where: where.trim() };
}

/** writeRule writes a rule as the API reads it. */
export function writeRule({ kind, threshold, per, by, counted, above, where, name, text }: Rule): string {
	const conditions = where.trim() === '' ? '' : ` where ${where.trim()}`;
	switch (kind) {
		case 'limit':
			return `limit ${threshold} per ${per} by ${by}${counted && ` with ${counted}`}${above && ` ${above}`}${conditions}`;
		case 'block': case 'challenge': return kind + conditions;
		case 'enforce': return `enforce ${name.trim()}`;
		case 'text': return text.trim();
	}
}

/** isWhole reports whether nothing of a rule is missing. */
export function isWhole({ kind, threshold, where, name, text }: Rule): boolean {
	switch (kind) {
		case 'limit': return /^\d{1,9}$/.test(threshold);
		case 'block': case 'challenge': return where.trim() !== '';
		case 'enforce': return name.trim() !== '';
		case 'text': return text.trim() !== '';
	}
}

/** besideOf is a rule to try beside another one: a looser limit, a challenge in place of a block. */
export function besideOf(text: string): string {
	const rule = readRule(text);
	if (rule.kind === 'limit') return writeRule({ ...rule, threshold: String(Math.max(1, Number(rule.threshold) * 2)) });
	return rule.where === '' ? firstRule : writeRule({ ...rule, kind: 'limit' });
}

/** What a rule would have done, or a limit with another threshold. null is what the log does not say. */
export interface Outcome {
	num_of_requests: number;
	num_of_new_requests: number;
	num_of_ip: number;
	num_of_human_requests: number | null;
	num_of_human_ip: number | null;
}

/** judged says whom a rule would have met: nobody, nobody whom the gateway did not stop anyway, people, or others only. */
export function judged({ num_of_requests: all, num_of_new_requests: fresh, num_of_human_requests: people }: Outcome):
	'nothing' | 'stopped' | 'unknown' | 'people' | 'others' {
	if (all === 0) return 'nothing';
	if (fresh === 0) return 'stopped';
	return people === null ? 'unknown' : people > 0 ? 'people' : 'others';
}

/** A point of a curve. */
export interface Point extends Outcome {
	threshold: number;
}

/** harmless is the smallest threshold of a curve that acts on something but stops no people, or null. */
export function harmless(points: readonly Point[]): number | null {
	return points.find((one) => one.num_of_requests > 0 && one.num_of_human_requests === 0)?.threshold ?? null;
}

/** loosest is the largest threshold of a curve that acts on something, or null. */
export function loosest(points: readonly Point[]): number | null {
	return points.findLast((one) => one.num_of_requests > 0)?.threshold ?? null;
}

/** heightOf is the height of a number in a picture whose top is another one, from 0 to 1. Small numbers can be seen beside large ones. */
export function heightOf(n: number, most: number): number {
	return most === 0 ? 0 : Math.log1p(n) / Math.log1p(most);
}

const round = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 50_000, 100_000, 500_000, 1_000_000];

/** labelled returns the places of the points that an axis names, with a distance between them. */
export function labelled(points: readonly Point[], distance: number): number[] {
	const found: number[] = [];
	for (const [i, { threshold }] of points.entries()) {
		const before = points[i - 1]?.threshold ?? -1;
		if (!round.some((n) => before < n && n <= threshold)) continue;
		if (found.length === 0 || i - (found.at(-1) ?? 0) >= distance) found.push(i);
	}
	return found;
}
