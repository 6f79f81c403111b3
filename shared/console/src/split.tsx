// Split: the requests over time, a line for each of the most frequent values of a field.
import { useMemo, useState } from 'preact/hooks';
import './app';
import type { Answer, Histogram, Parameters, SeriesKind } from './api';
import { type Asker, useAsked } from './ask';
import { Plot, type PlotLine } from './chart';
import { useConsole } from './context';
import { mostSegments } from './media';
import { Value as ValueOf } from './menu';
import { present } from './running';
import { Answered } from './states';
import { filtersOf, type Value } from './pure/filter';
import { count } from './pure/format';
import { periodOf, type Place } from './pure/fragment';
import { absolute, momentIn, resolve, segmentFor } from './pure/time';
import { words } from './strings.split';

const mostSeries = 5;

/** The looks of the lines, which differ by dash as well as by colour. */
const looks: readonly { colour: string; dash: number[] }[] = [
	{ colour: '--passed', dash: [] }, { colour: '--blocked', dash: [7, 3] }, { colour: '--refused', dash: [2, 3] },
	{ colour: '--challenged', dash: [10, 3, 2, 3] }, { colour: '--monitored', dash: [4, 4] },
	{ colour: '--quiet', dash: [] }, { colour: '--before', dash: [2, 2] },
];

/** Line is a series with its look. */
interface Line extends PlotLine {
	series: Value | null;
	kind: SeriesKind;
	total: number;
	dash: number[];
}

/** Split reads the field from the address, asks for its histogram, and draws it. */
export function Split() {
	const { api, place, go, round } = useConsole();
	const field = fieldOf(place);
	const question = `split ${periodOf(place)} ${place.segment} ${field} ${place.filter}`;
	const asked = useAsked(api, question, round, (asker) => ask(asker, place));
	return <section class="split">
		<Answered asked={asked} metas={(answer) => [answer.meta]}>{(answer) => <SplitChart answer={answer} field={field} />}</Answered>
		{asked.state === 'failed' && <button type="button" onClick={() => go({ by: null })}>{words.remove}</button>}
	</section>;
}

function fieldOf(place: Place): string {
	return place.by?.[0] ?? '';
}

async function ask(asker: Asker, place: Place): Promise<Answer<Histogram>> {
	const period = resolve(periodOf(place), present());
	if (!period) throw new Error(`no period: ${place.period}`);
	const parameters: Parameters = {
		filters: filtersOf(place.filter, period), by: [fieldOf(place)], limit: mostSeries,
		segment: place.segment || segmentFor(period, mostSegments()),
	};
	await asker.afford([['histogram', parameters]]);
	return asker.ask('histogram', parameters);
}

function SplitChart({ answer: { results, meta }, field }: { answer: Answer<Histogram>; field: string }) {
	const { zone, go } = useConsole();
	const [table, setTable] = useState(false);
	const [at, setAt] = useState<number | null>(null);
	const { times, lines, segments } = useMemo(() => { // the plot begins anew, also in the middle of a selection, if it has other segments
		const times = [...new Set(results.map((one) => one.time_period))];
		return { times, lines: linesOf(results, meta.series ?? [], times), segments: times.map((time) => ({ time_period: time })) };
	}, [results]);
	return <figure class="chart">
		<figcaption>
			<h2>{words.name(field)}</h2>
			<span class="hidden">
				{words.summary(lines.map((line) => `${nameOf(line)} ${count(line.total)}`).join(', '), times.length)}
			</span>
			<ul class="series">{lines.map((line) => <li key={`${line.kind} ${String(line.series)}`}>
				<svg width="22" height="8" aria-hidden="true">
					<path d="M0 4H22" stroke={`var(${line.colour})`} stroke-width="2" stroke-dasharray={line.dash.join(' ')} />
				</svg>
				{line.kind === 'value' && line.series !== null ?
					<ValueOf fact={{ field, value: line.series }}>{nameOf(line)}</ValueOf> : nameOf(line)}
				<b>{count(at === null ? line.total : line.values[at] ?? 0)}</b>
			</li>)}</ul>
			<span class="moment">{at === null ? '' : momentIn((times[at] ?? 0) * 1000, zone)}</span>
			<button type="button" class="small" aria-pressed={table} onClick={() => setTable(!table)}>
				{table ? words.asChart : words.asTable}</button>
		</figcaption>
		{table ? <Table times={times} lines={lines} field={field} /> :
			<Plot segments={segments} length={meta.segment_seconds ?? 60} height={220} series={lines} zone={zone} at={at} onMove={setAt}
				onSelect={(from, to) => go({ period: absolute({ from, to }) })} />}
	</figure>;
}

function nameOf({ series, kind }: { series: Value | null; kind: SeriesKind }): string {
	if (kind !== 'value') return words[kind];
	return series === '' ? '""' : String(series);
}

/** linesOf returns a line for each series, in the order of the answer. */
function linesOf(
	results: readonly Histogram[], all: readonly { series: Value | null; kind: SeriesKind; total: number }[], times: readonly number[],
): Line[] {
	const places = new Map(times.map((time, i) => [time, i]));
	return all.map((one, i) => {
		const values = times.map(() => 0);
		for (const { time_period: time, series, kind, value } of results) {
			if (series === one.series && kind === one.kind) values[places.get(time) ?? 0] = value;
		}
		return { ...one, values, width: 1.5, ...(looks[i % looks.length] ?? { colour: '--quiet', dash: [] }) };
	});
}

function Table({ times, lines, field }: { times: readonly number[]; lines: readonly Line[]; field: string }) {
	const { zone } = useConsole();
	const busy = times.map((time, i) => ({ time, i })).filter(({ i }) => lines.some((line) => (line.values[i] ?? 0) > 0));
	return <div class="scroll" tabIndex={0} role="region" aria-label={words.name(field)}>
		<table class="numbers">
			<thead><tr>
				<th scope="col">{words.time} ({zone})</th>
				{lines.map((line) => <th scope="col" key={`${line.kind} ${String(line.series)}`}>{nameOf(line)}</th>)}
			</tr></thead>
			<tbody>{busy.map(({ time, i }) => <tr key={time}>
				<th scope="row">{momentIn(time * 1000, zone)}</th>
				{lines.map((line) => <td key={`${line.kind} ${String(line.series)}`}>{count(line.values[i] ?? 0)}</td>)}
			</tr>)}</tbody>
		</table>
	</div>;
}
