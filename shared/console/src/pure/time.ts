// Periods and times. A period is relative ("30m", which ends now) or absolute (two times in UTC). Both ends are included.

/** A period with both ends, in milliseconds since the epoch. */
export interface Period {
	from: number;
	to: number;
}

/** The period of a link that names none, as of the vendor's console. */
export const defaultPeriod = '30m';

/** The relative periods that the picker offers. */
export const presets = ['5m', '15m', '30m', '1h', '3h', '6h', '24h', '2d', '7d', '30d'] as const;

const unitLengths: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** lengthOf returns the length of "30m" in milliseconds, or null if the text is no length. */
export function lengthOf(text: string): number | null {
	const m = /^([1-9]\d{0,5})([smhdw])$/.exec(text);
	if (!m) return null;
	return Number(m[1]) * (unitLengths[m[2] ?? ''] ?? 0);
}

/** resolve returns the period that a text means at an instant, or null if the text is no period. */
export function resolve(text: string, now: number): Period | null {
	const length = lengthOf(text);
	if (length !== null) {
		const to = Math.floor(now / 1000) * 1000;
		return { from: to - length, to };
	}
	const ends = text.split('..');
	if (ends.length !== 2) return null;
	const a = parseTime(ends[0] ?? '', 'UTC');
	const b = parseTime(ends[1] ?? '', 'UTC');
	if (a === null || b === null) return null;
	return { from: Math.min(a, b), to: Math.max(a, b) };
}

/** absolute returns the text of a period that always means the same. */
export function absolute(p: Period): string {
	return isoTime(p.from) + '..' + isoTime(p.to);
}

/** segmentIn is the part of a segment, of so many seconds, that is in an absolute period. */
export function segmentIn(period: string, seconds: number, length: number): string {
	const whole = resolve(period, 0);
	const from = seconds * 1000;
	const to = from + length * 1000 - 1;
	return absolute(whole ? { from: Math.max(from, whole.from), to: Math.min(to, whole.to) } : { from, to });
}

/** isoTime writes a time as briefly as it allows: 2026-01-01T20:45Z without seconds that are zero. */
export function isoTime(ms: number): string {
	const full = new Date(ms).toISOString();
	if (ms % 60_000 === 0) return full.slice(0, 16) + 'Z';
	if (ms % 1000 === 0) return full.slice(0, 19) + 'Z';
	return full;
}

/** filterTime writes a time as the filter language does, in UTC. */
export function filterTime(ms: number): string {
	const text = new Date(ms).toISOString().slice(0, 23).replace('T', ' ');
	return ms % 1000 === 0 ? text.slice(0, 19) : text;
}

/** periodCondition is the condition of a period in the filter language. */
export function periodCondition(p: Period): string {
	return `timestamp between ${filterTime(p.from)} and ${filterTime(p.to)}`;
}

/** previous is the period right before, as the diff of the API has it: it begins by the length earlier, without p.from. */
export function previous(p: Period): Period {
	return { from: p.from - Math.max(1, p.to - p.from), to: p.from - 1 };
}

/**
 * comparedWith returns the period that another one is compared with: the one right before ("" or previous), the same one so
 * much earlier (a length), or another one (A..B). It returns null if the text is none of these.
 */
export function comparedWith(text: string, p: Period): Period | null {
	if (text === '' || text === 'previous') return previous(p);
	const length = lengthOf(text);
	return length === null ? resolve(text, 0) : { from: p.from - length, to: p.to - length };
}

const segmentLengths: readonly [string, number][] = [
	['1m', 60_000], ['5m', 300_000], ['15m', 900_000], ['1h', 3_600_000], ['6h', 21_600_000],
];

/** endOfNewest is the end of a period that has the newest record, of whose time only the minute may be known. */
export function endOfNewest(newest: number): number {
	return Math.floor(newest / 60_000) * 60_000 + 60_000;
}

/** segmentFor returns the shortest segment of the API that cuts a period into at most so many. */
export function segmentFor(p: Period, most: number): string {
	const shortest = (p.to - p.from) / most;
	const fit = segmentLengths.find(([, length]) => length >= shortest);
	if (fit) return fit[0];
	let days = 1;
	while (days * 86_400_000 < shortest) days *= 2;
	return `${days}d`;
}

/** shift moves a period by its own length, earlier (-1) or later (1). */
export function shift(p: Period, by: number): Period {
	const length = p.to - p.from;
	return { from: p.from + by * length, to: p.to + by * length };
}

/** zoomOut doubles a period around its middle. */
export function zoomOut(p: Period): Period {
	const half = Math.round((p.to - p.from) / 2);
	return { from: p.from - half, to: p.to + half };
}

/**
 * parseTime reads a date and optionally a time: 2026-01-01, 2026-01-01 20:45, 2026-01-01T20:45:01.457Z or with an offset.
 * Without an offset it is a time of the zone. It returns null if the text is no time.
 */
export function parseTime(text: string, zone: string): number | null {
	const m = /^(\d{4})-?(\d\d)-?(\d\d)(?:[T ](\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d{1,9}))?)?)?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?$/i
		.exec(text.trim());
	if (!m) return null;
	const [year, month, day, hour, minute, second] = m.slice(1, 7).map((part) => Number(part ?? 0)) as
		[number, number, number, number, number, number];
	const ms = Number((m[7] ?? '').padEnd(3, '0').slice(0, 3));
	const wall = Date.UTC(year, month - 1, day, hour, minute, second, ms);
	const days = hour === 24 && minute === 0 && second === 0 && ms === 0 ? 86_400_000 : 0; // 24:00 is the end of the day
	const date = new Date(wall - days);
	const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && (hour < 24 || days > 0) && minute < 60 && second < 60;
	if (!exists) return null;
	const offset = m[8];
	if (offset === undefined) return wall - zoneOffset(wall - zoneOffset(wall, zone), zone);
	return wall - offsetOf(offset);
}

/** parseMoment reads a time as parseTime does, or a relative one of the filter language: now, now-15m, today, yesterday. */
export function parseMoment(text: string, zone: string, now: number): number | null {
	const m = /^(?:(today)|(yesterday)|now(?:([+-]\d{1,6})([smhdw]))?)$/i.exec(text.trim());
	if (!m) return parseTime(text, zone);
	if (m[1]) return parseTime(dateIn(now, zone), zone);
	if (m[2]) return parseTime(dateIn((parseTime(dateIn(now, zone), zone) ?? now) - 1, zone), zone);
	const second = Math.floor(now / 1000) * 1000;
	return m[3] ? second + Number(m[3]) * (unitLengths[m[4]?.toLowerCase() ?? ''] ?? 0) : second;
}

/** periodText returns the period between two times as the address has it, or null. One that ends now stays relative. */
export function periodText(from: string, to: string, zone: string, now: number): string | null {
	const length = /^now-(\w+)$/i.exec(from.trim())?.[1]?.toLowerCase() ?? '';
	if (lengthOf(length) !== null && /^now$/i.test(to.trim())) return length;
	const ends = [parseMoment(from, zone, now), parseMoment(to, zone, now)] as const;
	if (ends[0] === null || ends[1] === null) return null;
	return absolute({ from: Math.min(ends[0], ends[1]), to: Math.max(ends[0], ends[1]) });
}

/** dayText returns the period of a day of the calendar of a zone: today, which ends now, or yesterday. */
export function dayText(name: 'today' | 'yesterday', zone: string, now: number): string {
	const today = parseMoment('today', zone, now) ?? now;
	return absolute(name === 'today' ? { from: today, to: Math.max(today, Math.floor(now / 1000) * 1000) } :
		{ from: parseMoment('yesterday', zone, now) ?? now, to: today - 1 });
}

/** offsetOf returns the milliseconds of an offset such as Z, +02 or -03:30. */
function offsetOf(text: string): number {
	if (/^z$/i.test(text)) return 0;
	const digits = text.slice(1).replace(':', '').padEnd(4, '0');
	const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2));
	return (text[0] === '-' ? -minutes : minutes) * 60_000;
}

/** zoneOffset returns how far the clocks of a zone are ahead of UTC at an instant, in milliseconds. */
export function zoneOffset(ms: number, zone: string): number {
	if (zone === 'UTC') return 0;
	const parts = partsOf(ms, zone);
	return Date.UTC(parts.year, parts.month - 1, parts.day, parts.hour, parts.minute, parts.second) -
		Math.floor(ms / 1000) * 1000;
}

interface Parts {
	year: number;
	month: number;
	day: number;
	hour: number;
	minute: number;
	second: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** partsOf returns what the clocks and calendars of a zone show at an instant. */
function partsOf(ms: number, zone: string): Parts {
	let format = formats.get(zone);
	if (!format) {
		format = new Intl.DateTimeFormat('en', {
			timeZone: zone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric',
			minute: 'numeric', second: 'numeric',
		});
		formats.set(zone, format);
	}
	const parts = { year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0 };
	for (const { type, value } of format.formatToParts(ms)) {
		if (type in parts) parts[type as keyof Parts] = Number(value);
	}
	return parts;
}

/** isZone reports whether a name is a time zone. */
export function isZone(name: string): boolean {
	try {
		new Intl.DateTimeFormat('en', { timeZone: name });
		return true;
	} catch {
		return false;
	}
}

/** zoneOf returns the zone of a report, or UTC if it is none. */
export function zoneOf({ tz }: { tz: string }): string {
	return isZone(tz) ? tz : 'UTC';
}

/** otherZone returns the zone that a reader may want beside one: the browser's own, or UTC. */
export function otherZone(zone: string): string {
	const own = new Intl.DateTimeFormat().resolvedOptions().timeZone;
	return own === zone ? 'UTC' : own;
}

const two = (n: number): string => String(n).padStart(2, '0');

/** dateIn writes the date of an instant in a zone: 2026-01-01. */
export function dateIn(ms: number, zone: string): string {
	const p = partsOf(ms, zone);
	return `${p.year}-${two(p.month)}-${two(p.day)}`;
}

/** clockIn writes the time of an instant in a zone, with the clock of 24 hours: 20:45, 20:45:01 or 20:45:01.457. */
export function clockIn(ms: number, zone: string, precision: 'minutes' | 'seconds' | 'milliseconds'): string {
	const p = partsOf(ms, zone);
	const minutes = `${two(p.hour)}:${two(p.minute)}`;
	if (precision === 'minutes') return minutes;
	const seconds = `${minutes}:${two(p.second)}`;
	if (precision === 'seconds') return seconds;
	return `${seconds}.${String(((ms % 1000) + 1000) % 1000).padStart(3, '0')}`;
}

/** momentIn writes an instant in a zone as precisely as it is: 2026-01-01 20:45, with seconds if they are not zero. */
export function momentIn(ms: number, zone: string): string {
	const precision = ms % 60_000 === 0 ? 'minutes' : ms % 1000 === 0 ? 'seconds' : 'milliseconds';
	return `${dateIn(ms, zone)} ${clockIn(ms, zone, precision)}`;
}

/** periodIn writes a period in a zone, and its date once if both ends have the same. */
export function periodIn(p: Period, zone: string): string {
	const to = momentIn(p.to, zone);
	const same = dateIn(p.from, zone) === dateIn(p.to, zone);
	return `${momentIn(p.from, zone)} – ${same ? to.slice(11) : to}`;
}

/** elsewhere is an instant in the zone that a reader may want beside one, for the hint of a time. */
export function elsewhere(ms: number, zone: string): string {
	const other = otherZone(zone);
	return `${momentIn(ms, other)} ${other}`;
}

/** presetName names a relative period: last 30 minutes. */
export function presetName(text: string): string {
	const m = /^(\d+)([smhdw])$/.exec(text);
	if (!m) return text;
	const unit = { s: 'second', m: 'minute', h: 'hour', d: 'day', w: 'week' }[m[2] as 's' | 'm' | 'h' | 'd' | 'w'];
	return m[1] === '1' ? `last ${unit}` : `last ${m[1]} ${unit}s`;
}
