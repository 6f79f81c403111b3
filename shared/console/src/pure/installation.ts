// The status of an installation, as /status has it: what is well, and what asks for a hand.

export interface Hour {
	partition: string; // 2026/01/01/10
	objects: number;
	records: number | null;
	bytes: number;
	compacted: boolean;
}

export interface Installation {
	version: string;
	engine: string;
	extent: { from: string | null; to: string } | null; // no beginning for a key that is limited to branches
	complete_through: string | null;
	kept: { hours: number; from: string } | null; // for ever, or it is not known how long
	records: number | null;
	objects: number | null;
	bytes: number | null;
	hours: Hour[] | null;
	ingest: {
		watching: boolean;
		last_source: string | null;
		last_at: string | null;
		quarantined: { lines: number | null; newest_code: string | null };
	} | null;
	price: { usd_per_tb: number; minimum_bytes: number } | null;
	limits: Record<string, unknown> & { limit: Record<string, number>; wait_seconds: number | null };
	features: string[];
	key: { name: string; scopes: string[]; branches: string[] | null; expires: string | null } | null;
}

/** What is checked, and how it is: well, a hint, something to do, or not known. */
export interface Check {
	name: 'data' | 'complete' | 'import' | 'quarantine' | 'queue' | 'key';
	state: 'well' | 'hint' | 'act' | 'unknown';
}

/** Records are late if a server that imports by itself is complete only to a time longer ago than this. */
export const lateAfter = 2 * 3_600_000;

/** A key that is refused within this time has to be renewed. */
export const expiresSoon = 14 * 86_400_000;

/** checksOf returns what is checked. A server without keys has none to check. */
export function checksOf(s: Installation, now: number): Check[] {
	return [
		{ name: 'data', state: s.extent === null ? 'act' : 'well' },
		{ name: 'complete', state: completeness(s, now) },
		{ name: 'import', state: s.ingest === null ? 'unknown' : s.ingest.watching ? 'well' : 'hint' },
		{ name: 'quarantine', state: quarantine(s) },
		{ name: 'queue', state: s.hours === null ? 'unknown' : unmerged(s.hours) > 0 ? 'hint' : 'well' },
		...(s.key === null ? [] : [{ name: 'key' as const, state: keyState(s.key.expires, now) }]),
	];
}

function completeness(s: Installation, now: number): Check['state'] {
	if (s.complete_through === null) return 'unknown';
	return s.ingest?.watching && now - Date.parse(s.complete_through) > lateAfter ? 'act' : 'well';
}

function quarantine(s: Installation): Check['state'] {
	const lines = s.ingest?.quarantined.lines ?? null;
	if (s.ingest?.quarantined.newest_code) return 'act';
	return lines === null ? 'unknown' : lines > 0 ? 'act' : 'well';
}

function keyState(expires: string | null, now: number): Check['state'] {
	return expires !== null && Date.parse(expires) - now < expiresSoon ? 'act' : 'well';
}

/** unmerged returns how many hours have small objects that are still to be merged. */
export function unmerged(hours: readonly Hour[]): number {
	return hours.filter((hour) => !hour.compacted).length;
}

/** An hour of the strip; of an hour without records there is no more than its beginning. */
export interface Slot {
	from: number;
	hour: Hour | null;
}

/** startOf returns when the hour of a partition begins. */
export function startOf(partition: string): number {
	const [year, month, day, hour] = partition.split('/').map(Number);
	return Date.UTC(year ?? 0, (month ?? 1) - 1, day ?? 1, hour ?? 0);
}

const hourLength = 3_600_000;

/** slotsOf returns the hours from the oldest to the newest one, with those without records between them. */
export function slotsOf(hours: readonly Hour[]): Slot[] {
	const byStart = new Map(hours.map((hour) => [startOf(hour.partition), hour]));
	const starts = [...byStart.keys()];
	if (starts.length === 0) return [];
	const slots: Slot[] = [];
	for (let from = Math.min(...starts); from <= Math.max(...starts); from += hourLength) {
		slots.push({ from, hour: byStart.get(from) ?? null });
	}
	return slots;
}

/** hourPeriod is the period of an hour, both ends included. */
export function hourPeriod(from: number): { from: number; to: number } {
	return { from, to: from + hourLength - 1 };
}
