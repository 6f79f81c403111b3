// Reports: which are made when, what they say, and whether they arrived.
import { useState } from 'preact/hooks';
import { type Got, Refusal } from '../foundation/api';
import { useAsked } from '../foundation/ask';
import { useConsole } from '../foundation/context';
import { draftNames } from '../foundation/key';
import { Answered } from '../parts/answer';
import { type Editing, Failure, moment, Tabs, useDraft } from '../parts/drafts';
import { askConfigurations, Configurations } from '../parts/lazily';
import { askVersions, OneVersion, VersionList } from '../parts/versions';
import { nameForm } from '../pure/names';
import { bodyOf, changesOf, type Definition, type Form, formOf, join, newForm } from '../pure/schedule';
import { zoneOf } from '../pure/time';
import { Changes, Join, placeMessages, ReportForm, type Wrong } from './reportform';
import { askList, type List, pathOf, type Report } from './reportparts';
import { type Kept, Preview, Runs, State, type Typed } from './reportruns';
import { words } from './reports.words';

/** Reports lists the configurations, with the reports of the chosen one beside. */
export function Reports() {
	const { api, place, round, go } = useConsole();
	const asked = useAsked(api, 'configurations', round, askConfigurations);
	return <Answered asked={asked} metas={() => []}>
		{(known) => <div class={place.config === '' ? 'planets reports' : 'planets reports with-planet'}>
			<Configurations known={known} chosen={place.config}
				open={(config) => go({ config, report: '', version: null, tab: '' })} />
			{place.config === '' ? <p class="quiet">{words.choose}</p> : <OfConfig key={place.config} config={place.config} />}
		</div>}
	</Answered>;
}

/** OfConfig asks for the reports of a configuration, and draws their list or one of them. */
function OfConfig({ config }: { config: string }) {
	const { api, place, round } = useConsole();
	const [written, setWritten] = useState(0);
	const asked = useAsked(api, `reports ${config} ${written}`, round, async (asker) => ({ list: await askList(asker, config) }));
	const onWritten = (): void => setWritten((n) => n + 1);
	return <div class="of-config"><Answered asked={asked} metas={() => []}>
		{({ list }) => {
			if (!list) return <p class="quiet">{words.noReports}</p>;
			if (place.report === '') return <ListOf config={config} list={list} />;
			const given = { config, list, report: list.reports.find((one) => one.name === place.report) ?? null, onWritten };
			return place.version === null ? <OneReport key={place.report} {...given} /> :
				<EarlierVersion key={`${place.report} ${place.version}`} {...given} of={place.version} />;
		}}
	</Answered></div>;
}

/** ListOf lists reports: when each is made, whether the last one arrived, and where it goes. */
function ListOf({ config, list }: { config: string; list: List }) {
	const { zone, go } = useConsole();
	return <section aria-labelledby="reports-title">
		<h2 id="reports-title">{words.title(config)}</h2>
		<p class="quiet">{words.intro}</p>
		{list.reports.length === 0 ? <p>{words.none}</p> : <table class="report-list">
			<thead><tr>{Object.entries(words.list).map(([name, text]) => <th key={name} scope="col">{text}</th>)}</tr></thead>
			<tbody>{list.reports.map((one) => <tr key={one.name}>
				<th scope="row">
					<button type="button" class="link" onClick={() => go({ report: one.name })}>{one.name}</button>
					{one.title && <small>{one.title}</small>}
				</th>
				<td data-name={words.list.made}>{made(one)}{one.when === 'attacks' && <small>{words.onlyAttacks}</small>}</td>
				<td data-name={words.list.next}>{one.paused ? <b class="paused">{words.paused}</b> :
					one.next ? moment(one.next.due, zoneOf(one)) : words.noNext}</td>
				<td data-name={words.list.last}>{one.last_run ? <>
					<State run={one.last_run} />
					<small>{moment(one.last_run.due, zone)}</small>
				</> : <span class="quiet">{words.neverRan}</span>}</td>
				<td data-name={words.list.to}>{formOf(one).deliver.map((to) => to.text).join('; ') || words.onlyKept}</td>
			</tr>)}</tbody>
		</table>}
		<NewReport list={list} />
	</section>;
}

/** made writes when a report is made. */
function made(d: Definition): string {
	return words.made(d.period, words.weekdays[d.weekday ?? ''] ?? '', d.at ?? '', d.tz);
}

function NewReport({ list }: { list: List }) {
	const { go } = useConsole();
	const [name, setName] = useState('');
	const taken = list.reports.some((one) => one.name === name);
	const wrong = name === '' || nameForm.test(name) ? (taken ? words.taken : '') : words.wrongName;
	return <form class="new-report" onSubmit={(event) => {
		event.preventDefault();
		if (name !== '' && wrong === '') go({ report: name });
	}}>
		<h3>{words.add}</h3>
		<label for="report-name">{words.addName}</label>
		<div class="row">
			<input id="report-name" value={name} placeholder={words.addHint} autocomplete="off" spellcheck={false}
				aria-invalid={wrong !== ''}
				aria-describedby={wrong === '' ? undefined : 'report-name-wrong'} onInput={(event) => setName(event.currentTarget.value)} />
			<button type="submit" disabled={name === '' || wrong !== ''}>{words.create}</button>
		</div>
		{wrong !== '' && <small id="report-name-wrong" class="wrong-text">{wrong}</small>}
	</form>;
}

interface Given {
	config: string;
	list: List;
	report: Report | null; // null: it is not there yet
	onWritten(): void;
}

type Tab = keyof typeof words.tabs;

/** OneReport is a report: its definition, a preview, its runs and its versions. */
function OneReport({ config, list, report, onWritten }: Given) {
	const { place, zone, go } = useConsole();
	const name = place.report;
	const { draft, keep, saved } = useDraft<Draft, Report | null>(`${draftNames.report}${config}.${name}`, report, draftsIn(zone));
	const previewed: Kept = useState<Typed | null>(null);
	const run: Kept = useState<Typed | null>(null);
	const tabs: readonly Tab[] = report ? ['form', 'preview', 'runs', 'versions'] : ['form', 'preview', 'versions'];
	const tab = tabs.find((one) => one === place.tab) ?? 'form';
	const dirty = !report || changesOf(draft.base, draft.form).length > 0;
	return <section class="editor-of one-report" aria-labelledby="report-heading">
		<Head name={name} report={report} config={config} dirty={dirty} onWritten={onWritten} discard={() => keep(null)} />
		<Tabs name="report-tab" tab={tab} tabs={tabs} texts={words.tabs}
			open={(to) => go({ tab: to === 'form' ? '' : to }, 'replace')} />
		<div id="report-tab-panel" role="tabpanel" aria-labelledby={`report-tab-${tab}`} tabIndex={-1}>
			{tab === 'form' && <Editor {...{ config, list, report, onWritten, draft, keep, saved }} />}
			{tab === 'preview' && <Preview name={name} form={draft.form} dirty={dirty && report !== null} kept={previewed} />}
			{tab === 'runs' && report && <Runs config={config} report={report} onRun={onWritten} kept={run} />}
			{tab === 'versions' && <Versions config={config} name={name} />}
		</div>
	</section>;
}

/** Head has the name of a report, what comes next, and the ways to pause and to delete it. */
function Head({ name, report, config, dirty, onWritten, discard }: {
	name: string; report: Report | null; config: string; dirty: boolean; onWritten(): void; discard(): void;
}) {
	const { api, go, say } = useConsole();
	const [failure, setFailure] = useState<unknown>(null);
	const [sure, setSure] = useState(false);
	const act = (run: () => Promise<unknown>, done: string) => (): void => {
		setFailure(null);
		run().then(() => {
			say(done);
			onWritten();
		}, (error: unknown) => {
			setFailure(error);
			if (error instanceof Refusal && error.status === 412) onWritten();
		});
	};
	const pause = act(() => report ? api.change('PUT', pathOf(config, name),
		JSON.stringify(bodyOf({ ...formOf(report), paused: !report.paused })), report.etag) : Promise.resolve(),
	report?.paused ? words.nowResumed : words.nowPaused);
	const remove = act(() => report ? api.change('DELETE', pathOf(config, name), '', report.etag).then(() => {
		discard();
		go({ report: '', tab: '' });
	}) : Promise.resolve(), words.removed);
	return <header class="report-head">
		<div class="row between">
			<h2 id="report-heading">{name}</h2>
			<span class="row">
				{report && <button type="button" disabled={dirty} onClick={pause}>{report.paused ? words.resume : words.pause}</button>}
				{report && <button type="button" aria-expanded={sure} onClick={() => setSure(!sure)}>{words.remove}</button>}
				<button type="button" onClick={() => go({ report: '', tab: '' })}>← {words.back}</button>
			</span>
		</div>
		<p class="quiet">{report ? <>
			{made(report)}{report.when === 'attacks' && `, ${words.onlyAttacks}`}
			{report.next && <> · {words.list.next} <b>{moment(report.next.due, zoneOf(report))}</b></>}
			{report.paused && <> · <b class="paused">{words.paused}</b></>}
		</> : words.gone(name)}</p>
		{report?.paused_because && <p class="wrong-text">{words.pausedBecause(report.paused_because)}</p>}
		{sure && <div class="trouble">
			<p>{words.removeSure(name)}</p>
			<div class="row"><button type="button" class="primary" onClick={remove}>{words.removeYes}</button>
				<button type="button" onClick={() => setSure(false)}>{words.cancel}</button></div>
		</div>}
		{failure !== null && <Failure title={words.notDone} mistakes={words.wrong} failure={failure} close={() => setFailure(null)} />}
	</header>;
}

/** A definition that is edited, and what it began with. "" is the ETag of a report that is not there yet. */
interface Draft {
	base: Form;
	etag: string;
	form: Form;
}

/** draftsIn are the drafts of reports, of which new ones are made in a zone. */
function draftsIn(zone: string) {
	return {
		begin: (report: Report | null): Draft => {
			const form = report ? formOf(report) : newForm(zone);
			return { base: form, etag: report?.etag ?? '', form };
		},
		isChanged: ({ base, form }: Draft) => changesOf(base, form).length > 0,
		same: (a: Draft, b: Draft) => changesOf(a.form, b.form).length === 0,
		rebased: (sent: Draft, later: Draft, saved: Report | null): Draft => {
			if (!saved) return later;
			const base = formOf(saved);
			return { base, etag: saved.etag, form: join(sent.form, later.form, base, new Map()).joined };
		},
	};
}

/** Editor edits the draft, shows what it changes, and saves it. */
function Editor({ config, list, report, onWritten, draft, keep, saved }: Given & Editing<Draft, Report | null>) {
	const { api, place, say } = useConsole();
	const path = pathOf(config, place.report);
	const [saving, setSaving] = useState(false);
	const [failure, setFailure] = useState<unknown>(null);
	const [wrong, setWrong] = useState<Wrong>(new Map());
	const [theirs, setTheirs] = useState<{ form: Form; etag: string } | null>(null);
	const changes = changesOf(draft.base, draft.form);
	const save = async (): Promise<void> => {
		setSaving(true);
		setFailure(null);
		setWrong(new Map());
		try {
			const { text } = await api.change('PUT', path, JSON.stringify(bodyOf(draft.form)), draft.etag);
			say(words.saved);
			if (saved(draft, JSON.parse(text) as Report).shown) onWritten();
		} catch (error) {
			if (error instanceof Refusal && error.status === 412) {
				api.get(path, new AbortController().signal).then((got) => setTheirs(theirsOf(got)), setFailure);
			} else {
				setFailure(error);
				if (error instanceof Refusal) setWrong(placeMessages(error));
			}
		} finally {
			setSaving(false);
		}
	};
	if (theirs) {
		return <Join base={draft.base} mine={draft.form} theirs={theirs.form} use={(joined) => {
			keep({ base: theirs.form, etag: theirs.etag, form: joined });
			setTheirs(null);
			onWritten();
		}} />;
	}
	return <>
		{failure !== null && <Failure title={words.notSaved} mistakes={words.wrong} failure={failure} close={() => setFailure(null)} />}
		<ReportForm form={draft.form} change={(form) => keep({ ...draft, form })} wrong={wrong}
			destinations={list.destinations} domains={list.domains} />
		{(changes.length > 0 || !report) && <div class="save-bar">
			<details><summary><strong>{report ? words.unsaved(changes.length) : words.notCreated}</strong>
				{changes.length > 0 && <span class="quiet">{words.kept}</span>}</summary>
				<Changes before={draft.base} after={draft.form} />
			</details>
			<span class="row">
				{changes.length > 0 && <button type="button" onClick={() => {
					keep(null);
					setWrong(new Map());
					setFailure(null);
				}}>{words.discard}</button>}
				<button type="button" class="primary" disabled={saving} onClick={() => void save()}>
					{saving ? words.saving : report ? words.save : words.createReport}</button>
			</span>
		</div>}
	</>;
}

function theirsOf(got: Got): { form: Form; etag: string } {
	return { form: formOf(JSON.parse(got.text) as Definition), etag: got.etag };
}

/** Versions lists the versions of a report. A deletion is one, too. */
function Versions({ config, name }: { config: string; name: string }) {
	const { api, round } = useConsole();
	const path = pathOf(config, name);
	const asked = useAsked(api, `versions ${path}`, round, (asker) => askVersions(asker, path));
	return <Answered asked={asked} metas={() => []}>
		{(versions) => <div class="versions"><VersionList versions={versions} newest={words.newest}
			remark={(v) => (v.deleted ? ` · ${words.deletion}` : '')} /></div>}
	</Answered>;
}

/** EarlierVersion shows what restoring an earlier version changes, and restores it. */
function EarlierVersion({ config, report, onWritten, of }: Given & { of: number }) {
	const { api, place, zone, go } = useConsole();
	return <OneVersion id="report-heading" title={words.versionTitle(of, place.report)} of={of} path={pathOf(config, place.report)}
		words={words} mistakes={words.wrong} back={() => go({ version: null, tab: 'versions' })}
		restore={async (path) => {
			await api.change('POST', path, '', report?.etag ?? null);
			return words.restored;
		}}
		done={(restored) => {
			if (restored) go({ version: null, tab: '' });
			onWritten();
		}}
		compare={({ text }) => {
			const version = JSON.parse(text) as Definition & { written: string; by: string };
			const [now, then] = [report ? formOf(report) : newForm('UTC'), formOf(version)];
			return {
				before: <p class="quiet">{words.writtenAt(moment(version.written, zone), version.by)}</p>,
				changes: report !== null && changesOf(now, then).length === 0 ? null : <Changes before={now} after={then} />,
			};
		}} />;
}
