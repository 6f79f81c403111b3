// Dashboard: what is going on, who does it, and to what.
import type { ComponentChildren } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import {
	type Answer, type Facet, type Incident, type Parameters, questionOf, Refusal, type Route, type Routes, type Segment, type Top,
} from '../foundation/api';
import { type Asked, type Asker, type Unpriced, useAsked } from '../foundation/ask';
import { type Counted, useConsole } from '../foundation/context';
import { lazy } from '../foundation/lazy';
import { mostSegments, narrow, useMedia } from '../foundation/media';
import { presentPeriod } from '../foundation/running';
import { ageOf, Answered, countedBy, Line, Panel, Quiet, Trouble, TroubleOf } from '../parts/answer';
import type { Marking } from '../parts/changes';
import { Chart } from '../parts/chart';
import { Changes, Facets, Lines, Nothing } from '../parts/lazily';
import linesStyle from '../parts/lines.css';
import { Empty, List, type ListName, type Rank } from '../parts/list';
import { Count, Share } from '../parts/menu';
import { Marks } from '../parts/plot';
import { LiveField, liveRate, slowRates, useRefresh } from '../parts/refresh';
import { Select } from '../parts/select';
import { leadToData, never } from '../parts/start';
import { besidesOf, Change, conditionOf, factOf, type TileName, TileOf } from '../parts/tile';
import { together } from '../pure/asking';
import { beginOf } from '../pure/coverage';
import { add, filtersOf, type Value as FieldValue } from '../pure/filter';
import { brief, bytes } from '../pure/format';
import { periodOf, type Place } from '../pure/fragment';
import { choices } from '../pure/groupings';
import { mostDays } from '../pure/incidents';
import { type Known, knownOf, lacks, numberIn } from '../pure/known';
import { comparedWith, dateIn, type Period, previous, segmentFor } from '../pure/time';
import { words } from '../pure/words';
import { Incidents, marksOf } from './incidents';
import standoutStyle from './standout.css';

const Busiest = lazy(() => import('./busiest').then((m) => m.Busiest));
const Split = lazy(() => import('../parts/lines').then((m) => m.Split), linesStyle);
const Slow = lazy(() => import('./slow').then((m) => m.Slow));
const StandOut = lazy(() => import('./standout').then((m) => m.StandOut), standoutStyle);

/** A question of the dashboard. */
type Question<R extends Route> = readonly [R, Parameters];

/** The questions about a period. */
interface Side {
	timeline: Question<'timeline'>;
	facets: Question<'facets'>;
	refused: Question<'facets'>;
}

/** The questions about a period, and about the one before it. */
interface Plan {
	number: number; // of the plans of the page
	of: Counted; // as the address had it: a period that goes on is not yet one of fixed moments
	now: Side;
	before: Side;
	top: Question<'topx'>;
	incidents: Question<'incidents'> | null; // null: the period is too long
}

/** Affordable questions. Those without an estimate are estimated again, one by one, on Ask again. */
interface Afforded {
	plan: Plan;
	unpriced: Unpriced;
}

let plans = 0;

/** The fields that tiles count, and whose absence decides what is shown. */
const askedFields = [factOf.challenged.field, factOf.monitored.field, factOf.human.field, 'upstream_status'];

const listNames = Object.keys(words.lists) as ListName[];

/** The fields of decisions, which a log without results does not have either. */
const decisions = 'blocked challenge challenge_type ichallenge monitor monitor_reasons processing_stage reason'.split(' ');

/** absent reports whether no request has a field, as far as the answers of the dashboard say that. */
function absent(field: string, known: Known): boolean {
	const deciding = decisions.includes(field) ? 'result' : field;
	return [...askedFields, ...listNames].includes(deciding) && lacks(known, deciding);
}

function planOf(place: Place): Plan {
	const period = presentPeriod(place);
	const segment = place.segment || segmentFor(period, mostSegments());
	const about = (of: Period): Side => {
		const filters = filtersOf(place.filter, of);
		return {
			timeline: ['timeline', { filters, segment }],
			facets: ['facets', { filters, by: ['ip', ...askedFields] }],
			refused: ['facets', { // of which only the number of requests is of use
				filters: filtersOf(add(place.filter, conditionOf.refused), of), by: ['upstream_status'], limit: 1,
			}],
		};
	};
	return {
		number: ++plans, of: { filter: place.filter, period: place.period }, now: about(period),
		before: about(comparedWith(place.against, period) ?? previous(period)),
		top: ['topx', { filters: filtersOf(place.filter, period), limit: 8 }],
		incidents: period.to - period.from > mostDays * 86_400_000 ? null :
			['incidents', { filters: filtersOf(place.filter, period) }],
	};
}

function questionsOf({ now, before, top, incidents }: Plan): readonly Question<Route>[] {
	return [...Object.values(now), ...Object.values(before), top, ...(incidents ? [incidents] : [])] as Question<Route>[];
}

/** Dashboard reads the questions from the address, and asks them if they are not heavy together. */
export function Dashboard() {
	const { api, place, round } = useConsole();
	const question = `dashboard ${periodOf(place)} ${place.against} ${place.segment} ${place.filter}`;
	const planned = useAsked(api, question, round, async (asker) => {
		const plan = planOf(place);
		return { plan, unpriced: await asker.affordParts(questionsOf(plan)) };
	});
	const facets = place.panel === 'facets';
	return <div class={facets ? 'dashboard with-facets' : 'dashboard'}>
		{facets && <Facets />}
		<div>{planned.answer ? <Panels planned={planned} afforded={planned.answer} /> :
			<Answered asked={planned} metas={() => []}>{() => null}</Answered>}</div>
	</div>;
}

/** An answer to a question of a plan. */
interface Part<R extends Route> {
	plan: Plan;
	answer: Answer<Routes[R]>;
}

/** usePart asks a question of a plan. */
function usePart<R extends Route>(
	afforded: Afforded, question: Question<R>, leave: (answer: Answer<Routes[R]>) => boolean = () => false,
): Asked<Part<R>> {
	const { plan } = afforded;
	return useAsked(useConsole().api, questionOf(...question), plan.number, async (asker) => {
		const answer = await askPart(asker, afforded, question);
		return leave(answer) ? never<Part<R>>() : { plan, answer };
	});
}

/** useIncidents asks for the incidents of a plan. A period that is too long has no answer. */
function useIncidents(afforded: Afforded): Asked<{ plan: Plan; answer: Answer<Incident> | null }> {
	const { plan } = afforded;
	const question = plan.incidents;
	return useAsked(useConsole().api, question ? questionOf(...question) : '', plan.number, async (asker) => ({
		plan, answer: question && await askPart(asker, afforded, question),
	}));
}

async function askPart<R extends Route>(
	asker: Asker, { unpriced: { failures, through } }: Afforded, question: Question<R>,
): Promise<Answer<Routes[R]>> {
	const failure = failures.get(question);
	if (failure !== undefined) {
		failures.set(question, undefined);
		throw failure;
	}
	if (failures.has(question)) {
		await asker.afford([question], through);
		failures.delete(question);
	}
	return asker.ask(...question, through);
}

/** useSide asks the questions about a period. */
function useSide(afforded: Afforded, side: Side, leave?: (answer: Answer<Segment>) => boolean) {
	return {
		timeline: usePart(afforded, side.timeline, leave), facets: usePart(afforded, side.facets), refused: usePart(afforded, side.refused),
	};
}

/** Panels asks the questions of a plan. Each panel has the state of its own question; the others are drawn without it. */
function Panels({ planned, afforded }: { planned: Asked<Afforded>; afforded: Afforded }) {
	const console = useConsole();
	const { plan } = afforded;
	const present = useSide(afforded, plan.now, (answer) => leadToData(console, answer));
	const earlier = useSide(afforded, plan.before);
	const top = usePart(afforded, plan.top);
	const incidents = useIncidents(afforded);
	const { timeline } = present;
	const others = [present.facets, present.refused, ...Object.values(earlier)];
	const parts = [timeline, ...others, top, incidents];
	const metas = parts.flatMap((part) => part.answer?.answer?.meta ?? []);
	const all = together<Asked<unknown>>([planned, ...parts]);
	useRefresh(all.state === 'done' && (planned.state === 'done' || isOutage(planned)));
	const drawn = timeline.answer?.plan; // what is of another plan does not fit beside it
	const fits = <R extends Route>(part: Asked<Part<R>>): Answer<Routes[R]> | null =>
		(part.answer && part.answer.plan === drawn ? part.answer.answer : null);
	const now = fits(timeline);
	const before = fits(earlier.timeline);
	const begin = beginOf([now, before].flatMap((one) => one?.meta ?? []));
	const keys = fits(top)?.results ?? []; // if there are none, it is not known which lists have values
	const known = knownOf(fits(present.facets)?.results ?? null,
		listNames.filter((name) => keys.length === 0 || keys.some((one) => one.label === name)));
	const decided = !lacks(known, 'result');
	const requests = now ? total(now.results, 'num_of_requests') : 0;
	const blocked = now && decided ? total(now.results, 'num_of_blocked_requests') : null;
	const rank: Rank = blocked ? { by: 'blocked', all: blocked } : { by: 'requests', all: requests };
	const none = now !== null && requests === 0;
	const found = incidents.answer?.plan === drawn ? incidents.answer?.answer ?? null : null;
	const chart = chartOf(console.place, known);
	const settled = useRef(false); // whether the log has settings whose changes can be marked
	if (fits(present.facets)) settled.current = decided;
	const open = console.place.panel === 'changes';
	const [changes, setChanges] = useState<Marking>({ marks: [], metas: [], questions: [] });
	const marks = useMemo(() => [...found ? marksOf(found) : [], ...changes.marks], [found, changes]);
	const split = (console.place.by ?? []).length > 0; // then no panel has the timeline
	const figures = [...(split ? [timeline] : []), ...others];
	return <>
		<Line asked={all} metas={[...metas, ...changes.metas]}
			questions={metas.length > 0 ? [...questionsOf(plan), ...changes.questions] : []} />
		<Trouble asked={planned} earlier={now !== null} />
		{none && liveRate(console.place) === 0 ? <>
			<Nothing meta={now.meta} />
			<LiveField rates={slowRates} />
		</> : <>
			{none && <Quiet meta={now.meta} />}
			<Incidents asked={incidents} of={planned} figures={{
				requests: now && requests, blocked, ...(countedBy(drawn?.now.timeline[1]) ?? plan.of),
			}} />
			<Views known={known} />
			{(open || settled.current) && <Changes mark={setChanges} open={open}
				of={{ parameters: plan.now.timeline[1], round: plan.number, through: afforded.unpriced.through }} />}
			<Marks.Provider value={marks}>
				{split ? <Split /> : <Panel asked={timeline} of={planned} name={words.chart}
					question={drawn?.now.timeline[1]}>
					{({ answer: { results, meta } }) => {
						const of = { segments: results, length: meta.segment_seconds ?? 60, meta };
						return chart === '' ? <Chart {...of} before={begin === null ? before?.results ?? [] : []} height={220}
							earlier={countedBy(drawn?.before.timeline[1])?.period} /> :
							<Lines kind={console.place.chart === 'heatmap' ? 'heatmap' : chart} {...of} />;
					}}
				</Panel>}
			</Marks.Provider>
			<Tiles names={decided ? gatewayTiles : logTiles} now={valuesOf(now, fits(present.facets), fits(present.refused))}
				before={valuesOf(before, fits(earlier.facets), fits(earlier.refused))}
				begin={begin} plan={drawn ?? plan} age={ageOf(planned.state, timeline.state)} />
			<TroubleOf parts={figures} name={words.figures} />
			<Panel asked={top} of={planned} name={words.topValues} question={top.answer?.plan.top[1]}>
				{({ plan: own, answer }) => <Lists top={answer.results}
					rank={own === drawn ? rank : { ...rank, all: 0 }} decided={decided} />}
			</Panel>
			{(now || top.answer) && <Questions known={known} />}
		</>}
	</>;
}

/** isOutage reports whether a question failed, and the same one may have an answer later. A server that is gone is asked anyway. */
function isOutage({ state, failure }: Asked<unknown>): boolean {
	return state === 'failed' && failure instanceof Refusal && failure.status >= 429;
}

type ChartName = keyof typeof words.charts;

/** The fields that charts need. */
const fieldsOfCharts: Readonly<Partial<Record<ChartName, string>>> = {
	'': 'result', origin: 'upstream_status', human: 'human', latency: 'total_time',
};

/** drawable reports whether the log may have what a chart draws. */
function drawable(name: ChartName, known: Known): boolean {
	const field = fieldsOfCharts[name];
	return field === undefined || !lacks(known, field);
}

/** chartOf names what the lines of the chart are: the statuses if the log has no results. A heatmap is another chart of the times. */
function chartOf({ chart }: Place, known: Known): ChartName {
	const name = chart === 'heatmap' ? 'latency' : chart in words.charts ? chart as ChartName : '';
	return name === '' && !drawable(name, known) ? 'status' : name;
}

/**
 * Views chooses what the period is compared with and what the chart draws, and opens what is beside the answer. In a narrow window, it is
 * folded, so that the chart follows the verdict.
 */
function Views({ known }: { known: Known }) {
	const { place, fields, go } = useConsole();
	const against = place.against === 'previous' ? '' : place.against;
	const sides: Readonly<Record<string, string>> = words.comparisons;
	const charts = (Object.keys(words.charts) as ChartName[]).filter((name) => drawable(name, known));
	const panel = (name: string, text: string, title: string) => {
		const open = place.panel === name;
		return <button type="button" class="small" aria-expanded={open} title={title} onClick={() => go({ panel: open ? '' : name })}>
			{text}</button>;
	};
	const folded = useMedia(narrow);
	const controls = <div class="over-rows">
		<Select id="compared" name={words.comparedWith} value={against} choose={(side) => go({ against: side })}
			options={Object.entries({ ...sides, [against]: sides[against] ?? against })} />
		<span class="row tight" role="group" aria-label={words.chartOf}>{charts.map((name) =>
			<button type="button" class="small" key={name} aria-pressed={!place.by && chartOf(place, known) === name}
				onClick={() => go({ chart: name, by: null })}>{words.charts[name]}</button>)}</span>
		<Select id="split" name={words.splitBy} value={place.by?.[0] ?? ''}
			choose={(field) => go({ by: field === '' ? null : [field], chart: '' })}
			options={[['', words.notSplit], ...choices(fields.filter(({ name }) => !absent(name, known)), place.by)]} />
		<LiveField rates={slowRates} />
		<span class="row tight">{panel('facets', words.facets, words.facetsTitle)}
			{!lacks(known, 'result') && panel('standout', words.standOut, '')}
			{!lacks(known, 'result') && panel('changes', words.settings, words.settingsTitle)}</span>
	</div>;
	return <>
		{folded ? <details><summary>{words.views}</summary>{controls}</details> : controls}
		{place.panel === 'standout' && <StandOut />}
	</>;
}

/** The figures of segments. */
type Figure = { [member in keyof Segment]-?: Segment[member] extends number ? member : never }[keyof Segment];

function total(segments: readonly Segment[], of: Figure): number {
	return segments.reduce((sum, segment) => sum + segment[of], 0);
}

/** The tiles of a log with decisions of a gateway, and of one without. */
const gatewayTiles = ['requests', 'blocked', 'challenged', 'monitored', 'human', 'refused', 'clients', 'bytes'] as const;
const logTiles = ['requests', 'errors', 'failures', 'missing', 'clients', 'bytes'] as const;

type Values = Readonly<Record<TileName, number | null>>;

/**
 * valuesOf returns the figures of a period; null is what is not known. The challenges of a timeline are those of either flag,
 * and its refusals those of the last origin: no condition counts the same, so these figures come from facets.
 */
function valuesOf(timeline: Answer<Segment> | null, facets: Answer<Facet> | null, refused: Answer<Facet> | null): Values {
	const known = knownOf(facets?.results ?? null);
	const of = (name: Figure): number | null => timeline && total(timeline.results, name);
	const answered = (from: number, to = from): number | null => timeline && timeline.results.flatMap((one) => one.array_status_codes)
		.reduce((sum, { key, value }) => (from <= Number(key) && Number(key) <= to ? sum + value : sum), 0);
	return {
		requests: of('num_of_requests'), blocked: numberIn(known, 'result', of('num_of_blocked_requests')),
		challenged: numberIn(known, 'result', facets && countOf(facets.results, factOf.challenged)),
		monitored: facets && countOf(facets.results, factOf.monitored),
		human: numberIn(known, 'human', of('num_of_human_requests')),
		refused: numberIn(known, 'upstream_status', refused && (refused.meta.num_of_requests ?? null)),
		errors: answered(400, 499), failures: answered(500, 599), missing: answered(404),
		clients: facets && (facets.results.find((facet) => facet.by === 'ip')?.distinct ?? null), bytes: of('sum_of_sent_bytes'),
	};
}

/** countOf returns how many requests have a value, or null if it may be among the values that are not listed. */
function countOf(facets: readonly Facet[], { field, value }: { field: string; value: FieldValue }): number | null {
	const facet = facets.find((one) => one.by === field);
	const found = facet?.values.find((one) => one.value === value);
	return found ? found.num_of_requests : facet?.rest?.distinct === 0 ? 0 : null;
}

/**
 * Tiles are the numbers of the period, each with that of the period before, and a click away from its requests. If the data
 * has only a part of these periods, they are not compared.
 */
function Tiles({ names, now, before, begin, plan, age }: {
	names: readonly TileName[]; now: Values; before: Values; begin: number | null; plan: Plan; age: ReturnType<typeof ageOf>;
}) {
	const { zone } = useConsole();
	const none = begin === null ? words.noneBefore : words.begins(dateIn(begin, zone)); // the line above has the time
	const compared = begin === null && before.requests !== 0;
	return <section class={`tiles of-${names.length} ${age}`} aria-busy={age === 'stale'} aria-label={words.screens.dashboard}>
		{names.map((name) => {
			const first = name === 'requests'; // it says for all why there is no change
			return <Tile key={name} name={name} value={now[name]} plan={plan} requests={now.requests ?? 0}
				before={compared ? before[name] : first ? 0 : null} none={first ? none : ''} />;
		})}
	</section>;
}

function Tile({ name, value, before, none, plan, requests }: {
	name: TileName; value: number | null; before: number | null; none: string; plan: Plan; requests: number;
}) {
	const { go } = useConsole();
	const write = name === 'bytes' ? bytes : brief;
	const condition = name in conditionOf ? conditionOf[name as keyof typeof conditionOf] : null;
	const beside = besidesOf[name];
	const of = ({ filter, period }: Counted): Counted => ({ filter: condition === null ? filter : add(filter, condition), period });
	const ofQuestion = ([, parameters]: Question<Route>): Counted => of(countedBy(parameters) ?? plan.of);
	return <TileOf kind={name} name={words.tiles[name]} title={words.tileTitles[name]}
		act={() => go({ ...of(plan.of), ...(condition === null ? { screen: 'events', ...beside } : {}) })}>
		<span class="number">{value === null ? '–' : write(value)}{condition !== null && value !== null && <small>
			<Share n={value} of={requests} twin={false} {...ofQuestion(plan.now.timeline)} /></small>}</span>
		{value !== null && before !== null && <ChangeText now={value} before={before} none={none}>
			<Count n={before} {...ofQuestion(plan.before.timeline)} beside={beside} write={(n) => words.before(write(n))} />
		</ChangeText>}
	</TileOf>;
}

/** ChangeText is the change against the number before, its child. Why there is none is said once, beside all requests. */
function ChangeText({ now, before, none, children }: { now: number; before: number; none: string; children: ComponentChildren }) {
	return <p class="change">
		{before > 0 ? <><Change now={now} before={before} names={words.changes} />{children}</> : none || children}
	</p>;
}

function Lists({ top, rank, decided }: { top: readonly Top[]; rank: Rank; decided: boolean }) {
	const { place, go } = useConsole();
	const sort = place.sort === 'requests' ? place.sort : '';
	const keysOf = (name: ListName): Top[] => top.filter((one) => one.label === name);
	const empty = listNames.filter((name) => keysOf(name).length === 0);
	const slow = !empty.includes('total_time') && <Slow top={top} />;
	return <>
		<div class="over-rows">
			<h2>{words.topValues}</h2>
			{decided && <span class="row tight" role="group" aria-label={words.order}>{(['', 'requests'] as const).map((order) =>
				<button type="button" class="small" key={order} aria-pressed={sort === order} onClick={() => go({ sort: order })}>
					{words.orders[order]}</button>)}</span>}
		</div>
		{sort !== '' ? <Busiest decided={decided}>{slow}</Busiest> : <>
			<div class="lists">
				{listNames.filter((name) => !empty.includes(name)).map((name) => (name === 'total_time' ? slow :
					<List key={name} name={name} keys={keysOf(name)} rank={rank} decided={decided} />))}
			</div>
			<Empty lists={empty} />
		</>}
	</>;
}

/** Questions are some that a first visitor can click, about what the log has. */
function Questions({ known }: { known: Known }) {
	const { go } = useConsole();
	const decided = !lacks(known, 'result');
	const questions: [boolean, string, Partial<Place>][] = [
		[decided, words.askAttack, { filter: 'blocked is true', screen: 'dashboard' }],
		[decided && !lacks(known, 'human'), words.askFalse, { filter: 'blocked is true, human is true', screen: 'events' }],
		[!decided, words.askMissing, { filter: 'status=404', screen: 'dashboard' }],
		[true, words.askSlow, { filter: 'status>=500', screen: 'events' }],
	];
	return <p class="questions">
		{words.questions}: {questions.map(([fits, text, change]) => fits &&
			<button type="button" class="link" key={text} onClick={() => go(change)}>{text}</button>)}
	</p>;
}
