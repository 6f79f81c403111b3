// The versions of something that is edited: their list, and an earlier one, which can be restored.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { type Got, orNone, Refusal } from '../foundation/api';
import { type Asker, useAsked } from '../foundation/ask';
import { useConsole } from '../foundation/context';
import { Answered } from './answer';
import { Failure, moment } from './drafts';

export interface Version {
	version: number;
	at: string;
	by: string;
	etag: string;
	bytes: number;
	deleted?: boolean;
}

/** askVersions asks for the versions at a path, newest first. */
export async function askVersions(asker: Asker, path: string): Promise<Version[]> {
	const got = await asker.get(`${path}/versions`).catch(orNone);
	return got ? (JSON.parse(got.text) as { versions: Version[] }).versions : [];
}

/** VersionList lists versions. remark returns what else is written of one. */
export function VersionList({ versions, newest, chosen, remark }: {
	versions: readonly Version[]; newest: string; chosen?: number | null; remark(version: Version): string;
}) {
	const { zone, go } = useConsole();
	return <ol>{versions.map((v, i) => {
		const version = i === 0 ? null : v.version;
		return <li key={v.version}><button type="button" class="choice-of" aria-current={chosen === version ? 'true' : undefined}
			disabled={v.deleted === true} onClick={() => go({ version, tab: '' })}>
			<b>{v.version}{i === 0 && <> <small>{newest}</small></>}</b>
			<small>{moment(v.at, zone)} · {v.by || '–'}{remark(v)}</small>
		</button></li>;
	})}</ol>;
}

/** The texts about an earlier version. */
interface Texts {
	backToNewest: string;
	notSaved: string;
	wouldChange: string;
	sameAsNewest: string;
	restoreHint: string;
	restoreMeanwhile: string;
	restore(version: number): string;
}

/** What an earlier version would change: nothing if there are no changes. */
export interface Restoring {
	before?: ComponentChildren;
	changes: ComponentChildren | null;
	confirm?: ComponentChildren; // what else it needs
	held?: boolean; // it has not got that yet
	after?: ComponentChildren;
}

/** OneVersion shows what restoring an earlier version changes, and restores it. done is called then, or if the newest one has changed. */
export function OneVersion({ id, title, note, of, path, words, mistakes, back, restore, done, compare }: {
	id: string; title: string; note?: string; of: number; path: string; words: Texts; mistakes(n: number): string;
	back(): void; restore(path: string): Promise<string>; done(restored: boolean): void; compare(got: Got, write: () => void): Restoring;
}) {
	const { api, round, say } = useConsole();
	const [failure, setFailure] = useState<unknown>(null);
	const asked = useAsked(api, `${path}/versions/${of}`, round, (asker) => asker.get(`${path}/versions/${of}`));
	const write = async (): Promise<void> => {
		setFailure(null);
		try {
			say(await restore(`${path}/versions/${of}/restore`));
			done(true);
		} catch (error) {
			if (error instanceof Refusal && error.status === 412) {
				say(words.restoreMeanwhile);
				done(false);
			} else setFailure(error);
		}
	};
	return <section class="editor-of" aria-labelledby={id}>
		<div class="row between">
			<h2 id={id}>{title}</h2>
			<button type="button" onClick={back}>← {words.backToNewest}</button>
		</div>
		{note && <p class="quiet">{note}</p>}
		{failure !== null && <Failure title={words.notSaved} mistakes={mistakes} failure={failure} close={() => setFailure(null)} />}
		<Answered asked={asked} metas={() => []}>
			{(got) => {
				const { before, changes, confirm, held = false, after } = compare(got, () => void write());
				return <>
					{before}
					<h3>{words.wouldChange}</h3>
					{changes === null ? <p class="quiet">{words.sameAsNewest}</p> : <>
						{changes}
						<div class="save-bar"><span class="quiet">{words.restoreHint}</span>
							{confirm}
							<button type="button" class="primary" disabled={held} onClick={() => void write()}>
								{words.restore(of)}</button></div>
					</>}
					{after}
				</>;
			}}
		</Answered>
	</section>;
}
