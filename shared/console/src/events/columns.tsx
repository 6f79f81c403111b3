// The chooser of the columns of the events: which are shown, and in which order.
import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useConsole } from '../foundation/context';
import { moved, toggled } from '../pure/columns';
import { words } from './columns.words';

interface Props {
	shown: readonly string[];
	others: readonly string[]; // that are not shown
	usual: readonly string[];
	fields: readonly string[]; // of which a column can be made
	nameOf(column: string): string;
	change(columns: readonly string[]): void;
}

/** A column that is dragged, and the place where it would be. */
interface Drag {
	column: string;
	to: number;
}

/** Columns shows and hides columns. Dragging, two buttons and two keys move a column; the order is used when it is dropped. */
export function Columns({ shown, others, usual, fields, nameOf, change }: Props) {
	const { say } = useConsole();
	const [drag, setDrag] = useState<Drag | null>(null);
	const [field, setField] = useState('');
	const box = useRef<HTMLDivElement>(null);
	const list = useRef<HTMLOListElement>(null);
	const focus = useRef<{ column: string; control: string } | null>(null); // after a change, which takes the focus away
	useLayoutEffect(() => {
		if (!focus.current) return;
		const { column, control } = focus.current;
		focus.current = null;
		const row = box.current?.querySelector(`[data-column="${column}"]`);
		const wanted = row?.querySelector<HTMLElement>(`${control}:enabled`) ?? row?.querySelector<HTMLElement>('input:enabled');
		(wanted ?? box.current?.querySelector<HTMLElement>('select'))?.focus(); // a field is an option there when it is no column
	});
	const use = (next: readonly string[], column: string, control: string | null): void => {
		if (next.length === 0) return;
		if (control !== null) focus.current = { column, control };
		change(next);
		say(next.includes(column) ? words.at(nameOf(column), next.indexOf(column) + 1, next.length) : words.off(nameOf(column)));
	};
	const move = (column: string, to: number, control: string): void =>
		use(moved(shown, shown.indexOf(column), to), column, control);
	const toggle = (column: string): void => use(toggled(shown, column), column, 'input');
	return <div class="columns" ref={box}>
		<h3 id="columns-shown">{words.shown}</h3>
		<ol ref={list} aria-labelledby="columns-shown">{shown.map((column, i) => <li key={column} data-column={column}
			class={classOf(drag, column, i, shown)}>
			<span class="grip" aria-hidden="true" title={words.drag}
				{...dragOf(list, column, i, setDrag, (to) => to !== i && change(moved(shown, i, to)))}>⠿</span>
			<label title={words.keys}>
				<input type="checkbox" checked disabled={shown.length === 1} onChange={() => toggle(column)}
					onKeyDown={(event) => {
						const by = event.altKey ? { ArrowUp: -1, ArrowDown: 1 }[event.key] : undefined;
						if (by === undefined) return;
						event.preventDefault();
						move(column, i + by, 'input');
					}} /> {nameOf(column)}
			</label>
			<button type="button" class="small up" aria-label={words.up(nameOf(column))} disabled={i === 0}
				onClick={() => move(column, i - 1, '.up')}>↑</button>
			<button type="button" class="small down" aria-label={words.down(nameOf(column))} disabled={i === shown.length - 1}
				onClick={() => move(column, i + 1, '.down')}>↓</button>
		</li>)}</ol>
		{others.length > 0 && <>
			<h3>{words.others}</h3>
			<ul>{others.map((column) => <li key={column} data-column={column}>
				<label><input type="checkbox" checked={false} onChange={() => toggle(column)} /> {nameOf(column)}</label>
			</li>)}</ul>
		</>}
		<form class="row" onSubmit={(event) => {
			event.preventDefault();
			if (fields.includes(field)) use([...shown, field], field, null);
			setField('');
		}}>
			<label class="field"><span>{words.add}</span> <select class="small" value={field}
				onChange={(event) => setField(event.currentTarget.value)}>
				<option value="">{words.choose}</option>
				{fields.map((name) => <option key={name} value={name}>{name}</option>)}
			</select></label>
			<button type="submit" class="small">{words.addIt}</button>
		</form>
		<p class="quiet">{words.kept}</p>
		<button type="button" class="small" onClick={() => change(usual)}>{words.usual}</button>
	</div>;
}

/** classOf marks the column that is dragged, and the place where it would be. */
function classOf(drag: Drag | null, column: string, i: number, shown: readonly string[]): string {
	if (!drag) return '';
	if (drag.column === column) return 'dragged';
	const from = shown.indexOf(drag.column);
	return drag.to !== i || from === i ? '' : from < i ? 'drop-below' : 'drop-above';
}

/** dragOf returns the handlers of the grip of a column. The rows stay until it is dropped: a row that moves would lose the pointer. */
function dragOf(
	list: { readonly current: HTMLElement | null }, column: string, from: number, setDrag: (drag: Drag | null) => void,
	drop: (to: number) => void,
) {
	const placeAt = (y: number): number => {
		const middles = [...list.current?.children ?? []].map((row) => row.getBoundingClientRect()).map((row) => row.top + row.height / 2);
		const above = middles.filter((middle) => middle < y).length;
		return above > from ? above - 1 : above;
	};
	return {
		onPointerDown: (event: JSX.TargetedPointerEvent<HTMLElement>) => {
			event.preventDefault(); // no text is selected
			event.currentTarget.setPointerCapture(event.pointerId);
			setDrag({ column, to: from });
		},
		onPointerMove: (event: JSX.TargetedPointerEvent<HTMLElement>) => {
			if (event.currentTarget.hasPointerCapture(event.pointerId)) setDrag({ column, to: placeAt(event.clientY) });
		},
		onPointerUp: (event: JSX.TargetedPointerEvent<HTMLElement>) => {
			setDrag(null);
			drop(placeAt(event.clientY));
		},
		onPointerCancel: () => setDrag(null),
	};
}
