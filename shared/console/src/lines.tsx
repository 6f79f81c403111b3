// Lines: charts of a period by status, by who asked and by time, and the chart of two sides of a comparison.
import { useMemo, useState } from 'preact/hooks';
import './app';
import { type Answer, type Meta, type Parameters, Refusal, type Segment, type Stat } from './api';
import { type Asker, type Planned, useAsked } from './ask';
import { partialOf, Plot, type PlotLine, useAnnounced } from './chart';
import { useConsole } from './context';
import { mostSegments } from './media';
import { Value } from './menu';
import { present } from './running';
import { Answered } from './states';
import { type Fact, filtersOf, without } from './pure/filter';
import { ago, brief, bytes, changeOf, count, milliseconds, share } from './pure/format';
import { periodOf, type Place } from './pure/fragment';
import { aligned, classesOf, type Figures, type Measure, measures, ofClass, rest, total } from './pure/lines';
import { absolute, comparedWith, momentIn, resolve, segmentFor } from './pure/time';
import { words } from './strings.lines';

/** A line with its name, what it says about a request, and its number while the cursor is nowhere. */
interface Line extends PlotLine {
	name: string;
	fact: Fact | null;
	whole: string;
	dash: number[];
}

interface Of {
	segments: readonly Segment[];
	length: number; // of a segment, in seconds
	period: { from: string; to: string };
}

/** Lines draws the chart that the address names. The times are asked for; the others are of the timeline. */
export function Lines(of: Of) {
	const { place } = useConsole();
	if (place.chart === 'latency') return <Latency />;
	return <OfTimeline key={place.chart} kind={place.chart} {...of} />;
}

function OfTimeline({ kind, ...of }: Of & { kind: string }) {
	const { segments, length } = of;
	const drawn = useMemo(() => {
		const partial = partialOf(of);
		const lines = kind === 'human' ? humanLines(segments) : statusLines(segments, kind);
		const whole = lines.map((line) => ({ ...line, values: line.values.map((n, i) => (partial(i) ? null : n)) }));
		return { times: segments.map((one) => one.time_period), lines: whole };
	}, [segments]);
	const name = kind === 'human' || kind === 'origin' ? words.names[kind] : words.names.status;
	return <LinesChart name={name} {...drawn} length={length} write={count} />;
}

/** The looks of the classes of statuses, by their first digit. They differ by dash as well as by colour. */
const looks: Readonly<Record<number, { colour: string; dash: number[] }>> = {
	2: { colour: '--passed', dash: [] }, 3: { colour: '--refused', dash: [2, 3] }, 4: { colour: '--challenged', dash: [10, 3, 2, 3] },
	5: { colour: '--blocked', dash: [7, 3] },
};

function statusLines(segments: readonly Segment[], kind: string): Line[] {
	const origin = kind === 'origin';
	const field = origin ? 'upstream_status' : 'status';
	return classesOf(segments.map((one) => (origin ? one.array_origin_status_codes : one.array_status_codes)))
		.map(({ first, values, total: n }) => {
			const name = words.statusClass(first);
			const condition = ofClass(field, first);
			return {
				name, values, width: 1.5, ...(looks[first] ?? { colour: '--quiet', dash: [4, 4] }), whole: count(n),
				fact: { field, value: name, conditions: { only: condition, without: `not ${condition}` } },
			};
		});
}

const human: Fact = { field: 'human', value: true };

function humanLines(segments: readonly Segment[]): Line[] {
	const line = (name: string, of: (one: Segment) => number, fact: Fact, colour: string, dash: number[]): Line => {
		const values = segments.map(of);
		return { name, values, fact, colour, dash, width: 1.5, whole: count(values.reduce((sum, n) => sum + n, 0)) };
	};
	return [
		line(words.humans, (one) => one.num_of_human_requests, human, '--passed', []),
		line(words.others, (one) => one.num_of_requests - one.num_of_human_requests, {
			field: 'human', value: words.others, conditions: { only: without(human), without: 'human is true' },
		}, '--monitored', [7, 3]),
	];
}

/** Latency reads the question from the address, asks for the times of its requests, and draws them. */
function Latency() {
	const { api, place, round } = useConsole();
	const asked = useAsked(api, `latency ${periodOf(place)} ${place.segment} ${place.filter}`, round, async (asker) => {
		const period = resolve(periodOf(place), present());
		if (!period) throw new Error(`no period: ${place.period}`);
		const parameters: Parameters = {
			filters: filtersOf(place.filter, period), segment: place.segment || segmentFor(period, mostSegments()), figures: 'percentiles',
		};
		await asker.afford([['stats', parameters]]);
		return asker.ask('stats', parameters);
	});
	return <Answered asked={asked} metas={(answer) => [answer.meta]}>{(answer) => <LatencyChart answer={answer} />}</Answered>;
}

function LatencyChart({ answer: { results, meta } }: { answer: Answer<Stat> }) {
	const drawn = useMemo(() => {
		const line = (name: string, of: (one: Stat) => number | null, colour: string, dash: number[]): Line => {
			const values = results.map((one) => {
				const seconds = of(one);
				return seconds === null ? null : seconds * 1000;
			});
			const most = Math.max(0, ...values.map((n) => n ?? 0));
			return { name, values, fact: null, colour, dash, width: 1.5, whole: words.most(milliseconds(most)) };
		};
		return {
			times: results.map((one) => one.time_period),
			lines: [
				line(words.shares.p50, (one) => one.p50_total_time, '--passed', []),
				line(words.shares.p90, (one) => one.p90_total_time, '--challenged', [10, 3, 2, 3]),
				line(words.shares.p99, (one) => one.p99_total_time, '--blocked', [7, 3]),
			].filter((one) => one.values.some((n) => n !== null)),
		};
	}, [results]);
	return <LinesChart name={words.names.latency} {...drawn} length={meta.segment_seconds ?? 60} write={milliseconds} />;
}

/** LinesChart is a figure of lines with their legend, and the same as a table. */
function LinesChart({ name, times, lines, length, height = 220, write, moment }: {
	name: string; times: readonly number[]; lines: readonly Line[]; length: number; height?: number; write(n: number): string;
	moment?(at: number): string; // what the legend names a segment
}) {
	const { zone, go } = useConsole();
	const [table, setTable] = useState(false);
	const [at, setAt] = useState<number | null>(null);
	const announced = useAnnounced(at);
	const segments = useMemo(() => times.map((time) => ({ time_period: time })), [times]);
	const momentOf = (i: number): string => moment?.(i) ?? momentIn((times[i] ?? 0) * 1000, zone);
	const numberAt = (line: Line, i: number): string => {
		const n = line.values[i];
		return n == null ? '–' : write(n);
	};
	return <figure class="chart lines">
		<figcaption>
			<h2>{name}</h2>
			<span class="hidden">{words.summary(lines.map((line) => `${line.name} ${line.whole}`).join(', '), times.length)}</span>
			<span class="hidden" role="status">{announced !== null && times[announced] !== undefined &&
				`${momentOf(announced)}: ${lines.map((line) => `${line.name} ${numberAt(line, announced)}`).join(', ')}`}</span>
			<ul class="series">{lines.map((line) => <li key={line.name}>
				<svg width="22" height="8" aria-hidden="true">
					<path d="M0 4H22" stroke={`var(${line.colour})`} stroke-width="2" stroke-dasharray={line.dash.join(' ')} />
				</svg>
				{line.fact ? <Value fact={line.fact}>{line.name}</Value> : <span>{line.name}</span>}
				<b>{at === null ? line.whole : numberAt(line, at)}</b>
			</li>)}</ul>
			<span class="moment">{at === null ? '' : momentOf(at)}</span>
			<small aria-hidden="true">{words.scale(ago(length * 1000), zone)}</small>
			<button type="button" class="small" aria-pressed={table} onClick={() => setTable(!table)}>
				{table ? words.asChart : words.asTable}</button>
		</figcaption>
		{lines.length === 0 ? <p class="quiet">{words.noLines}</p> :
			table ? <Table name={name} lines={lines} moments={times.map((_, i) => momentOf(i))} numberAt={numberAt} /> :
				<Plot segments={segments} length={length} height={height} series={lines} zone={zone} at={at} write={write} onMove={setAt}
					onSelect={(from, to) => go({ period: absolute({ from, to }) })} />}
	</figure>;
}

function Table({ name, lines, moments, numberAt }: {
	name: string; lines: readonly Line[]; moments: readonly string[]; numberAt(line: Line, i: number): string;
}) {
	const { zone } = useConsole();
	return <div class="scroll" tabIndex={0} role="region" aria-label={name}>
		<table class="numbers">
			<thead><tr>
				<th scope="col">{words.time} ({zone})</th>{lines.map((line) => <th scope="col" key={line.name}>{line.name}</th>)}
			</tr></thead>
			<tbody>{moments.map((moment, i) => (lines.some((line) => line.values[i]) ? <tr key={moment}>
				<th scope="row">{moment}</th>{lines.map((line) => <td key={line.name}>{numberAt(line, i)}</td>)}
			</tr> : null))}</tbody>
		</table>
	</div>;
}

/** The two sides of a comparison. */
interface TwoSides {
	kind: 'rest' | 'before' | 'filters';
	names: readonly [string, string];
	sides: readonly [readonly Figures[], readonly Figures[]];
	length: number;
	metas: readonly Meta[];
}

/** Overlay reads the two sides from the address, asks for both, and draws them on each other. */
export function Overlay() {
	const { api, place, round } = useConsole();
	const question = `overlay ${periodOf(place)} ${place.segment} ${place.against} ${place.select} ${place.other} ${place.filter}`;
	const asked = useAsked(api, question, round, (asker) => askSides(asker, place));
	const mistakes = asked.failure instanceof Refusal ? asked.failure.mistakes : [];
	return <section class="overlay">
		<Answered asked={asked} metas={(answer) => answer.metas}>{(answer) => <Sides answer={answer} />}</Answered>
		{asked.state === 'failed' && mistakes.length > 0 &&
			<ul class="wrong-text">{mistakes.map((one) => <li key={`${one.offset} ${one.message}`}>{one.message}</li>)}</ul>}
	</section>;
}

async function askSides(asker: Asker, place: Place): Promise<TwoSides> {
	const period = resolve(periodOf(place), present());
	if (!period) throw new Error(`no period: ${place.period}`);
	const { filter, select, other } = place;
	const kind = other !== '' ? 'filters' : select !== '' ? 'rest' : 'before';
	const against = kind === 'before' ? comparedWith(place.against, period) : period;
	if (!against) throw new Error(`no period: ${place.against}`);
	const longer = against.to - against.from > period.to - period.from ? against : period;
	const segment = place.segment || segmentFor(longer, mostSegments());
	const both = [filter, kind === 'rest' ? select : ''].filter((text) => text.trim() !== '').join(', ');
	const first: Parameters = { filters: filtersOf(both, period), segment };
	const second: Parameters = { filters: filtersOf(kind === 'filters' ? other : filter, against), segment };
	const planned: readonly Planned[] = [['timeline', first], ['timeline', second]];
	await asker.afford(planned);
	const [a, b] = await Promise.all([asker.ask('timeline', first), asker.ask('timeline', second)]);
	return {
		kind, length: a.meta.segment_seconds ?? 60, metas: [a.meta, b.meta],
		sides: [a.results, kind === 'rest' ? rest(b.results, a.results) : b.results],
		names: kind === 'filters' ? [filter || words.all, other] : [words.selected, kind === 'rest' ? words.rest : words.before],
	};
}

/** Sides are the figures of both sides, and the chart of the one that the address names. */
function Sides({ answer }: { answer: TwoSides }) {
	const { place, zone, go } = useConsole();
	const { kind, sides, names, length } = answer;
	const measure: Measure = place.chart in measures ? place.chart as Measure : 'requests';
	const write = measure === 'bytes' ? bytes : brief;
	const drawn = useMemo(() => {
		const { times, values } = aligned(sides[0], sides[1], length, measure);
		const line = (i: 0 | 1, colour: string, dash: number[]): Line => ({
			name: names[i], values: values[i], fact: null, colour, dash, width: 1.5, whole: write(total(sides[i], measure)),
		});
		return { times, lines: [line(1, '--quiet', [5, 3]), line(0, '--accent', [])] };
	}, [answer, measure]);
	const moment = (at: number): string => {
		const [a, b] = sides.map((side) => (side[at] ? momentIn((side[at]?.time_period ?? 0) * 1000, zone) : '–'));
		return words.moments(a ?? '–', b ?? '–');
	};
	return <>
		<div class="tiles" role="group" aria-label={words.figures}>
			{(Object.keys(measures) as Measure[]).map((name) => <Tile key={name} name={name} answer={answer} pressed={name === measure}
				draw={() => go({ chart: name === 'requests' ? '' : name })} />)}
		</div>
		<LinesChart key={measure} name={`${words.overlay}: ${words.measures[measure]}`} {...drawn} length={length} height={170}
			write={write} {...(kind === 'before' ? { moment } : {})} />
	</>;
}

function Tile({ name, answer: { kind, sides }, pressed, draw }: {
	name: Measure; answer: TwoSides; pressed: boolean; draw(): void;
}) {
	const write = name === 'bytes' ? bytes : brief;
	const [now, other] = sides.map((side) => total(side, name)) as [number, number];
	const [all, others] = sides.map((side) => total(side, 'requests')) as [number, number];
	const part = name !== 'requests' && name !== 'bytes';
	const change = changeOf(now, other);
	const sign = { more: '▲', less: '▼', same: '=', new: '▲' }[change.sign];
	const beside = write(other) + (part ? ` · ${share(other, others)}` : '');
	return <button type="button" class={`tile ${name}`} aria-pressed={pressed} onClick={draw}>
		<span class="name">{words.measures[name]}</span>
		<span class="number">{write(now)}{part && <small>{share(now, all)}</small>}</span>
		<span class="change">
			{kind === 'before' && other > 0 && <><span aria-hidden="true">{sign}</span> {change.text}
				<span class="hidden"> {words.changes[change.sign]}</span>{' · '}</>}
			{words.beside[kind](beside)}
		</span>
	</button>;
}
