// Events: which requests exactly.
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Answer, Parameters, Segment } from '../foundation/api';
import { type Asker, useAsked } from '../foundation/ask';
import { keepColumns, keptColumns } from '../foundation/columnsetting';
import { type Console, useConsole } from '../foundation/context';
import { lazy } from '../foundation/lazy';
import { mostSegments, narrow, useMedia, wide } from '../foundation/media';
import { presentPeriod } from '../foundation/running';
import { Answered, Quiet, wholeSeconds } from '../parts/answer';
import { Chart } from '../parts/chart';
import { words as ofEvents } from '../parts/events.words';
import findStyle from '../parts/find.css';
import { Changes, Facets, Lines, Nothing } from '../parts/lazily';
import { Older, type Pages, usePages } from '../parts/older';
import { type Mark, Marks } from '../parts/plot';
import { LiveField, liveRate } from '../parts/refresh';
import { leadToData, never } from '../parts/start';
import { filtersOf } from '../pure/filter';
import { count } from '../pure/format';
import { periodOf, type Place } from '../pure/fragment';
import { mostRows } from '../pure/live';
import { holds } from '../pure/quickfind';
import { isJudged, type LogRecord, referenceOf, textOf } from '../pure/record';
import { absolute, dateIn, momentIn, segmentFor } from '../pure/time';
import { words } from '../pure/words';
import recordStyle from '../record/record.css';
import columnsStyle from './columns.css';
import exportStyle from './export.css';
import { QuickFind as Find } from './find';
import { type Live, rates, useLive } from './live';
import { type Column, columnOf, columns, nameOf, Rows, usualColumns } from './rows';

const Columns = lazy(() => import('./columns').then((m) => m.Columns), columnsStyle);
const Export = lazy(() => import('./export').then((m) => m.Export), exportStyle);
const QuickFind = lazy(async () => Find, findStyle); // it shares code with the events, and is loaded with them
const RecordView = lazy(() => import('../record/record').then((m) => m.RecordView), recordStyle);

const pageSize = 200; // the vendor's default

/** The columns beside a record, where there is less room. */
const besideRecord: readonly Column[] = ['timestamp', 'result', 'status', 'target'];

/** The columns of a window that is not wide, and of cards. */
const fewer: readonly Column[] = ['timestamp', 'result', 'method', 'status', 'ip', 'target'];
const ofCards: readonly Column[] = ['timestamp', 'result', 'status', 'method', 'target'];

interface Answers {
	timeline: Answer<Segment>;
	logs: Answer<LogRecord>;
	parameters: Parameters; // of logs, for the next pages
}

/** Events reads the question from the address, asks it, and draws the answer; with a record beside it if one is chosen. */
export function Events() {
	const console = useConsole();
	const { api, place, round } = console;
	const { own, shown } = columnsOf(console);
	const question = `events ${periodOf(place)} ${fieldsOf(shown).sort().join()} ${place.segment} ${place.filter}`;
	const asked = useAsked(api, question, round, async (asker) => {
		const answers = await ask(asker, place, shown);
		return leadToData(console, answers.timeline) ? never<Answers>() : answers;
	});
	const parameters = asked.answer?.parameters ?? {};
	const older = usePages(asked.answer?.logs ?? null, parameters);
	const live = useLive(asked.answer?.logs ?? null, parameters);
	const pages = live.cut ? { ...older, rows: live.rows, next: null } :
		live.rows.length > 0 ? { ...older, rows: [...live.rows, ...older.rows] } : older;
	const beside = useMedia(wide);
	const cards = useMedia(narrow);
	const listPane = useRef<HTMLDivElement>(null);
	const recordPane = useRef<HTMLDivElement>(null);
	useFocus(place.record !== null, beside, listPane, recordPane);
	const drawn = own ? shown : place.record && beside ? besideRecord : beside ? shown : cards ? ofCards : fewer;
	const list = <div class="list-pane" hidden={place.record !== null && !beside} ref={listPane}>
		<Answered asked={asked} metas={(a) => [a.logs.meta, a.timeline.meta, ...older.metas, ...live.metas]}>
			{(answers) => pages.rows.length + live.waiting.length === 0 && liveRate(place) === 0 ?
				<Nothing meta={answers.logs.meta} /> :
				<List key={`${periodOf(place)} ${place.filter}`} answers={answers} pages={pages} live={live} offered={drawn} own={own}
					chosen={place.record && beside ? shown : drawn} loaded={fieldsOf(shown)} />}
		</Answered>
	</div>;
	return <div class={`events${place.record ? ' with-record' : ''}${place.panel === 'facets' ? ' with-facets' : ''}`}>
		{place.panel === 'facets' && <Facets />}
		{list}
		{place.record && <div class="record-pane" tabIndex={-1} ref={recordPane}>
			<RecordView reference={place.record} pages={pages} />
		</div>}
	</div>;
}

/** useFocus moves the focus into the record that covers the list, and back to the list when the record is closed. */
function useFocus(open: boolean, beside: boolean, list: RefObject<HTMLElement>, record: RefObject<HTMLElement>): void {
	const was = useRef(open);
	useLayoutEffect(() => {
		const at = document.activeElement;
		if (open && !beside && list.current?.contains(at)) record.current?.focus({ preventScroll: true });
		if (!open && was.current && (at === null || at === document.body)) list.current?.querySelector<HTMLElement>('.rows')?.focus();
		was.current = open;
	}, [open, beside]);
}

async function ask(asker: Asker, place: Place, shown: readonly Column[]): Promise<Answers> {
	const period = presentPeriod(place);
	const filters = filtersOf(place.filter, period);
	const fields = ['record_ref', ...fieldsOf(shown)];
	const parameters = { filters, fields, limit: pageSize };
	const strip = { filters, segment: place.segment || segmentFor(period, mostSegments()) };
	await asker.afford([['logs', parameters], ['timeline', strip]]);
	const [timeline, logs] = await Promise.all([asker.ask('timeline', strip), asker.ask('logs', parameters)]);
	return { timeline, logs, parameters };
}

/** columnsOf returns the columns that the address names, or that the browser keeps, and whether they are not the usual ones. */
function columnsOf({ place, fields }: Console): { own: boolean; shown: readonly Column[] } {
	const known = (place.columns ?? keptColumns() ?? []).filter((name) => name in columns || fields.some((field) => field.name === name));
	const own = known.length > 0 && known.join() !== usualColumns.join();
	return { own, shown: own ? known : usualColumns };
}

/** List is the strip chart and the rows, to which older pages are added. */
function List({ answers, pages, live, offered, own, chosen, loaded }: {
	answers: Answers; pages: Pages; live: Live; offered: readonly Column[];
	own: boolean; // the reader has chosen the columns
	chosen: readonly Column[]; // a record beside the list may leave too little room for them
	loaded: readonly string[]; // members of the records
}) {
	const { place, zone, go } = useConsole();
	const wanted = place.find;
	const [exporting, setExporting] = useState(false);
	const [changes, setChanges] = useState<readonly Mark[]>([]);
	const { timeline, logs } = answers;
	const { rows: all, next } = pages;
	const judged = all.length === 0 || !loaded.includes('result') || all.some(isJudged); // an access log has no decisions
	const shown = judged || own ? offered : offered.filter((column) => column !== 'result' && all.some((row) => has(row, column)));
	const searched = searchedIn(shown);
	const rows = wanted === '' ? all : all.filter((row) => holds(row, searched, wanted));
	const { from, to } = logs.meta.period;
	const days = dateIn(Date.parse(from), zone) !== dateIn(Date.parse(to), zone);
	const selected = place.record ? rows.findIndex((row) => referenceOf(row) === place.record) : -1;
	const total = timeline.results.reduce((sum, segment) => sum + segment.num_of_requests, 0);
	const last = textOf(all[all.length - 1] ?? {}, 'timestamp');
	const oldest = Date.parse(last);
	const strip = { segments: timeline.results, length: timeline.meta.segment_seconds ?? 60, meta: timeline.meta, height: 96 };
	const since = (): string => momentIn(wholeSeconds(last), zone);
	return <>
		<Marks.Provider value={changes}>
			{judged ? <Chart compact before={[]} {...strip} /> : <Lines kind="status" {...strip} />}
		</Marks.Provider>
		{place.panel === 'changes' && <Changes mark={({ marks }) => setChanges(marks)} />}
		{all.length + live.waiting.length === 0 && <Quiet meta={logs.meta} />}
		<div class="over-rows">
			<span>{wanted !== '' ? ofEvents.eventsFound(count(rows.length), count(all.length)) :
				next || live.cut ? ofEvents.eventsShown(count(all.length), count(Math.max(total + live.rows.length, all.length)), since()) :
					ofEvents.eventsAll(count(all.length))}</span>
			<QuickFind value={wanted} rows={rows} searched={searched} />
			{live.cut && <span>{ofEvents.liveCut(count(mostRows))} <button type="button" class="link" onClick={() => go({
				live: 0, period: absolute({ from: Date.parse(from), to: oldest }),
			})}>{ofEvents.liveOlder}</button></span>}
			{live.waiting.length > 0 && <button type="button" class="small primary" onClick={() => {
				document.querySelector('.rows')?.scrollTo(0, 0);
				live.show();
			}}>{ofEvents.liveWaiting(count(live.waiting.length))}</button>}
			<span class="late">{live.failure}</span>
			<LiveField rates={rates} />
			<span class="row">
				<button type="button" class="small" onClick={() => setExporting(true)}>{ofEvents.export}</button>
				{judged && <PanelButton panel="changes" name={words.settings} title={words.settingsTitle} />}
				<PanelButton panel="facets" name={words.facets} title={words.facetsTitle} /><ColumnChooser shown={chosen} />
			</span>
		</div>
		{exporting && <Export filters={String(answers.parameters['filters'])} period={{ from: Date.parse(from), to: Date.parse(to) }}
			fields={fieldsOf(shown)} total={total} close={() => setExporting(false)} />}
		<Rows rows={rows} shown={shown} loaded={loaded} dates={days} selected={selected} complete={!next && !live.cut}
			open={(row) => {
				const record = rows[row];
				if (record) go({ record: referenceOf(record) });
			}} />
		<Older pages={pages} />
	</>;
}

/** has reports whether a record has something to show in a column. */
const has = (row: LogRecord, column: Column): boolean => columnOf(column).fields.some((field) => textOf(row, field) !== '');

/** fieldsOf returns the members of records that columns show. */
function fieldsOf(shown: readonly Column[]): string[] {
	return [...new Set(['timestamp', ...shown.flatMap((column) => columnOf(column).fields)])];
}

/** searchedIn returns the fields in which the quick search looks: those that a row shows as text. */
function searchedIn(shown: readonly Column[]): string[] {
	return fieldsOf(shown).filter((field) => field !== 'timestamp' && field !== 'url');
}

/** PanelButton opens what is beside the list, or above it. */
function PanelButton({ panel, name, title }: { panel: string; name: string; title: string }) {
	const { place, go } = useConsole();
	const open = place.panel === panel;
	return <button type="button" class="small" aria-expanded={open} title={title} onClick={() => go({ panel: open ? '' : panel })}>
		{name}</button>;
}

/** ColumnChooser opens the chooser of columns. The choice is in the address, and the browser keeps it. */
function ColumnChooser({ shown }: { shown: readonly Column[] }) {
	const { fields, go } = useConsole();
	const [open, setOpen] = useState(false);
	const others = Object.keys(columns).filter((column) => !shown.includes(column));
	const change = (wanted: readonly Column[]): void => {
		keepColumns(wanted.join() === usualColumns.join() ? null : wanted, () => go({ columns: [...wanted] }));
	};
	return <details class="chooser" onToggle={(event) => setOpen(event.currentTarget.open)} onKeyDown={(event) => {
		if (event.key !== 'Escape') return;
		event.currentTarget.open = false;
		event.currentTarget.querySelector('summary')?.focus();
		event.stopPropagation();
	}}>
		<summary>{ofEvents.chooseColumns}</summary>
		{open && <div class="panel"><Columns shown={shown} others={others} usual={usualColumns} nameOf={nameOf} change={change}
			fields={fields.filter((field) => !field.key).map((field) => field.name)
				.filter((name) => !(name in columns) && !shown.includes(name))} /></div>}
	</details>;
}
