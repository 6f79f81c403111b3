// The parts of a record: every value in its group, the triggers as tables, the times as a bar.
import { useState } from 'preact/hooks';
import { Value } from '../parts/menu';
import { words as tagWords } from '../parts/tags.words';
import { milliseconds } from '../pure/format';
import { type Group, type Leaf, piecesOf, type Triggers } from '../pure/parts';
import type { LogRecord } from '../pure/record';
import { dots } from '../pure/secrets';
import { groupOf, tagGroups } from '../pure/tags';
import { timesOf } from '../pure/timing';
import { words } from './record.words';

/** GroupView is a part of the record. The first ones are open, and the rules that acted. */
export function GroupView({ group: { name, leaves, triggers }, record, secrets }: { group: Group; record: LogRecord; secrets: boolean }) {
	const size = leaves.length + triggers.reduce((sum, { rows }) => sum + rows.length, 0);
	const open = name === 'request' || name === 'client' || name === 'decision' || triggers.length > 0;
	return <details class="group" open={open}>
		<summary>{words.groups[name]} <small>{size}</small></summary>
		{triggers.map((one) => <TriggersView key={one.field} triggers={one} secrets={secrets} />)}
		{name === 'timing' && <Timing record={record} />}
		<dl>
			{leaves.filter(({ field }) => field !== 'tags').map((leaf, i) =>
				<div class={leaf.matched ? 'leaf matched' : 'leaf'} key={`${leaf.field} ${i} ${secrets}`}>
					<dt>{leaf.name}{leaf.matched && <small>{words.matched}</small>}</dt>
					<dd><LeafView leaf={leaf} secrets={secrets} /></dd>
				</div>)}
			<Tags leaves={leaves} secrets={secrets} />
		</dl>
	</details>;
}

/** Tags are the tags in groups by what they are about, those that rules set first. */
function Tags({ leaves, secrets }: { leaves: readonly Leaf[]; secrets: boolean }) {
	return <>{tagGroups.map((group) => {
		const own = leaves.filter((leaf) => leaf.field === 'tags' && groupOf(leaf.text) === group);
		return own.length === 0 ? null : <div class={own.some((leaf) => leaf.matched) ? 'leaf tags matched' : 'leaf tags'} key={group}>
			<dt>tags <small>{tagWords[group]}</small>{own.some((leaf) => leaf.matched) && <small>{words.matched}</small>}</dt>
			<dd>{own.map((leaf) => <LeafView key={`${leaf.text} ${secrets}`} leaf={leaf} secrets={secrets} />)}</dd>
		</div>;
	})}</>;
}

/** Matches are the parts of the request that rules matched, with the text that they matched marked. */
export function Matches({ groups, secrets }: { groups: readonly Group[]; secrets: boolean }) {
	const leaves = groups.flatMap((group) => group.leaves).filter((leaf) => leaf.matched);
	if (leaves.length === 0) return null;
	return <dl class="matches">{leaves.map((leaf, i) => <div class="leaf" key={`${leaf.field} ${i} ${secrets}`}>
		<dt>{words.match} <code>{leaf.field}</code></dt>
		<dd><LeafView leaf={leaf} secrets={secrets} /></dd>
	</div>)}</dl>;
}

/** LeafView is a value with its actions. A secret is shown as dots until it is asked for. */
function LeafView({ leaf, secrets }: { leaf: Leaf; secrets: boolean }) {
	const [chosen, choose] = useState<boolean | null>(null);
	const shown = chosen ?? (secrets || !leaf.secret); // the catalogue may come later than the record
	const { field, value } = leaf;
	return <>
		{!shown ? <span title={words.secret}>{dots}</span> : value === null ? <span class="text">{leaf.text}</span> :
			<Value fact={{ field, value }}><Marked text={leaf.text} matched={leaf.matched ?? []} /></Value>}
		{leaf.secret && <button type="button" class="small" onClick={() => choose(!shown)}>{shown ? words.hide : words.reveal}</button>}
	</>;
}

/** Marked is a text in which what rules matched is marked. */
function Marked({ text, matched }: { text: string; matched: readonly string[] }) {
	return <>{piecesOf(text, matched).map((piece, i) => (piece.marked ? <mark key={i}>{piece.text}</mark> : piece.text))}</>;
}

/** TriggersView is a table of the rules of a stage that acted. */
function TriggersView({ triggers: { field, members, rows }, secrets }: { triggers: Triggers; secrets: boolean }) {
	const names: Readonly<Record<string, string>> = words.triggers;
	const columns: Readonly<Record<string, string>> = words.members;
	const name = names[field] ?? field;
	return <div class="scroll" tabIndex={0} role="region" aria-label={name}><table class="triggers">
		<caption>{name}</caption>
		<thead><tr>{members.map((member) => <th scope="col" key={member} title={member}>{columns[member] ?? member}</th>)}</tr></thead>
		<tbody>{rows.map((cells, i) => <tr key={i}>
			{cells.map((leaves, at) => <td key={members[at]}>{leaves.map((leaf, n) =>
				<LeafView key={`${n} ${secrets}`} leaf={leaf} secrets={secrets} />)}</td>)}
		</tr>)}</tbody>
	</table></div>;
}

/** Timing is where the time of the request went. */
function Timing({ record }: { record: LogRecord }) {
	const times = timesOf(record);
	if (!times) return null;
	return <figure class="timing">
		<figcaption>{words.took(milliseconds(times.total))}: {times.parts.map(({ name, ms }) =>
			<span class={`of-${name}`} key={name}>{words.times[name]} {milliseconds(ms)}</span>)}</figcaption>
		<div class="times" aria-hidden="true">{times.parts.map(({ name, ms }) =>
			<i class={`of-${name}`} key={name} style={{ '--part': String(ms / times.total) }} />)}</div>
	</figure>;
}
