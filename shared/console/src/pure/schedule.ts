// Scheduled reports: their definitions as the members of a form, the difference and the merge of two, and the periods that
// they are about.
import { addressesOf } from './receivers';
import { dateIn, parseTime, type Period, zoneOffset } from './time';

/** Where a report is sent: to addresses, or to a destination that the operator has named. */
export interface Destination {
	mail?: string[];
	to?: string;
}

/** A definition, as the API sends it. */
export interface Definition {
	title?: string;
	filters: string;
	period: string;
	at?: string;
	weekday?: string;
	tz: string;
	template: string;
	compare: string;
	when: string;
	deliver: Destination[];
	max_bytes?: number;
	paused: boolean;
	paused_because?: string;
}

/** A destination in a form: addresses with commas between them, or a name. */
export interface Receiver {
	kind: 'mail' | 'to';
	text: string;
}

/** A definition in a form. Numbers are as they were typed. */
export interface Form {
	title: string;
	filters: string;
	period: string;
	at: string;
	weekday: string;
	tz: string;
	template: string;
	compare: string;
	when: string;
	deliver: Receiver[];
	max_bytes: string;
	paused: boolean;
}

export type Member = keyof Form;

/** The members in the order of the form. */
export const members: readonly Member[] = [
	'title', 'filters', 'period', 'weekday', 'at', 'tz', 'template', 'compare', 'when', 'deliver', 'max_bytes', 'paused',
];

/** newForm is the form of a report that is not there yet. */
export function newForm(zone: string): Form {
	return {
		title: '', filters: '', period: 'week', at: '07:00', weekday: 'monday', tz: zone, template: 'traffic', compare: 'previous',
		when: 'always', deliver: [], max_bytes: '', paused: false,
	};
}

/** formOf returns the form of a definition. */
export function formOf(d: Definition): Form {
	return {
		title: d.title ?? '', filters: d.filters, period: d.period, at: d.at ?? '07:00', weekday: d.weekday ?? 'monday', tz: d.tz,
		template: d.template, compare: d.compare, when: d.when, paused: d.paused,
		deliver: d.deliver.map(({ to, mail }) =>
			(to !== undefined ? { kind: 'to', text: to } : { kind: 'mail', text: (mail ?? []).join(', ') })),
		max_bytes: d.max_bytes === undefined ? '' : String(d.max_bytes),
	};
}

/** bodyOf returns what the API takes. Members that do not apply are left out; a number that is none is sent for its mistake. */
export function bodyOf(form: Form): Record<string, unknown> {
	const { title, filters, period, at, weekday, tz, template, compare, when, deliver, max_bytes, paused } = form;
	const most = max_bytes.trim();
	return {
		...(title.trim() === '' ? {} : { title }),
		...(filters.trim() === '' ? {} : { filters }),
		period,
		...(period === 'hour' ? {} : { at }),
		...(period === 'week' ? { weekday } : {}),
		...(tz.trim() === '' ? {} : { tz: tz.trim() }),
		template, compare, when,
		deliver: deliver.map(({ kind, text }) => (kind === 'to' ? { to: text.trim() } : { mail: addressesOf(text) })),
		...(most === '' ? {} : { max_bytes: /^\d+$/.test(most) ? Number(most) : most }),
		paused,
	};
}

/** applies reports whether a member has a meaning for a period. */
export function applies(member: Member, period: string): boolean {
	return (member !== 'at' || period !== 'hour') && (member !== 'weekday' || period === 'week');
}

/** sameMember reports whether two forms have the same in a member. */
export function sameMember(member: Member, a: Form, b: Form): boolean {
	const [x, y] = [a, b].map((form) => JSON.stringify(applies(member, form.period) ? form[member] : null));
	return x === y;
}

/** changesOf returns the members that differ. */
export function changesOf(before: Form, after: Form): Member[] {
	return members.filter((member) => !sameMember(member, before, after));
}

export type Side = 'mine' | 'theirs';

/** join joins what two changed in the base. Where both changed the same, the choice decides, mine without one. */
export function join(base: Form, mine: Form, theirs: Form, choice: ReadonlyMap<Member, Side>): { joined: Form; conflicts: Member[] } {
	const joined: Record<string, unknown> = {};
	const conflicts: Member[] = [];
	for (const member of members) {
		const changed = { mine: !sameMember(member, base, mine), theirs: !sameMember(member, base, theirs) };
		const conflict = changed.mine && changed.theirs && !sameMember(member, mine, theirs);
		if (conflict) conflicts.push(member);
		const side = conflict ? choice.get(member) ?? 'mine' : changed.theirs ? 'theirs' : 'mine';
		joined[member] = (side === 'mine' ? mine : theirs)[member];
	}
	return { joined: joined as unknown as Form, conflicts };
}

const hour = 3_600_000;

/** lastPeriod returns the last hour, day, week or month of a zone that has ended. Its end is not a part of it. */
export function lastPeriod(unit: string, zone: string, now: number): Period {
	if (unit === 'hour') {
		const offset = zoneOffset(now, zone);
		const to = Math.floor((now + offset) / hour) * hour - offset;
		return { from: to - hour, to };
	}
	const today = dateIn(now, zone);
	if (unit === 'day') return { from: beginOf(daysAfter(today, -1), zone), to: beginOf(today, zone) };
	if (unit === 'week') {
		const monday = daysAfter(today, -((new Date(`${today}T00:00Z`).getUTCDay() + 6) % 7));
		return { from: beginOf(daysAfter(monday, -7), zone), to: beginOf(monday, zone) };
	}
	const first = `${today.slice(0, 7)}-01`;
	return { from: beginOf(`${daysAfter(first, -1).slice(0, 7)}-01`, zone), to: beginOf(first, zone) };
}

/** beginOf returns the first instant of a date in a zone. */
function beginOf(date: string, zone: string): number {
	return parseTime(date, zone) ?? 0;
}

function daysAfter(date: string, days: number): string {
	return new Date(Date.parse(`${date}T00:00Z`) + days * 24 * hour).toISOString().slice(0, 10);
}
