// A chart of lines with their legend, also of columns, of a band or of colours, and charts as tables.
import { useMemo, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { useConsole, useCounted } from '../foundation/context';
import type { Fact } from '../pure/filter';
import { ago, count } from '../pure/format';
import { levelOf, opacities } from '../pure/heat';
import { stacked } from '../pure/lines';
import { drawn, type Selection, selectedOf } from '../pure/selection';
import { absolute, momentIn, segmentIn } from '../pure/time';
import { words } from './lines.words';
import { Count, Value } from './menu';
import { type Heat, Marked, Plot, type PlotLine, useAnnounced } from './plot';
import { Selected, useSelection } from './selection';

/** Numbers with a name, one for each segment. */
interface Column {
	name: string;
	values: readonly (number | null)[];
	counted?: { filter: string | null; period: string }; // what selects the counted requests; without a filter, nothing does
	times?: readonly number[]; // begins of its segments; absent if they are the segments of the chart
}

/** A line with its name, what it says about a request, and its number while the cursor is nowhere. */
export interface Line extends PlotLine, Column {
	fact: Fact | null;
	whole: string;
	counts?: number; // all that is counted
	values: (number | null)[];
	dash: number[];
}

/** The ends of a line of a heatmap on the axis. */
interface Band {
	from: number;
	to: number;
}

/** LinesChart is a figure of lines with their legend, and the same as a table. */
export function LinesChart({
	name, times, lines, length, begin = null, height = 220, columns = false, band = false, heat, other, write, moment, most,
}: {
	name: string; times: readonly number[]; lines: readonly Line[]; length: number; height?: number;
	begin?: number | null; // of the data, if that is in the period
	columns?: boolean; // on each other, in place of lines
	band?: boolean; // between the first line and the last one, on a logarithmic axis
	heat?: readonly Band[]; // times of the numbers, which are colours in place of lines, the longest first
	other?: readonly [chart: string, name: string]; // another way to draw the same
	write?(n: number): string; // without it, whole numbers
	moment?(at: number): string; // what the legend names a segment
	most?(n: number): string; // the largest number of several segments, if they have no sum
}) {
	const { place, zone, go } = useConsole();
	const counted = useCounted();
	const { table } = place;
	const [cursor, setCursor] = useState<number | null>(null);
	const at = table ? null : cursor; // a table has none
	const announced = useAnnounced(at);
	const segments = useMemo(() => times.map((time) => ({ time_period: time })), [times]);
	const series = useMemo(() => { // the first column is drawn last, over the sums with the others, and the lines over their band
		if (heat) return lines;
		const sums = columns ? stacked(lines.map((line) => line.values)) : [];
		const drawn = columns ? lines.map((line, i) => ({ ...line, values: sums[i] ?? [] })) : [...lines];
		return columns || band ? drawn.reverse() : drawn;
	}, [lines, columns, band, heat]);
	const [marked, select] = useSelection(times);
	// Charts of numbers leave out segments that are only partly in the period.
	const selected = marked && (most ? marked : drawn(marked, lines.map((line) => line.values)));
	const part = selected && partOf(counted.period, times, selected, length);
	const painted = useMemo(() => heat && heatOf(heat, lines), [heat, lines]);
	const momentOf = (i: number): string => moment?.(i) ?? momentIn((times[i] ?? 0) * 1000, zone);
	const numberAt = (line: Line, i: number): string => numberOf(line.values[i], write);
	return <figure class="chart lines">
		<figcaption>
			<h2>{name}</h2>
			<span class="hidden">{words.summary(lines.map((line) => `${line.name} ${line.whole}`).join(', '), times.length)}</span>
			<span class="hidden" role="status">{announced !== null && times[announced] !== undefined &&
				`${momentOf(announced)}: ${lines.map((line) => `${line.name} ${numberAt(line, announced)}`).join(', ')}`}</span>
			<ul class="series">{lines.map((line, i) => <li key={i}>
				{!heat && <svg width="22" height="8" aria-hidden="true">
					<path d="M0 4H22" stroke={`var(${line.colour})`} stroke-width={columns ? 8 : 2}
						stroke-dasharray={columns ? undefined : line.dash.join(' ')} />
				</svg>}
				{line.fact ? <Value fact={line.fact}>{line.name}</Value> : <span>{line.name}</span>}
				<b>{at !== null ? <NumberAt column={line} at={at} times={times} length={length} {...(write ? { write } : {})} /> :
					line.counts === undefined || !line.counted ? line.whole :
						<Count n={line.counts} {...line.counted} write={() => line.whole} />}</b>
			</li>)}</ul>
			{heat && !table && lines.length > 0 && <Colours most={mostOf(lines)} />}
			<Marked at={at === null ? undefined : times[at]} length={length} />
			<span class="moment">{at === null ? '' : momentOf(at)}</span>
			<small aria-hidden="true">{words.scale(ago(length * 1000), zone)}</small>
			{other && <button type="button" class="small" onClick={() => go({ chart: other[0] })}>{other[1]}</button>}
			<button type="button" class="small" aria-pressed={table} onClick={() => go({ table: !table })}>
				{table ? words.asChart : words.asTable}</button>
		</figcaption>
		{lines.length === 0 ? <p class="quiet">{words.noLines}</p> :
			table ? <Numbers name={name} columns={lines} moments={times.map((_, i) => momentOf(i))} times={times} length={length}
				{...(write ? { write } : {})} /> :
				<Plot segments={segments} length={length} height={height} series={series} zone={zone} at={at} onMove={setCursor}
					begin={begin} columns={columns} band={band} selected={selected} onSelect={select}
					{...(painted ? { heat: painted } : {})} {...(write ? { write } : {})}
					onZoom={(from, to) => go({ period: absolute({ from, to }) })} />}
		{part && !table && <Selected period={part} of={counted.period} close={() => select(null)}
			whole={selected.last - selected.first + 1 === times.length} figures={lines.map((line) => ({
				name: line.name, text: figureIn(line, times, selected, length, write, most),
			}))} />}
	</figure>;
}

/** mostOf returns the largest number of some lines. */
function mostOf(lines: readonly PlotLine[]): number {
	return Math.max(0, ...lines.flatMap(({ values }) => values.map((n) => n ?? 0)));
}

/** heatOf draws the numbers of each line as colours between its ends. */
function heatOf(bands: readonly Band[], lines: readonly PlotLine[]): Heat {
	const most = mostOf(lines);
	const draw = (u: uPlot, length: number, colour: string): void => {
		u.ctx.fillStyle = colour;
		for (const [i, { from, to }] of bands.entries()) {
			const [top, bottom] = [u.valToPos(to, 'y', true), u.valToPos(from, 'y', true)];
			for (const [at, n] of (lines[i]?.values ?? []).entries()) {
				const opacity = opacities[levelOf(n ?? 0, most) - 1];
				const time = u.data[0][at];
				if (opacity === undefined || time === undefined) continue;
				const [left, right] = [time - length / 2, time + length / 2].map((seconds) => Math.round(u.valToPos(seconds, 'x', true)));
				u.ctx.globalAlpha = opacity;
				u.ctx.fillRect(left ?? 0, top + 1, Math.max(1, (right ?? 0) - (left ?? 0) - 1), bottom - top - 1);
			}
		}
		u.ctx.globalAlpha = 1;
	};
	return { range: [bands.at(-1)?.from ?? 1, bands[0]?.to ?? 10], draw };
}

/** partOf is the selected part of an absolute period. */
function partOf(period: string, times: readonly number[], { first, last }: Selection, length: number): string {
	return segmentIn(period, times[first] ?? 0, length * (last - first + 1));
}

/** figureIn is what a line has in the selected segments. */
function figureIn(
	{ values, counted, times: own }: Line, times: readonly number[], selected: Selection, length: number,
	write: (n: number) => string = count, most?: (n: number) => string,
) {
	const some = selectedOf(values, selected);
	if (some.length === 0) return numberOf(null);
	if (most) return most(Math.max(...some));
	const n = some.reduce((sum, one) => sum + one, 0);
	return counted ? <Count n={n} filter={counted.filter} period={partOf(counted.period, own ?? times, selected, length)} write={write} /> :
		numberOf(n, write);
}

/** Colours say for how many requests the colours of a heatmap stand. */
function Colours({ most }: { most: number }) {
	return <span class="colours">{words.fewest} <svg width={opacities.length * 14} height="12" aria-hidden="true">
		{opacities.map((opacity, i) => <rect key={i} x={i * 14} width="14" height="12" fill="var(--passed)" opacity={opacity} />)}
	</svg> {words.perCell(count(most))}</span>;
}

function numberOf(n: number | null | undefined, write: (n: number) => string = count): string {
	return n == null ? '–' : write(n);
}

/** NumberAt is a number of a column in a segment. */
function NumberAt({ column: { values, counted, times: own }, at, times, length, write = count }: {
	column: Column; at: number; times: readonly number[]; length: number; write?(n: number): string;
}) {
	const n = values[at];
	if (n == null || !counted) return <>{numberOf(n, write)}</>;
	return <Count n={n} filter={counted.filter} period={segmentIn(counted.period, (own ?? times)[at] ?? 0, length)} write={write} />;
}

/** Numbers are what a chart draws as a table, without the segments that have nothing. */
export function Numbers({ name, columns, moments, ...of }: {
	name: string; columns: readonly Column[]; moments: readonly string[]; times: readonly number[];
	length: number; // of a segment, in seconds
	write?(n: number): string;
}) {
	const { zone } = useConsole();
	return <div class="scroll" tabIndex={0} role="region" aria-label={name}>
		<table class="numbers">
			<thead><tr>
				<th scope="col">{words.time} ({zone})</th>{columns.map((column, at) => <th scope="col" key={at}>{column.name}</th>)}
			</tr></thead>
			<tbody>{moments.map((moment, i) => (columns.some((column) => column.values[i]) ? <tr key={i}>
				<th scope="row">{moment}</th>{columns.map((column, at) => <td key={at}><NumberAt column={column} at={i} {...of} /></td>)}
			</tr> : null))}</tbody>
		</table>
	</div>;
}
