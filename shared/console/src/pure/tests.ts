// Tests of the pure modules, which the tests of scripts/console run in a browser.
import { fieldOptions, operatorOptions, take, valueOptions } from './complete';
import { requestAsCurl, shell } from './curl';
import { addOnly, addWithout, only, quote, splitPeriod, without } from './filter';
import { bytes, changeOf, dollars, milliseconds, share } from './format';
import { type Place, readFragment, start, writeFragment } from './fragment';
import { conditionsOf, expectedAt, tokensOf } from './lex';
import { place, unitsOf } from './mistakes';
import { addUp, isHeavy, priceOf } from './price';
import { dots, groupsOf, type LogRecord, resultOf, withoutSecrets } from './record';
import { absolute, clockIn, momentIn, parseTime, periodIn, previous, resolve, shift, zoomOut } from './time';
import { readReason, stagesOf, why } from './why';

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
		const events = below(2) === 1;
		const filled: Place = {
			screen: events ? 'events' : 'dashboard',
			record: events && below(2) === 1 ? { id: text(), time: '2026-01-01T20:45:01.457Z' } : null,
			filter: text(), period: text(), columns: below(2) === 1 ? ['timestamp', 'status'] : null, zone: text(),
			others: below(3) === 0 ? [['x' + text(), text()]] : [],
		};
		equal(readFragment(writeFragment(filled)), filled, writeFragment(filled));
	}
});

test('an unknown member of a fragment is kept', () => {
	const fragment = '#/events?f=status%3D404&t=30m&live=5';
	equal(writeFragment(readFragment(fragment)), fragment);
});

test('a fragment that is not understood is the start', () => {
	for (const fragment of ['', '#', '#/', '#nonsense', '#/events/broken%']) {
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

test('periods move, grow and have one before them', () => {
	const p = { from: 1000, to: 5000 };
	equal(shift(p, -1), { from: -3000, to: 1000 });
	equal(zoomOut(p), { from: -1000, to: 7000 });
	equal(previous(p), { from: -3001, to: 999 });
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
});

test('conditions are added, replaced by their opposite, and taken away', () => {
	const fact = { field: 'country', value: 'Germany' };
	equal(addOnly('', fact), 'country="Germany"');
	equal(addOnly('country="Germany"', fact), 'country="Germany"');
	equal(addWithout('status>=500, country="Germany"', fact), 'status>=500, country!="Germany"');
	equal(addOnly('country!="Germany", host~"a,b"', fact), 'host~"a,b", country="Germany"');
	equal(only({ field: 'blocked', value: true }), 'blocked is true');
	equal(without({ field: 'status', value: 404 }), 'status!=404');
});

test('texts in quotes are read again as they were', () => {
	const unquote = (text: string): string => text.slice(1, -1).replace(/\\(["\\])/g, '$1');
	for (const text of ['', 'a', '"', '\\', 'a\\"b', 'C:\\x\\', '\\\\', '\\d+', 'Block - acl Deny ["all"]']) {
		equal(unquote(quote(text)), text, quote(text));
		equal(conditionsOf(`a=${quote(text)}, b=1`).length, 2, quote(text));
	}
});

test('a period in a filter is taken out', () => {
	const split = splitPeriod('status=404, timestamp between 2026-01-01 10:00 and 2026-01-01 09:00, host="and b"');
	equal(split.filter, 'status=404, host="and b"');
	equal(split.period, { from: Date.UTC(2026, 0, 1, 9), to: Date.UTC(2026, 0, 1, 10) });
	equal(splitPeriod('not timestamp between 2026-01-01 and 2026-01-02').period, null);
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
	equal([share(0, 0), share(1, 42), share(1, 5000), share(4999, 5000), share(5, 5)], ['–', '2.4 %', '<0.1 %', '>99.9 %', '100 %']);
	equal(changeOf(121, 100), { sign: 'more', text: '21 %' });
	equal(changeOf(5, 0), { sign: 'new', text: 'none before' });
	equal(changeOf(300, 10), { sign: 'more', text: '30 times' });
});

test('heavy questions wait', () => {
	const light = { objects: 24, bytes: { low: 2e6, high: 8e6 }, wait_ms: null };
	equal(isHeavy(light), false);
	equal(isHeavy({ ...light, bytes: { low: 1, high: 2e9 } }), true);
	equal(isHeavy({ ...light, cost_usd: { low: 0, high: 0.02 } }), true);
	equal(priceOf(light), 'reads 2.0 MB–8.0 MB of 24 objects');
	equal(addUp([light, light]).bytes, { low: 4e6, high: 16e6 });
	equal(priceOf({ bytes: null, wait_ms: null }), 'reads an unknown amount');
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

test('a reason of another grammar is not taken apart', () => {
	for (const text of ['', 'Block', 'Block - magic ["a"] - r - [request]', 'Block - acl Deny - acl1']) equal(readReason(text), null, text);
	equal(readReason('Block - acl Deny ["a \\"b\\""] - x - y - [request]')?.rule, 'x - y');
});

test('the way of a request ends where it was stopped', () => {
	equal(stagesOf({ blocked: true, processing_stage: 4 }).map((s) => s.state),
		['passed', 'passed', 'stopped', 'not reached', 'not reached']);
	equal(stagesOf({ result: 'Passed', processing_stage: 6 }).map((s) => s.state), Array(5).fill('passed'));
	equal(stagesOf({}), []);
});

test('results have the word of what decided', () => {
	equal([{ blocked: true, monitor: true }, { ichallenge: true }, { monitor_reasons: ['x'] }, { upstream_status: [200, 503] }, {}]
		.map((record) => resultOf(record)), ['blocked', 'challenged', 'monitored', 'refused', 'passed']);
});

test('secrets are masked', () => {
	const record = {
		headers: { Authorization: 'Bearer s3cret', accept: '*/*' }, cookies: { sid: 's3cret' }, svcid: 's3cret', host: 'a.example',
		method: 'POST', path: '/x', query: "?q='1",
	};
	const masked = JSON.stringify(withoutSecrets(record));
	equal(masked.includes('s3cret'), false, masked);
	equal(masked.includes('*/*'), true);
	equal(requestAsCurl(record, false),
		`curl -i -X POST 'https://a.example/x?q='\\''1' -H 'Authorization: ${dots}' -H 'accept: */*'`);
	equal(requestAsCurl(record, true).includes('sid=s3cret'), true);
	const leaves = groupsOf(record).flatMap((group) => group.leaves);
	equal(leaves.filter((leaf) => leaf.secret).map((leaf) => leaf.field), ['headers["Authorization"]', 'cookies["sid"]', 'svcid']);
});

test('every member of a record is a leaf', () => {
	const record = {
		host: 'a', tags: ['x', 'y'], headers: { a: ['1', '2'] }, trigger_counters: { acl: 1 }, unknown: { deep: 1 },
		proxy: [{ name: 'status', value: '200' }], details: null,
	};
	equal(groupsOf(record).flatMap((group) => group.leaves).map((leaf) => `${leaf.field}=${leaf.text}`).sort(), [
		'details=null', 'headers["a"]=1', 'headers["a"]=2', 'host=a', 'proxy["status"]=200', 'tags=x', 'tags=y',
		'trigger_counters["acl"]=1', 'unknown={"deep":1}',
	]);
});

test('a shell reads arguments as they are', () => {
	equal([shell('plain-1'), shell("it's"), shell('$HOME')], ['plain-1', `'it'\\''s'`, `'$HOME'`]);
});

test('completions fit what is typed', () => {
	const field = (name: string, operators: string[]) =>
		({ name, type: 'string', operators, doc: '', groupable: true, sensitive: false });
	const fields = [field('ip', ['eq']), field('hostname', ['eq']), field('host', ['eq', 'in']), field('upstream_host', ['eq'])];
	equal(fieldOptions(fields, 'host').map((o) => o.label), ['host', 'hostname', 'upstream_host']);
	equal(operatorOptions(fields, 'host').map((o) => o.insert), ['=', '!=', ' in (', ' not in (']);
	equal(valueOptions(['a "b"', 5, true]).map((o) => o.insert), ['"a \\"b\\""', '5', 'true']);
	const at = expectedAt('status>=500, ho', 15);
	equal(take('status>=500, ho', at, { insert: 'host', label: '', detail: '' }), { text: 'status>=500, host', caret: 17 });
});
