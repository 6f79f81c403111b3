// The fragment of the address, which is the whole state of the console:
//
//	fragment = "#/" [ screen | "events/" reference | planet | report ] [ "?" member { "&" member } ] .
//	planet   = "planets/" configuration [ "/" version ] .
//	report   = "reports/" configuration [ "/" name [ "/" version ] ] .
//
// The members are the table below. Members that this version does not know are kept.
import { defaultPeriod } from './time';

/** The screens, in the order of the navigation. */
export const screens = ['dashboard', 'events', 'compare', 'try', 'reports', 'planets', 'status'] as const;

export type Screen = typeof screens[number];

/** asksAboutRequests reports whether a screen has a filter and a period. */
export function asksAboutRequests(screen: Screen): boolean {
	return screen === 'dashboard' || screen === 'events' || screen === 'compare' || screen === 'try';
}

/** A member of the address: its name, its value if the address has none, and how other values are read and written. */
interface Member<T> {
	name: string;
	absent: T;
	read(text: string): T;
	write(value: T): string | null; // null: the address does not name it
}

const text = (name: string): Member<string> => ({ name, absent: '', read: (value) => value, write: (value) => value || null });

const fields = (name: string): Member<string[] | null> => ({
	name, absent: null,
	read: (value) => value.split(',').filter((field) => field !== ''),
	write: (value) => value && value.join(','),
});

const flag = (name: string, set: string): Member<boolean> => ({
	name, absent: false, read: (value) => value === set, write: (value) => value ? set : null,
});

/** The members in the order in which an address has them. */
const members = {
	filter: text('f'), // conditions without the period, as typed
	period: text('t'), // relative or absolute
	segment: { // length of the segments of charts; "": one that suits the period
		...text('seg'), read: (value: string) => /^[1-9]\d{0,3}[mhd]$/.test(value) ? value : '',
	},
	columns: fields('cols'), // of events; null: the usual ones
	zone: text('tz'),
	live: { // seconds after which events are asked for again; 0: never
		name: 'live', absent: 0,
		read: (value: string) => /^[1-9]\d?$/.test(value) ? Number(value) : 0,
		write: (value: number) => value > 0 ? String(value) : null,
	},
	tab: text('tab'), // of a screen that has several; "": the first
	against: text('vs'), // the other side of a comparison: previous, a length, or a period
	select: text('where'), // conditions that are compared with the rest; then there is no other period
	other: text('f2'), // conditions of another filter, which is compared with this one
	rule: text('rule'), // that is tried; "": the usual one
	otherRule: text('rule2'), // that is tried beside it; "": none is
	by: fields('by'), // fields that are compared, or that split the chart; null: the usual ones, or none
	attack: text('attack'), // conditions of an attack that limits are to stop; "": none is named
	facets: fields('facets'), // fields whose values are beside the answer; null: the usual ones
	chart: text('chart'), // what the lines of the chart are; "": the usual ones
	sort: text('sort'), // of the top values: requests, or "" for blocked requests
	panel: text('panel'), // what is open beside the answer; "": nothing
	table: flag('as', 'table'), // charts are tables
	many: flag('values', 'many'), // values of fields
	find: text('find'), // what is searched in the rows that are loaded
};

type Members = { -readonly [K in keyof typeof members]: (typeof members)[K]['absent'] };

/** What the address says: the question and how its answer is shown. */
export interface Place extends Members {
	screen: Screen;
	record: string | null; // reference to it
	config: string; // of planets and reports; "": none is chosen
	report: string; // name of a report; "": their list
	version: number | null; // of the planet or the report; null: the newest
	others: [string, string][]; // members that this version does not know
}

const rows = Object.entries(members) as [keyof Members, Member<unknown>][];

export const start: Place = {
	...Object.fromEntries(rows.map(([key, { absent }]) => [key, absent])) as Members,
	screen: 'dashboard', record: null, config: '', report: '', version: null, others: [],
};

/** readFragment reads the fragment of an address. What it cannot read is as if it were absent. */
export function readFragment(fragment: string): Place {
	const text = fragment.replace(/^#/, '');
	const cut = text.indexOf('?');
	const path = (cut < 0 ? text : text.slice(0, cut)).split('/').filter((part) => part !== '');
	const place: Place = { ...start, others: [] };
	place.screen = screens.find((screen) => screen === path[0]) ?? 'dashboard';
	if (place.screen === 'events' && /^[\w-]+$/.test(path[1] ?? '')) place.record = path[1] ?? null;
	if (place.screen === 'planets') {
		place.config = decode(path[1] ?? '');
		place.version = place.config === '' ? null : versionOf(path[2]);
	}
	if (place.screen === 'reports') {
		place.config = decode(path[1] ?? '');
		place.report = place.config === '' ? '' : decode(path[2] ?? '');
		place.version = place.report === '' ? null : versionOf(path[3]);
	}
	for (const [name, value] of cut < 0 ? [] : membersOf(text.slice(cut + 1))) {
		const row = rows.find(([, member]) => member.name === name);
		if (row) Object.assign(place, { [row[0]]: row[1].read(value) });
		else place.others.push([name, value]);
	}
	if (place.screen === 'events' && place.by) { // as earlier versions wrote it
		place.facets ??= place.by;
		place.by = null;
	}
	return place;
}

/** writeFragment writes a place, so that reading it gives the same place. */
export function writeFragment(place: Place): string {
	const written: [string, string][] = [];
	for (const [key, member] of rows) {
		const value = member.write(place[key]);
		if (value !== null) written.push([member.name, value]);
	}
	written.push(...place.others);
	let path = '#/';
	if (place.screen !== 'dashboard') path += place.screen;
	if (place.screen === 'events' && place.record) path += '/' + place.record;
	if (place.screen === 'planets' && place.config !== '') {
		path += '/' + encodeURIComponent(place.config) + (place.version === null ? '' : `/${place.version}`);
	}
	if (place.screen === 'reports' && place.config !== '') {
		path += '/' + encodeURIComponent(place.config);
		if (place.report !== '') path += '/' + encodeURIComponent(place.report) + (place.version === null ? '' : `/${place.version}`);
	}
	if (written.length === 0) return path;
	return path + '?' + written.map(([name, value]) => `${escape(name)}=${escape(value)}`).join('&');
}

function versionOf(text: string | undefined): number | null {
	return text !== undefined && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null;
}

function membersOf(query: string): [string, string][] {
	return query.split('&').filter((member) => member !== '').map((member) => {
		const equals = member.indexOf('=');
		if (equals < 0) return [decode(member), ''];
		return [decode(member.slice(0, equals)), decode(member.slice(equals + 1))];
	});
}

/** escape leaves the characters that make a filter readable in an address: "status>=500, host=a" needs few escapes. */
function escape(text: string): string {
	return encodeURIComponent(text).replace(/%20/g, '+').replace(/%(2C|3A|2F|40)/g, (code) => decodeURIComponent(code));
}

function decode(text: string): string {
	try {
		return decodeURIComponent(text.replace(/\+/g, ' '));
	} catch {
		return text; // not what this console wrote
	}
}

/** periodOf returns the text of the period of a place. */
export function periodOf(place: Place): string {
	return place.period || defaultPeriod;
}
