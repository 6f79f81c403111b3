// The chart of a timeline: a figure with a summary in words, and the same as a table.
import { useState } from 'preact/hooks';
import type { Segment } from '../foundation/api';
import { type Counted, useConsole, useCounted } from '../foundation/context';
import { type Asked, beginOf } from '../pure/coverage';
import { addOnly, type Fact } from '../pure/filter';
import { ago, count } from '../pure/format';
import { selectedOf } from '../pure/selection';
import { absolute, elsewhere, momentIn, segmentIn } from '../pure/time';
import { words } from '../pure/words';
import { Numbers } from './lazily';
import { Count, Value } from './menu';
import { Marked, partialOf, Plot, type PlotLine, useAnnounced } from './plot';
import { Selected, useSelection } from './selection';

interface Props {
	segments: readonly Segment[];
	before: readonly Segment[]; // of the period before, for the thin line; may be empty
	earlier?: string | undefined; // that period
	length: number; // of a segment, in seconds
	height: number;
	meta: Asked; // of the answer
	compact?: boolean;
}

interface Series extends PlotLine {
	name: keyof typeof words.series;
}

/** The series whose numbers a selection and the table have. */
const counts = ['requests', 'challenged', 'blocked'] as const;

/** Chart draws a timeline, in which segments can be selected. */
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
	const times = segments.map((s) => s.time_period);
	const [selected, select] = useSelection(times);
	const part = selected && segmentIn(counted.period, times[selected.first] ?? 0, length * (selected.last - selected.first + 1));
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
		{table ? <Numbers {...tableOf(props, counted, zone)} /> :
			<Plot {...props} begin={beginOf([props.meta])} series={series} zone={zone} at={at} onMove={setCursor}
				selected={selected} onSelect={select} onZoom={(from, to) => go({ period: absolute({ from, to }) })} />}
		{part && !table && <Selected period={part} of={counted.period} close={() => select(null)}
			whole={selected.last - selected.first + 1 === times.length} figures={counts.map((name) => ({
				name: words.series[name], text: <Count filter={filterOf(name, counted.filter)} period={part}
					n={selectedOf(segments.map(figureOf[name]), selected).reduce((all, n) => all + n, 0)} />,
			}))} />}
	</figure>;
}

/** tableOf is the chart as a table, with all segments. */
function tableOf({ segments, length }: Props, { filter, period }: Counted, zone: string) {
	const times = segments.map((s) => s.time_period);
	return {
		name: words.chart, moments: times.map((time) => momentIn(time * 1000, zone)), times, length,
		columns: counts.map((name) => ({
			name: words.series[name], values: segments.map(figureOf[name]), counted: { filter: filterOf(name, filter), period },
		})),
	};
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
		<Marked at={segment?.time_period} length={length} />
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
