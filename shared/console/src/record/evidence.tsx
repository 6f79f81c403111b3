// Evidence: whether it was a false positive, as the server judges it, with its reasons, and the session around the record.
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Answer, Explanation, Meta, Parameters } from '../foundation/api';
import { type Asker, useAsked } from '../foundation/ask';
import { useConsole } from '../foundation/context';
import { present } from '../foundation/running';
import { Answered } from '../parts/answer';
import { LinkTo } from '../parts/menu';
import { resultFields, ResultMark, shapes } from '../parts/result';
import { filtersOf, splitPeriod } from '../pure/filter';
import { periodOf } from '../pure/fragment';
import { likeFilter } from '../pure/like';
import { type LogRecord, referenceOf, resultOf, textOf } from '../pure/record';
import { mostAfter, mostAround, type Newest, periodsAround, type Strip, stripOf, timeOf } from '../pure/session';
import { absolute, clockIn, type Period, resolve } from '../pure/time';
import { words as texts } from '../pure/words';
import { words } from './record.words';

interface Evident {
	explanation: Explanation | undefined;
	session: Strip | null;
	metas: readonly Meta[];
}

/** What the page knows of the server's explanation of a record. */
export interface Explained {
	explanation?: Explanation;
	awaited: boolean; // there may be one soon
}

/** Evidence is what speaks for and against a false positive, if the request was stopped. explain is called with the verdict. */
export function Evidence({ record, reference, explain }: {
	record: LogRecord; reference: string; explain(explained: Explained): void;
}) {
	const { api, place, round } = useConsole();
	const result = resultOf(record);
	const judged = result === 'blocked' || result === 'challenged';
	const question = `evidence ${judged} ${reference} ${periodOf(place)}`;
	const asked = useAsked<Evident | null>(api, question, round, async (asker) => {
		if (!judged) return null;
		return evidence(asker, { ...record, record_ref: reference }, periodAround(record, resolve(periodOf(place), present())));
	});
	const explanation = asked.answer?.explanation;
	const awaited = asked.state === 'asking' && !explanation;
	useEffect(() => explain({ awaited, ...explanation && { explanation } }), [explanation, awaited]);
	if (!judged) return null;
	return <section class="evidence">
		<h3>{words.isFalsePositive}</h3>
		<Answered asked={asked} metas={(found) => found?.metas ?? []} brief secret>
			{(found) => found && <>{found.explanation && <Judgement explanation={found.explanation} />}
				{found.session && <Session strip={found.session} filter={likeFilter(record, 'session')} reference={reference} />}</>}
		</Answered>
	</section>;
}

/** Judgement has the reasons of the verdict, each with the events that it counts. */
function Judgement({ explanation: { verdict } }: { explanation: Explanation }) {
	const { go } = useConsole();
	const show = (filter: string): void => {
		const { filter: conditions, period } = splitPeriod(filter, 0);
		go({ filter: conditions, record: null, period: period ?? '' });
	};
	return <ul>{verdict?.reasons.map(({ reason, text, counts: [all] }) => <li key={reason}>
		{text} {all && all.num_of_requests > 0 &&
			<button type="button" class="link" onClick={() => show(all.filter)}>{words.show}</button>}
	</li>)}</ul>;
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
	const parameters = { record_ref: referenceOf(record) };
	const around = sessionOf(record, period);
	await asker.afford([['why', parameters], ...around.map((one) => ['logs', one] as const)]);
	const [why, [past, future]] = await Promise.all([
		asker.ask('why', parameters), Promise.all(around.map((one) => asker.ask('logs', one))),
	]);
	return {
		explanation: why.results[0], session: past && future ? stripOf(record, period, newestOf(past), newestOf(future)) : null,
		metas: [why.meta, ...(past && future ? [past.meta, future.meta] : [])],
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
