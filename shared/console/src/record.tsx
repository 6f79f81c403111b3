// Record: why was this blocked. A sentence first, then the evidence, then every part of the record.
import { useState } from 'preact/hooks';
import type { Answer, Facet } from './api';
import { type Asker, useAsked } from './ask';
import { useConsole } from './context';
import { copy, Value } from './menu';
import { ResultMark } from './rows';
import { Answered } from './states';
import { requestAsCurl } from './pure/curl';
import { addOnly, type Fact, filtersOf, only } from './pure/filter';
import { count, requests, share } from './pure/format';
import { periodOf, type RecordName } from './pure/fragment';
import {
	dots, type Group, groupsOf, isNamed, type Leaf, type LogRecord, nameOf, pathOf, resultOf, textOf, withoutSecrets,
} from './pure/record';
import { absolute, clockIn, dateIn, type Period, resolve } from './pure/time';
import { type Stage, stagesOf, why } from './pure/why';
import { words } from './strings';

/** RecordView reads the name of a record from the address, asks for the record, and draws it. */
export function RecordView({ name, rows }: { name: RecordName; rows: readonly LogRecord[] }) {
	const { api, go, round } = useConsole();
	const asked = useAsked(api, `record ${name.id} ${name.time}`, round, (asker) => ask(asker, name));
	const at = rows.findIndex((row) => isNamed(row, name));
	const step = (by: number) => {
		const row = at < 0 ? undefined : rows[at + by];
		return row ? () => go({ record: nameOf(row) }, 'replace') : null;
	};
	const [newer, older] = [step(-1), step(1)];
	return <aside class="record" aria-label={words.record}>
		<div class="record-bar">
			<button type="button" onClick={() => go({ record: null })}>← {words.back}</button>
			<span class="grow" />
			<button type="button" disabled={!newer} onClick={() => newer?.()} aria-label={words.newer} title={words.newer}
				data-step="newer">↑</button>
			<button type="button" disabled={!older} onClick={() => older?.()} aria-label={words.older} title={words.older}
				data-step="older">↓</button>
		</div>
		<Answered asked={asked} metas={() => []}>
			{(answer) => <Found key={`${name.id}@${name.time}`} answer={answer} />}
		</Answered>
	</aside>;
}

async function ask(asker: Asker, name: RecordName): Promise<Answer<LogRecord>> {
	const ms = Date.parse(name.time);
	const conditions = name.id === '' ? '' : only({ field: 'request_id', value: name.id });
	const period = name.id === '' ? { from: ms, to: ms } : { from: ms - 1000, to: ms + 1000 };
	return asker.ask('logs', { filters: filtersOf(conditions, period), limit: 20 });
}

function Found({ answer }: { answer: Answer<LogRecord> }) {
	const record = answer.results[0];
	if (!record) return <p class="trouble">{words.recordGone}</p>;
	return <>
		{answer.results.length > 1 && <p class="quiet">{words.recordOneOf(answer.results.length)}</p>}
		<Head record={record} />
		<Way stages={stagesOf(record)} />
		<Evidence record={record} />
		<Groups record={record} />
	</>;
}

/** Head is the sentence, and what can be copied. */
function Head({ record }: { record: LogRecord }) {
	const { zone, say } = useConsole();
	const ms = Date.parse(textOf(record, 'timestamp'));
	const id = textOf(record, 'request_id');
	return <header class="record-head">
		<p class="facts">
			<ResultMark record={record} /> · {textOf(record, 'status')} · {dateIn(ms, zone)} {clockIn(ms, zone, 'milliseconds')} {zone}
		</p>
		<h2 class="why">{why(record)}</h2>
		<p class="line-of-request"><code>{textOf(record, 'method')} {textOf(record, 'host')}{pathOf(record)}</code></p>
		<Links record={record} />
		<div class="row">
			<button type="button" class="small" onClick={() => copy(location.href, say)}>{words.copyLink}</button>
			<button type="button" class="small" onClick={() => copy(JSON.stringify(withoutSecrets(record), null, 2), say)}>
				{words.copyRecord}</button>
			<button type="button" class="small" onClick={() => copy(requestAsCurl(record, false), say)}>{words.copyCurl}</button>
			<button type="button" class="small" onClick={() => copy(requestAsCurl(record, true), say)}>{words.copyCurlSecrets}</button>
		</div>
		{id !== '' && <p class="quiet">{words.requestID} <code>{id}</code></p>}
	</header>;
}

/** Links lead to the requests around this one. */
function Links({ record }: { record: LogRecord }) {
	const { place, go } = useConsole();
	const ms = Date.parse(textOf(record, 'timestamp'));
	const same: [string, string][] = [[words.sameAddress, 'ip'], [words.sameSession, 'session'], [words.sameRule, 'reason']];
	return <p class="links">
		<button type="button" class="link"
			onClick={() => go({ filter: '', record: null, period: absolute({ from: ms - 300_000, to: ms + 300_000 }) })}>
			{words.around}</button>
		{same.filter(([, field]) => textOf(record, field) !== '').map(([text, field]) =>
			<button type="button" class="link" key={field} onClick={() => go({
				filter: addOnly('', { field, value: textOf(record, field) }), record: null, period: periodOf(place),
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
	fact: Fact;
	text: string;
}

/** Evidence is what speaks for and against a false positive. */
function Evidence({ record }: { record: LogRecord }) {
	const { api, place, round, go } = useConsole();
	const result = resultOf(record);
	const judged = result === 'blocked' || result === 'challenged';
	const period = periodAround(record, resolve(periodOf(place), Date.now()));
	const question = `evidence ${judged} ${textOf(record, 'request_id')} ${textOf(record, 'timestamp')}`;
	const asked = useAsked(api, question, round, (asker) => (judged ? evidence(asker, record, period) : Promise.resolve([])));
	if (!judged) return null;
	return <section class="evidence">
		<h3>{words.isFalsePositive}</h3>
		<Answered asked={asked} metas={() => []}>
			{(counted) => <ul>{counted.map(({ fact, text }) => <li key={fact.field}>
				{text} <button type="button" class="link" onClick={() => go({
					filter: only(fact), record: null, period: absolute(period),
				})}>{words.evidenceShow}</button>
			</li>)}</ul>}
		</Answered>
	</section>;
}

/** periodAround is the period of the page if the record is in it, else the day around the record. */
function periodAround(record: LogRecord, page: Period | null): Period {
	const ms = Date.parse(textOf(record, 'timestamp'));
	if (page && page.from <= ms && ms <= page.to) return page;
	return { from: ms - 43_200_000, to: ms + 43_200_000 };
}

async function evidence(asker: Asker, record: LogRecord, period: Period): Promise<Counted[]> {
	const facts: [string, (all: number, human: number, passed: number) => string][] = [
		['reason', (all, human) => words.evidenceRule(requests(all), count(human))],
		['session', (all, _, passed) => words.evidenceSession(requests(all), count(passed))],
		['path', (all, _, passed) => words.evidencePath(requests(all), share(passed, all))],
	];
	const asked = facts.filter(([field]) => textOf(record, field) !== '').map(([field, text]) => {
		const fact: Fact = { field, value: textOf(record, field) };
		return { fact, text, parameters: { filters: filtersOf(only(fact), period), by: ['human', 'blocked'], limit: 2 } };
	});
	await asker.afford(asked.map(({ parameters }) => ['facets', parameters]));
	return Promise.all(asked.map(async ({ fact, text, parameters }) => {
		const { results, meta } = await asker.ask('facets', parameters);
		const all = meta.num_of_requests ?? 0;
		return { fact, text: text(all, requestsOf(results, 'human', true), requestsOf(results, 'blocked', false)) };
	}));
}

function requestsOf(facets: readonly Facet[], by: string, value: boolean): number {
	const facet = facets.find((one) => one.by === by);
	return facet?.values.find((one) => one.value === value)?.num_of_requests ?? 0;
}

/** Groups are all parts of the record. The first ones are open. */
function Groups({ record }: { record: LogRecord }) {
	return <>
		{groupsOf(record).map((group) => <GroupView key={group.name} group={group}
			open={group.name === 'request' || group.name === 'client' || group.name === 'decision'} />)}
		<details class="group">
			<summary>{words.raw}</summary>
			<pre tabIndex={0}>{JSON.stringify(withoutSecrets(record), null, 2)}</pre>
		</details>
	</>;
}

function GroupView({ group, open }: { group: Group; open: boolean }) {
	return <details class="group" open={open}>
		<summary>{words.groups[group.name]} <small>{group.leaves.length}</small></summary>
		<dl>{group.leaves.map((leaf, i) => <LeafView key={`${leaf.field} ${i}`} leaf={leaf} />)}</dl>
	</details>;
}

/** LeafView is a value with its actions. A secret is shown as dots until it is asked for. */
function LeafView({ leaf }: { leaf: Leaf }) {
	const [shown, setShown] = useState(!leaf.secret);
	const value = leaf.value;
	return <div class="leaf">
		<dt>{leaf.name}</dt>
		<dd>
			{!shown ? <span title={words.secret}>{dots}</span> :
				value === null ? <span class="text">{leaf.text}</span> : <Value fact={{ field: leaf.field, value }}>{leaf.text}</Value>}
			{leaf.secret && <button type="button" class="small" onClick={() => setShown(!shown)}>
				{shown ? words.hide : words.reveal}</button>}
		</dd>
	</div>;
}
