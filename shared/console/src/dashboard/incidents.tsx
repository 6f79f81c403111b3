// Incidents: the answer to what happened, to whom, and whether the origin held, above the figures.
import { useState } from 'preact/hooks';
import type { Answer, Incident } from '../foundation/api';
import type { Asked } from '../foundation/ask';
import { Counted, useConsole } from '../foundation/context';
import { lazy } from '../foundation/lazy';
import { narrow, useMedia } from '../foundation/media';
import { Panel } from '../parts/answer';
import { Count, LinkTo } from '../parts/menu';
import type { Mark } from '../parts/plot';
import { besidesOf, conditionOf } from '../parts/tile';
import { add, splitPeriod } from '../pure/filter';
import { count, requests } from '../pure/format';
import { inOrder, type Verdict, verdictOf } from '../pure/incidents';
import { conditionsOf } from '../pure/lex';
import { clockIn, dateIn } from '../pure/time';
import { attackIn, limitOf, tried } from '../pure/trial';
import { words } from './incidents.words';

const TooLong = lazy(() => import('./toolong').then((m) => m.TooLong));

/** The requests of the period, and those that were blocked. null is what is not known. */
interface Figures extends Counted {
	requests: number | null;
	blocked: number | null;
}

/** Incidents draws the answer, or why there is none. */
export function Incidents({ asked, of, figures }: {
	asked: Asked<{ answer: Answer<Incident> | null }>; of: Asked<unknown>; figures: Figures;
}) {
	const { state, answer } = asked;
	return <>
		{answer === null && state === 'asking' && <p class="said" role="status"><span class="late">{words.looking}</span></p>}
		<Panel asked={asked} of={of} name={words.name} question={undefined}>
			{({ answer: found }) => (found ? <Found {...found} figures={figures} /> : <TooLong />)}
		</Panel>
	</>;
}

/** marksOf returns the incidents as parts of a chart that are marked. */
export function marksOf({ results, meta }: Answer<Incident>): Mark[] {
	return results.map((one) => ({
		from: Date.parse(one.begin) / 1000, to: Date.parse(one.end ?? meta.period.to) / 1000, name: nameOf(one),
	}));
}

function nameOf({ kind, target, certain }: Incident): string {
	const name = `${words.kinds[kind]} ${target}`;
	return certain ? name : words.probably(name);
}

/** The rows at first; mostNarrow if the window is narrow, and then without their figures, so that the chart begins on the first screen. */
const mostRows = 6;
const mostNarrow = 3;

function Found({ results, meta, figures }: Answer<Incident> & { figures: Figures }) {
	const { zone } = useConsole();
	const [all, showAll] = useState(false);
	const verdict = verdictOf(results);
	const listed = inOrder(results);
	const small = useMedia(narrow);
	const shown = all ? listed : listed.slice(0, small ? mostNarrow : mostRows);
	const short = small && !all && shown.length > 0;
	const { from, to } = meta.period;
	const dates = dateIn(Date.parse(from), zone) !== dateIn(Date.parse(to) - 1, zone);
	return <section class={`incidents ${verdict.state.replace(' ', '-')}${short ? ' short' : ''}`} aria-labelledby="incidents">
		<div class="said">
			<h2 id="incidents">{headline(results, verdict)}</h2>
			<p>{verdict.state !== 'none' && todo(results, verdict)}<Requests figures={figures} /></p>
		</div>
		{shown.length > 0 && <table>
			<thead><tr>
				<th scope="col">{words.columns.when}</th><th scope="col">{words.columns.what}</th>
				<th scope="col" class="n">{figures.blocked === null ? words.requests : words.columns.blocked}</th>
				<th scope="col" class="parts">{figures.blocked === null ? '' : words.columns.parts}</th>
				<th scope="col" class="n">{words.columns.clients}</th><th scope="col">{words.columns.held}</th>
			</tr></thead>
			<tbody>{shown.map((one) => <Row key={one.id} incident={one} dates={dates} decided={figures.blocked !== null} />)}</tbody>
		</table>}
		{(short || listed.length > shown.length) && <button type="button" class="link" onClick={() => showAll(true)}>
			{words.more(listed.length - shown.length)}</button>}
		{meta.truncated && <p class="quiet">{words.most}</p>}
	</section>;
}

/** headline says what happened, to whom, and whether the origin held. */
function headline(incidents: readonly Incident[], { state, worst }: Verdict): string {
	const [first] = incidents;
	if (state === 'none' || !first) return words.none;
	if (incidents.length === 1) return `${nameOf(first)}. ${words.one[state]}`;
	return `${words.many(count(incidents.length))} ${words.of[state](worst, incidents.length)}`;
}

/** todo says what to do. */
function todo(incidents: readonly Incident[], { state, going, guessed }: Verdict): string {
	if (state === 'none') return '';
	const parts = [
		...(going > 0 ? [incidents.length === 1 ? words.goes : words.going(going)] : []), words.todo[state],
		...(guessed ? [words.guessed] : []),
	];
	return `${parts.join(' ')} `;
}

/** Requests says how many requests came, and how many of them were blocked. */
function Requests({ figures: { requests: all, blocked, filter, period } }: { figures: Figures }) {
	if (all === null) return null;
	const whole = <Count n={all} filter={filter} period={period} write={requests} />;
	if (blocked === null) return <>{whole}.</>;
	return <>
		<Count n={blocked} filter={add(filter, conditionOf.blocked)} period={period} />{words.blockedOf[0]}{whole}{words.blockedOf[1]}
	</>;
}

/** The values beside the requests of an incident: who sent them, and why they were stopped. */
const attackers = ['ip', 'organization', 'country', 'user_agent', 'path', 'reason'];

function Row({ incident: one, dates, decided }: { incident: Incident; dates: boolean; decided: boolean }) {
	const { zone } = useConsole();
	const split = splitPeriod(one.filter, 0);
	const counted: Counted = { filter: split.filter, period: split.period ?? '' };
	const { num_of_requests: all, num_of_blocked_requests: blocked, num_of_challenges: challenged, held } = one;
	const passed = one.num_of_passed_requests;
	const name = nameOf(one);
	const rule = conditionsOf(split.filter).filter((condition) => !condition.startsWith('ip ')).join(', ');
	const parts = words.partsOf(count(blocked), count(challenged), count(passed));
	return <tr class={held.state.replace(' ', '-')}>
		<td class="when">{whenOf(one, dates, zone)}{(one.begins_earlier || one.ends_later) && <small>{words.cut}</small>}</td>
		<th scope="row"><LinkTo name={words.open(name)} change={{
			...counted, screen: 'events', record: null, panel: 'facets', facets: attackers,
		}}>{name}</LinkTo>{' '}
			<LinkTo kind="try-it" name={words.tryLimit(name)} change={tried(limitOf(rule), attackIn(one.filter))}>{words.tryIt}</LinkTo>
			{!one.certain && <small>{one.why}</small>}</th>
		<td class="n">
			{decided && <><Count n={blocked} {...counted} filter={add(counted.filter, conditionOf.blocked)} />{words.blockedOf[0]}</>}
			<Count n={all} {...counted} />
		</td>
		<td class="parts">{decided && <span role="img" aria-label={parts} title={parts}>
			{([['blocked', blocked], ['challenged', challenged], ['passed', passed]] as const).map(([part, n]) =>
				<i key={part} class={part} style={{ '--part': String(n) }} />)}
		</span>}</td>
		<td class="n clients"><Count n={one.num_of_ip} {...counted} beside={besidesOf.clients} /></td>
		<td class="held" title={held.sentence}>
			<strong><span aria-hidden="true">{words.signs[held.state]}</span> {words.held[held.state]}</strong>
			{held.state !== 'unknown' &&
				<small> {words.errors(count(held.during.num_of_errors), count(held.during.num_of_requests))}</small>}
		</td>
	</tr>;
}

/** whenOf is the time of an incident: 16:19–16:27, with its date if the period has several. */
function whenOf({ begin, end }: Incident, dates: boolean, zone: string): string {
	const [from, to] = [Date.parse(begin), Date.parse(end ?? begin)];
	const clock = (ms: number): string => clockIn(ms, zone, 'minutes');
	const date = dates ? `${dateIn(from, zone)} ` : '';
	return end === null ? words.since(date + clock(from)) : `${date}${clock(from)}–${clock(to)}`;
}
