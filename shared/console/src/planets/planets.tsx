// Planets: settings, who changed what, and the way back.
import { useState } from 'preact/hooks';
import { type Got, orNone, Refusal } from '../foundation/api';
import { type Asked, useAsked } from '../foundation/ask';
import { useConsole } from '../foundation/context';
import { draftNames } from '../foundation/key';
import { Answered } from '../parts/answer';
import { Failure, moment, placeOf, Tabs, useDraft } from '../parts/drafts';
import { askConfigurations, Configurations } from '../parts/lazily';
import { askVersions, OneVersion, type Version, VersionList } from '../parts/versions';
import { type Change, differenceOf } from '../pure/difference';
import { bytes } from '../pure/format';
import { equalJSON, type Json, lineOf, type Members, pretty, writeJSON } from '../pure/json';
import { words } from '../texts/planets';
import { Difference, Merge } from './difference';
import { changesOf, type Draft, draftOf, jsonOf, laidOut, mistakeInChallenge, settings } from './draft';
import { Form } from './planetform';

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

/** Planet asks for the settings of a configuration, and draws the editor or one of their versions. */
function Planet({ config, onWritten, written }: { config: string; onWritten(): void; written: number }) {
	const { api, place, round } = useConsole();
	const asked: Asked<Settings> = useAsked(api, `planet ${config} ${written}`, round, async (asker) => {
		const [newest, versions] = await Promise.all([asker.get(planetOf(config)).catch(orNone), askVersions(asker, entryOf(config))]);
		return { newest, versions };
	});
	return <div class="planet">
		<Answered asked={asked} metas={() => []}>
			{({ newest, versions }) => <>
				{place.version === null ? <Editor config={config} newest={newest} onWritten={onWritten} /> :
					<EarlierVersion config={config} newest={newest} of={place.version}
						info={versions.find((v) => v.version === place.version)} onWritten={onWritten} />}
				{versions.length > 0 && <section class="versions">
					<h2>{words.versions} <small>{versions.length}</small></h2>
					<VersionList versions={versions} newest={words.newest} chosen={place.version} remark={(v) => ` · ${bytes(v.bytes)}`} />
				</section>}
			</>}
		</Answered>
	</div>;
}

type Tab = keyof typeof words.tabs;

const tabs = Object.keys(words.tabs) as Tab[];

/** Editor edits a draft as a form or as JSON, and shows the difference before it saves. */
function Editor({ config, newest, onWritten }: { config: string; newest: Got | null; onWritten(): void }) {
	const { api, place, go, say } = useConsole();
	const { draft, keep, saved } = useDraft(draftNames.planet + config, newest, settings);
	const [saving, setSaving] = useState(false);
	const [failure, setFailure] = useState<unknown>(null);
	const [theirs, setTheirs] = useState<Got | null>(null);
	const [wrong, setWrong] = useState<ReadonlyMap<string, string>>(new Map());
	const changes = changesOf(draft);
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
		setFailure(null);
		setWrong(new Map());
		try {
			say(await api.write('PUT', entryOf(config), writeJSON(value), sent.etag));
			const got = await api.get(planetOf(config), new AbortController().signal).catch(() => null);
			const { shown, more } = saved(sent, got);
			if (!shown) return;
			if (!more) open('form');
			onWritten();
		} catch (error) {
			if (error instanceof Refusal && error.status === 412) {
				api.get(planetOf(config), new AbortController().signal).then(setTheirs, setFailure);
			} else setFailure(error);
			if (error instanceof Refusal && error.details.length > 0) {
				setWrong(new Map(error.details.map((detail) => [placeOf(detail.loc), detail.msg])));
				open('form');
			}
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
		{failure !== null && <Failure title={words.notSaved} mistakes={words.mistakes} failure={failure} close={() => setFailure(null)} />}
		<Tabs name="tab" tab={tab} tabs={tabs} texts={words.tabs} open={open} />
		<div id="tab-panel" role="tabpanel" aria-labelledby={`tab-${tab}`} tabIndex={-1}>
			{tab === 'json' ? <JSONField text={draft.text} edit={editJSON} /> :
				tab === 'difference' ? changes && <Difference changes={changes} /> :
					<FormOf draft={draft} edit={edit} editChallenge={editChallenge} wrong={wrong} setWrong={setWrong}
						toJSON={() => open('json')} />}
			{tab === 'difference' && changes === null && <Mistake text={draft.text} />}
		</div>
		<SaveBar draft={draft} changes={changes} tab={tab} saving={saving} review={() => open('difference')}
			save={() => void save()} discard={() => {
				keep(null);
				setWrong(new Map());
				setFailure(null);
			}} />
	</section>;
}

function challengeOf(settings: Json | undefined): Json | undefined {
	return settings instanceof Map ? settings.get('ichallenge') : undefined;
}

function FormOf({ draft, edit, editChallenge, wrong, setWrong, toJSON }: {
	draft: Draft; edit(text: string): void; editChallenge(settings: Members, text: string): void; toJSON(): void;
	wrong: ReadonlyMap<string, string>; setWrong(wrong: ReadonlyMap<string, string>): void;
}) {
	const { value, mistake } = jsonOf(draft.text);
	if (mistake) {
		return <p>{words.formNeedsJSON} <button type="button" class="link" onClick={toJSON}>{words.toJSON}</button></p>;
	}
	if (!(value instanceof Map)) return <p>{words.notAnObject}</p>;
	return <Form settings={value} change={(next) => edit(pretty(next))} challenge={draft.challenge}
		changeChallenge={(text) => editChallenge(value, text)} wrong={wrong} mended={(places) =>
		setWrong(new Map([...wrong].filter(([place]) => !places.some((one) => place === one || place.startsWith(one + '.')))))} />;
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

function SaveBar({ draft, changes, tab, saving, review, save, discard }: {
	draft: Draft; changes: readonly Change[] | null; tab: Tab; saving: boolean; review(): void; save(): void; discard(): void;
}) {
	const n = changes?.length ?? 0;
	const mistake = mistakeInChallenge(draft);
	if (changes && n === 0 && !mistake) return null;
	return <div class="save-bar">
		<span><strong>{changes && n > 0 ? words.unsaved(n) : words.unsavedJSON}</strong> <span class="quiet">{words.kept}</span>
			{mistake && <span class="wrong-text">{words.challengeMistake}</span>}</span>
		<span class="row">
			{draft.base !== '' && <button type="button" onClick={discard}>{words.discard}</button>}
			{tab === 'difference' ? <button type="button" class="primary" disabled={saving || n === 0 || mistake} onClick={save}>
				{saving ? words.saving : draft.etag === '' ? words.createSave : words.save(n)}</button> :
				<button type="button" class="primary" disabled={changes === null} onClick={review}>{words.review}</button>}
		</span>
	</div>;
}

/** EarlierVersion shows what restoring an earlier version changes, and restores it. */
function EarlierVersion({ config, newest, of, info, onWritten }: {
	config: string; newest: Got | null; of: number; info: Version | undefined; onWritten(): void;
}) {
	const { api, zone, go } = useConsole();
	const back = (): void => go({ version: null });
	return <OneVersion id="planet-title" title={words.versionTitle(of, config)} of={of} path={entryOf(config)} words={words}
		note={info ? words.writtenAt(moment(info.at, zone), info.by) : ''} mistakes={words.mistakes} back={back}
		restore={(path) => api.write('POST', path, '', newest?.etag ?? '')}
		done={(restored) => {
			if (restored) back();
			onWritten();
		}}
		compare={(got) => {
			const changes = differenceOf(jsonOf(newest?.text ?? '').value, jsonOf(got.text).value);
			return {
				changes: changes.length === 0 ? null : <Difference changes={changes} />,
				after: <details class="group"><summary>{words.itsJSON}</summary><pre tabIndex={0}>{laidOut(got.text)}</pre></details>,
			};
		}} />;
}
