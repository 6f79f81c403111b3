// Events: which requests exactly.
import { useState } from 'preact/hooks';
import type { Answer, Parameters, Segment } from './api';
import { type Asker, useAsked } from './ask';
import { Chart } from './chart';
import { useConsole } from './context';
import { useMedia, wide } from './media';
import { RecordView } from './record';
import { type Column, columns, Rows, usualColumns } from './rows';
import { leadToData, never } from './start';
import { Answered, Nothing } from './states';
import { filtersOf } from './pure/filter';
import { count } from './pure/format';
import { periodOf, type Place } from './pure/fragment';
import { isNamed, type LogRecord, nameOf, textOf } from './pure/record';
import { dateIn, momentIn, resolve } from './pure/time';
import { words } from './strings';

const pageSize = 200; // the vendor's default

/** The columns beside a record, where there is less room. */
const besideRecord: readonly Column[] = ['timestamp', 'result', 'status', 'target'];

/** The columns of a window that is not wide. */
const fewer: readonly Column[] = ['timestamp', 'result', 'method', 'status', 'ip', 'target'];

interface Answers {
	timeline: Answer<Segment>;
	logs: Answer<LogRecord>;
	parameters: Parameters; // of logs, for the next pages
}

/** Events reads the question from the address, asks it, and draws the answer; with a record beside it if one is chosen. */
export function Events() {
	const console = useConsole();
	const { api, place, round } = console;
	const shown = columnsOf(place);
	const question = `events ${periodOf(place)} ${shown.join(',')} ${place.filter}`;
	const asked = useAsked(api, question, round, async (asker) => {
		const answers = await ask(asker, place, shown);
		return leadToData(console, answers.timeline) ? never<Answers>() : answers;
	});
	const beside = useMedia(wide);
	const drawn = place.columns ? shown : place.record && beside ? besideRecord : beside ? shown : fewer;
	const list = <div class="list-pane" hidden={place.record !== null && !beside}>
		<Answered asked={asked} metas={(a) => [a.logs.meta, a.timeline.meta]}>
			{(answers) => answers.logs.results.length === 0 ? <Nothing meta={answers.logs.meta} /> :
				<List key={question} answers={answers} shown={drawn} />}
		</Answered>
	</div>;
	return <div class={place.record ? 'events with-record' : 'events'}>
		{list}
		{place.record && <RecordView name={place.record} rows={asked.answer?.logs.results ?? []} />}
	</div>;
}

async function ask(asker: Asker, place: Place, shown: readonly Column[]): Promise<Answers> {
	const period = resolve(periodOf(place), Date.now());
	if (!period) throw new Error(`no period: ${place.period}`);
	const filters = filtersOf(place.filter, period);
	const fields = [...new Set(['timestamp', 'request_id', ...shown.flatMap((column) => columns[column].fields)])];
	const parameters = { filters, fields, limit: pageSize };
	await asker.afford([['logs', parameters], ['timeline', { filters }]]);
	const [timeline, logs] = await Promise.all([asker.ask('timeline', { filters }), asker.ask('logs', parameters)]);
	return { timeline, logs, parameters };
}

function columnsOf(place: Place): readonly Column[] {
	const known = (place.columns ?? []).filter((name): name is Column => name in columns);
	return known.length > 0 ? known : usualColumns;
}

/** List is the strip chart and the rows, to which older pages are added. */
function List({ answers, shown }: { answers: Answers; shown: readonly Column[] }) {
	const { place, zone, go } = useConsole();
	const { timeline, logs } = answers;
	const { rows, next, loading, failure, more } = usePages(answers);
	const { from, to } = logs.meta.period;
	const days = dateIn(Date.parse(from), zone) !== dateIn(Date.parse(to), zone);
	const selected = place.record ? rows.findIndex((row) => isNamed(row, place.record)) : -1;
	const oldest = Date.parse(textOf(rows[rows.length - 1] ?? {}, 'timestamp'));
	return <>
		<Chart compact segments={timeline.results} before={[]} length={timeline.meta.segment_seconds ?? 60} height={96}
			period={timeline.meta.period} />
		<div class="over-rows">
			<span>{next ? words.eventsShown(count(rows.length), momentIn(Math.floor(oldest / 1000) * 1000, zone)) :
				words.eventsAll(count(rows.length))}</span>
			<ColumnChooser shown={shown} />
		</div>
		<Rows rows={rows} shown={shown} dates={days} selected={selected} complete={!next} open={(row) => {
			const record = rows[row];
			if (record) go({ record: nameOf(record) });
		}} />
		{next && <p class="more"><button type="button" disabled={loading} onClick={more}>
			{loading ? words.loading : words.loadMore}
		</button> {failure}</p>}
	</>;
}

/** usePages adds older pages to the first one. */
function usePages({ logs, parameters }: Answers) {
	const { api } = useConsole();
	const [pages, setPages] = useState({ of: logs, rows: logs.results, next: logs.meta.next ?? null });
	const [loading, setLoading] = useState(false);
	const [failure, setFailure] = useState('');
	const own = pages.of === logs ? pages : { of: logs, rows: logs.results, next: logs.meta.next ?? null };
	const more = (): void => {
		if (!own.next || loading) return;
		setLoading(true);
		setFailure('');
		const idle = { running: () => undefined, waiting: () => undefined };
		api.ask('logs', { ...parameters, cursor: own.next }, new AbortController().signal, idle).then(
			(page) => setPages({ of: logs, rows: [...own.rows, ...page.results], next: page.meta.next ?? null }),
			(error: unknown) => setFailure(error instanceof Error ? error.message : String(error)),
		).finally(() => setLoading(false));
	};
	return { rows: own.rows, next: own.next, loading, failure, more };
}

/** ColumnChooser shows and hides columns; the choice is in the address. */
function ColumnChooser({ shown }: { shown: readonly Column[] }) {
	const { go } = useConsole();
	const all = Object.keys(columns) as Column[];
	const toggle = (column: Column): void => {
		const wanted = all.filter((one) => (one === column ? !shown.includes(one) : shown.includes(one)));
		const usual = wanted.join() === usualColumns.join();
		if (wanted.length > 0) go({ columns: usual ? null : wanted });
	};
	return <details class="chooser">
		<summary>{words.chooseColumns}</summary>
		<div class="panel">
			{all.map((column) => <label key={column}>
				<input type="checkbox" checked={shown.includes(column)} onChange={() => toggle(column)} />
				{words.columns[column]}
			</label>)}
			<button type="button" class="small" onClick={() => go({ columns: null })}>{words.usualColumns}</button>
		</div>
	</details>;
}
