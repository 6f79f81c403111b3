// The queries that outlive their requests. They are kept in the tab, so that the page waits on for their answers after a
// reload: an address with the same filter and period asks the same questions then, as of the same moment.
import { periodOf, type Place, readFragment } from '../pure/fragment';
import { type Period, resolve } from '../pure/time';

const setting = 'orrery.running';
const reloadTime = 10_000; // milliseconds after the page was loaded, in which it goes on with what was asked before

interface Kept {
	about: string; // the filter and the period of the address
	present: number; // of the questions, in milliseconds
	locations: Record<string, string>; // of the answers, by question
}

let latest = 0; // the present of the newest questions

const before = read();
sessionStorage.removeItem(setting);

function read(): Kept | null {
	try {
		return JSON.parse(sessionStorage.getItem(setting) ?? 'null') as Kept | null;
	} catch {
		return null; // not what this page wrote
	}
}

/** about is what all questions of the address are about. The rest of it may change while they run. */
function about(): string {
	const { filter, period } = readFragment(location.hash);
	return JSON.stringify([filter, period]);
}

/** beforeReload returns what was asked before a reload, as long as the page goes on with it and some of it still runs. */
function beforeReload(): Kept | null {
	if (before?.about !== about() || Object.keys(before.locations).length === 0) return null;
	return performance.now() < reloadTime ? before : null;
}

/** present is the moment at which relative periods end: now, or after a reload when the queries that still run were asked. */
export function present(): number {
	latest = beforeReload()?.present ?? Date.now();
	return latest;
}

/** presentPeriod returns the period of a place, which ends at the present if it is relative. */
export function presentPeriod(place: Place): Period {
	const period = resolve(periodOf(place), present());
	if (!period) throw new Error(`no period: ${place.period}`);
	return period;
}

/** presentOfRunning is the moment of the questions that still run. Whoever asks as of then waits for the same answers. */
export function presentOfRunning(): number {
	const kept = read();
	return kept?.about === about() ? kept.present : latest || Date.now();
}

/** locationOf returns where the answer to a question will be if its query still runs since before a reload, or null. */
export function locationOf(question: string): string | null {
	return beforeReload()?.locations[question] ?? null;
}

/** keepLocation keeps the place of the answer to a question. */
export function keepLocation(question: string, place: string): void {
	const kept = read();
	const own = kept?.about === about() ? kept : { about: about(), present: latest || Date.now(), locations: {} };
	own.locations[question] = place;
	sessionStorage.setItem(setting, JSON.stringify(own));
}

/** forgetLocation forgets it: there is an answer, or nobody waits for it. */
export function forgetLocation(question: string): void {
	delete before?.locations[question];
	const kept = read();
	if (!kept) return;
	delete kept.locations[question];
	if (Object.keys(kept.locations).length === 0) sessionStorage.removeItem(setting);
	else sessionStorage.setItem(setting, JSON.stringify(kept));
}
