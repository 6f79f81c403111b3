// The list of events: a grid that draws only the rows in view, with the keys of a grid.
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useConsole } from '../foundation/context';
import { narrow, useMedia, usePaper } from '../foundation/media';
import { words as ofEvents } from '../parts/events.words';
import { Acts, useActs } from '../parts/menu';
import { resultFields, ResultMark } from '../parts/result';
import { waysOf } from '../parts/ways';
import { linesOf } from '../pure/cards';
import { addOnly, type Fact, type Value } from '../pure/filter';
import { shortReason } from '../pure/reason';
import { factOfResult, listOf, type LogRecord, referenceOf, resultOf, textOf } from '../pure/record';
import { clockIn, dateIn, elsewhere } from '../pure/time';
import { fitted, leastWidth, type Limits } from '../pure/widths';
import { words } from '../pure/words';

/** A column of the list: one of those below, or a field of the catalogue. */
export type Column = string;

type Known = keyof typeof words.columns;

/** The fields of the API that a column needs, its width, and the field that its value is a fact of. */
interface Definition {
	fields: readonly string[];
	width: string;
	fact: string;
}

export const columns: Readonly<Record<Known, Definition>> = {
	timestamp: { fields: ['timestamp'], width: '7.6rem', fact: '' },
	result: { fields: resultFields, width: 'minmax(6.5rem, 10rem)', fact: 'result' },
	method: { fields: ['method'], width: '4.2rem', fact: 'method' },
	status: { fields: ['status'], width: '3.6rem', fact: 'status' },
	ip: { fields: ['ip'], width: 'minmax(7.5rem, 9.5rem)', fact: 'ip' },
	country: { fields: ['country'], width: 'minmax(5rem, 7rem)', fact: 'country' },
	target: { fields: ['host', 'path', 'url'], width: 'minmax(10rem, 2fr)', fact: 'url' },
	reason: { fields: ['reason', 'monitor_reasons'], width: 'minmax(8rem, 2.4fr)', fact: 'reason' },
	user_agent: { fields: ['user_agent'], width: 'minmax(8rem, 1.5fr)', fact: 'user_agent' },
	organization: { fields: ['organization'], width: 'minmax(7rem, 10rem)', fact: 'organization' },
};

const isKnown = (column: Column): column is Known => column in columns;

/** columnOf returns the definition of a column. */
export function columnOf(column: Column): Definition {
	return isKnown(column) ? columns[column] : { fields: [column], width: 'minmax(7rem, 1fr)', fact: column };
}

/** The columns that are as wide as their texts. */
const fits: Readonly<Partial<Record<Column, Limits>>> = {
	result: [6.5, 12], method: [4.2, 8], ip: [7.5, 12], country: [5, 11], organization: [7, 12],
};

/** trackOf returns the width of a column for the rows that are loaded. */
function trackOf(column: Column, rows: readonly LogRecord[]): string {
	const limits = fits[column];
	if (!limits || rows.length === 0) return columnOf(column).width;
	const texts = rows.map((row) => (column === 'result' ? `● ${words.results[resultOf(row)]}` : textOf(row, column)));
	return fitted(texts, limits, column !== 'method');
}

/** nameOf returns the heading of a column. */
export function nameOf(column: Column): string {
	return isKnown(column) ? words.columns[column] : column;
}

export const usualColumns: readonly Column[] = ['timestamp', 'result', 'method', 'status', 'ip', 'country', 'target', 'reason'];

interface Props {
	rows: readonly LogRecord[];
	shown: readonly Column[];
	loaded: readonly string[]; // members of the records
	dates: boolean; // the period has more than one day
	selected: number; // index, or -1
	complete: boolean; // there are no older rows
	open(row: number): void;
}

const spare = 6; // rows drawn above and below those in view
const cardLine = 25; // pixels
const leastTarget = 44; // of a finger

/** Rows is the grid. One element has the focus; the active cell is named by aria-activedescendant. */
export function Rows({ rows, shown, loaded, dates, selected, complete, open }: Props) {
	const lines = useMedia(narrow) ? linesOf(shown) : null; // of cards
	const height = lines ? Math.max(leastTarget, lines.length * cardLine) : 28;
	const grid = useRef<HTMLDivElement>(null);
	const { press, click } = useDoubleClick(open);
	const [view, setView] = useState({ top: 0, height: 800 });
	const opened = selected < 0 ? '' : referenceAt(rows, selected);
	const [active, setActive] = useState<Active>({ reference: opened, row: Math.max(0, selected), column: 0 });
	const [was, setWas] = useState(opened);
	if (was !== opened) { // another record was opened; that rows are put above it is no move
		setWas(opened);
		if (selected >= 0) setActive({ ...active, reference: opened, row: selected });
	}
	useLayoutEffect(() => {
		const element = grid.current;
		if (!element) return;
		const read = (): void => setView({ top: element.scrollTop, height: element.clientHeight });
		const observer = new ResizeObserver(read);
		observer.observe(element);
		return () => observer.disconnect();
	}, []);
	useLayoutEffect(() => {
		if (selected >= 0) reveal(grid.current, selected, height);
	}, [opened, height]);
	const row = rowOf(rows, active);
	useEffect(() => { // it moves when rows are put above
		if (document.activeElement === grid.current) reveal(grid.current, row, height);
	}, [row]);
	const paper = usePaper(); // it has all rows
	const first = paper ? 0 : Math.max(0, Math.floor(view.top / height) - spare);
	const last = paper ? rows.length : Math.min(rows.length, Math.ceil((view.top + view.height) / height) + spare);
	const move = (to: { row: number; column: number }): void => {
		const next = {
			row: Math.max(0, Math.min(rows.length - 1, to.row)), column: Math.max(0, Math.min(shown.length - 1, to.column)),
		};
		setActive({ ...next, reference: referenceAt(rows, next.row) });
		reveal(grid.current, next.row, height);
	};
	const onKeyDown = useGridKeys(rows, shown, loaded, { row, column: active.column }, Math.floor(view.height / height) - 1, move, open,
		selected >= 0);
	const tracks = useMemo(() => shown.map((column) => (column === 'timestamp' && dates ? '12rem' : trackOf(column, rows))),
		[rows, shown, dates]);
	return <div class="rows" role="grid" aria-label={ofEvents.events} aria-description={ofEvents.eventKeys}
		aria-rowcount={complete ? rows.length + 1 : -1} aria-colcount={shown.length} tabIndex={0} ref={grid}
		aria-activedescendant={rows.length > 0 ? cellID(row, active.column) : undefined}
		style={{ '--columns': tracks.join(' '), '--least': `${leastWidth(tracks)}rem`, '--row': `${height}px` }} onKeyDown={onKeyDown}
		onFocus={() => setActive({ ...active, row, reference: referenceAt(rows, row) })}
		onScroll={(event) => setView({ top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight })}>
		<div class="head" role="row" aria-rowindex={1}>
			{shown.map((column) => <span role="columnheader" key={column}>{nameOf(column)}</span>)}
		</div>
		<div class="body" role="presentation" style={{ height: `${rows.length * height}px` }}>
			{rows.slice(first, last).map((record, i) => {
				const index = first + i;
				const cell = (column: Column) => {
					const at = shown.indexOf(column);
					return <Cell key={column} id={cellID(index, at)} column={column} record={record} loaded={loaded} dates={dates}
						card={lines !== null} active={index === row && at === active.column} press={press} />;
				};
				return <div class="event" role="row" key={index} aria-rowindex={index + 2} aria-selected={index === selected}
					style={{ transform: `translateY(${index * height}px)` }} onClick={() => click(index)}>
					{lines ? lines.map((line) => <div class="card-line" role="presentation" key={line[0]}>{line.map(cell)}</div>) :
						shown.map(cell)}
				</div>;
			})}
		</div>
	</div>;
}

/** The active cell. Its row is kept by the reference to the record, because rows are put above it. */
interface Active {
	reference: string; // "": of the first row, until somebody moves
	row: number; // where the record was
	column: number;
}

const referenceAt = (rows: readonly LogRecord[], row: number): string => referenceOf(rows[row] ?? {});

/** rowOf returns where the active record is now, or where it was if it is no longer in the list. */
function rowOf(rows: readonly LogRecord[], { reference, row }: Active): number {
	if (referenceAt(rows, row) === reference) return row;
	const at = reference === '' ? -1 : rows.findIndex((record) => referenceOf(record) === reference);
	return at < 0 ? Math.min(row, rows.length - 1) : at;
}

const cellID = (row: number, column: number): string => `cell-${row}-${column}`;

/** reveal scrolls a row into view, below the head. */
function reveal(grid: HTMLElement | null, row: number, height: number): void {
	if (!grid) return;
	const head = grid.firstElementChild?.clientHeight ?? 0;
	const top = row * height;
	if (top < grid.scrollTop) grid.scrollTop = top;
	else if (top + height > grid.scrollTop + grid.clientHeight - head) grid.scrollTop = top + height - grid.clientHeight + head;
}

/** useGridKeys returns the handler of the keys of the grid. */
function useGridKeys(
	rows: readonly LogRecord[], shown: readonly Column[], loaded: readonly string[], active: { row: number; column: number },
	page: number, move: (to: { row: number; column: number }) => void, open: (row: number) => void, beside: boolean,
) {
	const console = useConsole();
	const record = rows[active.row];
	const column = shown[active.column];
	const fact = record && column ? factOf(column, record) : null;
	const act = useActs(fact ?? { field: '', value: '' });
	return (event: JSX.TargetedKeyboardEvent<HTMLElement>): void => {
		if (event.ctrlKey || event.metaKey || event.altKey) return;
		if (beside && (event.key === 'j' || event.key === 'k')) return; // they move the record that is open
		const { row, column: at } = active;
		const to: Readonly<Record<string, { row: number; column: number }>> = {
			ArrowDown: { row: row + 1, column: at }, j: { row: row + 1, column: at },
			ArrowUp: { row: row - 1, column: at }, k: { row: row - 1, column: at },
			ArrowRight: { row, column: at + 1 }, ArrowLeft: { row, column: at - 1 },
			Home: { row: 0, column: at }, End: { row: rows.length - 1, column: at },
			PageDown: { row: row + page, column: at }, PageUp: { row: row - page, column: at },
		};
		const target = to[event.key];
		if (target) move(target);
		else if (event.key === 'Enter') open(row);
		else if (event.key === '+' && fact) act.only();
		else if ((event.key === '-' || event.key === '−') && fact) act.without();
		else if ((event.key === 'm' || event.key === 'ContextMenu') && record) {
			const cell = document.getElementById(cellID(row, at));
			if (cell) console.choose(fact, cell, waysOf(record, loaded, console));
		} else return;
		event.preventDefault();
		event.stopPropagation();
	};
}

/** factOf returns what the value of a cell says, or null if filters have no condition for it. */
function factOf(column: Column, record: LogRecord): Fact | null {
	const field = columnOf(column).fact;
	if (column === 'result') return factOfResult(record);
	if (column === 'reason' && typeof record['reason'] !== 'string') {
		const first = listOf(record, 'monitor_reasons')[0];
		return typeof first === 'string' ? { field: 'monitor_reasons', value: first } : null;
	}
	const name = column === 'target' && typeof record['url'] !== 'string' ? 'path' : field;
	const value = record[name];
	const plain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
	return name !== '' && plain ? { field: name, value: value as Value } : null;
}

function Cell({ id, column, record, loaded, dates, card, active, press }: {
	id: string; column: Column; record: LogRecord; loaded: readonly string[]; dates: boolean; card: boolean; active: boolean;
	press(fact: Fact | null): void;
}) {
	const console = useConsole();
	const fact = factOf(column, record);
	const open = (at: Element): void => console.choose(fact, at, waysOf(record, loaded, console));
	const touch = useLongTouch(open);
	return <span id={id} role="gridcell" class={`cell ${column}${active ? ' active' : ''}`} onContextMenu={(event) => {
		event.preventDefault();
		open(event.currentTarget);
	}} onMouseDown={() => press(fact)} {...touch}>
		{card && !isKnown(column) && <small>{column}</small>}
		<span class="text">{contentOf(column, record, dates) || (card && '–')}</span>
		{fact && <Acts fact={fact} />}
	</span>;
}

function contentOf(column: Column, record: LogRecord, dates: boolean) {
	switch (column) {
		case 'timestamp': return <Time record={record} dates={dates} />;
		case 'result': return <ResultMark record={record} />;
		case 'target': return `${textOf(record, 'host')}${textOf(record, 'path')}` || textOf(record, 'url');
		case 'reason': return [textOf(record, 'reason'), ...listOf(record, 'monitor_reasons').map(String)].filter((one) => one !== '')
			.map(shortReason).join('; ');
		default: return listOf(record, column).map((one) => (typeof one === 'object' ? JSON.stringify(one) : String(one))).join(', ');
	}
}

function Time({ record, dates }: { record: LogRecord; dates: boolean }) {
	const { zone } = useConsole();
	const ms = Date.parse(textOf(record, 'timestamp'));
	if (Number.isNaN(ms)) return null;
	return <span title={elsewhere(ms, zone)}>{dates && `${dateIn(ms, zone)} `}{clockIn(ms, zone, 'milliseconds')}</span>;
}

/**
 * useDoubleClick returns the handlers of a click, which opens a row, and of a double click, which keeps only the value of the
 * cell. The first click moves the cells, or covers them with the record: so the second one counts wherever it is.
 */
function useDoubleClick(open: (row: number) => void) {
	const { place, go } = useConsole();
	const pressed = useRef<Fact | null>(null);
	return {
		press: (fact: Fact | null): void => {
			pressed.current = fact;
		},
		click: (row: number): void => {
			const [fact, from] = [pressed.current, location.hash];
			pressed.current = null;
			open(row);
			if (fact) addEventListener('click', (event) => {
				if (event.detail !== 2) return;
				event.preventDefault();
				event.stopPropagation();
				// Back leads to where the reader was before both clicks.
				go({ filter: addOnly(place.filter, fact), record: null }, location.hash === from ? 'push' : 'replace');
			}, { capture: true, once: true });
		},
	};
}

const longTouchTime = 500; // milliseconds

/**
 * useLongTouch returns handlers that act after a long touch, on systems that have no event for it. The touch outlives the
 * drawings of its cell: one that moves does not act, also if the list is drawn again meanwhile.
 */
function useLongTouch(act: (at: Element) => void) {
	const touch = useRef({ timer: 0, acted: false }).current;
	const stop = (): void => clearTimeout(touch.timer);
	useEffect(() => stop, []);
	return {
		onTouchStart: (event: JSX.TargetedTouchEvent<HTMLElement>) => {
			const at = event.currentTarget;
			touch.acted = false;
			stop();
			touch.timer = setTimeout(() => {
				touch.acted = true;
				act(at);
			}, longTouchTime);
		},
		onTouchMove: stop,
		onTouchCancel: stop,
		onTouchEnd: (event: JSX.TargetedTouchEvent<HTMLElement>) => {
			stop();
			if (touch.acted) event.preventDefault(); // no click follows
		},
	};
}
