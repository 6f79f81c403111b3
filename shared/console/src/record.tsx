// Record: why was this blocked. A sentence first, then the evidence, then every part of the record.
import { useEffect, useState } from 'preact/hooks';
import './app';
import type { Facet, Meta, Parameters } from './api';
import { type Asker, useAsked } from './ask';
import { useConsole } from './context';
import { copy, Value } from './menu';
import type { Pages } from './older';
import { columns, ResultMark, shapes } from './rows';
import { present } from './running';
import { Answered, Progress, Trouble } from './states';
import { requestAsCurl } from './pure/curl';
import { add, filtersOf, only } from './pure/filter';
import { count, requests, share } from './pure/format';
import { periodOf } from './pure/fragment';
import { dots, type Group, groupsOf, type Leaf, sensitiveIn, withoutSecrets } from './pure/parts';
import { type LogRecord, pathOf, referenceOf, resultOf, textOf } from './pure/record';
import { absolute, clockIn, dateIn, type Period, periodIn, resolve } from './pure/time';
import { type Stage, stagesOf, why } from './pure/why';
import { words } from './strings';

/** A record, if there is one with the reference. */
interface Found {
	reference: string;
	record: LogRecord | undefined;
	meta: Meta;
}

/** RecordView reads the reference to a record from the address, asks for the record, and draws it. */
export function RecordView({ reference, pages }: { reference: string; pages: Pages }) {
	const { api, go, round } = useConsole();
	const asked = useAsked(api, `record ${reference}`, round, (asker) => ask(asker, reference));
	const at = pages.rows.findIndex((row) => referenceOf(row) === reference);
	const show = (row: LogRecord | undefined): void => {
		if (row) go({ record: referenceOf(row) }, 'replace');
	};
	const [newer, older] = at < 0 ? [] : [pages.rows[at - 1], pages.rows[at + 1]];
	const last = at >= 0 && !older && pages.next !== null; // of those that are loaded
	const [ahead, setAhead] = useState(''); // the record after which the next page is asked for
	useEffect(() => {
		if (ahead === reference && !last) show(older);
	}, [ahead, last]);
	return <aside class="record" aria-label={words.record}>
		<div class="record-bar">
			<button type="button" onClick={() => go({ record: null })}>← {words.back}</button>
			<span class="grow" />
			<button type="button" disabled={!newer} onClick={() => show(newer)} aria-label={words.newer} title={words.newer}
				data-step="newer">↑</button>
			<button type="button" disabled={!older && !last} aria-label={words.older} title={words.older} data-step="older"
				onClick={() => {
					if (!last) return show(older);
					setAhead(reference);
					pages.more();
				}}>↓</button>
		</div>
		{ahead === reference && last && <><Progress asked={pages.asked} /><Trouble asked={pages.asked} /></>}
		<Answered asked={asked} metas={(answer) => [answer.meta]} brief>
			{(answer) => <Found key={answer.reference} {...answer} />}
		</Answered>
	</aside>;
}

/** ask needs no period: a reference contains the time of its record. */
async function ask(asker: Asker, reference: string): Promise<Found> {
	const parameters = { filters: only({ field: 'record_ref', value: reference }), limit: 1 };
	await asker.afford([['logs', parameters]]);
	const { results, meta } = await asker.ask('logs', parameters);
	return { reference, record: results[0], meta };
}

function Found({ record, reference }: Omit<Found, 'meta'>) {
	const { fields } = useConsole();
	const [open, setOpen] = useState(false);
	if (!record) return <p class="trouble">{words.recordGone}</p>;
	const sensitive = sensitiveIn(fields);
	const safe = withoutSecrets(record, sensitive);
	return <>
		<Head record={record} safe={safe} open={open} setOpen={setOpen} />
		<Way stages={stagesOf(record)} />
		<Evidence record={record} reference={reference} />
		{groupsOf(record, sensitive).map((group) => <GroupView key={group.name} group={group} secrets={open} />)}
		<details class="group">
			<summary>{words.raw}</summary>
			<pre tabIndex={0}>{JSON.stringify(open ? record : safe, null, 2)}</pre>
		</details>
	</>;
}

/** Head is the sentence, and what can be copied. Copies have no secrets unless they are asked for. */
function Head({ record, safe, open, setOpen }: {
	record: LogRecord; safe: LogRecord; open: boolean; setOpen(open: boolean): void;
}) {
	const { zone, say } = useConsole();
	const drawn = open ? record : safe;
	const ms = Date.parse(textOf(record, 'timestamp'));
	const id = textOf(record, 'request_id');
	return <header class="record-head">
		<p class="facts">
			<ResultMark record={record} /> · {textOf(record, 'status')} · {dateIn(ms, zone)} {clockIn(ms, zone, 'milliseconds')} {zone}
		</p>
		<h2 class="why">{why(drawn)}</h2>
		<p class="line-of-request"><code>{textOf(record, 'method')} {textOf(record, 'host')}{pathOf(drawn)}</code></p>
		<Links record={record} />
		<div class="row">
			<button type="button" class="small" onClick={() => copy(location.href, say)}>{words.copyLink}</button>
			<button type="button" class="small" onClick={() => copy(JSON.stringify(safe, null, 2), say)}>{words.copyRecord}</button>
			<button type="button" class="small" onClick={() => copy(requestAsCurl(safe), say)}>{words.copyCurl}</button>
			<button type="button" class="small" onClick={() => copy(requestAsCurl(record), say)}>{words.copyCurlSecrets}</button>
			<button type="button" class="small" aria-pressed={open} title={words.secret} onClick={() => setOpen(!open)}>
				{words.showSecrets}</button>
		</div>
		{id !== '' && <p class="quiet">{words.requestID} <code>{id}</code></p>}
	</header>;
}

/** Links lead to the requests around this one. */
function Links({ record }: { record: LogRecord }) {
	const { place, go } = useConsole();
	const period = periodAround(record, resolve(periodOf(place), Date.now()));
	const ms = Date.parse(textOf(record, 'timestamp'));
	const same: [string, string][] = [[words.sameAddress, 'ip'], [words.sameSession, 'session'], [words.sameRule, 'reason']];
	return <p class="links">
		<button type="button" class="link"
			onClick={() => go({ filter: '', record: null, period: absolute({ from: ms - 300_000, to: ms + 300_000 }) })}>
			{words.around}</button>
		{same.filter(([, field]) => textOf(record, field) !== '').map(([text, field]) =>
			<button type="button" class="link" key={field} onClick={() => go({
				filter: only({ field, value: textOf(record, field) }), record: null, period: absolute(period),
			})}>{text}</button>)}
	</p>;
}

/** Way is the way of the request through the stages of the gateway. */
function Way({ stages }: { stages: readonly Stage[] }) {
	if (stages.length === 0) return null;
	const marks = { passed: '✓', stopped: '■', 'not reached': '–' };
	return <ol class="way" aria-label={words.wayThrough}>
		{stages.map(({ name, state }) => <li key={name} class={state.replace(' ', '-')}>
			<span class="stage">{words.stages[name]}</span>
			<span class="state"><span aria-hidden="true">{marks[state]}</span> {words.stageStates[state]}</span>
		</li>)}
	</ol>;
}

interface Counted {
	filter: string;
	text: string;
	meta: Meta;
}

/** What speaks for and against a false positive: numbers of requests, and those of the session. */
interface Evident {
	period: Period; // in which the links show the same requests
	counted: readonly Counted[];
	session: readonly LogRecord[]; // newest first
	metas: readonly Meta[];
}

/** Evidence is what speaks for and against a false positive. */
function Evidence({ record, reference }: { record: LogRecord; reference: string }) {
	const { api, place, zone, round, go } = useConsole();
	const result = resultOf(record);
	const judged = result === 'blocked' || result === 'challenged';
	const question = `evidence ${judged} ${reference} ${periodOf(place)}`;
	const asked = useAsked<Evident | null>(api, question, round, async (asker) => {
		if (!judged) return null;
		return evidence(asker, record, periodAround(record, resolve(periodOf(place), present())));
	});
	if (!judged) return null;
	return <section class="evidence">
		<h3>{words.isFalsePositive} <small>{asked.answer && periodIn(asked.answer.period, zone)}</small></h3>
		<Answered asked={asked} metas={(found) => found?.metas ?? []} brief>
			{(found) => found && <><ul>{found.counted.map(({ filter, text }) => <li key={filter}>
				{text} <button type="button" class="link" onClick={() => go({
					filter, record: null, period: absolute(found.period),
				})}>{words.evidenceShow}</button>
			</li>)}</ul>
			<Session records={found.session} reference={reference} /></>}
		</Answered>
	</section>;
}

/** Session is what happened to the requests of the session, in the order of time. Each leads to its record. */
function Session({ records, reference }: { records: readonly LogRecord[]; reference: string }) {
	const { zone, go } = useConsole();
	if (records.length < 2) return null;
	return <>
		<h4 id="session">{words.session}</h4>
		<ol class="session" aria-labelledby="session">{[...records].reverse().map((one) => {
			const result = resultOf(one);
			const time = clockIn(Date.parse(textOf(one, 'timestamp')), zone, 'seconds');
			const name = words.ofSession(time, words.results[result], `${textOf(one, 'method')} ${textOf(one, 'host')}${pathOf(one)}`);
			const own = referenceOf(one);
			return <li key={own}><button type="button" class={`plain verdict ${result}`} aria-label={name} title={name}
				aria-current={own === reference ? 'true' : undefined} onClick={() => go({ record: own })}>
				<span aria-hidden="true">{shapes[result]}</span></button></li>;
		})}</ol>
	</>;
}

const mostOfSession = 40;
const afterRecord = 1_800_000; // milliseconds

/** sessionOf returns the question about the session of a record, if it has one. */
function sessionOf(record: LogRecord, period: Period): Parameters[] {
	const session = textOf(record, 'session');
	const ms = Date.parse(textOf(record, 'timestamp'));
	if (session === '') return [];
	return [{
		filters: filtersOf(only({ field: 'session', value: session }), { from: period.from, to: ms + afterRecord }), limit: mostOfSession,
		fields: ['record_ref', 'timestamp', 'method', 'host', 'path', ...columns.result.fields],
	}];
}

/** periodAround is the period of the page if the record is in it, else the day around the record. */
function periodAround(record: LogRecord, page: Period | null): Period {
	const ms = Date.parse(textOf(record, 'timestamp'));
	if (page && page.from <= ms && ms <= page.to) return page;
	return { from: ms - 43_200_000, to: ms + 43_200_000 };
}

async function evidence(asker: Asker, record: LogRecord, period: Period): Promise<Evident> {
	const facts: [string[], (all: number, human: number, passed: number, addresses: string) => string][] = [
		[['reason'], (all, human, _, addresses) => words.evidenceRule(requests(all), count(human), addresses)],
		[['session'], (all, _, passed) => words.evidenceSession(requests(all), count(passed))],
		[['path', 'host'], (all, _, passed) => words.evidencePath(requests(all), share(passed, all))],
	];
	const asked = facts.filter(([fields]) => textOf(record, fields[0] ?? '') !== '').map(([fields, text]) => {
		const filter = fields.filter((field) => textOf(record, field) !== '')
			.reduce((all, field) => add(all, only({ field, value: textOf(record, field) })), '');
		return { filter, text, parameters: { filters: filtersOf(filter, period), by: ['human', 'blocked', 'ip'], limit: 2 } };
	});
	const session = sessionOf(record, period);
	const planned = asked.map(({ parameters }) => ['facets', parameters] as const);
	await asker.afford([...planned, ...session.map((one) => ['logs', one] as const)]);
	const [counted, others] = await Promise.all([Promise.all(asked.map(async ({ filter, text, parameters }) => {
		const { results, meta } = await asker.ask('facets', parameters);
		const addresses = results.find((one) => one.by === 'ip')?.distinct;
		return { filter, meta, text: text(meta.num_of_requests ?? 0, ofValue(results, 'human', true), passedOf(results),
			addresses === undefined ? '' : words.addresses(count(addresses))) };
	})), Promise.all(session.map((parameters) => asker.ask('logs', parameters)))]);
	return {
		period, counted, session: others.flatMap((answer) => answer.results), metas: [...counted, ...others].map((one) => one.meta),
	};
}

const ofValue = (facets: readonly Facet[], by: string, value: boolean): number => countsOf(facets, by, value)?.num_of_requests ?? 0;

/** passedOf returns how many requests were neither blocked nor challenged. */
function passedOf(facets: readonly Facet[]): number {
	const counts = countsOf(facets, 'blocked', false);
	return counts ? counts.num_of_requests - counts.num_of_challenges : 0;
}

function countsOf(facets: readonly Facet[], by: string, value: boolean): Facet['values'][number] | undefined {
	return facets.find((one) => one.by === by)?.values.find((one) => one.value === value);
}

/** GroupView is a part of the record. The first ones are open. */
function GroupView({ group, secrets }: { group: Group; secrets: boolean }) {
	return <details class="group" open={group.name === 'request' || group.name === 'client' || group.name === 'decision'}>
		<summary>{words.groups[group.name]} <small>{group.leaves.length}</small></summary>
		<dl>{group.leaves.map((leaf, i) => <LeafView key={`${leaf.field} ${i} ${secrets}`} leaf={leaf} secrets={secrets} />)}</dl>
	</details>;
}

/** LeafView is a value with its actions. A secret is shown as dots until it is asked for. */
function LeafView({ leaf, secrets }: { leaf: Leaf; secrets: boolean }) {
	const [chosen, choose] = useState<boolean | null>(null);
	const shown = chosen ?? (secrets || !leaf.secret); // the catalogue may come later than the record
	const value = leaf.value;
	return <div class={leaf.matched ? 'leaf matched' : 'leaf'}>
		<dt>{leaf.name}{leaf.matched && <small>{words.matched}</small>}</dt>
		<dd>
			{!shown ? <span title={words.secret}>{dots}</span> :
				value === null ? <span class="text">{leaf.text}</span> : <Value fact={{ field: leaf.field, value }}>{leaf.text}</Value>}
			{leaf.secret && <button type="button" class="small" onClick={() => choose(!shown)}>
				{shown ? words.hide : words.reveal}</button>}
		</dd>
	</div>;
}
