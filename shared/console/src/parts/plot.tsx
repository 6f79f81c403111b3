// The canvas of charts: lines over time, with a cursor for pointers and keys.
import { createContext } from 'preact';
import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { logarithmicRange } from '../pure/axis';
import { type Asked, beginOf } from '../pure/coverage';
import { brief, milliseconds } from '../pure/format';
import { between, type Selection } from '../pure/selection';
import { clockIn, dateIn } from '../pure/time';
import { words } from '../pure/words';

/** A line of a plot. */
export interface PlotLine {
	colour: string; // custom property of colours.css
	values: (number | null)[];
	dash?: number[];
	fill?: boolean;
	width: number;
}

/** What draws the numbers of the lines as colours in place of lines, on a logarithmic axis. The colour is of the canvas. */
export interface Heat {
	range: [least: number, most: number];
	draw(u: uPlot, length: number, colour: string): void;
}

/** What a chart marks: a time, in seconds, in which something happened that the lines do not say. */
export interface Mark {
	from: number;
	to: number;
	name: string;
	line?: boolean; // of a moment, not of a while
}

/** The marks of all charts of a part of the page. */
export const Marks = createContext<readonly Mark[]>([]);

const bars = uPlot.paths.bars?.({ size: [0.9, Infinity, 1] }) ?? (() => null);

const leastMark = 4; // pixels, so that a mark of a minute can be seen

const namesOf = (marks: readonly Mark[]): string => marks.map(({ name }) => name).join(' · ');

/** Marked says what the marks are, or which of them a segment has. */
export function Marked({ at, length }: { at: number | undefined; length: number }) {
	const marks = useContext(Marks);
	const key = (kind: 'marks' | 'settings', name: string) => {
		const some = marks.filter(({ line }) => Boolean(line) === (kind === 'settings'));
		if (some.length === 0) return null;
		const here = at === undefined ? [] : some.filter(({ from, to }) => from < at + length && at < to);
		return <span class={`key ${kind}${here.length > 0 ? ' here' : ''}`}>
			{here.length > 0 ? namesOf(here) : <>{name}<span class="hidden">: {namesOf(some)}</span></>}</span>;
	};
	return <>{key('marks', words.marks)}{key('settings', words.settings)}</>;
}

const leastDrag = 4; // pixels
const leastTouch = 10; // pixels to the side, after which a finger selects

/**
 * Plot is the canvas. Arrow keys move its cursor, which the legend announces. A click or Enter zooms to the segment at the cursor. A
 * drag, also by a finger, or arrow keys with Shift select several.
 */
export function Plot({
	segments, length, height, series, zone, at, begin, compact, columns = false, band = false, heat, selected, write, onMove, onSelect,
	onZoom,
}: {
	segments: readonly { time_period: number }[]; length: number; height: number; compact?: boolean;
	begin?: number | null; // of the data, if that is in the period
	columns?: boolean; // from zero, each drawn over those before it
	band?: boolean; // between the first line and the last one, on a logarithmic axis
	heat?: Heat;
	series: readonly PlotLine[]; zone: string; at: number | null; write?(n: number): string; // of the axis; without it, whole numbers
	selected: Selection | null;
	onMove(at: number | null): void; onSelect(to: Selection | null): void; onZoom(from: number, to: number): void;
}) {
	const box = useRef<HTMLDivElement>(null);
	const plot = useRef<uPlot | null>(null);
	const scheme = useScheme();
	const handlers = useRef({ onMove, onSelect });
	handlers.current = { onMove, onSelect };
	const marks = useContext(Marks);
	const latest = useRef({ marks, selected });
	latest.current = { marks, selected };
	const anchor = useRef(0); // the segment at which keys began to select
	const touch = useRef<{ x: number; moved: boolean } | null>(null);
	const centred = columns || heat ? length / 2 : 0; // how far what is drawn of a segment is before its begin
	/** show marks what is selected. */
	const show = (u: uPlot): void => {
		const { selected: some } = latest.current;
		const [left, right] = [segments[some?.first ?? -1]?.time_period, (segments[some?.last ?? -1]?.time_period ?? 0) + length]
			.map((time) => (some && time !== undefined ? Math.max(0, Math.min(u.over.clientWidth, u.valToPos(time - centred, 'x'))) : 0)) as
			[number, number];
		u.setSelect({ left, width: right - left, top: 0, height: u.over.clientHeight }, false);
	};
	useLayoutEffect(() => { // as soon as the element can have the focus, keys have a cursor to move
		const element = box.current;
		if (!element) return;
		const colour = (name: string): string => colourOf(element, name);
		const axis = {
			stroke: colour('--quiet'), grid: { stroke: colour('--grid'), width: 1 }, font: '12px system-ui, sans-serif',
		};
		const small = element.clientWidth < 500;
		const hook: { at: number | null } = { at: null };
		const chart = new uPlot({
			width: element.clientWidth,
			height,
			legend: { show: false },
			padding: [8, 20, 0, 0], // the last time of the axis is centred at the edge
			tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), zone),
			cursor: {
				y: false, drag: { x: true, y: false, setScale: false }, points: columns || heat ? { show: false } : { size: 6 },
				// It stays while the pointer is on its way to the numbers in the legend.
				bind: { mouseleave: (_, __, leave) => (event) => (event.buttons > 0 ? leave(event) : null) },
			},
			scales: {
				x: { time: true, ...(columns || heat ? { range: (_, min, max) => [min - length / 2, max + length / 2] } : {}) },
				y: heat ? { distr: 3, range: () => heat.range } : band ?
					{ distr: 3, range: (_, min, max) => logarithmicRange(min, max) } :
					{ range: (_, __, max) => [0, Math.max(1, max * 1.05)] },
			},
			...(band ? { bands: [{ series: [1, series.length], fill: colour('--part-fill') }] } : {}),
			axes: [
				{ ...axis, show: true, size: compact ? 22 : 34, ticks: { show: false },
					values: (_, splits) => splits.map((s, i) => axisTime(s, splits[i - 1], zone, compact ?? false, small)) },
				{ ...axis, size: 52, ticks: { show: false }, show: true, space: compact ? 24 : 36,
					// A logarithmic axis names only the powers of ten; the other splits are null.
					values: (_, splits: readonly (number | null)[]) => splits.map((n) =>
						(n === null ? '' : heat ? milliseconds(n) : write ? write(n) : Number.isInteger(n) ? brief(n) : '')) },
			],
			series: [{}, ...series.map((s): uPlot.Series => ({
				...(heat ? { width: 0, points: { show: false }, paths: () => null } : {}),
				...(heat ? {} : columns ? { fill: colour(s.colour), width: 0, points: { show: false }, paths: bars } : {
					stroke: colour(s.colour), width: s.width, points: { show: segments.length < 3 },
					...(s.dash ? { dash: s.dash } : {}),
					...(s.fill ? { fill: colour(s.colour + '-fill') } : {}),
				}),
			}))],
			hooks: {
				drawClear: [(u) => {
					drawMarks(u, latest.current.marks, colour('--warning-ground'), u.bbox.height);
					drawMarks(u, latest.current.marks, colour('--warning'), 3 * devicePixelRatio);
				}],
				drawAxes: [(u) => { // over the grid
					const first = segments.find((one) => (one.time_period + length) * 1000 > (begin ?? 0));
					const empty = first ? u.valToPos(first.time_period - centred, 'x', true) - u.bbox.left : 0;
					if (begin && empty > 0) drawEmpty(u, empty, colour('--hover'), colour('--quiet'));
					if (!heat) return;
					heat.draw(u, length, colour('--passed'));
					drawMarks(u, latest.current.marks, colour('--warning'), 3 * devicePixelRatio);
				}],
				draw: [(u) => { // over the grid
					show(u);
					const ratio = devicePixelRatio;
					u.ctx.fillStyle = colour('--accent');
					u.ctx.font = axis.font.replace('12px', `${11 * ratio}px`);
					u.ctx.textBaseline = 'top';
					u.ctx.textAlign = 'left';
					let end = 0; // of the last name: one that does not fit is in the legend only
					for (const { from, name } of latest.current.marks.filter(({ line }) => line)) {
						const at = Math.round(u.valToPos(from, 'x', true));
						const width = u.ctx.measureText(name).width + 8 * ratio;
						const left = at + width < u.bbox.left + u.bbox.width ? at : at - width;
						u.ctx.fillRect(at, u.bbox.top, ratio, u.bbox.height);
						if (small || left < end) continue;
						u.ctx.fillText(name, left + 4 * ratio, u.bbox.top + 4 * ratio);
						end = left + width;
					}
				}],
				setCursor: [(u) => {
					const index = u.cursor.left != null && u.cursor.left >= 0 ? u.cursor.idx ?? null : null;
					if (index === hook.at) return;
					hook.at = index;
					handlers.current.onMove(index);
				}],
				setSelect: [(u) => {
					const { left, width } = u.select;
					if (width < leastDrag) return;
					const [from, to] = [left, left + width].map((x) => u.posToVal(x, 'x') + centred) as [number, number];
					handlers.current.onSelect(between(segments.map((s) => s.time_period), from, to));
				}],
			},
		}, [segments.map((s) => s.time_period), ...series.map((s) => s.values)] as uPlot.AlignedData, element);
		plot.current = chart;
		const figure = element.closest('figure');
		const leave = (event: MouseEvent): void => {
			if (event.buttons > 0) return; // a drag goes on outside
			chart.setCursor({ left: -10, top: -10 });
			handlers.current.onMove(null); // it may be of an earlier chart
		};
		figure?.addEventListener('mouseleave', leave);
		const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }));
		observer.observe(element);
		return () => {
			observer.disconnect();
			figure?.removeEventListener('mouseleave', leave);
			chart.destroy();
			plot.current = null;
		};
	}, [segments, series.length, zone, scheme, height]);
	useEffect(() => plot.current?.redraw(false), [marks]); // they may come later than the lines
	useLayoutEffect(() => {
		if (plot.current) show(plot.current);
	}, [selected]);
	const move = (index: number): void => {
		const chart = plot.current;
		const segment = segments[index];
		if (chart && segment) chart.setCursor({ left: chart.valToPos(segment.time_period, 'x'), top: 10 });
	};
	const zoom = ({ first, last }: Selection): boolean => {
		const [begin, end] = [segments[first], segments[last]];
		if (begin && end) onZoom(begin.time_period * 1000, (end.time_period + length) * 1000 - 1);
		return begin !== undefined;
	};
	const segment = (index: number | null | undefined): Selection => ({ first: index ?? -1, last: index ?? -1 });
	/** drag marks the part of the chart from where the finger began to where it is. */
	const drag = (x: number, done: boolean): void => {
		const chart = plot.current;
		if (!chart || !touch.current) return;
		touch.current.moved ||= Math.abs(x - touch.current.x) >= leastTouch;
		if (!touch.current.moved) return;
		const [left, right] = [touch.current.x, x].map((end) => Math.max(0, Math.min(chart.over.clientWidth, end)))
			.sort((a, b) => a - b) as [number, number];
		chart.setSelect({ left, width: right - left, top: 0, height: chart.over.clientHeight }, done);
	};
	return <div class="plot" ref={box} tabIndex={0} role="application" aria-label={words.chartKeys} onClick={(event) => {
		const chart = plot.current;
		if (event.target !== chart?.over) return; // uPlot stops the click that ends a drag
		if (selected) onSelect(null);
		else zoom(segment(chart.posToIdx(event.offsetX)));
	}} onPointerDown={(event) => {
		const own = event.pointerType === 'touch' && event.isPrimary && event.target === plot.current?.over;
		touch.current = own ? { x: event.offsetX, moved: false } : null;
	}} onPointerMove={(event) => drag(event.offsetX, false)} onPointerUp={(event) => {
		drag(event.offsetX, true);
		touch.current = null;
	}} onPointerCancel={() => { // the page is scrolled
		touch.current = null;
		if (plot.current) show(plot.current);
	}} onKeyDown={(event) => {
		const now = at ?? -1;
		const to = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: segments.length - 1 }[event.key];
		if (to !== undefined) {
			const next = Math.max(0, Math.min(segments.length - 1, to));
			if (!selected) anchor.current = Math.max(0, now);
			move(next);
			if (event.shiftKey) onSelect({ first: Math.min(anchor.current, next), last: Math.max(anchor.current, next) });
			else if (selected) onSelect(null);
		} else if (event.key !== 'Enter' || !zoom(selected ?? segment(at))) return;
		event.preventDefault();
	}} />;
}

/** drawEmpty draws where there is no data, at the left, and says so where there is room. */
function drawEmpty(u: uPlot, width: number, ground: string, text: string): void {
	u.ctx.fillStyle = ground;
	u.ctx.fillRect(u.bbox.left, u.bbox.top, width, u.bbox.height);
	u.ctx.fillStyle = text;
	u.ctx.textAlign = 'center';
	if (u.ctx.measureText(words.noData).width < width) {
		u.ctx.fillText(words.noData, u.bbox.left + width / 2, u.bbox.top + u.bbox.height / 2);
	}
}

/** drawMarks draws the marks that last a while, from the top. */
function drawMarks(u: uPlot, marks: readonly Mark[], colour: string, height: number): void {
	u.ctx.fillStyle = colour;
	for (const { from, to, line } of marks) {
		if (line) continue;
		const [left, right] = [u.valToPos(from, 'x', true), u.valToPos(to, 'x', true)];
		u.ctx.fillRect(left, u.bbox.top, Math.max(right - left, leastMark * devicePixelRatio), height);
	}
}

/** axisTime names a split. The date is below the first one of each day, without the year where there is no room. */
function axisTime(seconds: number, before: number | undefined, zone: string, compact: boolean, small: boolean): string {
	const ms = seconds * 1000;
	const clock = clockIn(ms, zone, ms % 60_000 === 0 ? 'minutes' : 'seconds');
	const date = dateIn(ms, zone);
	const fresh = before === undefined || dateIn(before * 1000, zone) !== date;
	return fresh && !compact ? `${clock}\n${small ? date.slice(5) : date}` : clock;
}

/** colourOf resolves a colour of the style sheet for the canvas, in the scheme that is shown. */
function colourOf(element: Element, name: string): string {
	const probe = document.createElement('span');
	probe.style.color = `var(${name})`;
	element.append(probe);
	const colour = getComputedStyle(probe).color;
	probe.remove();
	return colour;
}

/** useScheme changes when the page becomes light or dark, because a canvas does not follow by itself. */
function useScheme(): string {
	const read = (): string => getComputedStyle(document.documentElement).backgroundColor;
	const [scheme, setScheme] = useState(read);
	useEffect(() => {
		const change = (): void => setScheme(read());
		const media = matchMedia('(prefers-color-scheme: dark)');
		const observer = new MutationObserver(change);
		observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
		media.addEventListener('change', change);
		return () => {
			observer.disconnect();
			media.removeEventListener('change', change);
		};
	}, []);
	return scheme;
}

const announcePause = 400; // milliseconds, so that moving through many segments announces only the last

/** useAnnounced returns the segment at the cursor as soon as the cursor rests. */
export function useAnnounced(at: number | null): number | null {
	const [rested, setRested] = useState<number | null>(null);
	useEffect(() => {
		const timer = setTimeout(() => setRested(at), announcePause);
		return () => clearTimeout(timer);
	}, [at]);
	return rested;
}

/**
 * partialOf reports which segments the period contains only a part of, and which end before the data begins. If there are few segments,
 * the former are shown.
 */
export function partialOf({ segments, length, meta }: {
	segments: readonly { time_period: number }[]; length: number; meta: Asked;
}): (i: number) => boolean {
	const [from, to] = [Date.parse(meta.period.from), Date.parse(meta.period.to)];
	const oldest = beginOf([meta]) ?? 0;
	return (i) => {
		const begin = (segments[i]?.time_period ?? 0) * 1000;
		const end = begin + length * 1000 - 1;
		return end < oldest || segments.length > 4 && (begin < from || end > to);
	};
}
