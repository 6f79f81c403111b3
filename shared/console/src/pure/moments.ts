// The times in a text that people or machines wrote: 2026-01-01T20:45Z, 01/Jan/2026:20:45:01 +0000, "gestern gegen 20 Uhr", "at 8:15 pm".
import { dateIn, parseTime, type Period } from './time';

/** A time in a text. */
export interface Moment {
	text: string;
	at: number; // in the text
	end: number;
	ms: number;
	margin: number; // how far from it the requests may be, in milliseconds
	weight: number; // the likely times have more
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** around is the period around a time. A date alone is its day. */
export function around({ ms, margin }: Moment): Period {
	return margin === day ? { from: ms, to: ms + day - 1 } : { from: ms - margin, to: ms + margin };
}

/** A date in a text, as year-month-day. */
interface Day {
	at: number;
	end: number;
	date: string;
}

/** A time of day in a text. */
interface Clock {
	at: number;
	end: number;
	time: string; // HH:MM:SS
	offset: string; // "": of the zone
	margin: number;
}

/** momentsOf returns the times of a text. Those without an offset are of the zone, and those without a day are the latest before now. */
export function momentsOf(text: string, zone: string, now: number): Moment[] {
	const days = daysOf(text, zone, now);
	const clocks = clocksOf(text);
	const used = new Set<Day>();
	const found: Moment[] = agosOf(text, now);
	const push = (at: number, end: number, ms: number | null, margin: number, weight: number): void => {
		if (ms !== null) found.push({ text: text.slice(at, end).trim(), at, end, ms, margin, weight });
	};
	for (const clock of clocks) {
		const near = days.filter((one) => gap(text, one, clock) < 24).sort((a, b) => gap(text, a, clock) - gap(text, b, clock))[0];
		const time = `${clock.time}${clock.offset}`;
		const { at, end } = near ? { at: Math.min(near.at, clock.at), end: Math.max(near.end, clock.end) } : clock;
		if (near) {
			used.add(near);
			push(at, end, parseTime(`${near.date} ${time}`, zone), clock.margin, 60);
			continue;
		}
		const today = parseTime(`${dateIn(now, zone)} ${time}`, zone);
		const before = parseTime(`${dateIn(now - day, zone)} ${time}`, zone);
		push(at, end, today !== null && today > now ? before : today, Math.max(clock.margin, 15 * minute), 40);
	}
	for (const one of days) {
		if (!used.has(one)) push(one.at, one.end, parseTime(one.date, zone), day, 20);
	}
	return found.sort((a, b) => a.at - b.at);
}

/** gap returns how many characters are between a date and a time of day. Those of different lines do not belong together. */
function gap(text: string, a: { at: number; end: number }, b: { at: number; end: number }): number {
	const [from, to] = a.at < b.at ? [a.end, b.at] : [b.end, a.at];
	return from > to ? 0 : /\n/.test(text.slice(from, to)) ? Infinity : to - from;
}

const months = ['jan', 'feb', 'm[aä]r', 'apr', 'ma[iy]', 'jun', 'jul', 'aug', 'sep', 'o[ck]t', 'nov', 'de[cz]'];
const month = `(${months.map((name) => `${name}[a-zä]*`).join('|')})\\.?`;

const numericDay = /(?<![\d.])(\d{1,2})\.\s?(\d{1,2})\.(?:(\d{4}|\d\d)(?!\d|\.\d)|(?!\d))/g;
const slashedDay = /(?<![\d/])(\d{1,2})\/(\d{1,2})\/(\d{4})(?!\d)/g;
const isoDay = /(?<![\d-])(\d{4})[-/](\d\d)[-/](\d\d)(?!\d)/g;
const logDay = /(?<!\d)(\d\d)\/([A-Z][a-z]{2})\/(\d{4})/g;
const dayOfMonth = new RegExp(`(?<!\\d)(\\d{1,2})(?:\\.|st|nd|rd|th)?\\s?${month}\\s?,?\\s?(\\d{4})?(?![a-z\\d:])`, 'gi');
const monthAndDay = new RegExp(`\\b${month}\\s(\\d{1,2})(?:st|nd|rd|th)?(?:,?\\s(\\d{4}))?(?![\\d:])`, 'gi');
const named = /\b(heute|today|tonight|this (?:morning|afternoon|evening)|vorgestern|gestern|yesterday|last night)\b/gi;

function daysOf(text: string, zone: string, now: number): Day[] {
	const two = (n: number): string => String(n).padStart(2, '0');
	const found: Day[] = [];
	const add = (match: RegExpExecArray, year: string | undefined, monthOf: number, dayOf: number): void => {
		const at = match.index;
		const end = at + match[0].trimEnd().length;
		if (found.some((one) => at < one.end && one.at < end)) return;
		let full = year === undefined ? Number(dateIn(now, 'UTC').slice(0, 4)) : Number(year.length === 2 ? `20${year}` : year);
		const date = (): string => `${full}-${two(monthOf)}-${two(dayOf)}`;
		if (year === undefined && (parseTime(date(), zone) ?? 0) > now) full--;
		if (parseTime(date(), zone) !== null) found.push({ at, end, date: date() });
	};
	const monthIn = (name: string): number => months.findIndex((one) => new RegExp(`^${one}`, 'i').test(name)) + 1;
	for (const m of text.matchAll(isoDay)) add(m, m[1], Number(m[2]), Number(m[3]));
	for (const m of text.matchAll(logDay)) add(m, m[3], monthIn(m[2] ?? ''), Number(m[1]));
	for (const m of text.matchAll(slashedDay)) { // of the United States, unless only the other order is a date
		const [a, b] = [Number(m[1]), Number(m[2])];
		add(m, m[3], a > 12 ? b : a, a > 12 ? a : b);
	}
	for (const m of text.matchAll(dayOfMonth)) add(m, m[3], monthIn(m[2] ?? ''), Number(m[1]));
	for (const m of text.matchAll(monthAndDay)) add(m, m[3], monthIn(m[1] ?? ''), Number(m[2]));
	for (const m of text.matchAll(numericDay)) add(m, m[3], Number(m[2]), Number(m[1]));
	for (const m of text.matchAll(named)) {
		const name = (m[1] ?? '').toLowerCase();
		const back = name === 'vorgestern' ? 2 : ['gestern', 'yesterday', 'last night'].includes(name) ? 1 : 0;
		const [year, monthOf, dayOf] = dateIn(now - back * day, zone).split('-');
		add(m, year, Number(monthOf), Number(dayOf));
	}
	return found;
}

const half = String.raw`(\s?[ap]\.?m\b\.?)?(\s?Uhr\b)?`;
const offset = String.raw`(?:\s?(Z|UTC|GMT|[+-]\d\d:?\d\d)(?![\w:]))?`;
const wholeClock = new RegExp( // after a colon only in the time of a log: 13/Jan/2026:20:05:31
	String.raw`(?<![\d.])(?<!(?<!\/\d{4}):)` +
	String.raw`([01]?\d|2[0-4])[:.]([0-5]\d)(?::([0-5]\d)(?:[.,]\d{1,9})?)?(?![\d:])(?!\.\d)` +
	half + offset, 'gi');
const hourClock = /(?<![\d:.,])(\d{1,2})(?:\s?([ap]\.?m\b\.?)|\s?(Uhr\b)|\s?(o'clock))/gi;
const lateWords = /\b(?:abends?|nachmittags?|evening|tonight|afternoon)\b/i;
const vague = /\b(?:about|around|approx\w*|roughly|gegen|ca|etwa|ungefähr|so um)\.?\s*(?:um\s)?$/i;

function clocksOf(text: string): Clock[] {
	const found: Clock[] = [];
	const add = (
		m: RegExpExecArray, hourText: string, minutes: string, seconds: string | undefined, half: string, zone: string,
	): void => {
		let n = Number(hourText);
		const beside = text.slice(Math.max(0, m.index - 30), m.index + m[0].length + 12);
		const late = half === '' ? lateWords.test(beside) : /^\s?p/i.test(half);
		if (late && n < 12) n += 12;
		if (/^\s?a/i.test(half) && n === 12) n = 0;
		if (n > 23) return;
		const loose = vague.test(text.slice(0, m.index)) || seconds === undefined && minutes === '';
		found.push({
			at: m.index, end: m.index + m[0].length, time: `${String(n).padStart(2, '0')}:${minutes || '00'}:${seconds ?? '00'}`,
			offset: /^(?:UTC|GMT)$/i.test(zone) ? 'Z' : zone, margin: loose ? hour : seconds === undefined ? 15 * minute : 5 * minute,
		});
	};
	for (const m of text.matchAll(wholeClock)) {
		const dotted = m[0].includes('.') && !m[0].includes(':'); // 20.15 Uhr, but not version 20.15
		if (dotted && m[5] === undefined && m[4] === undefined) continue;
		add(m, m[1] ?? '', m[2] ?? '', m[3], m[4] ?? '', m[6] ?? '');
	}
	for (const m of text.matchAll(hourClock)) {
		if (!found.some((one) => m.index < one.end && one.at < m.index + m[0].length)) add(m, m[1] ?? '', '', undefined, m[2] ?? '', '');
	}
	return found;
}

const agoForms = /\bvor (\d{1,3}|einer|ein paar) (Minute|Stunde|Tag)(?:e?n)?\b|\b(\d{1,3}|an?|a few) (minute|hour|day)s? ago\b/gi;
const epoch = /(?<![\w.-])(1[5-9]\d{8})(\d{3})?(?:\.\d{1,6})?(?![\w-])/g;

/** agosOf returns times by how long ago they were, and those in seconds or milliseconds since the epoch. */
function agosOf(text: string, now: number): Moment[] {
	const ago = [...text.matchAll(agoForms)].map((m): Moment => {
		const n = Number(m[1] ?? m[3]) || (/paar|few/.test(m[0]) ? 5 : 1);
		const unit = { m: minute, s: hour, h: hour, t: day, d: day }[(m[2] ?? m[4] ?? 'm')[0]?.toLowerCase() ?? 'm'] ?? minute;
		const margin = Math.max(10 * minute, Math.min(12 * hour, unit));
		return { text: m[0], at: m.index, end: m.index + m[0].length, ms: now - n * unit, margin, weight: 50 };
	});
	return [...ago, ...[...text.matchAll(epoch)].map((m): Moment => ({
		text: m[0], at: m.index, end: m.index + m[0].length, ms: Number(m[1]) * 1000 + Number(m[2] ?? 0), margin: 5 * minute, weight: 55,
	}))];
}
