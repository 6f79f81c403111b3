// Tests of the pure modules, which the tests of scripts/console run in a browser.
import { adviceOf } from './advice';
import { agentOf, agentsOf } from './agent';
import { after, type Asking, type Event, priced, together, unasked } from './asking';
import { attemptsOf } from './attempts';
import { logarithmicRange } from './axis';
import { nearest, withoutEach } from './blame';
import { linesOf as cardLines } from './cards';
import { chipsOf, invertedAt, withLists, withoutAt } from './chips';
import { moved, toggled } from './columns';
import { expectedAt, type Field, fieldOptions, keyOptions, nextOptions, operatorOptions, soughtOf, take, valueOptions } from './complete';
import { type Event as Completes, offered, placeAt } from './completing';
import { beginOf } from './coverage';
import { shell } from './curl';
import { type Finding, grouped } from './differences';
import { differenceOf, merge, pathText, type Side } from './difference';
import { fragmentFor } from './draft';
import { after as afterPage, type Event as Exports, type Exporting, notBegun } from './exporting';
import { absent, addOnly, addWithout, nameOf, ofClass, only, present, quote, splitPeriod, withPeriod, without } from './filter';
import { isFilter } from './filterlike';
import { bytes, changeOf, dollars, milliseconds, share, times } from './format';
import { type Place, readFragment, screens, start, writeFragment } from './fragment';
import { fuzzy } from './fuzzy';
import { choices, groupings } from './groupings';
import { inClass, levelOf, occurring, timeClasses } from './heat';
import { factsOf, type Imported, lengthShown, pathOf, sampleBytes, together as togetherOf } from './imports';
import { inOrder, type Judged, verdictOf } from './incidents';
import { checksOf, type Installation, slotsOf } from './installation';
import { knownOf, lacks, numberIn } from './known';
import { equalJSON, lineOf, NotJSON, pretty, readJSON, writeJSON } from './json';
import { conditionsOf, tokensOf } from './lex';
import { likeFilter } from './like';
import {
	aligned, classesOf, type Counts, type Figures, figuresOf, ranked, rest, type Series, stacked, total,
} from './lines';
import { addTo, arrive, type Arrived, mostRows, none, type Rests, show } from './live';
import { placeNow } from './mended';
import { type Mistake, place, unitsOf } from './mistakes';
import { expanded, savedAt, savedNames } from './names';
import { shorter } from './narrower';
import { compareNetworks, insideOf, linesOf, sizeOf } from './networklists';
import { addressText, networkOf } from './networks';
import { closed, noOptions, stepped } from './options';
import { groupsOf, piecesOf, withoutSecrets } from './parts';
import { meaningsOf } from './paste';
import { contentOf, fileName, frameOf, headerOf, recordsIn, withoutHeader } from './pieces';
import { addUp, type Estimate, isHeavy, priceOf } from './price';
import { holds } from './quickfind';
import { readReason, shortReason } from './reason';
import { addressesOf } from './receivers';
import { factOfResult, isJudged, type LogRecord, resultOf, textOf } from './record';
import { divided, mostRemembered, readRemembered, type Remembered, remembered } from './remembered';
import { fragmentOf, secondsOf } from './reportpage';
import { requestAsCurl } from './replay';
import { besideOf, harmless, heightOf, isWhole, judged, labelled, loosest, readRule, writeRule } from './rule';
import { named, needsOf, queryOf, ranAs } from './run';
import { bodyOf, changesOf, type Definition, formOf, join, lastPeriod, newForm } from './schedule';
import { conditionWithoutSecrets, dots, sensitiveIn } from './secrets';
import { between, conditionOf as conditionOfSelection, drawn, nameOf as nameOfSelection, selectedOf } from './selection';
import { type Newest, stripOf } from './session';
import { inverted, requestsOf, withoutPeriod } from './sides';
import { stepsOf } from './steps';
import { groupOf } from './tags';
import { ticketOf } from './ticket';
import {
	absolute, clockIn, comparedWith, dayText, momentIn, parseTime, periodIn, periodText, previous, resolve, segmentFor, segmentIn, shift,
	zoomOut,
} from './time';
import { timesOf } from './timing';
import { enforced, firstRule, limitOf, ruleConditions } from './trial';
import { beyond, loosened, metBy, newFilters, reachOf } from './trust';
import { conditionFor } from './wanted';
import { everyMonday, freeName } from './weekly';
import { stagesOf, why } from './why';
import { fitted, leastWidth } from './widths';
import { words } from './words';

interface Failure {
	test: string;
	text: string;
}

const tests: [string, () => void][] = [];
let failures: Failure[] = [];
let current = '';

function test(name: string, run: () => void): void {
	tests.push([name, run]);
}

function equal(got: unknown, want: unknown, about = ''): void {
	const [a, b] = [JSON.stringify(got), JSON.stringify(want)];
	if (a !== b) failures.push({ test: current, text: `${about}\n got ${a}\nwant ${b}` });
}

/** run runs every test and returns how many there are and what failed. */
export function run(): { tests: number; failures: Failure[] } {
	failures = [];
	for (const [name, body] of tests) {
		current = name;
		try {
			body();
		} catch (error) {
			failures.push({ test: name, text: String(error) });
		}
	}
	return { tests: tests.length, failures };
}

/** conditions is for a test that compares them with those of Go. */
export const conditions = (texts: string[]): string[][] => texts.map(conditionsOf);

export const tokens = (texts: string[]): string[][] => texts.map((text) => tokensOf(text).filter(({ kind }) => kind !== 'space')
	.map(({ kind, from, to }) => `${kind} ${text.slice(from, to)}`));

/** underlined is for a test that compares the places of mistakes with those that Go finds. Tokens are whole also around mistakes. */
export const underlined = (texts: string[], period: string, mistakes: Mistake[][]): string[][] => texts.map((text, i) => {
	const whole = tokensOf(text).map(({ from, to }) => text.slice(from, to)).join('');
	return whole === text ? place(text, period, mistakes[i] ?? []).map(({ from, to }) => text.slice(from, to)) : [`tokens: ${whole}`];
});

/** numbers returns a generator of numbers below n, the same ones each time. */
function numbers(seed: number): (n: number) => number {
	let state = seed;
	return (n) => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return Math.floor((state / 2 ** 32) * n);
	};
}

test('a fragment that was written is read again as the same place', () => {
	const below = numbers(7);
	const alphabet = ['a', '=', '&', '?', '#', '/', '@', '%', '+', ' ', ',', '"', 'é', '😀', ':', '\n', '..', '%41'];
	const text = (): string => Array.from({ length: below(8) }, () => alphabet[below(alphabet.length)] ?? '').join('');
	for (let i = 0; i < 2000; i++) {
		const screen = screens[below(screens.length)] ?? 'dashboard';
		const events = screen === 'events';
		const config = screen === 'planets' || screen === 'reports' ? text() : '';
		const report = screen === 'reports' && config !== '' ? text() : '';
		const versioned = screen === 'reports' ? report !== '' : config !== '';
		const filled: Place = {
			...start, // for the order of the members
			screen,
			record: events && below(2) === 1 ? 'AYCg1e3u-ZkkKks0Jp4_QIMFr' : null,
			config, report, version: versioned && below(2) === 1 ? 1 + below(50) : null, tab: text(),
			against: text(), select: text(), other: text(), by: !events && below(2) === 1 ? ['country', 'headers["a"]'] : null,
			facets: below(2) === 1 ? ['ip', 'headers["a"]'] : null, chart: text(), sort: text(),
			table: below(2) === 1, many: below(2) === 1, find: text(), panel: text(),
			filter: text(), period: text(), segment: below(2) === 1 ? '15m' : '',
			columns: below(2) === 1 ? ['timestamp', 'status'] : null, zone: text(),
			live: below(2) * 5, others: below(3) === 0 ? [['x' + text(), text()]] : [],
		};
		equal(readFragment(writeFragment(filled)), filled, writeFragment(filled));
	}
});

test('a period is compared with the one before, an earlier one or another one', () => {
	const hour = { from: Date.UTC(2026, 0, 2, 10), to: Date.UTC(2026, 0, 2, 11) };
	equal(comparedWith('', hour), previous(hour));
	equal(comparedWith('previous', hour), previous(hour));
	equal(comparedWith('1d', hour), { from: Date.UTC(2026, 0, 1, 10), to: Date.UTC(2026, 0, 1, 11) });
	equal(comparedWith('2026-01-01T00:00Z..2026-01-01T01:00Z', hour), { from: Date.UTC(2026, 0, 1), to: Date.UTC(2026, 0, 1, 1) });
	equal(comparedWith('blocked', hour), null);
});

test('the advice of a refusal is read', () => {
	for (const [message, want] of [
		['segment: segments of 1m cut the period into as many as 527041 results, more than 10000; the shortest that fits is 1h',
			{ segment: '1h' }],
		['1440 segments of 1m and 20 series are more than 10000 results; the shortest segment that fits is 5m', { segment: '5m' }],
		['it was stopped after 300 bytes. Half the period should fit: timestamp between 2026-01-01 10:48:01 and 2026-01-01 11:20:01',
			{ period: '2026-01-01T10:48:01Z..2026-01-01T11:20:01Z' }],
		['overlaps the period; use previous, a length of time of at least 7d, or times outside the period', { against: '7d' }],
		['the filter has more conditions than the engine supports; use fewer', null],
	] as const) equal(adviceOf(message), want, message);
});

test('each condition is left out in turn, the first six of many', () => {
	equal(withoutEach('a=1, b="x, y", not c=3'), [
		{ condition: 'a=1', filter: 'b="x, y", not c=3' }, { condition: 'b="x, y"', filter: 'a=1, not c=3' },
		{ condition: 'not c=3', filter: 'a=1, b="x, y"' },
	]);
	equal(withoutEach('a=1'), [{ condition: 'a=1', filter: '' }]);
	equal(withoutEach(''), []);
	equal(withoutEach('[{"field":"a","op":"eq","value":1}]'), []);
	equal(withoutEach('a=1, b=2, c=3, d=4, e=5, f=6, g=7').length, 6);
});

test('the nearest segment with requests is found on both sides', () => {
	const at = (...counts: number[]) => counts.map((n, i) => ({ time_period: i * 60, num_of_requests: n }));
	const asked = { from: 300_000, to: 360_000 };
	equal(nearest(at(0, 5, 0, 0, 0, 0, 0, 0, 7), 60, asked), { from: 480_000, to: 540_000, requests: 7 });
	equal(nearest(at(0, 0, 0, 5, 0, 0, 0, 0, 7), 60, asked), { from: 180_000, to: 240_000, requests: 5 });
	equal(nearest(at(0, 0, 0), 60, asked), null);
});

test('the fields that split a chart are not those beside it', () => {
	equal([readFragment('#/?by=ip').by, readFragment('#/?by=ip').facets], [['ip'], null]);
	equal([readFragment('#/events?by=ip').by, readFragment('#/events?by=ip').facets], [null, ['ip']]);
	equal(readFragment('#/events?by=ip&facets=host').facets, ['host']);
});

test('an unknown member of a fragment is kept', () => {
	const fragment = '#/events?f=status%3D404&t=30m&more=5';
	equal(writeFragment(readFragment(fragment)), fragment);
});

test('a fragment that is not understood is the start', () => {
	for (const fragment of ['', '#', '#/', '#nonsense', '#/events/broken%', '#/events/id@2026-01-01T20:45:01Z']) {
		equal(readFragment(fragment).filter, start.filter, fragment);
		equal(readFragment(fragment).record, null, fragment);
	}
});

test('a relative period ends now, an absolute one never moves', () => {
	const now = Date.UTC(2026, 0, 1, 12, 0, 0, 999);
	equal(resolve('30m', now), { from: Date.UTC(2026, 0, 1, 11, 30), to: Date.UTC(2026, 0, 1, 12) });
	const fixed = '2026-01-01T10:00Z..2026-01-01T10:05:30Z';
	const period = resolve(fixed, now);
	equal(period, resolve(fixed, now + 1e9));
	equal(period && absolute(period), fixed);
	for (const text of ['', '30', '0m', '1x', '2026-01-01', '2026-13-01..2026-01-02', 'a..b']) equal(resolve(text, now), null, text);
});

test('a segment is cut at both ends of its period', () => {
	const segment = (from: string): number => Date.parse(from) / 1000;
	const period = '2026-01-01T10:07Z..2026-01-01T10:31Z';
	equal(segmentIn(period, segment('2026-01-01T10:00Z'), 900), '2026-01-01T10:07Z..2026-01-01T10:14:59.999Z');
	equal(segmentIn(period, segment('2026-01-01T10:15Z'), 900), '2026-01-01T10:15Z..2026-01-01T10:29:59.999Z');
	equal(segmentIn(period, segment('2026-01-01T10:30Z'), 900), '2026-01-01T10:30Z..2026-01-01T10:31Z');
});

test('periods move, grow and have one before them', () => {
	const p = { from: 1000, to: 5000 };
	equal(shift(p, -1), { from: -3000, to: 1000 });
	equal(zoomOut(p), { from: -1000, to: 7000 });
	equal(previous(p), { from: -3000, to: 999 });
	equal(previous({ from: 5, to: 5 }), { from: 4, to: 4 });
});

test('a chart has no more segments than fit', () => {
	const hours = (n: number) => ({ from: 0, to: n * 3_600_000 });
	equal([0.5, 6, 24, 48, 168, 24 * 365, 24 * 365 * 10].map((n) => segmentFor(hours(n), 400)),
		['1m', '1m', '5m', '15m', '1h', '1d', '16d']);
});

test('times are read in their zone, also where clocks change', () => {
	equal(parseTime('2026-07-01 12:00', 'Europe/Berlin'), Date.UTC(2026, 6, 1, 10));
	equal(parseTime('2026-01-01 12:00', 'Europe/Berlin'), Date.UTC(2026, 0, 1, 11));
	equal(parseTime('2026-03-29 03:00', 'Europe/Berlin'), Date.UTC(2026, 2, 29, 1));
	equal(parseTime('2026-01-01T12:00:00.5+05:30', 'UTC'), Date.UTC(2026, 0, 1, 6, 30, 0, 500));
	equal(parseTime('2026-01-01', 'Asia/Kathmandu'), Date.UTC(2025, 11, 31, 18, 15));
	for (const text of ['2026-02-30', '2026-01-01 24:01', 'yesterday', '2026-1-1', '']) equal(parseTime(text, 'UTC'), null, text);
});

test('times are shown with the clock of 24 hours', () => {
	const ms = Date.UTC(2026, 0, 1, 0, 5, 9, 7);
	equal(clockIn(ms, 'UTC', 'milliseconds'), '00:05:09.007');
	equal(clockIn(ms, 'America/New_York', 'minutes'), '19:05');
	equal(momentIn(ms - 7, 'UTC'), '2026-01-01 00:05:09');
	equal(periodIn({ from: 0, to: 3_600_000 }, 'UTC'), '1970-01-01 00:00 – 01:00');
});

test('a selection is whole segments', () => {
	const times = [0, 900, 1800, 2700];
	equal(between(times, 950, 1799), { first: 1, last: 1 });
	equal(between(times, 2000, 899), { first: 0, last: 2 });
	equal(between(times, -50, 9000), { first: 0, last: 3 });
	const lines = [[null, 1, null, null], [null, 2, 3, null]];
	equal(drawn({ first: 0, last: 3 }, lines), { first: 1, last: 2 });
	equal(drawn({ first: 3, last: 3 }, lines), null);
	equal(selectedOf(lines[0] ?? [], { first: 0, last: 2 }), [1]);
	const period = '2026-01-01T10:00Z..2026-01-01T10:29:59.999Z';
	equal(nameOfSelection(period, 'Europe/Berlin'), '2026-01-01 11:00 – 11:30');
	equal(conditionOfSelection(period), 'timestamp between 2026-01-01 10:00:00 and 2026-01-01 10:29:59.999');
});

test('tokens are the whole text, in order', () => {
	const below = numbers(3);
	const parts = ['host', '=', '"a, b"', ',', ' ', 'not', 'in', '(', ')', '~', 'between', 'and', '[', ']', '"', '\\',
		'status', '>=', '5', 'is true', '😀'];
	for (let i = 0; i < 3000; i++) {
		const text = Array.from({ length: below(14) }, () => parts[below(parts.length)] ?? '').join('');
		const tokens = tokensOf(text);
		equal(tokens.map((token) => text.slice(token.from, token.to)).join(''), text);
	}
});

test('tokens have kinds', () => {
	const kinds = (text: string): string => tokensOf(text).filter((t) => t.kind !== 'space')
		.map((t) => `${t.kind}:${text.slice(t.from, t.to)}`).join(' ');
	equal(kinds('status>=500, host="a, b"'), 'field:status operator:>= value:500 mark:, field:host operator:= value:"a, b"');
	equal(kinds('not headers["x"] ~ (a|b)c'), 'word:not field:headers mark:[ key:"x" mark:] operator:~ value:(a|b)c');
	equal(kinds('country not in (Germany, France)'),
		'field:country word:not word:in mark:( value:Germany mark:, value:France mark:)');
	equal(kinds('status between 1 and 2'), 'field:status word:between value:1 word:and value:2');
	equal(kinds('path!~(\\.png$, \\.css$)'), 'field:path operator:!~ mark:( value:\\.png$ mark:, value:\\.css$ mark:)');
	equal(kinds('blocked is true'), 'field:blocked word:is value:true');
});

test('what may stand at the caret', () => {
	const at = (marked: string) => {
		const caret = marked.indexOf('|');
		const { kind, field, typed } = expectedAt(marked.replace('|', ''), caret);
		return `${kind} ${field} ${typed}`;
	};
	equal(at('|'), 'field  ');
	equal(at('ho|'), 'field  ho');
	equal(at('status>=500, co|'), 'field  co');
	equal(at('status |'), 'operator status ');
	equal(at('host="sh|'), 'value host "sh');
	equal(at('host=|'), 'value host ');
	equal(at('country in (Germany, Fr|'), 'value country Fr');
	equal(at('headers["accept"]=|'), 'value headers["accept"] ');
	equal(at('headers["acc|'), 'key headers "acc');
	equal(at('headers [ ~x|'), 'key headers x');
	equal(at('path begins w|'), 'operator path begins w');
	equal(at('host="shop.example"|'), 'next host ', 'after a whole value');
	equal(at('host="shop.example" |'), 'next host ');
	equal(at('host="a\\"b|'), 'value host "a\\"b', 'the quote belongs to the value');
	equal(at('host="shop.example"|, status=200'), 'value host "shop.example"', 'the next condition is there');
	equal(at('country in ("Germany"|'), 'next country ');
	equal(at('country in (Germany) |'), 'next country ');
});

test('conditions are added, replaced by their opposite, and taken away', () => {
	const fact = { field: 'country', value: 'Germany' };
	equal(addOnly('', fact), 'country="Germany"');
	equal(addOnly('country="Germany"', fact), 'country="Germany"');
	equal(addWithout('status>=500, country="Germany"', fact), 'status>=500, country!="Germany"');
	equal(addOnly('country!="Germany", host~"a,b"', fact), 'host~"a,b", country="Germany"');
	equal(only({ field: 'blocked', value: true }), 'blocked is true');
	equal(without({ field: 'status', value: 404 }), 'status!=404');
	equal(only({ field: 'ip', value: '203.0.113.7/24' }), String.raw`ip~"^203\.0\.113\.7/24$"`);
	equal(without({ field: 'ip', value: 'a/b' }), 'ip!~"^a/b$"');
	equal(['string', 'integer', 'boolean'].map((type) => absent('f', type)),
		[['not f~""'], ['not f>=0', 'not f<0'], ['f not is true', 'f not is false']]);
	equal([present('f'), present('headers["a/24"]')], ['f~""', 'headers["a/24"]~""']);
});

test('a value of networks is a network in conditions', () => {
	const fact = { field: 'ip/24', value: '203.0.113.0/24' };
	equal(addOnly('ip!="203.0.113.0/24"', fact), 'ip="203.0.113.0/24"');
	equal(without(fact), 'ip!="203.0.113.0/24"');
	equal(only({ field: 'ip/64', value: '2001:db8::/64' }), 'ip="2001:db8::/64"');
	equal(absent('ip/16', 'string'), ['ip!="0.0.0.0/0"']);
	equal(absent('ip/48', 'string'), ['ip!="::/0"']);
	equal([present('ip/24'), present('ip/64')], ['ip="0.0.0.0/0"', 'ip="::/0"']);
});

test('fields and their networks are offered together', () => {
	const fields = [fieldOf('host', false), { ...fieldOf('ip', true), networks: ['ip/24', 'ip/64'] },
		{ ...fieldOf('headers', true), key: { rule: 'folded', names: ['accept'] } }, { ...fieldOf('timestamp', false), groupable: false }];
	equal(groupings(fields).map(({ name, label }) => `${name}: ${label}`),
		['host: host', 'ip: ip', 'ip/24: network /24', 'ip/64: network /64']);
	equal(choices(fields, ['ip', 'headers["a/24"]']).at(-1), ['headers["a/24"]', 'headers["a/24"]']);
});

test('the name of a field is without its key and the length of a prefix', () => {
	equal(['ip', 'ip/24', 'headers["a/b"]'].map(nameOf), ['ip', 'ip', 'headers']);
});

test('texts in quotes are read again as they were', () => {
	const unquote = (text: string): string => text.slice(1, -1).replace(/\\(["\\])/g, '$1');
	for (const text of ['', 'a', '"', '\\', 'a\\"b', 'C:\\x\\', '\\\\', '\\d+', 'Block - acl Deny ["all"]']) {
		equal(unquote(quote(text)), text, quote(text));
		equal(conditionsOf(`a=${quote(text)}, b=1`).length, 2, quote(text));
	}
});

test('a period in a filter is taken out', () => {
	const split = splitPeriod('status=404, timestamp between 2026-01-01 10:00 and 2026-01-01 09:00, host="and b"', 0);
	equal(split.filter, 'status=404, host="and b"');
	equal(split.period, '2026-01-01T09:00Z..2026-01-01T10:00Z');
	equal(splitPeriod('not timestamp between 2026-01-01 and 2026-01-02', 0).period, null);
});

test('a pasted relative period stays relative if it ends now', () => {
	const now = Date.UTC(2026, 0, 2, 12, 30, 5, 9);
	const cases: [string, string | null][] = [
		['now-15m and now', '15m'], ['now-2h and now-1h', '2026-01-02T10:30:05Z..2026-01-02T11:30:05Z'],
		['yesterday and today', '2026-01-01T00:00Z..2026-01-02T00:00Z'], ['today and now', '2026-01-02T00:00Z..2026-01-02T12:30:05Z'],
		['2026-01-01 10 and 20260101T2400', '2026-01-01T10:00Z..2026-01-02T00:00Z'],
		['now-0m and now', '2026-01-02T12:30:05Z..2026-01-02T12:30:05Z'],
		['now-1y and now', null],
	];
	for (const [text, want] of cases) {
		const filter = `timestamp between ${text}, status=404`;
		equal(splitPeriod(filter, now), { filter: want === null ? filter : 'status=404', period: want }, text);
	}
	equal(periodText('yesterday', 'today', 'Europe/Berlin', now), '2025-12-31T23:00Z..2026-01-01T23:00Z');
});

test('mistakes are placed by bytes', () => {
	equal(unitsOf('é😀x', 2), 1);
	equal(unitsOf('é😀x', 6), 3);
	const typed = 'host="😀", hots=1';
	const prefix = 'timestamp between 2026-01-01 and 2026-01-02, ';
	const placed = place(typed, prefix, [{ code: 'unknown_field', message: 'm', offset: prefix.length + 13, length: 4 }]);
	equal(placed.map(({ from, to }) => typed.slice(from, to)), ['hots']);
	equal(place('host=', prefix, [{ code: 'c', message: 'm', offset: prefix.length + 5, length: 0 }])[0]?.from, 4);
});

test('numbers and sizes', () => {
	equal([0, 999, 1000, 8_200_000, 606_100_000].map(bytes), ['0 B', '999 B', '1.0 kB', '8.2 MB', '606 MB']);
	equal([0.2, 41, 1300, 12_000].map(milliseconds), ['<1 ms', '41 ms', '1.3 s', '12 s']);
	equal([0, 0.00005, 1.5].map(dollars), ['$0', '$0.000050', '$1.50']);
	equal([share(0, 0), share(0, 5), share(1, 42), share(1, 5000), share(4999, 5000), share(5, 5)],
		['–', '0 %', '2.4 %', '<0.1 %', '>99.9 %', '100 %']);
	equal([share(1, 100), share(12, 100), share(9966, 10_000), share(999, 1000), share(992, 1000)],
		['1.0 %', '12 %', '99.7 %', '99.9 %', '99 %']);
	equal([0.004, 0.31, 2.46, 9.96, 99.6, 1204.4].map(times), ['<0.01', '0.31', '2.5', '10', '100', '1,204']);
	equal(changeOf(121, 100), { sign: 'more', text: '21 %' });
	equal(changeOf(5, 0), { sign: 'new', text: 'none before' });
	equal(changeOf(300, 10), { sign: 'more', text: '× 30' });
});

test('periods that the data has only in part', () => {
	const oldest = '2026-01-01T10:00:00.5Z';
	const begins = Date.parse('2026-01-01T10:00:00Z');
	const asked = (from: string, to: string, of: string | null = oldest) =>
		({ oldest: of, period: { from: `2026-01-01T${from}Z`, to: `2026-01-01T${to}Z` } });
	equal(beginOf([asked('09:00', '10:01')]), begins, 'its end');
	equal(beginOf([asked('08:00', '09:00')]), begins, 'nothing of it');
	equal(beginOf([asked('11:00', '12:00'), asked('09:59', '10:58')]), begins, 'one of two periods');
	equal(beginOf([asked('10:00', '11:00')]), null, 'all but the first moment');
	equal(beginOf([asked('08:00', '09:00', null)]), null, 'not known');
	equal(beginOf([]), null);
});

test('heavy questions wait', () => {
	const light = { objects: 24, bytes: { low: 2e6, high: 8e6 }, wait_ms: null };
	equal(isHeavy(light), false);
	equal(isHeavy({ ...light, bytes: { low: 1, high: 2e9 } }), true);
	equal(isHeavy({ ...light, cost_usd: { low: 0, high: 0.02 } }), true);
	equal(priceOf(light), 'reads 2.0 MB–8.0 MB of 24 objects');
	equal(addUp([light, light]).bytes, { low: 4e6, high: 16e6 });
	const slow = { bytes: null, wait_ms: { low: 1, high: 6000 } };
	equal(addUp([slow, light, { ...slow, wait_ms: { low: 2, high: 3000 } }]).wait_ms, { low: 2, high: 6000 });
	equal(priceOf({ bytes: null, wait_ms: null }), 'reads an unknown amount');
});

test('a question of which the size is not known waits if its period is long, or not known', () => {
	const day = 86_400_000;
	const light = { bytes: { low: 2e6, high: 8e6 }, wait_ms: null, length: 90 * day };
	const unknown = (length: number) => ({ bytes: null, wait_ms: null, length });
	equal([isHeavy(light), isHeavy(unknown(day)), isHeavy(unknown(day + 1)), isHeavy({ bytes: null, wait_ms: null })],
		[false, false, true, true]);
	equal([isHeavy(addUp([light, unknown(day)])), isHeavy(addUp([light, unknown(2 * day)])), isHeavy(addUp([]))], [false, true, false]);
	equal(priceOf(unknown(2 * day)), 'reads an unknown amount in a period of 2 d');
	equal(priceOf(addUp([light, unknown(2 * day)])), 'reads at least 2.0 MB–8.0 MB');
});

test('a question waits, goes on and ends', () => {
	const steps = (...events: Event<string>[]): Asking<string> => events.reduce<Asking<string>>(after, unasked);
	const begun: Event<string> = { kind: 'begun', at: 5 };
	const wait = (until: number | null): Event<string> => ({ kind: 'waiting', until });
	const gone: Event<string> = { kind: 'failed', failure: 'gone', unreachable: true };
	equal(steps(begun), { ...unasked, began: 5 });
	equal(steps(begun, wait(7), wait(9), wait(null)).waiting, 9, 'one of two requests no longer waits');
	equal(steps(begun, wait(7), wait(9), wait(null), wait(null)).waiting, null);
	equal(steps(begun, wait(7), { kind: 'running', running: { queue: 3 } }), { ...unasked, began: 5, running: { queue: 3 }, busy: 1 });
	equal(steps(begun, wait(7), { kind: 'answered', answer: 'a' }), { ...unasked, state: 'done', answer: 'a', began: 5 });
	equal(steps(begun, { kind: 'answered', answer: 'a' }, { kind: 'begun', at: 6 }, gone).answer, 'a', 'an earlier answer stays');
	equal(steps(begun, gone, begun, gone).attempts, 2);
	equal(steps(begun, gone, begun).attempts, 1, 'as long as nothing has responded');
	equal(steps(begun, gone, begun, { kind: 'failed', failure: 'no', unreachable: false }),
		{ ...unasked, state: 'failed', failure: 'no', began: 5 }, 'something has responded');
	equal(steps(begun, gone, begun, { kind: 'answered', answer: 'a' }).attempts, 0);
	equal(steps(begun, { kind: 'held', estimate: { bytes: null, wait_ms: null } }, begun).estimate, null, 'it was run');
	equal(steps(begun, wait(7), { kind: 'cancelled' }), { ...unasked, state: 'cancelled', began: 5 });
});

test('several questions are one', () => {
	const ran: string[] = [];
	const one = (name: string, change: Partial<Asking<string>>) =>
		({ ...unasked, state: 'done' as const, ...change, run: () => ran.push(name), cancel: () => ran.push(`not ${name}`) });
	const asked = together([one('a', { state: 'asking', began: 5 }), one('b', { state: 'asking', began: 3, waiting: 9 }), one('c', {})]);
	equal([asked.state, asked.began, asked.waiting], ['asking', 3, 9]);
	asked.cancel();
	equal(ran, ['not a', 'not b', 'not c']);
	const cancelled = together([one('a', { state: 'failed' }), one('b', { state: 'cancelled' })]);
	equal(cancelled.state, 'cancelled');
	cancelled.run();
	equal(ran.at(-1), 'b', 'only what was cancelled is asked again');
	equal(together([one('a', { state: 'failed' }), one('b', {})]).state, 'done', 'each part says that it failed');
});

test('questions that are heavy together are held, and those without an estimate fail apart', () => {
	const bytes = (n: number): Estimate => ({ bytes: { low: n, high: n }, wait_ms: null });
	const found = (...all: (Estimate | string)[]): PromiseSettledResult<Estimate>[] => all.map((one) =>
		(typeof one === 'string' ? { status: 'rejected', reason: one } : { status: 'fulfilled', value: one }));
	const [light, half] = [bytes(1), bytes(0.6e9)];
	equal(priced(['a', 'b'], found(light, light), [], false), { through: [light, light], failures: new Map() });
	equal('held' in priced(['a', 'b'], found(half, half), [], false), true);
	equal('held' in priced(['a'], found(half), [half], false), true, 'with one that was let through');
	equal(priced(['a', 'b'], found(light, 'away'), [], false), { failure: 'away' });
	equal(priced(['a', 'b'], found('gone', 'away'), [], true), { failure: 'gone' }, 'none has an estimate');
	const apart = priced(['a', 'b'], found(light, 'away'), [], true);
	equal('failures' in apart && [...apart.failures], [['b', 'away']]);
	const held = priced(['a', 'b'], found(bytes(2e9), 'away'), [], true);
	equal('held' in held && held.held.unknown !== 0, true, 'the price is not that of all');
});

test('of the events that arrive, the newest are kept, and what is left out is known', () => {
	const some = (name: string, n: number) => Array.from({ length: n }, (_, i) => ({ record_ref: `${name}${n - i}` }));
	const about = ({ rows, cut, waiting, gap }: Arrived) => [rows.length, rows[0]?.['record_ref'] ?? '', cut, waiting.length, gap];
	const first = arrive(none, some('a', 300), false, false);
	equal(about(first), [300, 'a300', false, 0, false]);
	equal(about(arrive(first, some('b', 1), false, false)), [301, 'b1', false, 0, false]);
	const waiting = arrive(arrive(first, some('b', 1), false, true), some('c', 2), false, false);
	equal(about(waiting), [300, 'a300', false, 3, false], 'what arrives later waits, too');
	equal(about(show(waiting)), [303, 'c2', false, 0, false]);
	equal(about(arrive(first, some('b', mostRows), false, false)), [mostRows, `b${mostRows}`, true, 0, false]);
	equal(about(arrive(first, some('b', 5), true, false)), [5, 'b5', true, 0, false], 'some between are missing');
	equal(about(show(arrive(first, some('b', 5), true, true))), [5, 'b5', true, 0, false]);
	equal(arrive(first, [], false, false), first);
});

const blocked = (reason: string, more: LogRecord = {}): LogRecord =>
	({ result: 'Blocked', blocked: true, reason: `Block - ${reason}`, ...more });

test('every initiator has a sentence', () => {
	const cases: [LogRecord, string][] = [
		[blocked('acl Deny ["geo-anon"] - acl2 - [request]', {
			acl_triggers: { trigger_id: 'acl2', trigger_name: 'No anonymizers' },
		}),
			'Access control profile acl2 “No anonymizers” blocked it, because it carries the tag geo-anon. The origin never saw it.'],
		[blocked('acl Deny Bot ["bot"] - acl3 - [request]'),
			'Access control profile acl3 blocked it as a bot, because it carries the tag bot. The origin never saw it.'],
		[blocked('acl Deny ["a","b"] - acl1 - [request]'),
			'Access control profile acl1 blocked it, because it carries the tags a and b. The origin never saw it.'],
		[blocked('content filter ["sqli"] - cf1 - [args]', { cf_triggers: [{ section: 'args', name: 'q', value: "' or 1=1" }] }),
			'Content filter cf1 blocked it: “\' or 1=1” in argument q matched sqli. The origin never saw it.'],
		[blocked('content filter restrict ["max-length-args"] - cf1 - [args]', {
			cf_restrict_triggers: [{ section: 'args', name: 'q' }],
		}),
			'Content filter cf1 blocked it: its arguments exceed the limit max-length-args at q. The origin never saw it.'],
		[blocked('global filter ["gf1"] - Known scanners - [headers]', {
			gf_triggers: [{ section: 'headers', name: 'user-agent', value: 'sqlmap' }],
		}), 'Global filter gf1 “Known scanners” blocked it, because “sqlmap” in header user-agent matches. ' +
			'The origin never saw it.'],
		[blocked('rate limit ["login"] - Login attempts - [request]', { rl_triggers: [{ threshold: 20 }] }),
			'Rate limit “Login attempts” blocked it: the client is over the limit of 20 requests. The origin never saw it.'],
		[blocked('dynamic rule ["dr1"] - Too many errors - [request]'),
			'Dynamic rule dr1 “Too many errors” blocked it, because of what the client did before. The origin never saw it.'],
		[blocked('aws-waf MANAGED_RULE_GROUP ["SQLi_QUERYARGUMENTS"] - AWS-AWSManagedRulesSQLiRuleSet - [request]'),
			'AWS WAF blocked it: the rule SQLi_QUERYARGUMENTS of AWS-AWSManagedRulesSQLiRuleSet matched. The origin never saw it.'],
		[{ blocked: true, reason: 'because' }, 'It was blocked: because. The origin never saw it.'],
		[{ blocked: true }, 'It was blocked, and the log gives no reason. The origin never saw it.'],
		[{
			result: 'Challenged', challenge: true, challenge_type: 'js',
			acl_triggers: { trigger_id: 'acl5', trigger_name: 'Humans', tags: ['bot'] },
		}, 'The client’s browser had to prove itself, because access control profile acl5 “Humans” challenges requests ' +
			'with the tag bot.'],
		[{ result: 'Challenged', ichallenge: true }, 'The client had to solve a puzzle before the request could pass.'],
		[{ result: 'Monitored', monitor: true, monitor_reasons: ['Monitor - rate limit ["walk"] - Slow walkers - [request]', 'x'] },
			'It passed. Rate limit “Slow walkers” would have blocked it: the client is over the limit. 1 more rule matched.'],
		[{ result: 'Passed', upstream_status: [502, 200] }, 'It passed and the origin answered it.'],
		[{ result: 'Passed', upstream_status: [404] }, 'It passed, and the origin refused it with the status 404.'],
		[{ result: 'Passed' }, 'It passed.'],
		[{ status: 200 }, 'The log does not say how the request was judged.'],
	];
	for (const [record, want] of cases) equal(why(record), want);
});

test('every result has steps, and what to change depends on the initiator', () => {
	const last = (record: LogRecord): string => stepsOf(record).at(-1)?.text.replace('If it should have passed: ', '') ?? '';
	const cases: [LogRecord, string][] = [
		[blocked('acl Deny ["geo-anon"] - acl2 - [request]'),
			'let access control profile acl2 pass the tag geo-anon, or do not set the tag for the client.'],
		[blocked('content filter ["sqli"] - cf1 - [args]', { cf_triggers: [{ section: 'args', name: 'q', value: "' or 1=1" }] }),
			'exempt the argument q from sqli in content filter cf1, and nothing else.'],
		[blocked('content filter restrict ["max-length-args"] - cf1 - [args]'),
			'raise the limit max-length-args of content filter cf1, or exempt the argument.'],
		[blocked('global filter ["gf1"] - Known scanners - [headers]'), 'take what matched out of global filter gf1 “Known scanners”.'],
		[blocked('rate limit ["login"] - Login attempts - [request]'),
			'raise the threshold of rate limit “Login attempts”. If many clients share an address, let it count them by session.'],
		[blocked('dynamic rule ["dr1"] - Too many errors - [request]'),
			'look at what the client did before, which dynamic rule “Too many errors” goes by.'],
		[blocked('aws-waf MANAGED_RULE_GROUP ["SQLi"] - AWSManagedRulesSQLi - [request]'),
			'let the rule SQLi of AWSManagedRulesSQLi only count, or exempt the path from it in the web ACL.'],
		[{ blocked: true, reason: 'because' }, 'look for the words of the reason in the settings of the gateway.'],
		[{ blocked: true }, 'the gateway’s own log may have the reason, at the same time.'],
		[{ result: 'Challenged', challenge: true, acl_triggers: { trigger_id: 'acl5' } },
			'If it is a program of yours: it has no browser and cannot solve any. Let access control profile acl5 not challenge it.'],
		[{ result: 'Challenged', ichallenge: true }, 'If people give up: the texts and looks of the puzzle are in the planet.'],
		[{ result: 'Passed', upstream_status: [502], upstream_addr: ['192.0.2.9:443'] },
			'Look into the log of the origin 192.0.2.9:443 at this time.'],
		[{ result: 'Passed' }, ''],
		[{ status: 200, ip: '192.0.2.1' }, ''],
	];
	for (const [record, want] of cases) equal(last(record), want);
	const filters = (record: LogRecord) => stepsOf({ ip: '192.0.2.1', host: 'a', path: '/b',
		...record }).map(({ filter = '' }) => filter);
	equal(filters({ blocked: true, reason: 'r', session: 's' }), ['reason="r", human is true', 'session="s"', '']);
	equal(filters({ monitor: true, monitor_reasons: ['m'] }), ['monitor_reasons="m", human is true']);
	equal(filters({ result: 'Passed', upstream_status: [404] }), ['path="/b", host="a", upstream_status>=400', 'ip="192.0.2.1"']);
	equal(filters({ status: 404 }), ['ip="192.0.2.1"']);
});

test('a ticket has what others need, and no secret', () => {
	const sensitive = (field: string): boolean => ['headers', 'cookies', 'query', 'ip', 'arguments'].includes(field);
	const record = blocked('content filter ["sqli"] - cf1 - [headers]', {
		timestamp: '2026-01-01T20:45:01.457Z', ip: '192.0.2.1', country: 'Germany', method: 'GET', host: 'a.example', path: '/b',
		query: '?q=secret', status: 470, headers: { 'x-token': 'secret' }, cookies: { id: 'secret' },
		cf_triggers: [{ section: 'headers', name: 'x-token', value: 'secret' }],
	});
	equal(ticketOf(withoutSecrets(record, sensitive), {
		result: 'Blocked', address: '192.0.2.1', ms: Date.parse('2026-01-01T20:45:01.457Z'), zone: 'Europe/Berlin',
		link: 'https://o.example/#/events/r', filter: 'record_ref="r"',
	}), `Result: Blocked
Why: Content filter cf1 blocked it: “${dots}” in header x-token matched sqli. The origin never saw it.
Time: 2026-01-01 21:45:01.457 Europe/Berlin (2026-01-01 20:45:01.457 UTC)
Address: 192.0.2.1 (Germany)
Request: GET a.example/b?q=${dots}
Status: 470
Rule: content filter cf1: sqli
Record: https://o.example/#/events/r
Filter: record_ref="r"
`);
	const about = { result: 'Passed', address: '', ms: Date.parse('2026-01-01T20:45:01Z'), zone: 'UTC', link: 'l', filter: 'f' };
	equal(ticketOf({}, about),
		'Result: Passed\nWhy: The log does not say how the request was judged.\nTime: 2026-01-01 20:45:01.000 UTC\n' +
		'Request: /\nRecord: l\nFilter: f\n');
	const reason = { reason: 'path' as const, text: 'Nobody asked.', points: -1, counts: [] };
	const verdict = { verdict: 'right' as const, text: 'Probably right' as const, points: -3, reasons: [reason] };
	equal(ticketOf({}, { ...about, verdict }).split('\n').slice(-4), ['Filter: f', 'Verdict: Probably right', 'Reason: Nobody ' +
		'asked.', '']);
	equal(ticketOf({ path: '/a\nVerdict: none' }, about).includes('\nVerdict'), false);
	const unknown = ticketOf(withoutSecrets(record, sensitiveIn([])), about); // without the catalogue
	equal([unknown.includes('Time: 2026-01-01 20:45:01.000 UTC'), unknown.includes('secret')], [true, false]);
});

test('a reason of another grammar is not taken apart', () => {
	for (const text of ['', 'Block', 'Block - magic ["a"] - r - [request]', 'Block - acl Deny - ' +
		'acl1']) equal(readReason(text), null, text);
	equal(readReason('Block - acl Deny ["a \\"b\\""] - x - y - [request]')?.rule, 'x - y');
});

test('a reason is short in a list', () => {
	equal(['Block - rate limit ["login"] - Login attempts - [request]', 'Block - acl Deny Bot ["bot","x"] - acl3 - [request]',
		'Monitor - content filter ["sqli"] - cf1 - [args]', 'because'].map(shortReason),
	['rate limit “Login attempts”: login', 'acl acl3 (bot): bot, x', 'content filter cf1: sqli', 'because']);
});

test('the way of a request ends where it was stopped', () => {
	equal(stagesOf({ blocked: true, processing_stage: 4 }).map((s) => s.state),
		['passed', 'passed', 'stopped', 'not reached', 'not reached']);
	equal(stagesOf({ result: 'Passed', processing_stage: 6 }).map((s) => s.state), Array(5).fill('passed'));
	equal(stagesOf({}), []);
});

test('only keeps the requests with the result that is shown', () => {
	const conditions = (record: LogRecord) => {
		const fact = factOfResult(record);
		return fact && [only(fact), without(fact)];
	};
	equal(conditions({ result: 'Passed', upstream_status: [404] }), ['upstream_status>=400', 'not upstream_status>=400']);
	equal(conditions({ result: 'Passed', upstream_status: [200] }), ['result="Passed"', 'result!="Passed"']);
	equal(conditions({ result: 'Monitored', monitor: true }), ['result="Monitored"', 'result!="Monitored"']);
	equal(conditions({ blocked: true }), ['blocked is true', 'blocked not is true']);
	equal(conditions({ ichallenge: true }), ['ichallenge is true', 'ichallenge not is true']);
	equal(conditions({ status: 200 }), null);
});

test('results have the word of what decided', () => {
	equal([{ blocked: true, monitor: true }, { ichallenge: true }, { monitor_reasons: ['x'] }, { upstream_status: [200, 503] }, {}]
		.map((record) => resultOf(record)), ['blocked', 'challenged', 'monitored', 'refused', 'passed']);
});

test('a record of an access log does not say what happened to its request', () => {
	equal([{ result: 'Passed' }, { blocked: false }, { upstream_status: [200] }, { monitor: true }, { status: 200 }, { result: null }]
		.map((record) => isJudged(record)), [true, true, true, true, false, false]);
});

const fieldOf = (name: string, sensitive: boolean) =>
	({ name, type: 'string', operators: [], doc: '', group: '', groupable: true, sensitive });
const sensitive = sensitiveIn([
	...['headers', 'cookies', 'arguments', 'query', 'session', 'ip'].map((name) => fieldOf(name, true)),
	...['host', 'method', 'path', 'status', 'details', 'trigger_counters', 'tags'].map((name) => fieldOf(name, false)),
]);

test('what the catalogue calls sensitive is masked, and what repeats it', () => {
	const record = {
		headers: { Authorization: 'Bearer s3cret', 'x-account': 's3cret', Accept: '*/*' }, cookies: { sid: 's3cret' },
		arguments: { token: 's3cret', q: ['s3cret'] }, query: '?token=s3cret&s3cret', session: 's3cret', session_ids: { sid: 's3cret' },
		ip: '192.0.2.1', host: 'a.example', method: 'POST', path: '/../[x]', unknown: 's3cret',
		cf_triggers: [
			{ section: 'args', name: 'token', value: 's3cret', ruleid: 'r1' }, { section: 'uri', value: '/x' }, { value: 's3cret' },
		],
		proxy: [{ name: 'realip', value: '192.0.2.1' }, { name: 'status', value: '200' }],
	};
	const masked = JSON.stringify(withoutSecrets(record, sensitive));
	equal(/s3cret|192/.test(masked), false, masked);
	for (const kept of ['*/*', 'sid', '"r1"', '"/x"', '"200"', `token=${dots}&${dots}`]) equal(masked.includes(kept), true, kept);
	equal(requestAsCurl(withoutSecrets(record, sensitive)), `curl -i --path-as-is -g -X POST ` +
		`'https://a.example/../[x]?token=${dots}&${dots}' -H 'Authorization: ${dots}' -H 'x-account: ${dots}' ` +
		`-H 'Accept: */*' -b 'sid=${dots}'`);
	equal(requestAsCurl(record).includes('sid=s3cret'), true);
	const leaves = groupsOf(record, sensitive).flatMap((group) => [...group.leaves,
		...group.triggers.flatMap((one) => one.rows.flat(2))]);
	equal(leaves.filter((leaf) => !leaf.secret).map((leaf) => leaf.text),
		['POST', 'a.example', '/../[x]', '*/*', '192.0.2.1', 'args', 'token', 'r1', 'uri', '/x', '200']);
});

test('conditions on what the catalogue calls sensitive are masked', () => {
	const plain = ['ip="192.0.2.1"', 'host="a.example"', 'status>=400'];
	const secret = ['session="s3 , cret"', 'not session in ("s3cret", s3cret)', 'arguments["token"]~"^s3cret"', 'unknown=s3cret'];
	equal([...plain, ...secret].map((condition) => conditionWithoutSecrets(condition, sensitive)), [
		...plain, `session=${dots}`, `not session in (${dots}, ${dots})`, `arguments["token"]~${dots}`, `unknown=${dots}`,
	]);
});

test('without a catalogue everything is masked', () => {
	equal(withoutSecrets({ host: 'a', status: 200 }, sensitiveIn([])), { host: dots, status: dots });
});

test('every member of a record is a leaf', () => {
	const record = {
		host: 'a', tags: ['x', 'y'], headers: { a: ['1', '2'] }, trigger_counters: { acl: 1 }, unknown: { deep: 1 },
		proxy: [{ name: 'status', value: '200' }], details: null,
	};
	equal(groupsOf(record, sensitive).flatMap((group) => group.leaves).map((leaf) => `${leaf.field}=${leaf.text}`).sort(), [
		'details=null', 'headers["a"]=1', 'headers["a"]=2', 'host=a', 'proxy["status"]=200', 'tags=x', 'tags=y',
		'log_rest["unknown.deep"]=1', 'trigger_counters["acl"]=1',
	].sort());
});

test('the members that are no fields have conditions on log_rest', () => {
	const record = {
		host: 'a', level: 'error', retries: 3, ok: false, none: null, user: { name: 'ann', roles: ['x', { id: 1 }] }, log_rest: 'y',
		deep: [[[[[[[[['z']]]]]]]]], proxy: [{ name: 'log_rest', value: 'and more' }],
	};
	const leaves = groupsOf(record, () => false).find((group) => group.name === 'more')?.leaves ?? [];
	equal(leaves.map(({ field, name, value }) => [name, value === null ? null : only({ field, value })]), [
		['level', 'log_rest["level"]="error"'], ['retries', 'log_rest["retries"]="3"'], ['ok', 'log_rest["ok"]="false"'], ['none', null],
		['user.name', 'log_rest["user.name"]="ann"'], ['user.roles', 'log_rest["user.roles"]="x"'],
		['user.roles.id', 'log_rest["user.roles.id"]="1"'], ['log_rest', 'log_rest["log_rest"]="y"'], ['deep', null],
		['proxy · log_rest', 'proxy["log_rest"]="and more"'],
	]);
});

test('a shell reads arguments as they are', () => {
	equal([shell('plain-1'), shell("it's"), shell('$HOME')], ['plain-1', `'it'\\''s'`, `'$HOME'`]);
});

const installed: Installation = {
	version: '1', engine: 'scan', extent: { from: '2026-01-01T00:00:00Z', to: '2026-01-01T01:00:00Z' },
	complete_through: '2026-01-01T01:00:00Z', kept: null, records: 1, objects: 1, bytes: 1,
	hours: [{ partition: '2026/01/01/10', objects: 1, records: 1, bytes: 1, compacted: true }],
	ingest: { watching: true, last_source: null, last_at: null, quarantined: { lines: 0, newest_code: null } },
	price: null, limits: { limit: {}, wait_seconds: null }, features: [], key: null,
};

test('the status has what asks for a hand', () => {
	const now = Date.UTC(2026, 0, 1, 2);
	const states = (change: Partial<Installation>): string =>
		checksOf({ ...installed, ...change }, now).map(({ name, state }) => `${name} ${state}`).join(', ');
	equal(states({}), 'data well, complete well, import well, quarantine well, queue well');
	equal(states({ complete_through: '2025-12-31T23:00:00Z' }), 'data well, complete act, import well, quarantine well, queue well');
	equal(states({ extent: null, complete_through: null, ingest: null, hours: null }),
		'data act, complete unknown, import unknown, quarantine unknown, queue unknown');
	const rejected = { watching: false, last_source: null, last_at: null, quarantined: { lines: null, newest_code: 'bad_json' } };
	equal(states({ ingest: rejected }), 'data well, complete well, import hint, quarantine act, queue well');
	const key = { name: 'k', scopes: [], branches: null, expires: '2026-01-10T00:00:00Z' };
	equal(states({ key }).endsWith('key act'), true);
	equal(states({ key: { ...key, expires: null } }).endsWith('key well'), true);
});

test('hours without records are between those with records', () => {
	const hour = { objects: 1, records: 1, bytes: 1, compacted: true };
	const slots = slotsOf([{ ...hour, partition: '2026/01/01/01' }, { ...hour, partition: '2025/12/31/23' }]);
	equal(slots.map((slot) => [new Date(slot.from).toISOString().slice(0, 13), slot.hour !== null]),
		[['2025-12-31T23', true], ['2026-01-01T00', false], ['2026-01-01T01', true]]);
	equal(slotsOf([]), []);
});

test('settings that are read and written are the same', () => {
	const text = '{"b":1.0,"a":[12345678901234567890,-1e5,"\\u00e9\\n"],"__proto__":{},"2":null,"1":[true,false,{}]}';
	const want = '{"b":1.0,"a":[12345678901234567890,-1e5,"é\\n"],"__proto__":{},"2":null,"1":[true,false,{}]}';
	equal(writeJSON(readJSON(text)), want);
	equal(writeJSON(readJSON(pretty(readJSON(text)))), want);
	equal(equalJSON(readJSON('{"a":1,"b":[2]}'), readJSON('{"b":[2],"a":1}')), true);
	equal(equalJSON(readJSON('{"a":1.0}'), readJSON('{"a":1}')), false);
	equal(equalJSON(readJSON('[]'), undefined), false);
});

test('what is not JSON has a place', () => {
	const at = (text: string): string => {
		try {
			return `read: ${writeJSON(readJSON(text))}`;
		} catch (error) {
			const { line, column } = lineOf(text, error instanceof NotJSON ? error.at : -1);
			return `${line}:${column}`;
		}
	};
	equal(['{"a":1,}', '{\n "a" 1}', '[1 2]', '"x', '', '{"a":1,"a":2}', '01', 'tru', '["\t"]', '1 2'].map(at),
		['1:8', '2:6', '1:4', '1:1', '1:1', '1:8', '1:2', '1:1', '1:2', '1:3']);
});

test('what is not JSON for the browser is not JSON here, and the other way round', () => {
	const below = numbers(11);
	const parts = ['{', '}', '[', ']', ',', ':', '"a"', '"b\\""', '1', '-0.5e3', '01', 'true', 'null', ' ', '\n', '"', '\\', '-'];
	for (let i = 0; i < 20_000; i++) {
		const text = Array.from({ length: 1 + below(7) }, () => parts[below(parts.length)] ?? '').join('');
		const read = (how: () => unknown): boolean => {
			try {
				how();
				return true;
			} catch {
				return false;
			}
		};
		const [browser, own] = [read(() => JSON.parse(text)), read(() => readJSON(text))];
		const twice = browser && !own && text.split('"a"').length > 2; // a member that is there twice
		if (browser !== own && !twice) equal(own, browser, text);
	}
});

test('differences name members, and networks by their addresses', () => {
	const changes = (a: string, b: string): string[] => differenceOf(readJSON(a), readJSON(b))
		.map((change) => `${change.kind} ${pathText(change.path)}`);
	equal(changes('{"name":"a","x":1}', '{"name":"b","y":1}'), ['changed name', 'added y', 'removed x']);
	equal(changes('{"trusted_nets":[{"address":"10.0.0.0/8","comment":"a"},{"address":"::1","comment":""}]}',
		'{"trusted_nets":[{"address":"::1","comment":""},{"gf_id":"f1","comment":""},{"address":"10.0.0.0/8","comment":"b"}]}'),
	['added trusted_nets › f1', 'changed trusted_nets › 10.0.0.0/8 › comment', 'reordered trusted_nets']);
	equal(changes('{"n":[{"address":"a"},{"address":"b"}]}', '{"n":[{"address":"b"},{"address":"a"}]}'), ['reordered n']);
	equal(changes('{"palette":["red"]}', '{"palette":["red","blue"]}'), ['changed palette']);
	equal(changes('{"a":[]}', '{"a":[]}'), []);
});

test('a merge joins what only one changed, and leaves to the reader what both changed', () => {
	const join = (base: string, mine: string, theirs: string, choices: [string, Side][] = []): string => {
		const { merged, conflicts } = merge(readJSON(base), readJSON(mine), readJSON(theirs), new Map(choices));
		return `${merged === undefined ? '' : writeJSON(merged)} ${conflicts.map(({ path }) => pathText(path)).join('|')}`;
	};
	equal(join('{"a":1,"b":1}', '{"a":2,"b":1}', '{"a":1,"b":3}'), '{"a":2,"b":3} ');
	equal(join('{"a":1}', '{"a":2}', '{"a":3}'), '{"a":2} a');
	equal(join('{"a":1}', '{"a":2}', '{"a":3}', [['a', 'theirs']]), '{"a":3} a');
	equal(join('{"a":1,"b":1}', '{"b":1}', '{"a":1,"b":1,"c":1}'), '{"b":1,"c":1} ');
	equal(join('{"a":1}', '{}', '{"a":2}', [['a', 'theirs']]), '{"a":2} a');
	const net = (address: string, comment = ''): string => `{"address":"${address}","comment":"${comment}"}`;
	equal(join(`[${net('1.1.1.1')},${net('2.2.2.2')}]`, `[${net('1.1.1.1')},${net('3.3.3.3')}]`,
		`[${net('1.1.1.1', 'x')},${net('2.2.2.2')},${net('4.4.4.4')}]`),
	`[${net('1.1.1.1', 'x')},${net('3.3.3.3')},${net('4.4.4.4')}] `);
	const [one, two, three] = ['1', '2', '3'].map((address) => net(address)) as [string, string, string];
	equal(join(`[${one},${two}]`, `[${one},${two},${three}]`, `[${two},${one}]`), `[${two},${one},${three}] `);
	equal(join(`[${one},${two}]`, `[${two},${one}]`, `[${one},${two},${three}]`), `[${two},${one},${three}] `);
	equal(join('{"l":[1]}', '{"l":[1,2]}', '{"l":[1,3]}'), '{"l":[1,2]} l');
});

test('networks contain each other', () => {
	equal(insideOf([
		'10.0.0.0/8', '10.1.0.0/16', '10.1.2.3', '192.0.2.1', '::ffff:10.0.0.1', 'x', '2001:db8::/32', '2001:db8:1::', '10.0.0.0/8',
	]),
		['', '10.0.0.0/8', '10.1.0.0/16', '', '10.0.0.0/8', '', '', '2001:db8::/32', '10.0.0.0/8']);
	equal(sizeOf(['10.0.0.0/24', '10.0.0.1', '192.0.2.1', '::1', 'x']), { four: 257, six: 1 });
	for (const text of ['', '10.0.0', '10.0.0.256', '10.0.0.1/33', '1::2::3', '12345::', '10.0.0.1/', 'fe80::1%1', '01.2.3.4']) {
		equal(networkOf(text), null, text);
	}
	equal(['x', '::1', '10.0.0.1', '9.0.0.0/8', '10.0.0.0/8'].sort(compareNetworks),
		['9.0.0.0/8', '10.0.0.0/8', '10.0.0.1', '::1', 'x']);
	equal(linesOf('10.0.0.0/8, office\n\n# a comment\n2001:db8::/32\r\n192.0.2.1 # a b'),
		[{ address: '10.0.0.0/8', comment: 'office' }, { address: '2001:db8::/32', comment: '' },
			{ address: '192.0.2.1', comment: 'a b' }]);
});

test('a change meets the addresses that only one side trusts', () => {
	equal(beyond(['10.0.0.0/8', '10.1.0.0/16', '192.0.2.7', 'x'], []), 'ip in (10.0.0.0/8, 192.0.2.7)');
	equal(beyond(['10.0.0.0/8'], ['10.0.0.0/8']), '', 'the same');
	equal(beyond(['10.0.0.0/8', '::ffff:10.0.0.1'], ['10.1.0.0/16', '10.1.2.0/24', '10.2.0.0/16', '11.0.0.0/8']),
		'ip in (10.0.0.0/8), ip not in (10.1.0.0/16, 10.2.0.0/16)', 'without what was trusted already');
	equal(beyond(['10.1.2.3', '10.3.0.0/16'], ['10.1.0.0/16']), 'ip in (10.3.0.0/16)');
	equal(beyond(['0.0.0.0/0', '2001:DB8:0:0::/32'], ['::1']), 'ip in (0.0.0.0/0, 2001:db8::/32)');
	const settings = (nets: string, challenge = '{}') => readJSON(`{"name":"a","trusted_nets":[${nets}],"ichallenge":${challenge}}`);
	const net = (address: string, comment = '') => `{"address":"${address}","comment":"${comment}"}`;
	equal(metBy(settings(net('10.0.0.0/8')), settings(net('10.0.0.0/8', 'office'))), [], 'another comment meets nobody');
	equal(metBy(settings(net('10.0.0.0/8')), settings(net('11.0.0.0/8'), '{"lang":{"en":"x"}}')),
		[['newly', 'ip in (11.0.0.0/8)'], ['noLonger', 'ip in (10.0.0.0/8)'], ['challenged', 'ichallenge is true']]);
	equal(metBy(undefined, settings('')), [], 'new settings');
	equal(newFilters(settings(''), settings('{"source":"global_filter","gf_id":"f1","comment":""}')), ['f1']);
});

test('a change that trusts everybody or switches something off loosens a check', () => {
	const of = (before: string, after: string): string[] => loosened(readJSON(before), readJSON(after))
		.map((one) => `${one.kind} ${one.kind === 'off' ? '' : one.bits} ${one.name}`);
	const nets = (...addresses: string[]): string =>
		`{"trusted_nets":[${addresses.map((address) => `{"address":"${address}","comment":""}`).join(',')}]}`;
	equal(of(nets(), nets('0.0.0.0/0', '10.0.0.0/8')), ['everybody 32 0.0.0.0/0']);
	equal(of(nets('0.0.0.0/0'), nets('0.0.0.0/0', '64.0.0.0/2')), [], 'they were trusted before');
	equal(of(nets('0.0.0.0/1'), nets('0.0.0.0/1', '128.0.0.0/1')), ['everybody 32 ', 'wide 32 128.0.0.0/1'], 'in parts');
	equal(of(nets(), nets('::/0', '2000::/3')), ['everybody 128 ::/0', 'everybody 128 2000::/3']);
	equal(of(nets(), nets('8.0.0.0/7', '9.0.0.0/8', '2000::/12', '2001:db8::/32')), ['wide 32 8.0.0.0/7', 'wide 128 2000::/12']);
	equal(['0.0.0.0/0', '1.0.0.0/7', '10.0.0.0/8', 'x'].map(reachOf), ['everybody', 'wide', '', '']);
	equal(of('{"checks":{"bots":true,"waf":"block"}}', '{"checks":{"bots":false,"waf":"off"}}'),
		['off  checks › bots', 'off  checks › waf']);
	equal(of('{"checks":{"bots":true,"n":1}}', '{}'), ['off  checks › bots'], 'a switch that is gone');
	equal(of('{"bypass_rate_limit":false}', '{"bypass_rate_limit":true}'), ['off  bypass_rate_limit'], 'a switch of the other sense');
	equal(of('{"bots":false,"disabled":true}', '{"bots":true,"disabled":false}'), [], 'what is switched on');
	equal(of('{"name":"on","ichallenge":{"lang":{"en":"yes"}}}', '{"name":"off","ichallenge":{"lang":{"en":"off"}}}'), [], 'texts');
	equal(of('{"ichallenge":{"attrs":{"enabled":true}}}', '{"ichallenge":{"attrs":{"enabled":false}}}'),
		['off  ichallenge › attrs › enabled']);
});

test('a mistake goes when it is mended, and moves with its entry', () => {
	const of = (...addresses: string[]) => readJSON(`{"name":" ","trusted_nets":[${addresses.map((address) =>
		`{"address":"${address}","comment":""}`).join(',')}]}`);
	const sent = of('1.1.1.1', '10.0.0.300', '2.2.2.2');
	const at = ['trusted_nets', 1, 'address'];
	equal(placeNow(at, sent, sent), at);
	equal(placeNow(at, sent, of('1.1.1.1', '10.0.0.3', '2.2.2.2')), null);
	equal(placeNow(at, sent, of('9.9.9.9', '10.0.0.300', '2.2.2.2')), at, 'another entry was changed');
	equal(placeNow(at, sent, of('10.0.0.300', '2.2.2.2')), ['trusted_nets', 0, 'address'], 'an entry before it is gone');
	equal(placeNow(at, sent, of('1.1.1.1', '2.2.2.2')), null, 'its entry is gone');
	equal(placeNow(['name'], sent, readJSON('{"name":"a"}')), null);
	equal(placeNow(['ichallenge', 'lang'], sent, readJSON('{"ichallenge":{"lang":{}}}')), null, 'what was missing is there');
	equal(placeNow(['ichallenge', 'lang'], sent, readJSON('{"ichallenge":{}}')), ['ichallenge', 'lang']);
	const twice = of('10.0.0.0/8', '10.1.0.0/8');
	equal(placeNow(at, twice, twice), at);
	equal(placeNow(at, twice, of('11.0.0.0/8', '10.1.0.0/8')), null, 'the other of two same networks was changed');
	equal(placeNow(at, sent, undefined), at, 'a text that is not JSON');
});

test('completions fit what is typed', () => {
	const field = (name: string, operators: string[]) =>
		({ name, type: 'string', operators, doc: '', group: '', groupable: true, sensitive: false });
	const fields = [field('ip', ['eq']), field('hostname', ['eq']), field('host', ['eq', 'in']), field('upstream_host', ['eq'])];
	equal(fieldOptions(fields, 'host').map((o) => o.label), ['host', 'hostname', 'upstream_host']);
	equal(fieldOptions(fields, 'uph').map((o) => o.label), ['upstream_host'], 'by some of its letters');
	equal(fieldOptions(fields, '').map((o) => o.label), ['host', 'ip', 'hostname', 'upstream_host'], 'the common ones first');
	const country: Field = { ...field('country', ['eq']), type: 'string', example: 'country="Germany"', aliases: ['geo_nation'] };
	equal(fieldOptions([country], 'nation').map((o) => o.example), ['string: country="Germany"'], 'by a name of another product');
	equal(operatorOptions(fields, 'host').map((o) => o.insert), ['=', '!=', ' in (', ' not in (']);
	equal(operatorOptions(fields, 'host', 'is one').map((o) => o.insert), [' in ('], 'by its meaning');
	equal(valueOptions(['a "b"', 5, true], { typed: '', operator: '=' }).map((o) => o.insert), ['"a \\"b\\""', '5', 'true']);
	const headers: Field = { ...field('headers', ['eq']), key: { rule: 'folded', names: ['accept', 'host', 'X-Accept'] } };
	equal(keyOptions([headers], 'headers', '"acc').map((o) => o.insert), ['"accept"]', '"X-Accept"]']);
	equal(take('headers["ac"]=1', expectedAt('headers["ac"]=1', 11), { insert: '"accept"]', label: '', detail: '' }),
		{ text: 'headers["accept"]=1', caret: 17 }, 'the bracket is there');
	const at = expectedAt('status>=500, ho', 15);
	equal(take('status>=500, ho', at, { insert: 'host', label: '', detail: '' }), { text: 'status>=500, host', caret: 17 });
});

test('a pattern is completed by what it is to match', () => {
	const fields: Field[] = [{ name: 'path', type: 'string', operators: ['regex'], doc: '', group: '', groupable: true,
		sensitive: false }];
	const typed = (text: string, label: string): { text: string; caret: number } => {
		const at = expectedAt(text, text.length);
		const found = operatorOptions(fields, at.field, at.typed).find((one) => one.label === label);
		if (!found) throw new Error(`${label} is not offered after ${text}`);
		return take(text, at, found);
	};
	for (const [words, label, begun, sought, taken] of [
		['path cont', 'contains', 'path ~"(?i)|"', { text: 'a.b', part: 'contains' }, 'path ~"(?i)/x/a\\.b"'],
		['path beg', 'begins with', 'path ~"^|"', { text: 'a.b', part: 'prefix' }, 'path ~"^/x/a\\.b"'],
		['path ', '~', 'path ~|', { text: 'a.b', part: 'contains' }, 'path ~"/x/a\\.b"'],
	] as const) {
		const { text, caret } = typed(words, label);
		equal(`${text.slice(0, caret)}|${text.slice(caret)}`, begun);
		const more = `${text.slice(0, caret)}a\\.b`;
		const at = expectedAt(more + text.slice(caret), more.length);
		equal(soughtOf(at), sought);
		equal(take(more + text.slice(caret), at, valueOptions(['/x/a.b'], at)[0] ?? { insert: '', label: '', detail: '' }).text, taken);
	}
	equal(typed('path e', 'ends with'), { text: 'path ~"$"', caret: 7 });
	equal(typed('path ', 'has a value').text, 'path ~""');
});

test('after a whole value, the condition or the list goes on', () => {
	const next = (text: string): string[] => {
		const at = expectedAt(text, text.length);
		return at.kind === 'next' ? nextOptions(at).map((one) => take(text, at, one).text) : [];
	};
	equal(next('country="Germany"'), ['country="Germany", ']);
	equal(next('country="Germany" '), ['country="Germany", ']);
	equal(next('country in ("Germany"'), ['country in ("Germany", ', 'country in ("Germany")']);
	equal(next('timestamp between "2026-01-01"'), ['timestamp between "2026-01-01" and ']);
	equal(next('timestamp between "2026-01-01" and "2026-01-02"'), ['timestamp between "2026-01-01" and "2026-01-02", ']);
	equal(next('country="Germany", '), []);
});

test('what is offered at the caret, before and after the server has answered', () => {
	const fields: Field[] = ['country', 'host'].map((name) =>
		({ name, type: 'string', operators: ['eq'], doc: '', group: '', groupable: true, sensitive: false }));
	const at = (text: string) => placeAt(text, text.length);
	const open = (text: string, asked = false) => offered(at(text), { kind: 'opened', fields, asked });
	const labels = (text: string, event: Completes) => offered(at(text), event)?.options.map((one) => one.label);
	equal(open('')?.options.length, 0, 'nothing in an empty text');
	equal(open('', true)?.options.length, 2, 'unless the reader asks');
	equal([open('coun')?.options[0]?.taken.text, open('coun')?.touched], ['country', true]);
	equal(open('country=')?.touched, false);
	equal(open('[{"field":"coun')?.options.length, 0, 'nothing in the JSON form');
	equal(at('country').wants, null);
	equal(at('country="Ger').wants, { kind: 'values', field: 'country', sought: { text: 'Ger', part: 'prefix' } });
	const values: Completes = { kind: 'values', values: ['Germany', 'Greece'], unavailable: '' };
	equal(labels('country="G', values), ['Germany', 'Greece']);
	equal(labels('country="Germany"', { ...values, values: ['Germany'] }), ['Germany'], 'a whole value is followed by others');
	equal(offered(at('country=5'), { ...values, values: [5] })?.options.length, 0, 'what is typed already is of no use');
	equal(offered(at('host~'), { kind: 'values', values: [], unavailable: 'no lists' })?.note, 'no lists');
	equal(open('host~"a')?.touched, false, 'any text may be a whole pattern');
	equal(offered(at('host='), { kind: 'waiting', note: 'busy' }), { ...noOptions, note: 'busy' });
	equal(at('host=a, @sh').wants, { kind: 'saved' });
	equal(open('host=a, @sh'), null, 'the list stays until the names are there');
	const shop = { name: 'shop', filters: 'host=shop', title: 'The shop' };
	const saved: Completes = { kind: 'saved', list: [shop, { name: 'other', filters: 'a=b' }] };
	equal(offered(at('host=a, @sh'), saved)?.options.map((one) => [one.label, one.detail, one.taken.text]),
		[['@shop', 'The shop', 'host=a, host=shop']]);
});

test('keys move through options', () => {
	const options = ['a', 'b', 'c'].map((label) => ({ label, insert: label, detail: '', taken: { text: label, caret: 1 } }));
	const open = { ...noOptions, options };
	equal([stepped(open, 1).active, stepped(open, -1).active], [0, 2], 'none was chosen yet');
	equal(stepped(stepped(stepped(open, -1), 1), 1).active, 1, 'around the end');
	equal(stepped({ ...open, touched: true }, -1).active, 2);
	equal(closed({ ...open, note: 'busy' }), noOptions);
	equal(closed(noOptions) === noOptions, true, 'nothing is drawn again');
});

const weekly: Definition = {
	title: 'The shop', filters: 'status>=500', period: 'week', at: '07:00', weekday: 'monday', tz: 'Europe/Berlin', template: 'traffic',
	compare: 'previous', when: 'always', deliver: [{ mail: ['a@example.com', 'b@example.com'] }, { to: 'archive' }], max_bytes: 5,
	paused: false,
};

test('a definition that goes through the form is the same', () => {
	equal(bodyOf(formOf(weekly)), weekly);
	const { at: _, weekday: __, ...hourly } = { ...weekly, period: 'hour', when: 'attacks' };
	equal(bodyOf(formOf(hourly)), hourly);
	equal(bodyOf({ ...newForm('UTC'), max_bytes: '1 GB' })['max_bytes'], '1 GB', 'the server reports what is wrong');
	equal(addressesOf('  '), []);
	equal(addressesOf(' a@example.com;b@example.com\n c@example.com, '), ['a@example.com', 'b@example.com', 'c@example.com']);
});

test('the links of a report are places of this console', () => {
	equal(fragmentOf('https://other.example/console/#/events?f=a'), '#/events?f=a');
	equal([undefined, '', 'https://other.example/', 'javascript:alert(1)#x'].map(fragmentOf), ['', '', '', '']);
	equal(secondsOf([{ from: '2026-01-01T00:00:00Z' }, { from: '2026-01-02T00:00:00Z' }]), 86_400);
	equal(secondsOf([{ from: '2026-01-01T00:00:00Z' }]), 3600);
});

test('the report of every Monday has a name of its own and the filter of the page', () => {
	equal([freeName([]), freeName(['weekly']), freeName(['weekly-2', 'weekly', 'x'])], ['weekly', 'weekly-2', 'weekly-3']);
	equal(everyMonday(' ', 'UTC', []), { period: 'week', weekday: 'monday', tz: 'UTC', deliver: [] });
	equal(everyMonday('status=404', 'UTC', [])['filters'], 'status=404');
});

test('members that do not apply to a period are no difference', () => {
	const form = formOf(weekly);
	equal(changesOf(form, { ...form, title: 'x', weekday: 'friday' }), ['title', 'weekday']);
	equal(changesOf({ ...form, period: 'day' }, { ...form, period: 'day', weekday: 'friday' }), []);
	equal(changesOf(form, { ...form, period: 'day' }), ['period', 'weekday']);
});

test('two changes of a definition are joined, and what both changed is asked about', () => {
	const base = formOf(weekly);
	const mine = { ...base, title: 'mine', at: '08:00', paused: true };
	const theirs = { ...base, title: 'theirs', filters: '', paused: true };
	const { joined, conflicts } = join(base, mine, theirs, new Map([['title', 'theirs']]));
	equal(conflicts, ['title']);
	equal(changesOf(joined, { ...base, title: 'theirs', at: '08:00', filters: '', paused: true }), []);
});

test('the last hour, day, week and month are those of the calendar of the zone', () => {
	const now = Date.parse('2026-03-31T22:30:00Z'); // the first of April in Berlin, a Wednesday, after the clocks were put forward
	const want: [string, string, string][] = [
		['hour', '2026-03-31T21:00Z', '2026-03-31T22:00Z'], ['day', '2026-03-30T22:00Z', '2026-03-31T22:00Z'],
		['week', '2026-03-22T23:00Z', '2026-03-29T22:00Z'], ['month', '2026-02-28T23:00Z', '2026-03-31T22:00Z'],
	];
	for (const [unit, from, to] of want) {
		equal(lastPeriod(unit, 'Europe/Berlin', now), { from: Date.parse(from), to: Date.parse(to) }, unit);
	}
	equal(lastPeriod('hour', 'Asia/Kolkata', now).to, Date.parse('2026-03-31T22:30Z'), 'hours of a zone with half an hour');
});

test('chips are the conditions of the server, unless they are not those of the text', () => {
	const json = '{"AND":[{"field":"timestamp","op":"between","value":["a","b"]},{"field":"status","op":"gte","value":500},' +
		'{"field":"country","op":"not in","value":["Germany","France"]},{"field":"headers","key":"host","op":"eq","value":"a,b"}]}';
	const text = 'status>=500, country not in (Germany, France), headers["host"]="a,b"';
	equal(chipsOf(text, json).map(({ field, operator, value }) => `${field} ${operator} ${value}`),
		['status ≥ 500', 'country not in Germany, France', 'headers[host] = a,b']);
	equal(chipsOf('status>=500', json), []);
	const many = Array.from({ length: 9 }, (_, i) => `192.0.2.${i}`);
	equal(chipsOf(`ip in (${many.join()})`, JSON.stringify({ AND: [{}, { field: 'ip', op: 'in', value: many }] })),
		[{ field: 'ip', operator: 'in', value: '9 values' }]);
	equal(withoutAt(text, 1), 'status>=500, headers["host"]="a,b"');
	equal(invertedAt(text, 2), 'status>=500, country not in (Germany, France), headers["host"]!="a,b"');
});

test('a condition that is negated twice is the same', () => {
	for (const [condition, negated] of [
		['status=404', 'status!=404'], ['path~"^/a=b"', 'path!~"^/a=b"'], ['status>=500', 'not status>=500'],
		['country in (a, b)', 'country not in (a, b)'], ['blocked is true', 'blocked not is true'],
		['status between 1 and 2', 'status not between 1 and 2'],
		['organization=Marks and not Spencer', 'organization!=Marks and not Spencer'],
		['headers[~"^x-"]~json', 'headers[~"^x-"]!~json'], ['headers["not"]="x"', 'headers["not"]!="x"'],
	] as const) {
		equal(inverted(condition), negated);
		equal(inverted(negated), condition);
	}
	equal(inverted('not host!="a"'), 'host!="a"');
});

test('the requests of a side are those of a filter, unless several conditions are excepted together', () => {
	const side = {
		filter: 'host=a, timestamp between 2026-01-01 and 2026-01-02', period: { from: '2026-01-01T00:00:00Z',
		to: '2026-01-02T00:00:00Z' },
	};
	const period = '2026-01-01T00:00Z..2026-01-02T00:00Z';
	equal(withoutPeriod({ ...side, filter: 'timestamp between 2026-01-01 and 2026-01-02, host=a' }), { ...side, filter: 'host=a' });
	equal(requestsOf(side), { filter: side.filter, period });
	equal(requestsOf(side, null), { filter: null, period }); // no filter selects the requests
	equal(requestsOf({ ...side, except: 'blocked is true' }, 'status=200'),
		{ filter: `${side.filter}, blocked not is true, status=200`, period });
	equal(requestsOf({ ...side, except: 'blocked is true, human is true' }), { filter: null, period });
});

test('names of saved filters stand for their conditions', () => {
	const known = new Map([['errors', 'status>=500, host=a'], ['empty', '']]);
	equal(savedNames('@errors, country=b, x="@no"'), ['errors']);
	equal(expanded('@errors, country=b, @empty', known), 'status>=500, host=a, country=b');
	equal(expanded('country="a, b"', known), 'country="a, b"');
	equal(savedAt('status=1, @er', 13), { from: 10, typed: 'er' });
	equal(savedAt('@', 1), { from: 0, typed: '' });
	equal(savedAt('mail=a@b', 8), null);
});

test('alternatives about one field become a list', () => {
	for (const [text, list] of [
		['status=403 or status=471', 'status in (403, 471)'], ['status=403 OR 471', 'status in (403, 471)'],
		['(country="a or b" || country="c d"), blocked is true', 'country in ("a or b", "c d"), blocked is true'],
		['path~"^/a" or path~b', 'path~("^/a", "b")'], ['headers["host"]=a or headers["host"]=b', 'headers["host"] in (a, b)'],
		['status=403 or country=b', null], ['status=403 or path~b', null], ['status>=500 or status=403', null], ['status=403', null],
		['organization="this or that"', null],
	] as const) equal(withLists(text), list, text);
});

test('a filter in either form is joined to a period', () => {
	const period = 'timestamp between 2026-01-01 00:00:00 and 2026-01-02 00:00:00';
	equal(withPeriod(' ', period), period);
	equal(withPeriod('status=1', period), `${period}, status=1`);
	const first = '{"field":"timestamp","op":"between","value":["2026-01-01 00:00:00","2026-01-02 00:00:00"]},';
	equal(withPeriod(' [{"field":"status"}]', period), ` [${first}{"field":"status"}]`);
	equal(withPeriod('{"AND":[]}', period), `${first}{"AND":[]}`);
});

test('filters that name sensitive or unknown fields are not for the storage of the browser', () => {
	const field = (name: string, sensitive: boolean) =>
		({ name, type: 'string', operators: [], doc: '', group: '', groupable: true, sensitive });
	const catalogue = [field('host', false), field('status', false), field('session', true), field('headers', true)];
	const list = ['host="session=1", status>=400', 'session="abc"', 'not headers["authorization"]~"x", host=a', 'newer=1']
		.map((filter, at) => ({ filter, at, requests: 0 }));
	const { plain, secret } = divided(list, catalogue);
	equal([plain, secret].map((part) => part.map((one) => one.at)), [[0], [1, 2, 3]]);
	equal(divided(list, []).plain, [], 'before the catalogue is loaded');
});

test('what the answers of Live rest on is one sum, however many there are', () => {
	const one = { elapsed_ms: 5, bytes_scanned: 10, cost_usd: 0.5, skipped: ['a'], late: 1, head: 'x' };
	type Headed = Rests & { head: string };
	let sum = addTo<Headed>(undefined, one);
	equal(sum, one);
	for (let i = 0; i < 1000; i++) sum = addTo<Headed>(sum, { ...one, elapsed_ms: i, skipped: [i % 2 === 0 ? 'a' : 'b'],
		head: String(i) });
	equal(sum, {
		elapsed_ms: 999, bytes_scanned: 10010, cost_usd: 500.5, skipped: ['a', 'b'], late: 1001, head: '999', questions: 1001,
	});
	equal(addTo<Rests>({ ...one, queue_ms: 7 }, addTo<Rests>(one, { ...one, queue_ms: 5 })).queue_ms, 7);
	equal(addTo<Headed>(sum, { ...one, late: null }).late, null, 'what is not known of one is not known of all');
	equal(addTo<Rests>({ elapsed_ms: 1, bytes_scanned: 1 }, { elapsed_ms: 2, bytes_scanned: 1 }),
		{ elapsed_ms: 2, bytes_scanned: 2, questions: 2, late: 0 });
});

test('each filter is remembered once, the newest first', () => {
	let list: Remembered[] = [];
	for (const [at, filter] of ['a', 'b', 'a'].entries()) list = remembered(list, { filter, at, requests: at });
	equal(list, [{ filter: 'a', at: 2, requests: 2 }, { filter: 'b', at: 1, requests: 1 }]);
	for (let i = 0; i < 200; i++) list = remembered(list, { filter: String(i), at: i, requests: 0 });
	equal([list.length, list[0]?.filter], [mostRemembered, '199']);
	equal(readRemembered(JSON.stringify(list)), list);
	for (const text of [null, '', '{}', '[1,{"filter":1}]', 'broken']) equal(readRemembered(text), [], String(text));
});

test('a search finds letters in their order, the closest first', () => {
	const list = ['status>=500, host=shop', 'country=Germany', 'host="test", status=500'];
	equal(fuzzy(list, 'st5', (one) => one), ['host="test", status=500', 'status>=500, host=shop']);
	equal(fuzzy(list, 'GER many', (one) => one), ['country=Germany']);
	equal(fuzzy(list, ' ', (one) => one), list);
	equal(fuzzy(list, 'xyz', (one) => one), []);
});

test('what is searched in rows becomes a condition about the field in which most rows have it', () => {
	const field = (name: string, type: string, operators: string[]) =>
		({ name, type, operators, doc: '', group: '', groupable: true, sensitive: false });
	const text = ['eq', 'regex'];
	const fields = [field('path', 'string', text), field('status', 'integer', ['eq']), field('method', 'string', text)];
	const names = ['path', 'status', 'method', 'unknown'];
	const rows: LogRecord[] = [
		{ path: '/wp-login.php', status: 404, method: 'GET' }, { path: '/WP-Login.php', status: 200, method: 'POST' },
		{ path: '/post', status: 404 },
	];
	equal(rows.map((row) => holds(row, names, 'POST')), [false, true, true]);
	equal(conditionFor(rows.slice(0, 2), names, 'login.', fields), 'path~"(?i)login\\."');
	equal(conditionFor(rows.filter((row) => holds(row, ['status'], '404')), names, '404', fields), 'status=404');
	equal(conditionFor(rows, names, '40', fields), '', 'a part of a number is no condition');
	equal(conditionFor(rows, names, 'zzz', fields), '');
});

test('an export goes on after a failure with the page that is not written yet', () => {
	const steps = (...events: Exports[]): Exporting => events.reduce(afterPage, notBegun);
	const begun: Exports = { kind: 'begun' };
	const page = (next: string | null): Exports => ({ kind: 'written', events: 2, size: 9, skipped: next === null ? 0 : 1, next });
	equal(steps(begun, page('b'), page(null)), { ...notBegun, state: 'running', more: false, events: 4, size: 18, skipped: 1 });
	equal(steps(begun, page(null), { kind: 'failed', note: 'disk' }, begun).more, false,
		'no page is written twice if the file cannot be closed');
	const failed = steps(begun, page('b'), { kind: 'running', note: 'long' }, { kind: 'failed', note: 'no' });
	equal([failed.state, failed.note, failed.next, failed.events], ['failed', 'no', 'b', 2]);
	equal(afterPage(failed, begun), { ...failed, state: 'running', note: '' });
	equal(steps(begun, { kind: 'running', note: 'long' }, { kind: 'waiting', note: 'busy' }).note, 'busy');
	equal(steps(begun, { kind: 'running', note: 'long' }, { kind: 'waiting', note: 'busy' }, { kind: 'waiting', note: '' }).note, 'long');
	equal(steps(begun, { kind: 'running', note: 'long' }, page('b')).note, '', 'the next page is another query');
	equal(steps({ kind: 'failed', note: 'no file' }).state, 'asked', 'it has not begun');
	equal([steps(begun, page(null), { kind: 'closed' }).state, steps(begun, { kind: 'cancelled' }).state], ['done', 'cancelled']);
});

test('what is typed reaches the address at which it was typed', () => {
	equal(fragmentFor(['#a', '#b'], '#a'), '#b');
	equal(fragmentFor(['#a', '#b'], '#other'), null, 'the tab is elsewhere');
	equal(fragmentFor(null, '#a'), null);
});

test('a filter runs as a query string', () => {
	const now = Date.parse('2026-01-02T00:00Z');
	equal(needsOf('status=200', '1h', now), { kind: 'nothing' });
	equal(needsOf('@shop, status=200', '1h', now), { kind: 'names', names: ['shop'] });
	equal(named('@shop, @none', [{ name: 'shop', filters: 'host=a' }]).unknown, ['none']);
	equal(named('@shop, status=200', [{ name: 'shop', filters: 'host=a' }]), { text: 'host=a, status=200', unknown: [] });
	const json = '[{"field":"status","op":"eq","value":200}]';
	const needs = needsOf(json, '1h', now);
	const sent = needs.kind === 'query' ? needs.sent : '';
	equal(sent.includes('timestamp'), true, 'with the period');
	const found = 'timestamp between 2026-01-01 23:00:00 and 2026-01-02 00:00:00, status=200';
	equal(queryOf(json, sent, found, now), 'status=200');
	equal(queryOf(json, json, found, now), found, 'its own period stays');
	equal(ranAs(' status=200 ', now), { filter: 'status=200' });
	equal(ranAs('timestamp between now-3h and now, status=200', now), { filter: 'status=200', period: '3h' });
});

test('pages of an export are one file', () => {
	const encode = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array([...text].map((c) => c.charCodeAt(0)));
	const decode = (content: Uint8Array): string => String.fromCharCode(...content);
	const page = encode('a,b\r\n1,"x\r\ny"\r\n2,""\r\n');
	equal([decode(headerOf(page)), decode(withoutHeader(page))], ['a,b\r\n', '1,"x\r\ny"\r\n2,""\r\n']);
	equal([recordsIn(page, 'csv'), recordsIn(encode('{"a":"\\"x"}\n{}\n'), 'ndjson'), recordsIn(encode('a\r\n'), 'csv')], [2, 2, 0]);
	for (const pages of [['{"a":1}\n{"a":2}\n', '{"a":"\\n"}\n'], ['']]) {
		const { before, between, behind } = frameOf('json', encode(pages[0] ?? ''));
		const content = pages.map((lines) => decode(contentOf('json', encode(lines)))).join(decode(between));
		equal(JSON.parse(decode(before) + content + decode(behind)), pages.join('').split('\n').filter((line) => line !== '')
			.map((line) => JSON.parse(line) as unknown));
	}
	const day = { from: Date.UTC(2026, 0, 1), to: Date.UTC(2026, 0, 2) };
	equal(fileName(day, 'csv', 0, false), 'orrery-logs-20260101T0000-20260102T0000.csv');
	equal(fileName(day, 'ndjson', 2, true), 'orrery-logs-20260101T0000-20260102T0000-2-incomplete.ndjson');
});

test('statuses are counted by class, also those of no class', () => {
	const statuses = [[{ key: '200', value: 3 }, { key: '404', value: 1 }, { key: '204', value: 2 }], [],
		[{ key: '404', value: 4 }, { key: '99', value: 1 }]];
	equal(classesOf(statuses), [
		{ first: 0, values: [0, 0, 1], total: 1 }, { first: 2, values: [5, 0, 0], total: 5 }, { first: 4, values: [1, 0, 4], total: 5 },
	]);
	equal(classesOf([[], []]), []);
	equal(ofClass('status', 4), 'status between 400 and 499');
});

test('values with the largest segments have series of their own, and the rest are other values', () => {
	const series = (value: string | null, kind: Series['kind'], ...values: number[]): Series =>
		({ series: value, kind, values, total: values.reduce((sum, n) => sum + n, 0) });
	const steady = series('steady', 'value', 5, 5, 5);
	const burst = series('burst', 'value', 0, 9, 0);
	const small = series('small', 'value', 4, 4, 4);
	const other = series(null, 'other', 1, 0, 2);
	const absent = series(null, 'absent', 9, 9, 9);
	equal(ranked([steady, small, burst, other, absent], 2),
		[burst, steady, series(null, 'other', 5, 4, 6), absent]);
	equal(ranked([steady, burst], 2), [burst, steady]);
	equal(ranked([steady, burst], 1)[1], series(null, 'other', 5, 5, 5));
	equal(stacked([[1, null, 2], [3, null, 4], [0, null, 1]]), [[1, null, 2], [4, null, 6], [4, null, 7]]);
});

test('what differs is in groups, without tags that repeat a field', () => {
	const finding = (by: string, value: unknown, lift: number | null, n = 5, other = 3): Finding =>
		({ by, value, lift, selected: { num_of_requests: n }, baseline: { num_of_requests: other } });
	const status = finding('status', 429, null, 7, 0);
	const address = finding('ip', '192.0.2.1', 2.5);
	const class4 = finding('tags', 'status-class:4xx', 0.5);
	const human = finding('human', true, 1.5, 9, 8);
	const gone = finding('path', '/old', 0, 0, 9);
	const other = finding('tags', 'ip:192-0-2-1', 2.5, 5, 4);
	equal(grouped([
		finding('tags', 'status:429', null, 7, 0), gone, class4, status, finding('tags', 'human', 1.5, 9, 8), address, human,
		finding('tags', 'ip:192-0-2-1', 2.5), other,
	]), [
		{ group: 'new', findings: [status] }, { group: 'more', findings: [address, human, other] },
		{ group: 'less', findings: [class4] }, { group: 'gone', findings: [gone] },
	]);
	const reason = finding('reason', 'Block - rate limit ["all"] - Searches', null, 40, 0);
	const rare = finding('tags', 'rate-limit:rl4', null, 39, 0);
	equal(grouped([reason, finding('tags', 'rate-limit:rl3', null, 40, 0), rare]), [{ group: 'new', findings: [reason, rare] }]);
	equal(grouped([]), []);
});

test('the classes of times follow each other, and have each time once', () => {
	equal(timeClasses.slice(1).every((one, i) => one.from === timeClasses[i]?.to), true);
	equal(timeClasses.map((one) => inClass('request_time', one)), [
		'request_time<0.001', 'request_time between 0.001 and 0.002999', 'request_time between 0.003 and 0.009999',
		'request_time between 0.01 and 0.029999', 'request_time between 0.03 and 0.099999', 'request_time between 0.1 and 0.299999',
		'request_time between 0.3 and 0.999999', 'request_time between 1 and 2.999999', 'request_time between 3 and 9.999999',
		'request_time>=10',
	]);
	const [none, some, gap] = [{ values: [0, null] }, { values: [null, 2] }, { values: [0, 0] }] as const;
	equal([occurring([none, some, gap, some, none]), occurring([none])], [[some, gap, some], []]);
});

test('the colours of a heatmap are levels of a logarithm', () => {
	equal([0, 1, 2, 10, 100, 1000].map((n) => levelOf(n, 1000)), [0, 1, 1, 2, 4, 5]);
	equal([levelOf(1, 1), levelOf(0, 0), levelOf(1, 2), levelOf(2, 2)], [5, 0, 1, 5]);
});

test('a logarithmic axis goes from a power of ten to another one', () => {
	equal([logarithmicRange(3, 450), logarithmicRange(10, 100), logarithmicRange(5, 5), logarithmicRange(0, 0)],
		[[1, 1000], [10, 100], [1, 10], [0.1, 1]]);
});

test('two sides are drawn over each other from their first segments, and the rest is what a part leaves', () => {
	const side = (from: number, ...requests: number[]): Figures[] => requests.map((n, i) => ({
		time_period: from + i * 60, requests: n, blocked: 1, challenged: 0, human: n, refused: 0, bytes: n * 100,
	}));
	equal(aligned(side(600, 5, 6, 7), side(0, 1, 2), 60, 'requests'), { times: [600, 660, 720], values: [[5, 6, 7], [1, 2, null]] });
	equal(aligned(side(600, 5), side(0, 1, 2), 60, 'bytes'), { times: [600, 660], values: [[500, null], [100, 200]] });
	equal(aligned([], [], 60, 'requests'), { times: [], values: [[], []] });
	const others = rest(side(0, 10, 20, 30), side(60, 5));
	equal(others.map((one) => one.requests), [10, 15, 30]);
	equal(total(others, 'blocked'), 2);
	equal(total(others, 'requests'), 55);
});

test('the figures of a side are those of its parts, of which a segment may be missing', () => {
	const part = (...requests: number[]): Counts[] => requests.map((n, i) => ({
		time_period: i * 60, num_of_requests: n, num_of_blocked_requests: 1, num_of_human_requests: 2, sum_of_sent_bytes: 3,
	}));
	equal(figuresOf(part(5, 6), part(4), part(0, 3)), [
		{ time_period: 0, requests: 5, blocked: 1, challenged: 4, human: 2, refused: 0, bytes: 3 },
		{ time_period: 60, requests: 6, blocked: 1, challenged: 0, human: 2, refused: 3, bytes: 3 },
	]);
});

test('tags are grouped by what their names begin with', () => {
	for (const [tag, group] of [
		['geo-country:germany', 'geography'], ['geo-tor', 'geography'], ['bot', 'traffic'], ['bot-kind:script', 'traffic'],
		['status:471', 'request'], ['all', 'request'], ['securitypolicy:shop', 'rules'], ['my-partners', 'rules'], ['', 'rules'],
	] as const) equal(groupOf(tag), group, tag);
});

test('a column is moved, shown and hidden', () => {
	const list = ['a', 'b', 'c'];
	equal(moved(list, 0, 2), ['b', 'c', 'a']);
	equal(moved(list, 2, 0), ['c', 'a', 'b']);
	equal(moved(list, 1, 1), list);
	equal(moved(list, 1, -5), ['b', 'a', 'c']);
	equal(moved(list, 1, 9), ['a', 'c', 'b']);
	equal(toggled(list, 'b'), ['a', 'c']);
	equal(toggled(list, 'd'), ['a', 'b', 'c', 'd']);
	equal(leastWidth(['7.6rem', 'minmax(8rem, 2.4fr)', '1fr']), 15.6);
	equal(fitted(['GET', 'DELETE'], [4.2, 8], false), '4.8rem');
	equal(fitted(['GET'], [4.2, 8], false), '4.2rem');
	equal(fitted(['x'.repeat(40)], [5, 11]), 'minmax(5rem, 11rem)');
});

test('the parts of a request that rules matched are marked', () => {
	const groups = groupsOf({
		path: '/a', query: 'q=1', arguments: { q: '1', p: '2' }, headers: { 'User-Agent': 'x' },
		cf_triggers: [{ section: 'args', name: 'q', value: '1' }, { section: 'headers', name: 'user-agent' }],
		gf_triggers: [{ section: 'uri', name: '', value: '/a' }],
	}, () => false);
	const marked = groups.flatMap((group) => group.leaves).filter((leaf) => leaf.matched).map((leaf) => [leaf.field, leaf.matched]);
	equal(marked, [['path', ['/a']], ['arguments["q"]', ['1']], ['headers["User-Agent"]', []]]);
	const pieces = (text: string, ...others: string[]): string =>
		piecesOf(text, others).map((piece) => (piece.marked ? `<${piece.text}>` : piece.text)).join('');
	equal(pieces('a UNION select b', 'union select'), 'a <UNION select> b');
	equal(pieces('abcd', 'bc', 'cd', 'x', ''), 'a<bcd>');
	equal(pieces('😀1', '1'), '😀<1>');
	equal(pieces('İ1', '1'), 'İ<1>');
	equal(piecesOf('', ['a']), []);
});

test('triggers are tables, in which no column is empty', () => {
	const [group] = groupsOf({ gf_triggers: [
		{ trigger_id: 'gf1', trigger_name: 'A', extra: '', section: 'uri', value: '/a', tags: ['x', 'y'] },
		{ trigger_id: 'gf2', trigger_name: 'B', extra: '', other: 1 },
	] }, () => false);
	const [table] = group?.triggers ?? [];
	equal(table?.members, ['trigger_name', 'section', 'value', 'tags', 'trigger_id', 'other']);
	equal(table?.rows.map((cells) => cells.map((leaves) => leaves.map((leaf) => leaf.text).join())),
		[['A', 'uri', '/a', 'x,y', 'gf1', ''], ['B', '', '', '', 'gf2', '1']]);
	equal(table?.rows[0]?.[4]?.[0]?.field, 'gf_triggers["trigger_id"]');
	equal(groupsOf({ gf_triggers: ['text'] }, () => false)[0]?.leaves.length, 1, 'triggers of another form are leaves');
});

test('the strip of a session always has its record', () => {
	const record = (n: number, ms: number): LogRecord => ({ record_ref: String(n), timestamp: new Date(ms).toISOString() });
	const many = (from: number, n: number): LogRecord[] => Array.from({ length: n }, (_, i) => record(from - i, (from - i) * 1000));
	const period = { from: 0, to: 9_000_000 };
	const strip = (at: LogRecord, before: Newest, after: Newest) => {
		const found = stripOf(at, period, before, after);
		return { ...found, records: found.records.map((one) => Number(one['record_ref'])) };
	};
	const all = strip(record(2, 2000), { records: many(2, 2), more: false }, { records: many(4, 2), more: false });
	equal(all, { records: [1, 2, 3, 4], earlier: null, later: null });
	const long = strip(record(100, 100_000), { records: many(100, 21), more: true }, { records: many(150, 50), more: false });
	equal([long.records.length, long.records[0], long.records.at(-1)], [41, 80, 120]);
	equal([long.earlier, long.later], [{ from: 0, to: 80_000 }, { from: 120_000, to: 1_900_000 }]);
	const flood = strip(record(100, 100_000), { records: many(100, 21), more: true }, { records: many(9000, 2500), more: true });
	equal([flood.records.at(-1), flood.later], [100, { from: 100_000, to: 1_900_000 }]);
	const same = [record(7, 1000), record(6, 1000), record(5, 1000), record(4, 900)];
	equal(strip(record(6, 1000), { records: same, more: false }, { records: [record(8, 1001)], more: false }).records, [4, 5, 6, 7, 8]);
	equal(strip(record(3, 1000), { records: same, more: true }, { records: [], more: false }).records, [4, 5, 6, 7, 3]);
});

test('what requests have in common is a filter', () => {
	const record = { ip: '192.0.2.1', path: '/a', monitor_reasons: ['m "1"'], session: '' };
	equal((['ip', 'session', 'rule', 'path'] as const).map((likeness) => likeFilter(record, likeness)),
		['ip="192.0.2.1"', '', 'monitor_reasons="m \\"1\\""', 'path="/a"']);
	equal(likeFilter({ ...record, host: 'a', reason: 'r' }, 'path'), 'path="/a", host="a"');
	equal(likeFilter({ ...record, reason: 'r' }, 'rule'), 'reason="r"');
	equal(likeFilter({ host: 'a' }, 'path'), '');
});

test('columns are lines of a card', () => {
	equal(cardLines(['timestamp', 'result', 'status', 'method', 'target']), [['timestamp', 'result', 'status'], ['method', 'target']]);
	equal(cardLines(['timestamp', 'result', 'method', 'status', 'ip', 'country', 'target', 'reason']),
		[['timestamp', 'result', 'method'], ['status', 'ip', 'country'], ['target'], ['reason']]);
	equal(cardLines(['protocol', 'status']), [['protocol'], ['status']]);
});

test('the parts of the time of a request are those that it has', () => {
	const times = timesOf({ request_time: 0.1, svc_latency: 10_000, upstream_response_time: 0.08 });
	equal(times?.parts.map(({ name, ms }) => `${name} ${Math.round(ms)}`), ['service 10', 'origin 80', 'rest 10']);
	equal(timesOf({ request_time: 0.001, svc_latency: 1000, upstream_response_time: null })?.parts.map(({ name }) => name), ['service']);
	equal(timesOf({ svc_latency: 5 }), null);
});

test('user agents are written in words', () => {
	const mozilla = (system: string, rest: string): string => `Mozilla/5.0 (${system}) ${rest}`;
	const like = 'AppleWebKit/537.36 (KHTML, like Gecko)';
	for (const [text, words] of [
		[mozilla('Macintosh; Intel Mac OS X 10_15_7', `${like} Chrome/109.0.0.0 Safari/537.36`), 'Chrome 109 · macOS'],
		[mozilla('Windows NT 10.0; Win64; x64', `${like} Chrome/120.0.0.0 Safari/537.36 Edg/120.0.2210.91`), 'Edge 120 · Windows'],
		[mozilla('X11; Linux x86_64; rv:115.0', 'Gecko/20100101 Firefox/115.0'), 'Firefox 115 · Linux'],
		[mozilla('iPhone; CPU iPhone OS 17_1 like Mac OS X', `${like} Version/17.1 Mobile/15E148 Safari/604.1`), 'Safari 17 · iOS'],
		[mozilla('Linux; Android 13; Pixel 7', `${like} Chrome/116.0.0.0 Mobile Safari/537.36`), 'Chrome 116 · Android'],
		[mozilla('Windows NT 6.1; Trident/7.0; rv:11.0', 'like Gecko'), 'Internet Explorer 11 · Windows'],
		[mozilla('compatible; Googlebot/2.1; +http://www.google.com/bot.html', ''), 'Googlebot 2.1'],
		['Baiduspider+(+http://www.baidu.com/search/spider.htm)', 'Baiduspider'], ['curl/8.4.0', 'curl 8.4'],
		['python-requests/2.31.0', 'python-requests 2.31'], ['Mozilla/5.0', 'Mozilla/5.0'], ['', ''], ['some text', 'some text'],
	] as const) equal(agentOf(text), words, text);
	equal(agentsOf(['curl/8.4.0', 'curl/8.4.1', 'curl/8.5.0']), ['curl/8.4.0', 'curl/8.4.1', 'curl 8.5']);
});

test('what no request has is not zero, and not known before the answer', () => {
	const facet = (by: string, n: number, absent: number) => ({ by, num_of_requests: n, num_of_absent: absent });
	const known = knownOf([facet('result', 0, 10), facet('human', 1, 9)]);
	equal([lacks(known, 'result'), lacks(known, 'human'), lacks(null, 'human')], [true, false, false]);
	equal([numberIn(known, 'result', 0), numberIn(known, 'human', 0), numberIn(null, 'human', 0)], [null, 0, null]);
	equal([numberIn(null, 'human', 3), numberIn(known, 'human', null)], [3, null]);
	equal(lacks(knownOf([facet('result', 0, 0)]), 'result'), false, 'without requests');
	equal(lacks(knownOf([facet('result', 0, 10)], ['total_time']), 'total_time'), false, 'another one');
});

test('the worst incident decides, and comes first unless another one is still going on', () => {
	const incident = (state: Judged['held']['state'], hour: number, end: string | null = '', certain = true): Judged =>
		({ begin: new Date(hour * 3_600_000).toISOString(), end, certain, held: { state } });
	const [held, later, look, failed] = [incident('held', 1), incident('held', 3), incident('look', 2), incident('not held', 0)];
	const going = incident('held', 4, null);
	equal(verdictOf([]), { state: 'none', worst: 0, going: 0, guessed: false });
	equal(verdictOf([held, later]), { state: 'held', worst: 2, going: 0, guessed: false });
	equal(verdictOf([held, look, going]), { state: 'look', worst: 1, going: 1, guessed: false });
	equal(verdictOf([incident('unknown', 1), look]).state, 'look');
	equal(verdictOf([incident('unknown', 1), held]).state, 'unknown');
	equal(verdictOf([look, failed]).state, 'not held');
	equal(verdictOf([incident('held', 1, '', false), incident('held', 2, '', false)]).guessed, true);
	equal(verdictOf([incident('held', 1, '', false), held]).guessed, false);
	equal(inOrder([held, look, later, failed, going]), [going, failed, look, later, held]);
});

test('shorter periods end where the period does', () => {
	const day = { from: Date.UTC(2026, 0, 1), to: Date.UTC(2026, 0, 2) };
	equal(shorter('24h', day).map(({ name, period }) => `${name} ${period}`), ['15m 15m', '1h 1h', '6h 6h']);
	equal(shorter(absolute(day), day)[1], {
		name: '1h', part: { from: Date.UTC(2026, 0, 1, 23), to: day.to }, period: '2026-01-01T23:00Z..2026-01-02T00:00Z',
	});
	equal(shorter('30d', { from: 0, to: 30 * 86_400_000 }).map(({ name }) => name), ['6h', '24h', '7d']);
	equal(shorter('5m', { from: 0, to: 300_000 }), []);
});

/** Pastes, with their first meanings, and the period that they name. It is Wednesday, 2026-01-14, 12:00, in Berlin 13:00. */
const pastes: readonly (readonly [text: string, meanings: string, period?: string])[] = [
	// One thing.
	['145.209.24.202', 'address ip="145.209.24.202"'],
	[' 145.209.24.202\n', 'address ip="145.209.24.202"'],
	['145[.]209[.]24[.]202', 'address ip="145.209.24.202"'],
	['145.209.24.202:51234', 'address ip="145.209.24.202"'],
	['2001:0DB8:0000:0000:0008:0800:200C:417A', 'address ip="2001:db8::8:800:200c:417a"'],
	['[2001:db8::1]:443', 'address ip="2001:db8::1"'],
	['::ffff:203.0.113.9', 'address ip="203.0.113.9"'],
	['203.0.113.0/24', 'network ip="203.0.113.0/24"'],
	['203.0.113.9/22', 'network ip="203.0.112.0/22"'],
	['2001:0DB8:85A3::1/41', 'network ip="2001:db8:8580::/41"'],
	['2001:db8:0:85a3::/64', 'network ip="2001:db8:0:85a3::/64"'],
	['::ffff:203.0.113.9/120', 'network ip="203.0.113.0/24"'],
	['0.0.0.0/0', 'network ip="0.0.0.0/0"'],
	['9f2c1d7e5b3a49c8a1d2e3f405162738', 'request request_id="9f2c1d7e5b3a49c8a1d2e3f405162738"'],
	['3f2504e0-4f89-11d3-9a0c-0305e82c3301', 'request request_id="3f2504e0-4f89-11d3-9a0c-0305e82c3301"'],
	['Request ID: 8c1f-77aa2', 'request request_id="8c1f-77aa2"'],
	['AYCg1e3uZkkKks0Jp4_QIMFr-ioIN9aV4uou', 'record record_ref="AYCg1e3uZkkKks0Jp4_QIMFr-ioIN9aV4uou"'],
	['http://127.0.0.1:8080/#/events/AYCg1e3uZkkKks0Jp4_QIMFr-ioIN9aV4uou?t=24h', 'record ' +
		'record_ref="AYCg1e3uZkkKks0Jp4_QIMFr-ioIN9aV4uou"'],
	['https://shop.example/cart?token=eyJhbGciOi.J9.x&next=/admin', 'url host="shop.example", path="/cart"'],
	['HTTPS://Shop.Example:8443/Cart/', 'url host="shop.example", path="/Cart/"'],
	['https://anna:secret@shop.example/', 'host host="shop.example"'],
	['http://203.0.113.7/', 'host host="203.0.113.7"'],
	['<https://shop.example/reset/confirm>.', 'url host="shop.example", path="/reset/confirm"'],
	['/api/v2/orders?sort=asc&key=abc', 'path path="/api/v2/orders"'],
	['/wp-login.php', 'path path="/wp-login.php"'],
	['shop.example', 'host host="shop.example"'],
	['www.clinic.example', 'host host="www.clinic.example"'],
	['Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/109.0.0.0 Safari/537.36',
		'agent user_agent="Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/109.0.0.0 ' +
		'Safari/537.36"'],
	// Times.
	['2026-01-13T20:05:31Z', 'time ', '2026-01-13 20:00:31 – 20:10:31'],
	['2026-01-13 21:05', 'time ', '2026-01-13 19:50 – 20:20'],
	['2026-01-13', 'time ', '2026-01-12 23:00 – 2026-01-13 22:59:59.999'],
	['13.01.2026 um 21:05 Uhr', 'time ', '2026-01-13 19:50 – 20:20'],
	['13.1., gegen 21 Uhr', 'time ', '2026-01-13 19:00 – 21:00'],
	['gestern Abend gegen 9 Uhr', 'time ', '2026-01-13 19:00 – 21:00'],
	['yesterday about 9 pm', 'time ', '2026-01-13 19:00 – 21:00'],
	['around 02:00', 'time ', '2026-01-14 00:00 – 02:00'],
	['Jan 13, 2026 at 9:05 PM', 'time ', '2026-01-13 19:50 – 20:20'],
	['Tue, 13 Jan 2026 21:05:31 +0100', 'time ', '2026-01-13 20:00:31 – 20:10:31'],
	['01/13/2026, 9:05 PM', 'time ', '2026-01-13 19:50 – 20:20'],
	['13. Januar 2026, 21:05:31', 'time ', '2026-01-13 20:00:31 – 20:10:31'],
	['vor 20 Minuten', 'time ', '2026-01-14 11:30 – 11:50'],
	['an hour ago', 'time ', '2026-01-14 10:00 – 12:00'],
	['1768334731', 'time ', '2026-01-13 20:00:31 – 20:10:31'],
	// Lines of logs.
	['203.0.113.7 - - [13/Jan/2026:20:05:31 +0000] "GET /search?q=1 HTTP/1.1" 403 153 "https://www.google.com/" ' +
		'"Mozilla/5.0 (X11; Linux x86_64; rv:115.0) Gecko/20100101 Firefox/115.0"',
	'address ip="203.0.113.7"', '2026-01-13 20:00:31 – 20:10:31'],
	['2026/01/13 20:05:31 [error] 29#29: *1 access forbidden by rule, client: 203.0.113.7, server: shop.example, request: ' +
		'"GET /.env HTTP/1.1"',
		'address ip="203.0.113.7"', '2026-01-13 19:00:31 – 19:10:31'],
	['{"timestamp":"2026-01-13T20:05:31.457Z","ip":"203.0.113.7","host":"shop.example","path":"/login","status":403}',
		'address ip="203.0.113.7"', '2026-01-13 20:00:31 – 20:10:31'],
	['{"request_id":"9f2c1d7e5b3a49c8a1d2e3f405162738","remote_addr":"203.0.113.7"}',
		'request request_id="9f2c1d7e5b3a49c8a1d2e3f405162738" | address ip="203.0.113.7"'],
	['level=warn ts=2026-01-13T20:05:31Z msg="blocked" client=203.0.113.7 path=/login', 'address ip="203.0.113.7"',
		'2026-01-13 20:00:31 – 20:10:31'],
	["curl 'https://api.example/v1/items?key=s3cret' -H 'Authorization: Bearer abc.def.ghi'", 'url host="api.example", path="/v1/items"'],
	// Mails.
	['Hallo,\n\nich wurde gestern gegen 21 Uhr auf Ihrer Seite gesperrt. Meine IP ist 98.98.107.71.\n\nMit freundlichen ' +
		'Grüßen\nAnna Beispiel',
		'address ip="98.98.107.71"', '2026-01-13 19:00 – 21:00'],
	['Hi team,\nI was blocked on 13 January at about 9 pm, my IP address is 98.98.107.71. I use Chrome 109.0.5414.74 on ' +
		'Windows.\nThanks, Bob\n' +
		'-- \nBob Miller\nhttps://bob.example/about | bob@bob.example',
	'address ip="98.98.107.71" | url host="bob.example", path="/about"', '2026-01-13 19:00 – 21:00'],
	['From: Carla <carla@mail.example>\nDate: Tue, 13 Jan 2026 21:30:02 +0100\nSubject: Access denied\n\nYour page ' +
		'https://shop.example/checkout?session=abcdef ' +
		'says "Access denied. Request ID 9f2c1d7e5b3a49c8a1d2e3f405162738". It worked this morning.',
	'request request_id="9f2c1d7e5b3a49c8a1d2e3f405162738" | url host="shop.example", path="/checkout"'],
	['Sehr geehrte Damen und Herren,\nbeim Bezahlen (https://shop.example/kasse) kam heute um 12.45 Uhr eine Fehlermeldung, ' +
		'Vorgangsnummer: A7F3-22910.\nz.B. auch bei meinem Mann.',
		'request request_id="A7F3-22910" | url host="shop.example", path="/kasse"', '2026-01-14 11:30 – 12:00'],
	['Same from home (2001:db8:4::17) and from the office, 198.51.100.20. Blocked twice!',
		'address ip="2001:db8:4::17" | address ip="198.51.100.20"'],
	['Still blocked, now from 198.51.100.20.\n\nOn Mon, Jan 12, 2026 at 10:00 AM, Support wrote:\n> Please send your ' +
		'address.\n> Is it 203.0.113.99?\n',
		'address ip="198.51.100.20" | address ip="203.0.113.99"'],
	['Weiterhin gesperrt: 198.51.100.20\n\nAm 12.01.2026 um 11:00 schrieb Support:\n> Ist es 203.0.113.99?', 'address ' +
		'ip="198.51.100.20" | address ip="203.0.113.99"'],
	['Received: from mx.mail.example (mx.mail.example [192.0.2.55])\n\tby in.example; Tue, 13 Jan 2026 21:30:02 ' +
		'+0100\nX-Originating-IP: [98.98.107.71]\n\nI am locked out.',
		'address ip="98.98.107.71" | address ip="192.0.2.55"', '2026-01-13 20:25:02 – 20:35:02'],
	['My router says 192.168.178.20, whatismyip says 98.98.107.71', 'address ip="98.98.107.71" | address ip="192.168.178.20"'],
	['Cannot open shop.example/cart since 8:15 am.Please help', 'host host="shop.example"', '2026-01-14 07:00 – 07:30'],
	// Nothing.
	['Hello, I was blocked. Please help me.', ''],
	['Es geht nicht, z.B. beim Login. Siehe screenshot.png', ''],
	['We run version 2.4.1.7 of the app', ''],
];

test('a pasted text has its likely meaning first', () => {
	const now = Date.UTC(2026, 0, 14, 12);
	for (const [text, meanings, period] of pastes) {
		const found = meaningsOf(text, 'Europe/Berlin', now);
		const wanted = meanings === '' ? 0 : meanings.split(' | ').length;
		equal(found.slice(0, Math.max(wanted, 1)).map(({ kind, filter }) => `${kind} ${filter}`),
		meanings === '' ? [] : meanings.split(' | '), text);
		if (period !== undefined) equal(found[0]?.period && periodIn(found[0].period, 'UTC'), period, text);
		const said = JSON.stringify(found);
		for (const secret of ['secret', 's3cret', 'eyJ', 'abcdef', 'Bearer', 'carla']) equal(said.includes(secret), false,
		`${text} has ${secret}`);
		equal(isFilter(text, [{ name: 'ip' }, { name: 'status' }]), false, text);
	}
	equal(meaningsOf('10.1.2.3 and 10.1.2.3', 'UTC', now).length, 1);
	equal(meaningsOf(Array.from({ length: 20 }, (_, i) => `203.0.113.${i}`).join(' '), 'UTC', now).length, 6);
});

test('what begins like a filter is one', () => {
	const fields = [{ name: 'status' }, { name: 'path' }, { name: 'headers' }, { name: 'timestamp' }];
	for (const text of ['', 'sta', 'status', 'status>=500', 'not status=4', 'hots="shop.example"', 'path cont', 'path not ' +
		'cont', 'headers["a', 'headers["a"]~"b"',
		'@errors, status=1', '[{"field":"status","op":"eq","value":404}]', '[', 'status in (1, 2)', 'timestamp between ' +
		'2026-01-01 and 2026-01-02', 'status=404, 1.2.3.4',
	]) equal(isFilter(text, fields), true, text);
	equal(isFilter('path is /a', []), true, 'without the catalogue');
	equal(isFilter('2026-01-01 10:05', []), false, 'without the catalogue');
	for (const text of ['Access is denied', 'status 403 for 203.0.113.7', 'shop.example', '/login', 'a=1 ' +
		'b=203.0.113.7']) equal(isFilter(text, fields), false, text);
});

test('addresses are written as servers write them', () => {
	for (const [text, written] of [
		['203.000.113.7', undefined], ['203.0.113.7', '203.0.113.7'], ['2001:DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'], ['::',
		'::'], ['1::', '1::'], ['::1', '::1'],
		['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'], ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
	] as const) {
		const network = networkOf(text);
		equal(network ? addressText(network) : undefined, written, text);
	}
});

test('days are those of the calendar of the zone', () => {
	const now = Date.UTC(2026, 2, 29, 23, 30, 15, 200); // in Berlin the day after the one with 23 hours
	equal(dayText('today', 'UTC', now), '2026-03-29T00:00Z..2026-03-29T23:30:15Z');
	equal(dayText('yesterday', 'UTC', now), '2026-03-28T00:00Z..2026-03-28T23:59:59.999Z');
	equal(dayText('today', 'Europe/Berlin', now), '2026-03-29T22:00Z..2026-03-29T23:30:15Z');
	equal(dayText('yesterday', 'Europe/Berlin', now), '2026-03-28T23:00Z..2026-03-29T21:59:59.999Z');
});

test('a rule that was read is written again as it was', () => {
	for (const rule of [
		'limit 60 per 1m by ip', 'limit 5 per 1h by session with ip ban 10m where path="/login"', 'limit 0 per 90s by ip, path',
		'limit 9 per 1m by headers["x-a"] action challenge', 'block where path~"^/wp-"', 'challenge where country="where"', 'enforce acl3',
		'enforce Far countries', '{"threshold":60,"timeframe":60}', 'monitor where path="/"', 'limit many per 1m by ip', 'block', '',
		'limit 60 per 1m by ip where path="/where", query~" where "',
	]) equal(writeRule(readRule(rule)), rule, rule);
	equal(writeRule(readRule(' limit  5 per 1m by ip ,path  where  host="a" ')), 'limit 5 per 1m by ip, path where host="a"');
	const limit = readRule('limit 5 per 1h by session with ip ban 10m where path="/login"');
	equal([limit.kind, limit.threshold, limit.per, limit.by, limit.counted, limit.above, limit.where],
		['limit', '5', '1h', 'session', 'ip', 'ban 10m', 'path="/login"']);
	equal(writeRule({ ...readRule('enforce acl3'), kind: 'limit' }), firstRule, 'what the form offers');
	equal(isWhole({ ...readRule('block where a=1'), kind: 'enforce' }), false);
	equal(['limit 6 per 1m by ip', 'block where a=1', 'enforce x', '{}'].map((rule) => isWhole(readRule(rule))), [true, true, true, true]);
	equal(isWhole({ ...limit, threshold: '' }), false);
	equal(isWhole({ ...limit, kind: 'block', where: ' ' }), false);
	equal(isWhole({ ...limit, kind: 'enforce', name: '' }), false);
	equal(besideOf('limit 60 per 1m by ip where a=1'), 'limit 120 per 1m by ip where a=1');
	equal(besideOf('block where a=1'), 'limit 60 per 1m by ip where a=1');
	equal(besideOf('enforce acl3'), 'limit 60 per 1m by ip');
});

test('a rule goes by what a gateway knows before it judges', () => {
	const fields = [
		['blocked', 'decision'], ['tags', 'decision'], ['human', 'client'], ['ip', 'client'], ['upstream_status', 'origin'],
		['host', 'request'],
	].map(([name = '', group = '']) => ({ name, group }) as Field);
	equal(ruleConditions('blocked is true, ip="1.2.3.4", tags="a", not human is true, upstream_status>=500, not host="a, b"', fields),
		'ip="1.2.3.4", tags="a", not host="a, b"');
	equal(ruleConditions('', fields), '');
	equal([limitOf(''), limitOf('host="a"')], ['limit 60 per 1m by ip', 'limit 60 per 1m by ip where host="a"']);
	equal(enforced('Monitor - global filter ["gf14"] - Far countries - [country]'), 'enforce Far countries');
	equal(enforced('Block - acl Deny ["all"] - acl3 - [request]') + enforced('because'), '');
	const record = { result: 'Passed', blocked: false, ip: '192.0.2.1' };
	equal(attemptsOf(record), [{ why: 'stop', rule: 'limit 60 per 1m by ip', filter: 'ip="192.0.2.1"' }]);
	equal(attemptsOf(blocked('rate limit ["all"] - Each address - [request]', { ip: '192.0.2.1', rl_triggers: [{ threshold: 9 }] })),
		[{ why: 'pass', rule: 'limit 9 per 1m by ip', filter: 'ip="192.0.2.1"' }]);
	equal(attemptsOf(blocked('acl Deny ["all"] - acl3 - [request]', { ip: '192.0.2.1' })), []);
	equal(attemptsOf({ ...record, monitor: true, monitor_reasons: ['Monitor - acl Deny ["all"] - acl3 - [request]'] }),
		[{ why: 'enforce', rule: 'enforce acl3', filter: '' }]);
});

test('the curve of a limit', () => {
	const point = (threshold: number, all: number, fresh: number, people: number | null) => ({
		threshold, num_of_requests: all, num_of_new_requests: fresh, num_of_ip: 1, num_of_human_requests: people, num_of_human_ip: people,
	});
	const curve = [point(1, 9, 7, 5), point(2, 8, 6, 1), point(3, 6, 4, 0), point(4, 0, 0, 0)];
	equal(curve.map(judged), ['people', 'people', 'others', 'nothing']);
	equal([judged(point(1, 5, 0, 0)), judged(point(1, 5, 1, null))], ['stopped', 'unknown']);
	equal([harmless(curve), harmless(curve.slice(0, 2)), harmless([point(1, 5, 1, null)])], [3, null, null]);
	equal([loosest(curve), loosest(curve.slice(3))], [3, null]);
	equal([heightOf(0, 9), heightOf(9, 9), heightOf(0, 0), heightOf(1, 999) > 0.05], [0, 1, 0, true]);
	const many = [1, 2, 3, 4, 5, 6, 9, 11, 24, 26, 60].map((threshold) => point(threshold, 1, 1, 1));
	equal(labelled(many, 1).map((i) => many[i]?.threshold), [1, 2, 5, 11, 26, 60]);
	equal(labelled(many, 3).map((i) => many[i]?.threshold), [1, 5, 11, 60]);
});

/** explained returns what the console says about records, which the tests compare with package why. */
export function explained(records: readonly LogRecord[], fields: readonly Field[]): unknown[] {
	const sensitive = sensitiveIn(fields);
	return records.map((record) => {
		const safe = withoutSecrets(record, sensitive);
		const ticket = ticketOf(safe, {
			result: words.results[resultOf(record)], address: textOf(record, 'ip'), ms: Date.parse(textOf(record, 'timestamp')),
			zone: 'UTC', link: '', filter: 'record_ref="r"',
		});
		return { sentence: why(record), covered: why(safe), stages: stagesOf(record), steps: stepsOf(record), ticket };
	});
}

const imported: Imported = {
	log: 'a.log', id: 'a', format: 'combined', records: 10, known: 0, expired: 0, rejected: { bad_line: 2 }, first_rejected: 'line 3',
	absent: ['host'], from: '2026-01-01T10:00:00Z', to: '2026-01-01T11:00:00Z', error: '',
};

test('logs that were imported, together', () => {
	const later = { ...imported, id: 'b', known: 5, rejected: {}, from: '2026-01-01T10:30:00Z', to: '2026-01-01T12:00:00Z' };
	const failed = { ...imported, id: null, records: 0, rejected: {}, from: null, to: null, error: 'the first line …' };
	equal(togetherOf([imported, later, failed]), {
		records: 20, known: 5, expired: 0, rejected: 2, period: { from: Date.UTC(2026, 0, 1, 10), to: Date.UTC(2026, 0, 1, 12) },
		ids: ['a'], // the log of b has records of an earlier import
	});
	equal(togetherOf([failed]).period, null);
});

test('the beginning of a log, but all of a zip archive', () => {
	equal(lengthShown(2 * sampleBytes, new Uint8Array([0x1f, 0x8b])), sampleBytes);
	equal(lengthShown(10, new Uint8Array([0x1f, 0x8b])), 10);
	equal(lengthShown(2 * sampleBytes, new Uint8Array([0x50, 0x4b, 3, 4])), 2 * sampleBytes);
});

test('the path of an import', () => {
	const sample = {
		log: 'a', format: 'map:["ip=client"]', format_name: 'mapped JSON', guessed: true, compression: '', problem: '',
		first: null, from: null, to: null,
	};
	equal(pathOf('samples', 'a b.log', {}), 'samples?name=a%20b.log');
	equal(pathOf('imports', 'a', { sample: { ...sample, guessed: false }, host: 'x.example' }), 'imports?name=a&set=host%3Dx.example');
	equal(pathOf('imports', 'a', { sample, anyway: true }), 'imports?name=a&format=map%3A%5B%22ip%3Dclient%22%5D&anyway=true');
});

test('the facts of a first record, the telling ones first', () => {
	equal(factsOf({ country: 'DE', ip: '203.0.113.7', timestamp: '2026-01-01T10:00:00Z', status: 200 }), {
		first: [['timestamp', '2026-01-01T10:00:00Z'], ['ip', '203.0.113.7'], ['status', '200']], others: [['country', 'DE']],
	});
});
