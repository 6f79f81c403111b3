// Planets: settings, who changed what, and the way back.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Detail, type Got, orNone, Refusal } from '../foundation/api';
import { type Asked, useAsked } from '../foundation/ask';
import { useConsole } from '../foundation/context';
import { draftNames } from '../foundation/key';
import { lazy } from '../foundation/lazy';
import { Answered } from '../parts/answer';
import { detailsOf, Failure, moment, placeOf, Tabs, useDraft } from '../parts/drafts';
import { askConfigurations, Configurations } from '../parts/lazily';
import { askVersions, OneVersion, type Version, VersionList } from '../parts/versions';
import { type Change, differenceOf } from '../pure/difference';
import { bytes } from '../pure/format';
import { equalJSON, type Json, lineOf, type Members, pretty, textAt, writeJSON } from '../pure/json';
import { placeNow } from '../pure/mended';
import { loosened, metBy, newFilters } from '../pure/trust';
import { Difference, Merge } from './difference';
import { changesOf, type Draft, draftOf, isChanged, jsonOf, laidOut, mistakeInChallenge, settings } from './draft';
import { Form } from './planetform';
import { words } from './planets.words';
import type { Meaning } from './review';
import reviewStyle from './review.css';

const Confirm = lazy(() => import('./review').then((m) => m.Confirm), reviewStyle);
const Review = lazy(() => import('./review').then((m) => m.Review), reviewStyle);

/** Planets lists the configurations, with the settings of the chosen one beside. */
export function Planets() {
	const { api, place, round, go } = useConsole();
	const [written, setWritten] = useState(0);
	const asked = useAsked(api, 'configurations', round, askConfigurations);
	return <Answered asked={asked} metas={() => []}>
		{(known) => <div class={place.config === '' ? 'planets' : 'planets with-planet'}>
			<Configurations known={known} chosen={place.config} open={(config) => go({ config, version: null, tab: '' })} />
			{place.config === '' ? <p class="quiet">{words.choose}</p> :
				<Planet key={place.config} config={place.config} onWritten={() => setWritten(written + 1)} written={written} />}
		</div>}
	</Answered>;
}

const planetOf = (config: string): string => `conf/${encodeURIComponent(config)}/planets`;
const entryOf = (config: string): string => `${planetOf(config)}/__default__`;

interface Settings {
	newest: Got | null;
	versions: Version[];
}

/** What was written last, by its ETag. */
interface Written {
	etag: string;
	restored: number | null; // the earlier version that it is; null: a new one
}

/** Planet asks for the settings of a configuration, and draws the editor or one of their versions. */
function Planet({ config, onWritten, written }: { config: string; onWritten(): void; written: number }) {
	const { api, place, round } = useConsole();
	const [last, setLast] = useState<Written | null>(null);
	const write = (etag: string, restored: number | null): void => {
		setLast({ etag, restored });
		onWritten();
	};
	const asked: Asked<Settings> = useAsked(api, `planet ${config} ${written}`, round, async (asker) => {
		const [newest, versions] = await Promise.all([asker.get(planetOf(config)).catch(orNone), askVersions(asker, entryOf(config))]);
		return { newest, versions };
	});
	return <div class="planet">
		<Answered asked={asked} metas={() => []}>
			{({ newest, versions }) => <>
				{place.version === null ? <Editor config={config} newest={newest} wrote={(etag) => write(etag, null)} onWritten={onWritten}>
					<Saved config={config} versions={versions} last={last} wrote={write} onWritten={onWritten} />
				</Editor> : <EarlierVersion config={config} newest={newest} of={place.version} wrote={write}
					info={versions.find((v) => v.version === place.version)} onWritten={onWritten} />}
				{versions.length > 0 && <section class="versions">
					<h2>{words.versions} <small>{versions.length}</small></h2>
					<VersionList versions={versions} newest={words.newest} chosen={place.version} remark={(v) => ` · ${bytes(v.bytes)}`} />
				</section>}
			</>}
		</Answered>
	</div>;
}

/** Saved says as which version something was written, and takes it back. */
function Saved({ config, versions: [newest, before], last, wrote, onWritten }: {
	config: string; versions: readonly Version[]; last: Written | null; wrote(etag: string, restored: number): void; onWritten(): void;
}) {
	const { api, say } = useConsole();
	const [failure, setFailure] = useState<unknown>(null);
	const box = useRef<HTMLDivElement>(null);
	const shown = last !== null && newest?.etag === last.etag;
	useEffect(() => { // the button that had the focus is gone
		const at = document.activeElement;
		if (shown && (at === document.body || at === box.current?.closest('.answer'))) box.current?.focus({ preventScroll: true });
	}, [shown, last]);
	const undo = async (of: number): Promise<void> => {
		setFailure(null);
		try {
			wrote((await api.change('POST', `${entryOf(config)}/versions/${of}/restore`, '', newest?.etag ?? '')).etag, of);
		} catch (error) {
			if (error instanceof Refusal && error.status === 412) {
				say(words.changedMeanwhile);
				onWritten();
			} else setFailure(error);
		}
	};
	return <>
		{failure !== null && <Failure title={words.notSaved} mistakes={words.mistakes} failure={failure} close={() => setFailure(null)} />}
		<div role="status" tabIndex={-1} ref={box} class={shown ? 'saved-bar' : 'hidden'}>
			{shown && <>
				<strong>{last.restored === null ? words.savedAs(newest.version) : words.restoredAs(last.restored, newest.version)}</strong>
				{before && <button type="button" title={words.undoTitle(before.version)} onClick={() => void undo(before.version)}>
					{words.undo}</button>}
			</>}
		</div>
	</>;
}

type Tab = keyof typeof words.tabs;

const tabs = Object.keys(words.tabs) as Tab[];

/** Settings that the server refused, and why. */
interface Refused {
	failure: unknown;
	sent: Json;
}

/** Editor edits a draft as a form or as JSON, and reviews it before it is saved. The children are there if nothing is to be saved. */
function Editor({ config, newest, wrote, onWritten, children }: {
	config: string; newest: Got | null; wrote(etag: string): void; onWritten(): void; children: ComponentChildren;
}) {
	const { api, place, go } = useConsole();
	const { draft, keep, saved } = useDraft(draftNames.planet + config, newest, settings);
	const [saving, setSaving] = useState(false);
	const [refused, setRefused] = useState<Refused | null>(null);
	const [theirs, setTheirs] = useState<Got | null>(null);
	const [confirmed, setConfirmed] = useState(unconfirmed);
	const changes = changesOf(draft);
	const { value: before } = jsonOf(draft.base);
	const { value: after } = jsonOf(draft.text);
	const details = refused ? presentDetails(refused, after) : [];
	const wrong = new Map(details.map((detail) => [placeOf(detail.loc), detail.msg]));
	const confirm = confirmOf(before, after, confirmed);
	const tab: Tab = place.tab in words.tabs ? place.tab as Tab : 'form';
	const open = (to: Tab): void => go({ tab: to === 'form' ? '' : to }, 'replace');
	const edit = (text: string): void => keep({ ...draft, text });
	const editJSON = (text: string): void => {
		const { challenge: _, ...rest } = draft;
		const [before, after] = [draft.text, text].map((one) => jsonOf(one).value);
		const kept = before === undefined || after === undefined || equalJSON(challengeOf(before), challengeOf(after));
		keep(kept ? { ...draft, text } : { ...rest, text });
	};
	const editChallenge = (settings: Members, challenge: string): void => {
		const typed = { ...draft, challenge };
		const { value } = jsonOf(challenge);
		keep(value === undefined ? typed : { ...typed, text: pretty(new Map(settings).set('ichallenge', value)) });
	};
	const save = async (): Promise<void> => {
		const sent = draft;
		const { value } = jsonOf(sent.text);
		if (value === undefined) return;
		setSaving(true);
		setRefused(null);
		try {
			const { etag } = await api.change('PUT', entryOf(config), writeJSON(value), sent.etag);
			const got = await api.get(planetOf(config), new AbortController().signal).catch(() => null);
			const { shown, more } = saved(sent, got);
			if (!shown) return;
			if (!more) open('form');
			setConfirmed(unconfirmed);
			wrote(etag);
		} catch (error) {
			const refuse = (failure: unknown): void => setRefused({ failure, sent: value });
			if (error instanceof Refusal && error.status === 412) {
				api.get(planetOf(config), new AbortController().signal).then(setTheirs, refuse);
			} else refuse(error);
			if (detailsOf(error).length > 0) open('form');
		} finally {
			setSaving(false);
		}
	};
	if (theirs) {
		return <Merge base={jsonOf(draft.base).value} mine={jsonOf(draft.text).value} theirs={jsonOf(theirs.text).value}
			use={(merged) => {
				setTheirs(null);
				keep({ ...draftOf(theirs), text: pretty(merged) });
				open('difference');
				onWritten();
			}} />;
	}
	return <section class="editor-of" aria-labelledby="planet-title">
		<h2 id="planet-title">{words.planet(config)}</h2>
		{draft.etag === '' && <p class="quiet">{words.create(config)}</p>}
		{refused && <Failure title={words.notSaved} mistakes={words.mistakes} failure={refused.failure} details={details}
			close={() => setRefused(null)} />}
		<Tabs name="tab" tab={tab} tabs={tabs} texts={words.tabs} open={open} />
		<div id="tab-panel" role="tabpanel" aria-labelledby={`tab-${tab}`} tabIndex={-1}>
			{tab === 'json' ? <JSONField text={draft.text} edit={editJSON} /> :
				tab === 'difference' ? changes && <>
					<Review config={config} meaning={meaningOf(before, after)} />
					<Difference changes={changes} />
				</> : <FormOf draft={draft} edit={edit} editChallenge={editChallenge} wrong={wrong} toJSON={() => open('json')} />}
			{tab === 'difference' && changes === null && <Mistake text={draft.text} />}
		</div>
		{!isChanged(draft) ? children : <SaveBar draft={draft} changes={changes} tab={tab} saving={saving} review={() => open('difference')}
			held={confirm.held} save={() => void save()} discard={() => {
				keep(null);
				setRefused(null);
				setConfirmed(unconfirmed);
			}}>
			{confirm.needed && <Confirm name={confirm.name} typed={confirm.typed} save={() => void save()}
				type={(typed) => setConfirmed({ of: confirm.of, typed })} />}
		</SaveBar>}
	</section>;
}

/** presentDetails returns the mistakes of refused settings that are not mended, at their present places. */
function presentDetails({ failure, sent }: Refused, now: Json | undefined): Detail[] {
	return detailsOf(failure).flatMap((detail) => {
		const place = placeNow(detail.loc.slice(1), sent, now);
		return place ? [{ ...detail, loc: ['body', ...place] }] : [];
	});
}

function meaningOf(before: Json | undefined, after: Json | undefined): Meaning {
	return { loosened: loosened(before, after), met: metBy(before, after), filters: newFilters(before, after) };
}

/** The name that was typed to confirm what loosens a check. */
const unconfirmed = { of: '', typed: '' };

/** confirmOf returns whether a change needs the name of the planet, and whether that is still to be typed. */
function confirmOf(before: Json | undefined, after: Json | undefined, confirmed: typeof unconfirmed) {
	const found = after === undefined ? [] : loosened(before, after);
	const of = JSON.stringify(found);
	const name = textAt(after, 'name');
	const typed = confirmed.of === of ? confirmed.typed : '';
	return { of, name, typed, needed: found.length > 0, held: found.length > 0 && typed !== name };
}

function challengeOf(settings: Json | undefined): Json | undefined {
	return settings instanceof Map ? settings.get('ichallenge') : undefined;
}

function FormOf({ draft, edit, editChallenge, wrong, toJSON }: {
	draft: Draft; edit(text: string): void; editChallenge(settings: Members, text: string): void; toJSON(): void;
	wrong: ReadonlyMap<string, string>;
}) {
	const { value, mistake } = jsonOf(draft.text);
	if (mistake) {
		return <p>{words.formNeedsJSON} <button type="button" class="link" onClick={toJSON}>{words.toJSON}</button></p>;
	}
	if (!(value instanceof Map)) return <p>{words.notAnObject}</p>;
	return <Form settings={value} change={(next) => edit(pretty(next))} challenge={draft.challenge}
		changeChallenge={(text) => editChallenge(value, text)} wrong={wrong} />;
}

function JSONField({ text, edit }: { text: string; edit(text: string): void }) {
	return <>
		<textarea class="json" aria-label={words.jsonLabel} spellcheck={false} value={text} aria-invalid={jsonOf(text).mistake !== null}
			aria-describedby="json-mistake" onInput={(event) => edit(event.currentTarget.value)} />
		<div id="json-mistake" role="status"><Mistake text={text} /></div>
	</>;
}

function Mistake({ text }: { text: string }) {
	const { mistake } = jsonOf(text);
	if (!mistake) return null;
	const { line, column } = lineOf(text, mistake.at);
	return <p class="wrong-text">{words.mistakeAt(line, column, mistake.message)}</p>;
}

/** SaveBar has the ways on from a draft. What a change needs besides is in its review. */
function SaveBar({ draft, changes, tab, saving, held, review, save, discard, children }: {
	draft: Draft; changes: readonly Change[] | null; tab: Tab; saving: boolean; held: boolean; review(): void; save(): void;
	discard(): void; children: ComponentChildren;
}) {
	const n = changes?.length ?? 0;
	const mistake = mistakeInChallenge(draft);
	return <div class="save-bar">
		<span><strong>{changes && n > 0 ? words.unsaved(n) : words.unsavedJSON}</strong><span class="quiet">{words.kept}</span>
			{mistake && <span class="wrong-text">{words.challengeMistake}</span>}</span>
		{tab === 'difference' && children}
		<span class="row">
			{draft.base !== '' && <button type="button" onClick={discard}>{words.discard}</button>}
			{tab === 'difference' ? <button type="button" class="primary" disabled={saving || n === 0 || mistake || held} onClick={save}>
				{saving ? words.saving : draft.etag === '' ? words.createSave : words.save(n)}</button> :
				<button type="button" class="primary" disabled={changes === null} onClick={review}>{words.review}</button>}
		</span>
	</div>;
}

/** EarlierVersion shows what restoring an earlier version changes, and restores it. */
function EarlierVersion({ config, newest, of, info, wrote, onWritten }: {
	config: string; newest: Got | null; of: number; info: Version | undefined; wrote(etag: string, restored: number): void;
	onWritten(): void;
}) {
	const { api, zone, go } = useConsole();
	const [confirmed, setConfirmed] = useState(unconfirmed);
	const back = (): void => go({ version: null });
	return <OneVersion id="planet-title" title={words.versionTitle(of, config)} of={of} path={entryOf(config)} words={words}
		note={info ? words.writtenAt(moment(info.at, zone), info.by) : ''} mistakes={words.mistakes} back={back}
		restore={async (path) => {
			wrote((await api.change('POST', path, '', newest?.etag ?? '')).etag, of);
			return '';
		}}
		done={(restored) => (restored ? back() : onWritten())}
		compare={(got, write) => {
			const [before, after] = [newest?.text ?? '', got.text].map((text) => jsonOf(text).value);
			const changes = differenceOf(before, after);
			const { of: found, name, typed, needed, held } = confirmOf(before, after, confirmed);
			return {
				changes: changes.length === 0 ? null : <>
					<Review config={config} meaning={meaningOf(before, after)} />
					<Difference changes={changes} />
				</>,
				held, confirm: needed && <Confirm name={name} typed={typed} save={write}
					type={(text) => setConfirmed({ of: found, typed: text })} />,
				after: <details class="group"><summary>{words.itsJSON}</summary><pre tabIndex={0}>{laidOut(got.text)}</pre></details>,
			};
		}} />;
}
