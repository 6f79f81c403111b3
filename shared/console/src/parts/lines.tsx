// Lines: charts of a period by status, by who asked, by time and by a field, and the chart of two sides of a comparison.
import { useMemo } from 'preact/hooks';
import {
	type Answer, type Meta, type Parameters, Refusal, type Routes, type Segment, type Stat,
} from '../foundation/api';
import { type Asker, useAsked } from '../foundation/ask';
import { type Counted, useConsole, useCounted } from '../foundation/context';
import { mostSegments } from '../foundation/media';
import { presentPeriod } from '../foundation/running';
import { leastOfLogarithm } from '../pure/axis';
import { type Asked, beginOf } from '../pure/coverage';
import { absent, add, addOnly, type Fact, filtersOf, nameOf as fieldOf, ofClass, without } from '../pure/filter';
import { brief, bytes, count, milliseconds } from '../pure/format';
import { periodOf, type Place } from '../pure/fragment';
import { aligned, classesOf, type Figures, figuresOf, type Measure, measures, ranked, rest, total } from '../pure/lines';
import { labelOf } from '../pure/groupings';
import { requestsOf, type Side as SideOfRequests } from '../pure/sides';
import { comparedWith, momentIn, type Period, segmentFor } from '../pure/time';
import { Answered } from './answer';
import { Heatmap } from './heatmap';
import { words } from './lines.words';
import { type Line, LinesChart, Numbers } from './lineschart';
import { Count, Share } from './menu';
import { partialOf } from './plot';
import { besidesOf, Change, conditionOf, TileOf } from './tile';

/** ofFact are the requests of an answer that have a value. */
function ofFact({ filter, period }: Counted, fact: Fact): Counted {
	return { filter: addOnly(filter, fact), period };
}

interface Of {
	segments: readonly Segment[];
	length: number; // of a segment, in seconds
	meta: Asked; // of the answer
	height?: number; // in pixels
}

export { LinesChart, Numbers };

/** Lines draws a chart of a kind. The times are asked for; the others are of the timeline. */
export function Lines({ kind, ...of }: Of & { kind: string }) {
	if (kind === 'heatmap') return <Heatmap />;
	return kind === 'latency' ? <Latency /> : <OfTimeline key={kind} kind={kind} {...of} />;
}

function OfTimeline({ kind, ...of }: Of & { kind: string }) {
	const { segments, length } = of;
	const counted = useCounted();
	const drawn = useMemo(() => {
		const partial = partialOf(of);
		const lines = kind === 'human' ? humanLines(segments, counted) : statusLines(segments, counted, kind);
		const whole = lines.map((line) => ({ ...line, values: line.values.map((n, i) => (partial(i) ? null : n)) }));
		return { times: segments.map((one) => one.time_period), lines: whole };
	}, [segments]);
	const name = kind === 'human' || kind === 'origin' ? words.names[kind] : words.names.status;
	return <LinesChart name={name} {...drawn} length={length} begin={beginOf([of.meta])} {...(of.height ? { height: of.height } : {})} />;
}

/** The looks of the classes of statuses, by their first digit. They differ by dash as well as by colour. */
const looks: Readonly<Record<number, { colour: string; dash: number[] }>> = {
	2: { colour: '--passed', dash: [] }, 3: { colour: '--refused', dash: [2, 3] }, 4: { colour: '--challenged', dash: [10, 3, 2, 3] },
	5: { colour: '--blocked', dash: [7, 3] },
};

function statusLines(segments: readonly Segment[], counted: Counted, kind: string): Line[] {
	const origin = kind === 'origin';
	const field = origin ? 'upstream_status' : 'status';
	return classesOf(segments.map((one) => (origin ? one.array_origin_status_codes : one.array_status_codes)))
		.map(({ first, values, total: n }) => {
			const name = words.statusClass(first);
			const condition = ofClass(field, first);
			const fact = { field, value: name, conditions: { only: condition, without: `not ${condition}` } };
			return {
				name, values, width: 1.5, ...(looks[first] ?? { colour: '--quiet', dash: [4, 4] }), whole: count(n), fact,
				...(origin ? {} : { counts: n, counted: ofFact(counted, fact) }), // of origins, a request can have several statuses
			};
		});
}

const human: Fact = { field: 'human', value: true };

function humanLines(segments: readonly Segment[], counted: Counted): Line[] {
	const line = (name: string, of: (one: Segment) => number, fact: Fact, colour: string, dash: number[]): Line => {
		const values = segments.map(of);
		const counts = values.reduce((sum, n) => sum + n, 0);
		return { name, values, fact, colour, dash, width: 1.5, whole: count(counts), counts, counted: ofFact(counted, fact) };
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
		const period = presentPeriod(place);
		const parameters: Parameters = {
			filters: filtersOf(place.filter, period), segment: place.segment || segmentFor(period, mostSegments()), figures: 'percentiles',
		};
		await asker.afford([['stats', parameters]]);
		return asker.ask('stats', parameters);
	});
	return <Answered asked={asked} metas={(answer) => [answer.meta]} part>{(answer) => <LatencyChart answer={answer} />}</Answered>;
}

function LatencyChart({ answer: { results, meta } }: { answer: Answer<Stat> }) {
	const drawn = useMemo(() => {
		// Requests that were blocked took no time of the origin. A log without its times has those of the requests.
		const origin = results.some((one) => one.p50_origin_time != null);
		const line = (share: 'p50' | 'p90' | 'p99', colour: string, dash: number[]): Line => {
			const name = words.shares[share];
			const values = results.map((one) => {
				const seconds = one[`${share}_${origin ? 'origin' : 'total'}_time`] ?? null;
				return seconds === null ? null : Math.max(leastOfLogarithm, seconds * 1000);
			});
			const most = Math.max(0, ...values.map((n) => n ?? 0));
			return { name, values, fact: null, colour, dash, width: 1.5, whole: words.most(milliseconds(most)) };
		};
		return {
			times: results.map((one) => one.time_period),
			lines: [
				line('p50', '--passed', []), line('p90', '--challenged', [10, 3, 2, 3]), line('p99', '--blocked', [7, 3]),
			].filter((one) => one.values.some((n) => n !== null)),
			name: origin ? words.names.originLatency : words.names.latency,
		};
	}, [results]);
	return <LinesChart {...drawn} length={meta.segment_seconds ?? 60} begin={beginOf([meta])} write={milliseconds} band
		most={(ms) => words.most(milliseconds(ms))} other={['heatmap', words.asHeatmap]} />;
}

/** Split reads the field from the address, asks for its histogram, and draws columns of the values with the largest segments. */
export function Split() {
	const { api, place, go, round } = useConsole();
	const field = place.by?.[0] ?? '';
	const question = `split ${periodOf(place)} ${place.segment} ${field} ${place.filter}`;
	const asked = useAsked(api, question, round, async (asker) => {
		const period = presentPeriod(place);
		const parameters: Parameters = {
			filters: filtersOf(place.filter, period), by: [field], limit: place.segment === '' ? mostAsked : mostSeries,
			segment: place.segment || segmentFor(period, mostSegments()),
		};
		await asker.afford([['histogram', parameters]]);
		return { ...await asker.ask('histogram', parameters), field };
	});
	return <section class="split">
		<Answered asked={asked} metas={(answer) => [answer.meta]} part>{(answer) => <SplitChart answer={answer} />}</Answered>
		{asked.state === 'failed' && <button type="button" onClick={() => go({ by: null })}>{words.notSplit}</button>}
	</section>;
}

/** The values that have series of their own, and those that are asked for, because the answer ranks them by all their requests. */
const mostSeries = 6;
const mostAsked = 20;

/** The looks of the values of a field, by their places in the answer. */
const looksInTurn: readonly { colour: string; dash: number[] }[] = [
	{ colour: '--passed', dash: [] }, { colour: '--blocked', dash: [7, 3] }, { colour: '--refused', dash: [2, 3] },
	{ colour: '--challenged', dash: [10, 3, 2, 3] }, { colour: '--monitored', dash: [4, 4] },
	{ colour: '--text', dash: [] },
];
const looksOfKinds = { other: { colour: '--before', dash: [] }, absent: { colour: '--quiet', dash: [] } };

/** SplitChart draws an answer with the field of its question, which may be an earlier one. */
function SplitChart({ answer: { results, meta, field } }: { answer: Answer<Routes['histogram']> & { field: string } }) {
	const { fields } = useConsole();
	const counted = useCounted();
	const type = fields.find((one) => one.name === fieldOf(field))?.type;
	const length = meta.segment_seconds ?? 60;
	const drawn = useMemo(() => {
		const times = [...new Set(results.map((one) => one.time_period))];
		const partial = partialOf({ segments: times.map((time) => ({ time_period: time })), length, meta });
		const all = (meta.series ?? []).flatMap(({ series: value, kind: of, total: n }) => {
			const counts = new Map(results.filter(({ series, kind }) => series === value && kind === of)
				.map((segment) => [segment.time_period, segment.value]));
			return of === 'all' ? [] : [{ series: value, kind: of, values: times.map((time) => counts.get(time) ?? 0), total: n }];
		});
		const lines = ranked(all, mostSeries).map((one, i): Line => {
			const values = one.values.map((n, at) => (partial(at) ? null : n));
			const fact = one.kind === 'value' && one.series !== null ? { field, value: one.series } : null;
			const filter = fact ? addOnly(counted.filter, fact) :
				one.kind === 'absent' && type !== undefined ? absent(field, type).reduce(add, counted.filter) : null;
			return {
				name: nameOf(one), values, width: 1.5,
				...(one.kind === 'value' ? looksInTurn[i] ?? looksOfKinds.other : looksOfKinds[one.kind]),
				whole: count(one.total), counts: one.total, counted: { filter, period: counted.period }, fact,
			};
		});
		return { times, lines };
	}, [results, type]);
	return <LinesChart name={words.split(labelOf(field))} {...drawn} length={length} begin={beginOf([meta])} columns />;
}

function nameOf({ series, kind }: Pick<Routes['histogram'], 'series' | 'kind'>): string {
	if (kind === 'other' || kind === 'absent') return words.kinds[kind];
	return series === '' ? '""' : String(series);
}

/** The two sides of a comparison. */
interface TwoSides {
	kind: 'rest' | 'before' | 'filters';
	names: readonly [string, string];
	sides: readonly [Side, Side];
	length: number; // of a segment, in seconds
	metas: readonly Meta[];
}

interface Side extends SideOfRequests {
	meta: Meta;
	segments: readonly Figures[];
}

/** Overlay reads the two sides from the address, asks for both, and draws them on each other. */
export function Overlay() {
	const { api, place, round } = useConsole();
	const question = `overlay ${periodOf(place)} ${place.segment} ${place.against} ${place.select} ${place.other} ${place.filter}`;
	const asked = useAsked(api, question, round, (asker) => askSides(asker, place));
	const mistakes = asked.failure instanceof Refusal ? asked.failure.mistakes : [];
	return <section class="overlay">
		<Answered asked={asked} metas={(answer) => answer.metas} part={place.other === ''}>
			{(answer) => <Sides answer={answer} />}
		</Answered>
		{asked.state === 'failed' && mistakes.length > 0 &&
			<ul class="wrong-text">{mistakes.map((one) => <li key={`${one.offset} ${one.message}`}>{one.message}</li>)}</ul>}
	</section>;
}

async function askSides(asker: Asker, place: Place): Promise<TwoSides> {
	const period = presentPeriod(place);
	const { filter, select, other } = place;
	const kind = other !== '' ? 'filters' : select !== '' ? 'rest' : 'before';
	const against = kind === 'before' ? comparedWith(place.against, period) : period;
	if (!against) throw new Error(`no period: ${place.against}`);
	const longer = against.to - against.from > period.to - period.from ? against : period;
	const segment = place.segment || segmentFor(longer, mostSegments());
	const both = [filter, kind === 'rest' ? select : ''].filter((text) => text.trim() !== '').join(', ');
	const filters = [both, kind === 'filters' ? other : filter] as const;
	const first = questionsOf(filters[0], period, segment);
	const second = questionsOf(filters[1], against, segment);
	await asker.afford([...first, ...second]);
	const [a, b] = await Promise.all([first, second].map((questions) =>
		Promise.all(questions.map(([, parameters]) => asker.ask('timeline', parameters))))) as [Timelines, Timelines];
	const [now, then] = [a, b].map(([all, challenged, refused], i): Side => ({
		segments: figuresOf(all.results, challenged.results, refused.results), filter: filters[i as 0 | 1], period: all.meta.period,
		meta: all.meta,
	})) as [Side, Side];
	return {
		kind, length: a[0].meta.segment_seconds ?? 60, metas: [...a, ...b].map((one) => one.meta),
		sides: [now, kind === 'rest' ? { ...then, segments: rest(then.segments, now.segments), except: select } : then],
		names: kind === 'filters' ? [filter || words.all, other] : [words.selected, kind === 'rest' ? words.rest : words.before],
	};
}

/** The answers about a side: all of its requests, the challenged ones, and those that an origin refused. */
type Timelines = [Answer<Segment>, Answer<Segment>, Answer<Segment>];

/** questionsOf are the questions about a side. The conditions are those of the dashboard, so that the figures are, too. */
function questionsOf(conditions: string, period: Period, segment: string): readonly (readonly ['timeline', Parameters])[] {
	return [conditions, add(conditions, conditionOf.challenged), add(conditions, conditionOf.refused)]
		.map((one) => ['timeline', { filters: filtersOf(one, period), segment }]);
}

/** Sides are the figures of both sides, and the chart of the one that the address names. */
function Sides({ answer }: { answer: TwoSides }) {
	const { place, zone, go } = useConsole();
	const { kind, sides, names, length } = answer;
	const measure: Measure = measures.find((name) => name === place.chart) ?? 'requests';
	const write = measure === 'bytes' ? bytes : brief;
	const drawn = useMemo(() => {
		const { times, values } = aligned(sides[0].segments, sides[1].segments, length, measure);
		const line = (i: 0 | 1, colour: string, dash: number[]): Line => {
			const partial = partialOf({ ...sides[i], length });
			const counts = total(sides[i].segments, measure);
			return {
				name: names[i], values: values[i].map((n, at) => (partial(at) ? null : n)), fact: null, colour, dash, width: 1.5,
				whole: write(counts), counts, counted: ofMeasure(sides[i], measure), times: sides[i].segments.map((one) => one.time_period),
			};
		};
		return { times, lines: [line(1, '--quiet', [5, 3]), line(0, '--accent', [])] };
	}, [answer, measure]);
	const moment = (at: number): string => {
		const [a, b] = sides.map(({ segments }) => {
			const segment = segments[at];
			return segment ? momentIn(segment.time_period * 1000, zone) : '–';
		});
		return words.moments(a ?? '–', b ?? '–');
	};
	return <>
		<div class="tiles" role="group" aria-label={words.figures}>
			{measures.map((name) => <Tile key={name} name={name} answer={answer} pressed={name === measure}
				draw={() => go({ chart: name === 'requests' ? '' : name })} />)}
		</div>
		<LinesChart key={measure} name={`${words.overlay}: ${words.measures[measure]}`} {...drawn} length={length} height={170}
			write={write} {...(kind === 'before' ? { moment } : {})} />
	</>;
}

/** ofMeasure returns the requests of a side that a figure counts, or whose bytes it adds up. */
function ofMeasure(side: Side, name: Measure): ReturnType<typeof requestsOf> {
	return requestsOf(side, name === 'requests' || name === 'bytes' ? '' : conditionOf[name]);
}

function Tile({ name, answer: { kind, sides, metas }, pressed, draw }: {
	name: Measure; answer: TwoSides; pressed: boolean; draw(): void;
}) {
	const write = name === 'bytes' ? bytes : brief;
	const beside = name === 'bytes' ? besidesOf.bytes : undefined;
	const [now, other] = sides.map((side) => total(side.segments, name)) as [number, number];
	const [all, others] = sides.map((side) => total(side.segments, 'requests')) as [number, number];
	const [own, theirs] = [ofMeasure(sides[0], name), ofMeasure(sides[1], name)];
	const part = name !== 'requests' && name !== 'bytes';
	const whole = kind !== 'before' || beginOf(metas) === null; // else the data has only a part of the periods
	return <TileOf kind={name} name={words.measures[name]} act={draw} pressed={pressed}>
		<span class="number"><Count n={now} {...own} write={write} beside={beside} />
			{part && <small><Share n={now} of={all} {...own} /></small>}</span>
		{(whole || others > 0) && <p class="change">
			{kind === 'before' && other > 0 && whole && <Change now={now} before={other} names={words.changes} />}
			<Count n={other} {...theirs} write={() => words.beside[kind](write(other))} beside={beside} />
			{part && <>{' · '}<Share n={other} of={others} {...theirs} /></>}
		</p>}
	</TileOf>;
}
