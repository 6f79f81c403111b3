// The fragment of the address, which is the whole state of the console:
//
//	fragment = "#/" [ "events" [ "/" record ] ] [ "?" member { "&" member } ] .
//	record   = [ request id ] "@" time .
//
// Members: f (conditions), t (period), cols, tz. Members that this version does not know are kept.
import { defaultPeriod } from './time';

export type Screen = 'dashboard' | 'events';

/** A record by its request id, which may be empty, and its time in milliseconds. */
export interface RecordName {
	id: string;
	time: string; // as the record has it, RFC 3339
}

/** What the address says: the question and how its answer is shown. */
export interface Place {
	screen: Screen;
	record: RecordName | null;
	filter: string; // conditions without the period, as typed
	period: string; // relative or absolute; "" if the address names none
	columns: string[] | null; // of events; null: the usual ones
	zone: string; // "" if the address names none
	others: [string, string][];
}

export const start: Place = {
	screen: 'dashboard', record: null, filter: '', period: '', columns: null, zone: '', others: [],
};

/** readFragment reads the fragment of an address. What it cannot read is as if it were absent. */
export function readFragment(fragment: string): Place {
	const text = fragment.replace(/^#/, '');
	const cut = text.indexOf('?');
	const path = (cut < 0 ? text : text.slice(0, cut)).split('/').filter((part) => part !== '');
	const place: Place = { ...start, others: [] };
	if (path[0] === 'events') {
		place.screen = 'events';
		place.record = readRecord(path[1] ?? '');
	}
	for (const [name, value] of cut < 0 ? [] : membersOf(text.slice(cut + 1))) {
		switch (name) {
			case 'f': place.filter = value; break;
			case 't': place.period = value; break;
			case 'cols': place.columns = value.split(',').filter((column) => column !== ''); break;
			case 'tz': place.zone = value; break;
			default: place.others.push([name, value]);
		}
	}
	return place;
}

/** writeFragment writes a place, so that reading it gives the same place. */
export function writeFragment(place: Place): string {
	const members: [string, string][] = [];
	if (place.filter !== '') members.push(['f', place.filter]);
	if (place.period !== '') members.push(['t', place.period]);
	if (place.columns) members.push(['cols', place.columns.join(',')]);
	if (place.zone !== '') members.push(['tz', place.zone]);
	members.push(...place.others);
	let path = '#/';
	if (place.screen === 'events') {
		path += 'events';
		if (place.record) path += '/' + encodeURIComponent(place.record.id) + '@' + encodeURIComponent(place.record.time);
	}
	if (members.length === 0) return path;
	return path + '?' + members.map(([name, value]) => `${escape(name)}=${escape(value)}`).join('&');
}

function readRecord(part: string): RecordName | null {
	const at = part.lastIndexOf('@');
	if (at < 0) return null;
	const id = decode(part.slice(0, at));
	const time = decode(part.slice(at + 1));
	return Number.isNaN(Date.parse(time)) ? null : { id, time };
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
