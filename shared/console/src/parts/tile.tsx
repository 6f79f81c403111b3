// Tiles: a figure each, with the condition that its requests satisfy, and its change.
import type { ComponentChildren } from 'preact';
import { type Fact, ofClass, only } from '../pure/filter';
import { changeOf } from '../pure/format';
import type { Place } from '../pure/fragment';
import { words } from '../pure/words';

export type TileName = keyof typeof words.tiles;

/** What the requests of some tiles have in common. */
export const factOf = {
	blocked: { field: 'blocked', value: true }, challenged: { field: 'result', value: 'Challenged' },
	monitored: { field: 'monitor', value: true }, human: { field: 'human', value: true },
} satisfies Partial<Record<TileName, Fact>>;

/** The condition that a tile adds, which exactly the requests of its figure satisfy. The first one and those of amounts add none. */
export const conditionOf = {
	blocked: only(factOf.blocked), challenged: only(factOf.challenged), monitored: only(factOf.monitored), human: only(factOf.human),
	refused: 'upstream_status>=400', errors: ofClass('status', 4), failures: ofClass('status', 5), missing: 'status=404',
} satisfies Partial<Record<TileName, string>>;

/** What is beside the events of a figure that adds no condition: the addresses that it counts, the bytes that it adds up. */
export const besidesOf: Readonly<Partial<Record<TileName, Partial<Place>>>> = {
	clients: { panel: 'facets', facets: ['ip'] }, bytes: { columns: ['timestamp', 'result', 'status', 'bytes_sent', 'ip', 'target'] },
};

/** TileOf is a figure. Its name is a button; a click anywhere but on the links in it does the same. */
export function TileOf({ kind, name, title, pressed, act, children }: {
	kind: string; name: string; title?: string; pressed?: boolean; act(): void; children: ComponentChildren;
}) {
	return <div class={`tile ${kind}`} onClick={(event) => (event.target as Element).closest('a') || act()}>
		<button type="button" class="name" title={title} aria-pressed={pressed}>{name}</button>
		{children}
	</div>;
}

const signs = { more: '▲', less: '▼', same: '=', new: '▲' };

/** Change is the difference from the number before, which follows it. The names say in words what the signs say. */
export function Change({ now, before, names }: { now: number; before: number; names: Readonly<Record<keyof typeof signs, string>> }) {
	const { sign, text } = changeOf(now, before);
	return <><span aria-hidden="true">{signs[sign]}</span> {text}<span class="hidden"> {names[sign]}</span>{' · '}</>;
}
