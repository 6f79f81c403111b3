// The fragment of the address, which is the whole state of the console:
//
//	fragment = "#/" [ screen | "events/" reference | planet | report ] [ "?" member { "&" member } ] .
//	planet   = "planets/" configuration [ "/" version ] .
//	report   = "reports/" configuration [ "/" name [ "/" version ] ] .
//
// Members: f (conditions), t (period), seg (length of a segment), cols, tz, live (seconds), tab, vs, where and f2 (the other side of a
// comparison), by (fields), facets (fields), chart (what its lines are), sort (of the top values), panel.
// Members that this version does not know are kept.
import { defaultPeriod } from './time';

/** The screens, in the order of the navigation. */
export const screens = ['dashboard', 'events', 'compare', 'reports', 'planets', 'status'] as const;

export type Screen = typeof screens[number];

/** asksAboutRequests reports whether a screen has a filter and a period. */
export function asksAboutRequests(screen: Screen): boolean {
	return screen === 'dashboard' || screen === 'events' || screen === 'compare';
}

/** What the address says: the question and how its answer is shown. */
export interface Place {
	screen: Screen;
	record: string | null; // reference to it
	config: string; // of planets and reports; "": none is chosen
	report: string; // name of a report; "": their list
	version: number | null; // of the planet or the report; null: the newest
	tab: string; // of a screen that has several; "": the first
	against: string; // the other side of a comparison: previous, a length, or a period
	select: string; // conditions that are compared with the rest; then there is no other period
	other: string; // conditions of another filter, which is compared with this one
	by: string[] | null; // fields that are compared, or that split the chart; null: the usual ones, or none
	facets: string[] | null; // fields whose values are beside the answer; null: the usual ones
	chart: string; // what the lines of the chart are; "": the usual ones
	sort: string; // of the top values: requests, or "" for blocked requests
	table: boolean; // charts are tables
	many: boolean; // values of fields
	find: string; // what is searched in the rows that are loaded
	panel: string; // what is open beside the answer; "": nothing
	filter: string; // conditions without the period, as typed
	period: string; // relative or absolute; "" if the address names none
	segment: string; // length of the segments of charts; "": one that suits the period
	columns: string[] | null; // of events; null: the usual ones
	zone: string; // "" if the address names none
	live: number; // seconds after which events are asked for again; 0: never
	others: [string, string][];
}

export const start: Place = {
	screen: 'dashboard', record: null, config: '', report: '', version: null, tab: '', against: '', select: '', other: '', by: null,
	facets: null, chart: '', sort: '', table: false, many: false, find: '', panel: '',
	filter: '', period: '', segment: '', columns: null, zone: '', live: 0, others: [],
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
		switch (name) {
			case 'f': place.filter = value; break;
			case 't': place.period = value; break;
			case 'seg': place.segment = /^[1-9]\d{0,3}[mhd]$/.test(value) ? value : ''; break;
			case 'cols': place.columns = fieldsIn(value); break;
			case 'tz': place.zone = value; break;
			case 'live': place.live = /^[1-9]\d?$/.test(value) ? Number(value) : 0; break;
			case 'tab': place.tab = value; break;
			case 'vs': place.against = value; break;
			case 'where': place.select = value; break;
			case 'f2': place.other = value; break;
			case 'chart': place.chart = value; break;
			case 'sort': place.sort = value; break;
			case 'by': place.by = fieldsIn(value); break;
			case 'facets': place.facets = fieldsIn(value); break;
			case 'panel': place.panel = value; break;
			case 'as': place.table = value === 'table'; break;
			case 'values': place.many = value === 'many'; break;
			case 'find': place.find = value; break;
			default: place.others.push([name, value]);
		}
	}
	if (place.screen === 'events' && place.by) { // as earlier versions wrote it
		place.facets ??= place.by;
		place.by = null;
	}
	return place;
}

/** writeFragment writes a place, so that reading it gives the same place. */
export function writeFragment(place: Place): string {
	const members: [string, string][] = [];
	if (place.filter !== '') members.push(['f', place.filter]);
	if (place.period !== '') members.push(['t', place.period]);
	if (place.segment !== '') members.push(['seg', place.segment]);
	if (place.columns) members.push(['cols', place.columns.join(',')]);
	if (place.zone !== '') members.push(['tz', place.zone]);
	if (place.live > 0) members.push(['live', String(place.live)]);
	if (place.tab !== '') members.push(['tab', place.tab]);
	if (place.against !== '') members.push(['vs', place.against]);
	if (place.select !== '') members.push(['where', place.select]);
	if (place.other !== '') members.push(['f2', place.other]);
	if (place.by) members.push(['by', place.by.join(',')]);
	if (place.facets) members.push(['facets', place.facets.join(',')]);
	if (place.chart !== '') members.push(['chart', place.chart]);
	if (place.sort !== '') members.push(['sort', place.sort]);
	if (place.panel !== '') members.push(['panel', place.panel]);
	if (place.table) members.push(['as', 'table']);
	if (place.many) members.push(['values', 'many']);
	if (place.find !== '') members.push(['find', place.find]);
	members.push(...place.others);
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
	if (members.length === 0) return path;
	return path + '?' + members.map(([name, value]) => `${escape(name)}=${escape(value)}`).join('&');
}

function fieldsIn(value: string): string[] {
	return value.split(',').filter((field) => field !== '');
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
