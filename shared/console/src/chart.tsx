// The chart of a timeline: a figure with a summary in words, and the same as a table.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import type { Segment } from './api';
import { type Counted, useConsole, useCounted } from './context';
import { Later } from './later';
import { Count, Value } from './menu';
import { addOnly, type Fact } from './pure/filter';
import { ago, brief, count } from './pure/format';
import { absolute, clockIn, dateIn, elsewhere, momentIn, segmentIn } from './pure/time';
import { words } from './strings';

interface Props {
	segments: readonly Segment[];
	before: readonly Segment[]; // of the period before, for the thin line; may be empty
	earlier?: string | undefined; // that period
	length: number; // of a segment, in seconds
	height: number;
	period: { from: string; to: string }; // of the answer
	compact?: boolean;
}

/** A line of a plot. */
export interface PlotLine {
	colour: string; // custom property of colours.css
	values: (number | null)[];
	dash?: number[];
	fill?: boolean;
	width: number;
}

interface Series extends PlotLine {
	name: keyof typeof words.series;
}

/** Chart draws a timeline. Dragging or Enter selects a period. */
export function Chart(props: Props) {
	const { segments, length, compact = false } = props;
	const { place: { table }, zone, go } = useConsole();
	const counted = useCounted();
	const [cursor, setCursor] = useState<number | null>(null);
	const at = table ? null : cursor; // a table has none
	const announced = useAnnounced(at);
	const partial = partialOf(props);
	const series = seriesOf(props, partial);
	const peak = peakOf(segments);
	const select = (from: number, to: number): void => go({ period: absolute({ from, to }) });
	const sum = (of: (s: Segment) => number): string => count(segments.reduce((total, s) => total + of(s), 0));
	const peakText = words.peak(count(peak?.num_of_requests ?? 0), peak ? momentIn(peak.time_period * 1000, zone) : '–');
	return <figure class={compact ? 'chart compact' : 'chart'}>
		<figcaption>
			<h2 class={compact ? 'hidden' : ''}>{words.chart}</h2>
			<span class="hidden">{words.chartSummary(sum((s) => s.num_of_requests), sum((s) => s.num_of_blocked_requests),
				sum((s) => s.num_of_challenges), segments.length, ago(length * 1000), peakText, zone)}</span>
			<span class="hidden" role="status">{announcement(series, segments, announced, zone)}</span>
			<Legend {...props} series={series} at={at} zone={zone} peak={compact ? null : peak} />
			<small aria-hidden="true">{words.scale(ago(length * 1000), zone)}</small>
			<button type="button" class="small" aria-pressed={table} onClick={() => go({ table: !table })}>
				{table ? words.asChart : words.asTable}
			</button>
		</figcaption>
		{table ? <Later part="numbers" given={tableOf(props, counted, zone)} /> :
			<Plot {...props} series={series} zone={zone} at={at} onMove={setCursor} onSelect={select} />}
	</figure>;
}

/** tableOf is the chart as a table, with all segments. */
function tableOf({ segments, length }: Props, { filter, period }: Counted, zone: string) {
	const times = segments.map((s) => s.time_period);
	return {
		name: words.chart, moments: times.map((time) => momentIn(time * 1000, zone)), times, length,
		columns: (['requests', 'challenged', 'blocked'] as const).map((name) => ({
			name: words.series[name], values: segments.map(figureOf[name]), counted: { filter: filterOf(name, filter), period },
		})),
	};
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

/** announcement is the time of a segment and its numbers, for screen readers. */
function announcement(series: readonly Series[], segments: readonly Segment[], at: number | null, zone: string): string {
	const segment = at === null ? undefined : segments[at];
	if (!segment || at === null) return '';
	return `${momentIn(segment.time_period * 1000, zone)}: ` +
		series.map((s) => `${words.series[s.name]} ${s.values[at] == null ? '–' : count(s.values[at] ?? 0)}`).join(', ');
}

/** seriesOf returns the lines. They leave out the segments that the period contains only a part of. */
function seriesOf({ segments, before, compact }: Props, partial: (i: number) => boolean): Series[] {
	const of = (read: (s: Segment, i: number) => number): (number | null)[] =>
		segments.map((s, i) => (partial(i) ? null : read(s, i)));
	return [
		...(compact || before.every((s) => s.num_of_requests === 0) ? [] : [{
			name: 'before' as const, colour: '--before', width: 1, values: of((_, i) => before[i]?.num_of_requests ?? 0),
		}]),
		{ name: 'requests', colour: '--passed', width: 1.5, values: of(figureOf.requests) },
		{ name: 'challenged', colour: '--challenged', width: 1.5, dash: [5, 3], values: of(figureOf.challenged) },
		{ name: 'blocked', colour: '--blocked', width: 1.5, fill: true, values: of(figureOf.blocked) },
	];
}

/** partialOf reports which segments the period contains only a part of. If there are few segments, all are shown. */
export function partialOf({ segments, length, period }: {
	segments: readonly { time_period: number }[]; length: number; period: { from: string; to: string };
}): (i: number) => boolean {
	const [from, to] = [Date.parse(period.from), Date.parse(period.to)];
	return (i) => {
		const begin = (segments[i]?.time_period ?? 0) * 1000;
		return segments.length > 4 && (begin < from || begin + length * 1000 - 1 > to);
	};
}

function peakOf(segments: readonly Segment[]): Segment | null {
	return segments.reduce<Segment | null>((top, s) => (!top || s.num_of_requests > top.num_of_requests ? s : top), null);
}

const blocked: Fact = { field: 'blocked', value: true };

/** The series whose requests satisfy a condition that is exactly theirs. */
const factOf: Readonly<Partial<Record<keyof typeof words.series, Fact>>> = { blocked };

/** The figures of a segment that the series have. */
const figureOf: Readonly<Record<keyof typeof words.series, (s: Segment) => number>> = {
	before: (s) => s.num_of_requests, requests: (s) => s.num_of_requests,
	challenged: (s) => s.num_of_challenges, blocked: (s) => s.num_of_blocked_requests,
};

/** filterOf is the filter of what a series counts, or null: no condition has the challenges of the chart, which are of two flags. */
function filterOf(name: keyof typeof words.series, filter: string): string | null {
	const fact = factOf[name];
	return name === 'challenged' ? null : fact ? addOnly(filter, fact) : filter;
}

/** Legend names the series, with their numbers at the cursor. Shape and dash differ besides the colour. */
function Legend({ series, segments, before, earlier, length, compact, at, zone, peak }: Props & {
	series: readonly Series[]; at: number | null; zone: string; peak: Segment | null;
}) {
	const counted = useCounted();
	const segment = at === null ? undefined : segments[at];
	/** number is that of a line in a segment, or in the whole period. */
	const number = ({ name, values }: Series) => {
		if (segment && at !== null && values[at] == null) return '–';
		const [all, period = ''] = name === 'before' ? [before, earlier] : [segments, counted.period];
		const shown = segment && at !== null ? all.slice(at, at + 1) : all;
		return <Count n={shown.reduce((n, s) => n + figureOf[name](s), 0)} filter={filterOf(name, counted.filter)}
			period={segment ? segmentIn(period, shown[0]?.time_period ?? 0, length) : period} />;
	};
	return <div class="legend">
		{series.map((s) => <span key={s.name} class={`key ${s.name}`}>
			<Named fact={factOf[s.name]} name={words.series[s.name]} />
			{(segment || !compact) && <b>{number(s)}</b>}
		</span>)}
		<span class="moment" title={peak ? elsewhere(peak.time_period * 1000, zone) : ''}>
			{segment ? momentIn(segment.time_period * 1000, zone) : peak && <Count {...counted} n={peak.num_of_requests}
				period={segmentIn(counted.period, peak.time_period, length)}
				write={(n) => words.peak(count(n), momentIn(peak.time_period * 1000, zone))} />}
		</span>
	</div>;
}

function Named({ fact, name }: { fact: Fact | undefined; name: string }) {
	return fact ? <Value fact={fact}>{name}</Value> : <>{name}</>;
}

/** Plot is the canvas. Arrow keys move its cursor, which the legend announces. A click or Enter selects the segment at the cursor. */
export function Plot({ segments, length, height, series, zone, at, compact, write, onMove, onSelect }: {
	segments: readonly { time_period: number }[]; length: number; height: number; compact?: boolean;
	series: readonly PlotLine[]; zone: string; at: number | null; write?(n: number): string; // of the axis; without it, whole numbers
	onMove(at: number | null): void; onSelect(from: number, to: number): void;
}) {
	const box = useRef<HTMLDivElement>(null);
	const plot = useRef<uPlot | null>(null);
	const scheme = useScheme();
	const handlers = useRef({ onMove, onSelect });
	handlers.current = { onMove, onSelect };
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
			padding: [8, 8, 0, 0],
			tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), zone),
			cursor: {
				y: false, drag: { x: true, y: false, setScale: false }, points: { size: 6 },
				// It stays while the pointer is on its way to the numbers in the legend.
				bind: { mouseleave: (_, __, leave) => (event) => (event.buttons > 0 ? leave(event) : null) },
			},
			scales: { x: { time: true }, y: { range: (_, __, max) => [0, Math.max(1, max * 1.05)] } },
			axes: [
				{ ...axis, show: true, size: compact ? 22 : 34, ticks: { show: false },
					values: (_, splits) => splits.map((s, i) => axisTime(s, splits[i - 1], zone, compact ?? false, small)) },
				{ ...axis, size: 52, ticks: { show: false }, show: true, space: compact ? 24 : 36,
					values: (_, splits) => splits.map((n) => (write ? write(n) : Number.isInteger(n) ? brief(n) : '')) },
			],
			series: [{}, ...series.map((s): uPlot.Series => ({
				stroke: colour(s.colour), width: s.width, points: { show: segments.length < 3 },
				...(s.dash ? { dash: s.dash } : {}),
				...(s.fill ? { fill: colour(s.colour + '-fill') } : {}),
			}))],
			hooks: {
				setCursor: [(u) => {
					const index = u.cursor.left != null && u.cursor.left >= 0 ? u.cursor.idx ?? null : null;
					if (index === hook.at) return;
					hook.at = index;
					handlers.current.onMove(index);
				}],
				setSelect: [(u) => {
					if (u.select.width < 4) return;
					const from = u.posToVal(u.select.left, 'x');
					const to = u.posToVal(u.select.left + u.select.width, 'x');
					handlers.current.onSelect(Math.floor(from) * 1000, Math.ceil(to) * 1000);
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
	const move = (index: number): void => {
		const chart = plot.current;
		const segment = segments[index];
		if (chart && segment) chart.setCursor({ left: chart.valToPos(segment.time_period, 'x'), top: 10 });
	};
	const choose = (index: number | null): boolean => {
		const segment = index === null ? undefined : segments[index];
		if (segment) onSelect(segment.time_period * 1000, (segment.time_period + length) * 1000 - 1);
		return segment !== undefined;
	};
	return <div class="plot" ref={box} tabIndex={0} role="application" aria-label={words.chartKeys} onClick={(event) => {
		if (event.target === plot.current?.over) choose(plot.current.posToIdx(event.offsetX)); // uPlot stops the click that ends a drag
	}} onKeyDown={(event) => {
		const now = at ?? -1;
		const to = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: segments.length - 1 }[event.key];
		if (to !== undefined) move(Math.max(0, Math.min(segments.length - 1, to)));
		else if (event.key !== 'Enter' || !choose(at)) return;
		event.preventDefault();
	}} />;
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
