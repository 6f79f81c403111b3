// Evidence: what speaks for and against a false positive, in numbers of requests and in those of the session.
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Answer, Facet, Meta, Parameters } from '../foundation/api';
import { type Asker, useAsked } from '../foundation/ask';
import { useConsole } from '../foundation/context';
import { present } from '../foundation/running';
import { Answered } from '../parts/answer';
import { LinkTo } from '../parts/menu';
import { resultFields, ResultMark, shapes } from '../parts/result';
import { filtersOf } from '../pure/filter';
import { count, requests, share } from '../pure/format';
import { periodOf } from '../pure/fragment';
import { type Likeness, likeFilter } from '../pure/like';
import { type LogRecord, referenceOf, resultOf, textOf } from '../pure/record';
import { mostAfter, mostAround, type Newest, periodsAround, type Strip, stripOf, timeOf } from '../pure/session';
import { absolute, clockIn, type Period, periodIn, resolve } from '../pure/time';
import { words as texts } from '../texts/page';
import { words } from '../texts/record';

/** A sentence with numbers, and the events that it counts. */
interface Counted {
	filter: string;
	period: Period;
	text: string;
	meta: Meta;
}

interface Evident {
	period: Period;
	counted: readonly Counted[];
	session: Strip | null;
	metas: readonly Meta[];
}

/** Evidence is what speaks for and against a false positive, if the request was stopped. */
export function Evidence({ record, reference }: { record: LogRecord; reference: string }) {
	const { api, place, zone, round, go } = useConsole();
	const result = resultOf(record);
	const judged = result === 'blocked' || result === 'challenged';
	const question = `evidence ${judged} ${reference} ${periodOf(place)}`;
	const asked = useAsked<Evident | null>(api, question, round, async (asker) => {
		if (!judged) return null;
		return evidence(asker, { ...record, record_ref: reference }, periodAround(record, resolve(periodOf(place), present())));
	});
	if (!judged) return null;
	return <section class="evidence">
		<h3>{words.isFalsePositive} <small>{asked.answer && periodIn(asked.answer.period, zone)}</small></h3>
		<Answered asked={asked} metas={(found) => found?.metas ?? []} brief secret>
			{(found) => found && <><ul>{found.counted.map(({ filter, period, text, meta }) => <li key={filter}>
				{text} {meta.num_of_requests !== 0 && <button type="button" class="link" onClick={() => go({
					filter, record: null, period: absolute(period),
				})}>{words.show}</button>}
			</li>)}</ul>
			{found.session && <Session strip={found.session} filter={likeFilter(record, 'session')} reference={reference} />}</>}
		</Answered>
	</section>;
}

/**
 * Session is what happened to the requests of the session around a record, in the order of time. Each leads to its record,
 * whose strip takes the focus over.
 */
function Session({ strip: { records, earlier, later }, filter, reference }: { strip: Strip; filter: string; reference: string }) {
	const { place, zone, go } = useConsole();
	const list = useRef<HTMLOListElement>(null);
	useLayoutEffect(() => {
		const own = list.current?.querySelector<HTMLElement>('[aria-current]');
		if (own && document.activeElement === own.closest('.record')) own.focus();
	}, []);
	if (records.length < 2) return null;
	const more = (text: string, title: string, period: Period | null) => period && <li><button type="button" class="link" title={title}
		onClick={() => go({ filter, record: null, period: absolute(period) })}>{text}</button></li>;
	const { table } = place;
	return <>
		<div class="row">
			<h4 id="session">{words.session}</h4>
			<button type="button" class="small" aria-pressed={table} onClick={() => go({ table: !table })}>
				{table ? texts.asChart : texts.asTable}</button>
		</div>
		{table ? <>
			<SessionTable records={records} reference={reference} />
			<ul class="session">{more(words.earlier, words.earlierTitle, earlier)}{more(words.later, words.laterTitle, later)}</ul>
		</> : <ol class="session" aria-labelledby="session" ref={list}>
			{more(words.earlier, words.earlierTitle, earlier)}
			{records.map((one) => {
				const result = resultOf(one);
				const time = clockIn(timeOf(one), zone, 'seconds');
				const request = `${textOf(one, 'method')} ${textOf(one, 'host')}${textOf(one, 'path')}`;
				const name = words.ofSession(time, texts.results[result], request);
				const own = referenceOf(one);
				return <li key={own}><button type="button" class={`plain verdict ${result}`} aria-label={name} title={name}
					aria-current={own === reference ? 'true' : undefined} onClick={(event) => {
						event.currentTarget.closest<HTMLElement>('.record')?.focus(); // until the other strip is there
						go({ record: own });
					}}>
					<span aria-hidden="true">{shapes[result]}</span></button></li>;
			})}
			{more(words.later, words.laterTitle, later)}
		</ol>}
	</>;
}

/** SessionTable is the strip as a table. */
function SessionTable({ records, reference }: { records: readonly LogRecord[]; reference: string }) {
	const { zone } = useConsole();
	return <div class="scroll" tabIndex={0} role="region" aria-labelledby="session"><table class="triggers">
		<thead><tr>{[texts.columns.timestamp, texts.columns.result, texts.columns.target].map((name) =>
			<th scope="col" key={name}>{name}</th>)}</tr></thead>
		<tbody>{records.map((one) => {
			const own = referenceOf(one);
			return <tr key={own}>
				<td><LinkTo change={{ record: own }} current={own === reference && 'true'}>
					{clockIn(timeOf(one), zone, 'milliseconds')}</LinkTo></td>
				<td><ResultMark record={one} /></td>
				<td>{textOf(one, 'method')} {textOf(one, 'host')}{textOf(one, 'path')}</td>
			</tr>;
		})}</tbody>
	</table></div>;
}

/** periodAround is the period of the page if the record is in it, else the day around the record. */
export function periodAround(record: LogRecord, page: Period | null): Period {
	const ms = timeOf(record);
	if (page && page.from <= ms && ms <= page.to) return page;
	return { from: ms - 43_200_000, to: ms + 43_200_000 };
}

async function evidence(asker: Asker, record: LogRecord, period: Period): Promise<Evident> {
	const before = { from: Math.min(period.from, timeOf(record) - 1), to: timeOf(record) - 1 };
	const facts: [Likeness, Period, (all: number, human: number, passed: number, addresses: string) => string][] = [
		['rule', period, (all, human, _, addresses) => words.evidenceRule(requests(all), count(human), addresses)],
		['session', before, (all, _, passed) => (all === 0 ? words.noSession : words.evidenceSession(requests(all), count(passed)))],
		['path', period, (all, _, passed) => words.evidencePath(requests(all), share(passed, all))],
	];
	const asked = facts.map(([likeness, of, text]) => ({ filter: likeFilter(record, likeness), of, text }))
		.filter(({ filter }) => filter !== '').map((one) => ({
			...one, parameters: { filters: filtersOf(one.filter, one.of), by: ['human', 'blocked', 'ip'], limit: 2 },
		}));
	const around = sessionOf(record, period);
	await asker.afford([...asked.map(({ parameters }) => ['facets', parameters] as const), ...around.map((one) => ['logs', one] as const)]);
	const [counted, [past, future]] = await Promise.all([
		Promise.all(asked.map(async ({ filter, of, text, parameters }) => {
			const { results, meta } = await asker.ask('facets', parameters);
			const addresses = results.find((one) => one.by === 'ip')?.distinct;
			return { filter, period: of, meta, text: text(meta.num_of_requests ?? 0, ofValue(results, 'human', true), passedOf(results),
				addresses === undefined ? '' : words.addresses(count(addresses))) };
		})),
		Promise.all(around.map((parameters) => asker.ask('logs', parameters))),
	]);
	return {
		period, counted, session: past && future ? stripOf(record, period, newestOf(past), newestOf(future)) : null,
		metas: [...counted, ...(past && future ? [past, future] : [])].map((one) => one.meta),
	};
}

/** sessionOf returns the questions about the session to a record and after it, if it has one. */
function sessionOf(record: LogRecord, period: Period): Parameters[] {
	const filter = likeFilter(record, 'session');
	if (filter === '') return [];
	const { before, after } = periodsAround(record, period);
	const fields = ['record_ref', 'timestamp', 'method', 'host', 'path', ...resultFields];
	return [
		{ filters: filtersOf(filter, before), limit: mostAround + 1, fields },
		{ filters: filtersOf(filter, after), limit: mostAfter, fields },
	];
}

const newestOf = ({ results, meta }: Answer<LogRecord>): Newest => ({ records: results, more: meta.next != null });

const ofValue = (facets: readonly Facet[], by: string, value: boolean): number => countsOf(facets, by, value)?.num_of_requests ?? 0;

/** passedOf returns how many requests were neither blocked nor challenged. */
function passedOf(facets: readonly Facet[]): number {
	const counts = countsOf(facets, 'blocked', false);
	return counts ? counts.num_of_requests - counts.num_of_challenges : 0;
}

function countsOf(facets: readonly Facet[], by: string, value: boolean): Facet['values'][number] | undefined {
	return facets.find((one) => one.by === by)?.values.find((one) => one.value === value);
}
