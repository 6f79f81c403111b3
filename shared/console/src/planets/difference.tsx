// Differences of settings, and the merge of two.
import { useState } from 'preact/hooks';
import { type Change, type Conflict, differenceOf, merge, pathText, type Side } from '../pure/difference';
import { type Json, pretty, textAt } from '../pure/json';
import { words } from './planets.words';

const signs = { added: '+', removed: '−', changed: '~', reordered: '↕' } as const;

/** Difference lists changes, each with its place. */
export function Difference({ changes }: { changes: readonly Change[] }) {
	if (changes.length === 0) return <p class="quiet">{words.nothingChanged}</p>;
	return <ul class="difference">{changes.map((change) => <li key={pathText(change.path)} class={change.kind}>
		<p><span class="sign" aria-hidden="true">{signs[change.kind]}</span> <b>{pathText(change.path) || words.whole}</b> <small>
			{words[change.kind]}</small></p>
		{change.kind === 'reordered' ? <p class="side">{namesOf(change.after)}</p> : <>
			{change.before !== undefined && <Shown name={words.before} value={change.before} old />}
			{change.after !== undefined && <Shown name={words.after} value={change.after} />}
		</>}
	</li>)}</ul>;
}

const mostNames = 20;

/** namesOf writes the first entries of a list in its new order. */
function namesOf(names: Json | undefined): string {
	const list = Array.isArray(names) ? names : [];
	return list.slice(0, mostNames).join(', ') + (list.length > mostNames ? ' …' : '');
}

function Shown({ name, value, old = false }: { name: string; value: Json; old?: boolean }) {
	return <div class={old ? 'side old' : 'side new'}><span class="hidden">{name}</span><code>{brief(value)}</code></div>;
}

/** brief writes a value: a text without quotes, an entry of a list by its comment. */
function brief(value: Json | undefined): string {
	if (value === undefined) return words.absent;
	if (typeof value === 'string') return value === '' ? '""' : value;
	const small = value instanceof Map && (textAt(value, 'address') !== '' || textAt(value, 'gf_id') !== '');
	return small ? textAt(value, 'comment') || pretty(value).replace(/\s+/g, ' ') : pretty(value);
}

interface Merging {
	base: Json | undefined;
	mine: Json | undefined;
	theirs: Json | undefined;
	use(merged: Json): void;
}

/** Merge joins two changes of the same settings. Where both changed the same, the reader chooses. */
export function Merge({ base, mine, theirs, use }: Merging) {
	const [choices, setChoices] = useState<ReadonlyMap<string, Side>>(new Map());
	const { merged, conflicts } = merge(base, mine, theirs, choices);
	const open = conflicts.some((conflict) => !choices.has(pathText(conflict.path)));
	const choose = (paths: readonly Conflict[], side: Side): void =>
		setChoices(new Map([...choices, ...paths.map(({ path }): [string, Side] => [pathText(path), side])]));
	return <section class="merge" aria-labelledby="merge-title">
		<h2 id="merge-title">{words.changedMeanwhile}</h2>
		<p>{conflicts.length === 0 ? words.noConflicts : words.mergeHint}</p>
		{conflicts.length > 0 && <>
			<div class="row between"><h3>{words.conflicts}</h3>
				<span class="row">
					<button type="button" class="small" onClick={() => choose(conflicts, 'mine')}>{words.allMine}</button>
					<button type="button" class="small" onClick={() => choose(conflicts, 'theirs')}>{words.allTheirs}</button>
				</span></div>
			{conflicts.map((conflict) => <Choice key={pathText(conflict.path)} conflict={conflict}
				side={choices.get(pathText(conflict.path)) ?? null} choose={(side) => choose([conflict], side)} />)}
		</>}
		<div class="row">
			<button type="button" class="primary" disabled={open || merged === undefined}
				onClick={() => merged !== undefined && use(merged)}>{words.goOn}</button>
			<span class="quiet">{words.goOnHint}</span>
		</div>
		<h3>{words.theirChanges}</h3>
		<Difference changes={differenceOf(base, theirs)} />
	</section>;
}

/** Choice is a part that both changed: mine, theirs, and what it was before. */
function Choice({ conflict, side, choose }: { conflict: Conflict; side: Side | null; choose(side: Side): void }) {
	const name = pathText(conflict.path) || words.whole;
	return <fieldset class="choice">
		<legend>{name}</legend>
		{(['mine', 'theirs'] as const).map((one) => <label key={one} class={side === one ? 'chosen' : ''}>
			<input type="radio" name={name} checked={side === one} onChange={() => choose(one)} />
			<b>{words[one]}</b> <code>{brief(conflict[one])}</code>
		</label>)}
		<p class="quiet">{words.common}: <code>{brief(conflict.base)}</code></p>
	</fieldset>;
}
