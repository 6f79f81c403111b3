// The list of events: a grid that draws only the rows in view, with the keys of a grid.
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useConsole } from './context';
import { narrow, useMedia } from './media';
import { Acts, useActs } from './menu';
import type { Fact, Value } from './pure/filter';
import { listOf, type LogRecord, resultOf, textOf } from './pure/record';
import { clockIn, dateIn } from './pure/time';
import { words } from './strings';

export type Column = keyof typeof words.columns;

/** The fields of the API that a column needs, its width, and the field that its value is a fact of. */
export const columns: Readonly<Record<Column, { fields: readonly string[]; width: string; fact: string }>> = {
	timestamp: { fields: ['timestamp', 'request_id'], width: '7.6rem', fact: '' },
	result: {
		fields: ['result', 'blocked', 'challenge', 'ichallenge', 'monitor', 'upstream_status'], width: '9.2rem', fact: 'result',
	},
	method: { fields: ['method'], width: '4.2rem', fact: 'method' },
	status: { fields: ['status'], width: '3.6rem', fact: 'status' },
	ip: { fields: ['ip'], width: 'minmax(7.5rem, 9.5rem)', fact: 'ip' },
	country: { fields: ['country'], width: 'minmax(5rem, 7.5rem)', fact: 'country' },
	target: { fields: ['host', 'path', 'url'], width: 'minmax(10rem, 2fr)', fact: 'url' },
	reason: { fields: ['reason', 'monitor_reasons'], width: 'minmax(8rem, 2fr)', fact: 'reason' },
	user_agent: { fields: ['user_agent'], width: 'minmax(8rem, 1.5fr)', fact: 'user_agent' },
	organization: { fields: ['organization'], width: 'minmax(7rem, 10rem)', fact: 'organization' },
};

export const usualColumns: readonly Column[] = ['timestamp', 'result', 'method', 'status', 'ip', 'country', 'target', 'reason'];

export const shapes = { passed: '●', blocked: '■', challenged: '◆', monitored: '▲', refused: '✕' } as const;

interface Props {
	rows: readonly LogRecord[];
	shown: readonly Column[];
	dates: boolean; // the period has more than one day
	selected: number; // index, or -1
	complete: boolean; // there are no older rows
	open(row: number): void;
}

const spare = 6; // rows drawn above and below those in view

/** Rows is the grid. One element has the focus; the active cell is named by aria-activedescendant. */
export function Rows({ rows, shown, dates, selected, complete, open }: Props) {
	const phone = useMedia(narrow);
	const height = phone ? 50 : 28;
	const grid = useRef<HTMLDivElement>(null);
	const [view, setView] = useState({ top: 0, height: 800 });
	const [active, setActive] = useState({ row: Math.max(0, selected), column: 0 });
	useLayoutEffect(() => {
		const element = grid.current;
		if (!element) return;
		const read = (): void => setView({ top: element.scrollTop, height: element.clientHeight });
		const observer = new ResizeObserver(read);
		observer.observe(element);
		return () => observer.disconnect();
	}, []);
	useEffect(() => {
		if (selected >= 0) reveal(grid.current, selected, height);
	}, [selected, height]);
	const first = Math.max(0, Math.floor(view.top / height) - spare);
	const last = Math.min(rows.length, Math.ceil((view.top + view.height) / height) + spare);
	const row = Math.min(active.row, rows.length - 1);
	const move = (to: { row: number; column: number }): void => {
		const next = {
			row: Math.max(0, Math.min(rows.length - 1, to.row)), column: Math.max(0, Math.min(shown.length - 1, to.column)),
		};
		setActive(next);
		reveal(grid.current, next.row, height);
	};
	const onKeyDown = useGridKeys(rows, shown, { row, column: active.column }, Math.floor(view.height / height) - 1, move, open);
	const template = shown.map((column) => (column === 'timestamp' && dates ? '12rem' : columns[column].width)).join(' ');
	return <div class="rows" role="grid" aria-label={words.events} aria-description={words.eventKeys}
		aria-rowcount={complete ? rows.length + 1 : -1} aria-colcount={shown.length} tabIndex={0} ref={grid}
		aria-activedescendant={rows.length > 0 ? cellID(row, active.column) : undefined}
		style={{ '--columns': template, '--row': `${height}px` }} onKeyDown={onKeyDown}
		onScroll={(event) => setView({ top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight })}>
		<div class="head" role="row" aria-rowindex={1}>
			{shown.map((column) => <span role="columnheader" key={column}>{words.columns[column]}</span>)}
		</div>
		<div class="body" role="presentation" style={{ height: `${rows.length * height}px` }}>
			{rows.slice(first, last).map((record, i) => {
				const index = first + i;
				return <div class="event" role="row" key={index} aria-rowindex={index + 2} aria-selected={index === selected}
					style={{ transform: `translateY(${index * height}px)` }} onClick={() => open(index)}>
					{shown.map((column, at) => <Cell key={column} id={cellID(index, at)} column={column} record={record} dates={dates}
						active={index === row && at === active.column} />)}
				</div>;
			})}
		</div>
	</div>;
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
	rows: readonly LogRecord[], shown: readonly Column[], active: { row: number; column: number }, page: number,
	move: (to: { row: number; column: number }) => void, open: (row: number) => void,
) {
	const { choose } = useConsole();
	const record = rows[active.row];
	const column = shown[active.column];
	const fact = record && column ? factOf(column, record) : null;
	const act = useActs(fact ?? { field: '', value: '' });
	return (event: JSX.TargetedKeyboardEvent<HTMLElement>): void => {
		if (event.ctrlKey || event.metaKey || event.altKey) return;
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
		else if ((event.key === 'm' || event.key === 'ContextMenu') && fact) {
			const cell = document.getElementById(cellID(row, at));
			if (cell) choose(fact, cell);
		} else return;
		event.preventDefault();
		event.stopPropagation();
	};
}

/** factOf returns what the value of a cell says, or null if filters have no condition for it. */
function factOf(column: Column, record: LogRecord): Fact | null {
	const field = columns[column].fact;
	if (column === 'reason' && typeof record['reason'] !== 'string') {
		const first = listOf(record, 'monitor_reasons')[0];
		return typeof first === 'string' ? { field: 'monitor_reasons', value: first } : null;
	}
	const name = column === 'target' && typeof record['url'] !== 'string' ? 'path' : field;
	const value = record[name];
	const plain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
	return name !== '' && plain ? { field: name, value: value as Value } : null;
}

function Cell({ id, column, record, dates, active }: {
	id: string; column: Column; record: LogRecord; dates: boolean; active: boolean;
}) {
	const { choose } = useConsole();
	const fact = factOf(column, record);
	return <span id={id} role="gridcell" class={`cell ${column}${active ? ' active' : ''}`} onContextMenu={(event) => {
		if (!fact) return;
		event.preventDefault();
		choose(fact, event.currentTarget);
	}} {...(fact ? longTouch((at) => choose(fact, at)) : {})}>
		<span class="text">{contentOf(column, record, dates)}</span>
		{fact && <Acts fact={fact} />}
	</span>;
}

function contentOf(column: Column, record: LogRecord, dates: boolean) {
	switch (column) {
		case 'timestamp': return <Time record={record} dates={dates} />;
		case 'result': return <ResultMark record={record} />;
		case 'target': return `${textOf(record, 'host')}${textOf(record, 'path')}` || textOf(record, 'url');
		case 'reason': return textOf(record, 'reason') || listOf(record, 'monitor_reasons').join('; ');
		default: return textOf(record, column);
	}
}

function Time({ record, dates }: { record: LogRecord; dates: boolean }) {
	const { zone } = useConsole();
	const ms = Date.parse(textOf(record, 'timestamp'));
	if (Number.isNaN(ms)) return null;
	return <>{dates && `${dateIn(ms, zone)} `}{clockIn(ms, zone, 'milliseconds')}</>;
}

/** ResultMark is what happened to a request: a shape, a word and a colour. */
export function ResultMark({ record }: { record: LogRecord }) {
	const result = resultOf(record);
	return <span class={`verdict ${result}`}><span aria-hidden="true">{shapes[result]}</span> {words.results[result]}</span>;
}

const longTouchTime = 500; // milliseconds

/** longTouch returns handlers that act after a long touch, on systems that have no event for it. */
function longTouch(act: (at: Element) => void) {
	let timer = 0;
	let acted = false;
	const stop = (): void => clearTimeout(timer);
	return {
		onTouchStart: (event: JSX.TargetedTouchEvent<HTMLElement>) => {
			const at = event.currentTarget;
			acted = false;
			timer = setTimeout(() => {
				acted = true;
				act(at);
			}, longTouchTime);
		},
		onTouchMove: stop,
		onTouchEnd: (event: JSX.TargetedTouchEvent<HTMLElement>) => {
			stop();
			if (acted) event.preventDefault(); // no click follows
		},
	};
}
