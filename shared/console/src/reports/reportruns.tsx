// The preview of a scheduled report, and its runs.
import { useEffect, useState } from 'preact/hooks';
import type { Parameters } from '../foundation/api';
import { type Asked, useAsked } from '../foundation/ask';
import { useConsole } from '../foundation/context';
import { Answered, Progress, Trouble } from '../parts/answer';
import { Failure, moment } from '../parts/drafts';
import { saveFile } from '../parts/menu';
import { withPeriod } from '../pure/filter';
import type { Document } from '../pure/reportanswer';
import { type Form, lastPeriod } from '../pure/schedule';
import { dateIn, momentIn, parseMoment, type Period, periodCondition, zoneOf } from '../pure/time';
import { ReportPage } from './lazily';
import { pathOf, type Report, type Run } from './reportparts';
import { words } from './reports.words';

const shapes: Readonly<Record<string, string>> = {
	queued: '◔', running: '◑', rendered: '◕', delivered: '●', kept: '●', quiet: '○', missed: '▲', failed: '✕', waiting: '◔',
};

/** State is the state of a run: a shape, a word and a colour. */
export function State({ run }: { run: Run }) {
	return <span class={`run-state ${run.state}`} title={run.reason}>
		<span aria-hidden="true">{shapes[run.state] ?? '·'}</span> {words.states[run.state] ?? run.state}</span>;
}

/** A period that is typed, in a zone. Its end is not a part of it. */
export interface Typed {
	from: string;
	to: string;
}

/** What was typed as the period of a tab, which is kept while another tab is open. */
export type Kept = readonly [typed: Typed | null, type: (typed: Typed) => void];

/** usePeriod is a period that the reader can change. It begins with the last one of the definition. */
function usePeriod(form: Form, [own, setOwn]: Kept): { typed: Typed; type(typed: Typed): void; period: Period | null; zone: string } {
	const zone = zoneOf(form);
	const last = lastPeriod(form.period, zone, Date.now());
	const typed = own ?? { from: momentIn(last.from, zone), to: momentIn(last.to, zone) };
	const [from, to] = [typed.from, typed.to].map((text) => parseMoment(text, zone, Date.now()));
	const period = typeof from === 'number' && typeof to === 'number' && from < to ? { from, to } : null;
	return { typed, type: setOwn, period, zone };
}

/** Ends edits both ends of a period. */
function Ends({ typed, type, zone }: { typed: Typed; type(typed: Typed): void; zone: string }) {
	return <>{(['from', 'to'] as const).map((end) => {
		const wrong = parseMoment(typed[end], zone, Date.now()) === null;
		return <div class="field" key={end}>
			<label for={`about-${end}`}>{words[end]} ({zone}){end === 'to' && `, ${words.toHint}`}</label>
			<input id={`about-${end}`} value={typed[end]} autocomplete="off" spellcheck={false} aria-invalid={wrong}
				aria-describedby={wrong ? `about-${end}-wrong` : undefined}
				onInput={(event) => type({ ...typed, [end]: event.currentTarget.value })} />
			{wrong && <small id={`about-${end}-wrong`} class="wrong-text">{words.wrongTime}</small>}
		</div>;
	})}</>;
}

/** A report that somebody wants. */
interface Wanted {
	parameters: Parameters;
	from: number; // of its period
}

/** A report in a form. */
interface Made extends Wanted {
	text: string;
}

/** useReport makes a report in a form when it is wanted. A heavy one waits until somebody runs it. */
function useReport(format: string): { asked: Asked<Made | null>; made: Made | null; begun: boolean; make(wanted: Wanted): void } {
	const { api } = useConsole();
	const [{ wanted, n }, setWanted] = useState<{ wanted: Wanted | null; n: number }>({ wanted: null, n: 0 });
	const question = wanted ? `report ${format} ${JSON.stringify(wanted.parameters)}` : '';
	const asked = useAsked<Made | null>(api, question, n, async (asker) => {
		if (!wanted) return null;
		await asker.afford([['report', wanted.parameters]]);
		return { ...wanted, text: await asker.report({ ...wanted.parameters, format }) };
	});
	return { asked, made: asked.answer, begun: n > 0, make: (next) => setWanted({ wanted: next, n: n + 1 }) };
}

/**
 * Preview makes the report of a definition, and draws it. As a page of its own it is a file: a link would have the filter in its
 * address, which servers log.
 */
export function Preview({ name, form, dirty, kept }: { name: string; form: Form; dirty: boolean; kept: Kept }) {
	const { typed, type, period, zone } = usePeriod(form, kept);
	const json = useReport('json');
	const page = useReport('html');
	const wanted = period && wantedOf(form, period);
	const stale = JSON.stringify(json.made?.parameters) !== JSON.stringify(wanted?.parameters);
	useEffect(() => {
		if (page.made) saveFile(`${name}-${dateIn(page.made.from, zone)}.html`, new Blob([page.made.text], { type: 'text/html' }));
	}, [page.made]);
	return <div class="preview">
		<p class="quiet">{words.previewHint} {dirty && words.previewDraft}</p>
		<form class="about" onSubmit={(event) => {
			event.preventDefault();
			if (wanted) json.make(wanted);
		}}>
			<Ends typed={typed} type={type} zone={zone} />
			<button type="submit" class="primary" disabled={!wanted}>{words.preview}</button>
		</form>
		{json.begun && <><Progress asked={json.asked} /><Trouble asked={json.asked} earlier={json.made !== null} /></>}
		{json.made && <>
			<div class="row">
				<button type="button" disabled={!wanted} onClick={() => wanted && page.make(wanted)}>{words.savePage}</button>
				<small>{words.savePageHint}</small>
			</div>
			{page.begun && <><Progress asked={page.asked} /><Trouble asked={page.asked} /></>}
			<div class={stale ? 'stale' : ''}><ReportPage document={JSON.parse(json.made.text) as Document} /></div>
		</>}
	</div>;
}

/** wantedOf is a report with the settings of a definition. */
function wantedOf(form: Form, period: Period): Wanted {
	const title = form.title.trim();
	const parameters = {
		filters: withPeriod(form.filters, periodCondition({ from: period.from, to: period.to - 1 })),
		template: form.template, compare: form.compare, tz: zoneOf(form),
		...(title === '' ? {} : { title }),
	};
	return { parameters, from: period.from };
}

const pollPause = 3000; // milliseconds between two questions about runs that have not ended
const ended: readonly string[] = ['delivered', 'kept', 'quiet', 'missed', 'failed'];

/** Runs lists the runs of a report, and asks for new ones. */
export function Runs({ config, report, onRun, kept }: { config: string; report: Report; onRun(): void; kept: Kept }) {
	const { api, round, say } = useConsole();
	const { typed, type, period, zone } = usePeriod(formOfReport(report), kept);
	const [tick, setTick] = useState(0);
	const [failure, setFailure] = useState<unknown>(null);
	const [read, setRead] = useState('');
	const path = pathOf(config, report.name);
	const asked = useAsked(api, `runs ${path} ${tick}`, round, async (asker) =>
		(JSON.parse((await asker.get(`${path}/runs`)).text) as { runs: Run[] }).runs);
	const open = asked.state === 'done' && (asked.answer ?? []).some((run) => !ended.includes(run.state));
	useEffect(() => {
		if (!open) return;
		const timer = setTimeout(() => setTick((n) => n + 1), pollPause);
		return () => clearTimeout(timer);
	}, [open, tick]);
	const run = (from: string, to: string): void => {
		setFailure(null);
		api.change('POST', `${path}/run`, JSON.stringify({ from, to }), null).then(({ text }) => {
			const { state } = JSON.parse(text) as Run;
			say(state === 'queued' ? words.runQueued : words.runThere);
			setTick((n) => n + 1);
			onRun();
		}, setFailure);
	};
	if (read !== '') return <OfRun path={`${path}/runs/${read}`} back={() => setRead('')} />;
	return <div class="runs">
		<form class="about" onSubmit={(event) => {
			event.preventDefault();
			if (period) run(new Date(period.from).toISOString(), new Date(period.to).toISOString());
		}}>
			<Ends typed={typed} type={type} zone={zone} />
			<button type="submit" class="primary" disabled={!period}>{words.runNow}</button>
			<small>{words.runHint}</small>
		</form>
		{failure !== null && <Failure title={words.notDone} mistakes={words.wrong} failure={failure} close={() => setFailure(null)} />}
		<h3>{words.runs}</h3>
		<Answered asked={asked} metas={() => []}>
			{(runs) => runs.length === 0 ? <p class="quiet">{words.noRuns}</p> : <table class="report-list">
				<thead><tr>{Object.entries(words.table).map(([name, text]) => <th key={name} scope="col">{text}</th>)}</tr></thead>
				<tbody>{runs.map((one) => <OneRun key={one.id} run={one} zone={zone} again={() => run(one.from, one.to)}
					read={() => setRead(one.id)} />)}</tbody>
			</table>}
		</Answered>
	</div>;
}

function formOfReport(report: Report): Form {
	return { ...({} as Form), period: report.period, tz: report.tz };
}

/** OfRun asks for the report that a run has made, and draws it. */
function OfRun({ path, back }: { path: string; back(): void }) {
	const { api, round } = useConsole();
	const asked = useAsked(api, `run ${path}`, round, async (asker) =>
		JSON.parse((await asker.get(path)).text) as Run & { content?: Document });
	return <div class="run-report">
		<div class="row"><button type="button" onClick={back}>← {words.allRuns}</button></div>
		<Answered asked={asked} metas={() => []}>{(run) => <>
			<p class="quiet">{words.about(run.branches)}</p>
			{run.content ? <ReportPage document={run.content} /> : <p>{run.kept ? words.noData : words.notKept}</p>}
		</>}</Answered>
	</div>;
}

function OneRun({ run, zone, again, read }: { run: Run; zone: string; again(): void; read(): void }) {
	const notes = [
		run.verdict && words.verdict(run.verdict), run.incomplete && words.incomplete, run.partial && words.partial,
	].filter(Boolean);
	return <tr>
		<th scope="row">
			<span>{moment(run.from, zone)} –</span> <span>{moment(run.to, zone)}</span>
			<small>{words.version(run.version)} · {words.about(run.branches)}</small>
			{run.kept && <button type="button" class="small" onClick={read}>{words.read}</button>}
		</th>
		<td data-name={words.table.due}>{moment(run.due, zone)}{run.by !== undefined && <small>{words.requested(run.by)}</small>}</td>
		<td data-name={words.table.state}>
			<State run={run} />
			{run.reason && <small>{run.reason}</small>}
			{notes.length > 0 && <small>{notes.join(' · ')}</small>}
			{(run.state === 'failed' || run.state === 'missed') &&
				<button type="button" class="small" onClick={again}>{words.again}</button>}
		</td>
		<td data-name={words.table.to}>
			{run.deliveries.length === 0 && <span class="quiet">{words.onlyKept}</span>}
			<ul class="deliveries">{run.deliveries.map((one, i) => <li key={i}>
			<span class={`run-state ${one.state}`}><span aria-hidden="true">{shapes[one.state] ?? '·'}</span>{' '}
				{one.to ?? (one.mail ?? []).join(', ')}</span>
			<small>{[
				words.delivery[one.state] ?? one.state, one.at && moment(one.at, zone),
				one.attempts > 1 && words.attempts(one.attempts), one.reason,
			].filter(Boolean).join(' · ')}</small>
		</li>)}</ul>
		</td>
	</tr>;
}
