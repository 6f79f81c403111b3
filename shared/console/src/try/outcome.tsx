// What a rule would have done: the verdict, when, to whom, and what is not known.
import { useMemo, useState } from 'preact/hooks';
import type { Tried } from '../foundation/api';
import { useConsole } from '../foundation/context';
import { narrow, useMedia } from '../foundation/media';
import { LinesChart } from '../parts/lazily';
import type { Line } from '../parts/lineschart';
import { copy, LinkTo, Value } from '../parts/menu';
import { splitPeriod } from '../pure/filter';
import { count } from '../pure/format';
import { labelOf } from '../pure/groupings';
import { judged, type Outcome } from '../pure/rule';
import { briefValue } from '../pure/reason';
import { clockIn, dateIn } from '../pure/time';
import { Curve } from './curve';
import { words } from './try.words';

/** sentenceOf says whom a rule would have met. */
export function sentenceOf(of: Outcome, action: Tried['action']): string {
	return words.verdict[judged(of)](action, count(of.num_of_new_requests || of.num_of_requests), count(of.num_of_ip),
		count(of.num_of_human_requests ?? 0), count(of.num_of_human_ip ?? 0));
}

/** OutcomeOf is the outcome of a rule. tried is called with another threshold. */
export function OutcomeOf({ id, result, tried }: { id: 'rule' | 'other'; result: Tried; tried(threshold: number): void }) {
	return <>
		<div class={`verdict-of ${judged(result)}`}>
			<h2>{sentenceOf(result, result.action)}</h2>
			<p>{result.sentence}</p>
			<Compared result={result} tried={tried} />
		</div>
		{result.curve.length > 1 && result.threshold !== null &&
			<Curve key={result.rule} id={id} points={result.curve} threshold={result.threshold} action={result.action} tried={tried} />}
		<Clients result={result} />
		<OverTime name={words.overTime[id]} result={result} />
		<Common result={result} />
		<Unknown result={result} />
		<Copies result={result} />
	</>;
}

/** Compared is what a limit would have done to the attack that is named, and the threshold that tells it from others best. */
function Compared({ result: { attack, threshold }, tried }: { result: Tried; tried(threshold: number): void }) {
	if (attack === null) return null;
	const { sentence, knee } = attack;
	return <p class="compared">{sentence}{knee !== null && knee.threshold !== threshold && <>{' '}{words.knee}{' '}
		<strong>{knee.sentence}</strong>{' '}
		<button type="button" class="small" onClick={() => tried(knee.threshold)}>{words.moved(count(knee.threshold))}</button></>}
		{knee !== null && knee.threshold === threshold && ` ${words.isKnee}`}</p>;
}

/** Figures compares two rules. */
export function Figures({ results }: { results: readonly Tried[] }) {
	const rows: readonly [keyof typeof words.figureNames, (of: Tried) => number | null][] = [
		['people', (of) => of.num_of_human_requests], ['peopleFrom', (of) => of.num_of_human_ip], ['fresh', (of) => of.num_of_new_requests],
		['from', (of) => of.num_of_ip], ['blocked', (of) => of.num_of_blocked_requests],
	];
	return <section class="both" aria-label={words.figures}><table class="figures-of">
		<thead><tr><th scope="col">{words.figure}</th>{results.map(({ rule }, i) =>
			<th scope="col" key={i}><code>{rule}</code></th>)}</tr></thead>
		<tbody>{rows.map(([name, of]) => {
			const least = Math.min(...results.map((one) => of(one) ?? Infinity));
			return <tr key={name}><th scope="row">{words.figureNames[name]}</th>{results.map((one, i) => {
				const n = of(one);
				const best = name.startsWith('people') && n === least && results.some((other) => of(other) !== n);
				return <td key={i} class={best ? 'n best' : 'n'}>{n === null ? words.unknownNumber : count(n)}</td>;
			})}</tr>;
		})}</tbody>
	</table></section>;
}

/** whenOf is the time of the newly stopped requests of a client, with the date of the first if there are several dates. */
function whenOf(first: string, last: string, zone: string, dates: boolean): string {
	const [from, to] = [Date.parse(first), Date.parse(last)];
	const clock = (ms: number): string => clockIn(ms, zone, 'minutes');
	const other = dateIn(to, zone) === dateIn(from, zone) ? '' : `${dateIn(to, zone)} `;
	const end = clock(to) === clock(from) && other === '' ? '' : `–${other}${clock(to)}`;
	return `${dates ? `${dateIn(from, zone)} ` : ''}${clock(from)}${end}`;
}

/** The clients at first; mostNarrow if the window is narrow. */
const mostClients = 10;
const mostNarrow = 5;

/** Clients are those who would be newly stopped, with their requests and a record of each. */
function Clients({ result: { affected } }: { result: Tried }) {
	const { zone } = useConsole();
	const [all, showAll] = useState(false);
	const most = useMedia(narrow) ? mostNarrow : mostClients;
	const shown = all ? affected : affected.slice(0, most);
	if (affected.length === 0) return null;
	const known = affected.some((one) => one.num_of_human_requests !== null);
	const dates = new Set(affected.flatMap(({ first, last }) => [first, last]).map((time) => dateIn(Date.parse(time), zone))).size > 1;
	const number = (n: number | null): string => (n === null ? words.unknownNumber : count(n));
	return <section class="clients-of">
		<h3>{words.clients}</h3>
		<table>
			<thead><tr>
				<th scope="col">{words.client}</th><th scope="col" class="n">{words.freshColumn}</th>
				{known && <th scope="col" class="n">{words.peopleColumn}</th>}
				<th scope="col">{words.when}</th><th scope="col">{words.look}</th>
			</tr></thead>
			<tbody>{shown.map((one, i) => {
				const client = one.key.map(({ value }) => value).join(', ');
				const { filter, period } = splitPeriod(one.filter, 0);
				const to = { screen: 'events', filter, ...(period ? { period } : {}) } as const;
				return <tr key={i} class={(one.num_of_human_requests ?? 0) > 0 ? 'of-people' : ''}>
					<th scope="row">{one.key.map(({ field, value }) =>
						<Value key={field} fact={{ field, value }}>{briefValue(field, value)}</Value>)}</th>
					<td class="n">{count(one.num_of_new_requests)}</td>
					{known && <td class="n people">{number(one.num_of_human_requests)}</td>}
					<td class="when">{whenOf(one.first, one.last, zone, dates)}</td>
					<td class="to-them">
						<LinkTo kind="link" name={words.allOfTitle(client)} change={{ ...to, record: null }}>{words.allOf}</LinkTo>{' '}
						{one.record_ref !== null && <LinkTo kind="link" name={words.recordTitle(client)}
							change={{ ...to, record: one.record_ref }}>{words.record}</LinkTo>}
					</td>
				</tr>;
			})}</tbody>
		</table>
		{shown.length < affected.length && <button type="button" class="link" onClick={() => showAll(true)}>
			{words.moreClients(affected.length - shown.length)}</button>}
		<p class="quiet">{words.clientsHint}</p>
	</section>;
}

const mostSegments = 2000;

/** OverTime is a chart of the requests on which the rule would have acted. Segments without any are zero. */
function OverTime({ name, result: { segments, segment_seconds: length } }: { name: string; result: Tried }) {
	const drawn = useMemo(() => {
		const found = new Map(segments.map((one) => [one.time_period, one]));
		const [first, last] = [segments[0]?.time_period ?? 0, segments.at(-1)?.time_period ?? 0];
		const n = Math.floor((last - first) / length) + 1;
		const times = n > mostSegments ? [...found.keys()] : Array.from({ length: n }, (_, i) => first + i * length);
		const line = (what: string, colour: string, of: (one: typeof segments[number]) => number): Line => {
			const values = times.map((time) => {
				const one = found.get(time);
				return one ? of(one) : 0;
			});
			return { name: what, colour, values, fact: null, width: 1.5, dash: [], whole: count(values.reduce((sum, m) => sum + m, 0)) };
		};
		return { times, lines: [
			line(words.fresh, '--blocked', (one) => one.num_of_new_requests),
			line(words.anyway, '--before', (one) => one.num_of_requests - one.num_of_new_requests),
		] };
	}, [segments]);
	if (segments.length === 0) return null;
	return <LinesChart name={name} {...drawn} length={length} height={160} columns />;
}

/** Common are the most frequent values of the newly stopped requests. */
function Common({ result: { facets, num_of_new_requests: all } }: { result: Tried }) {
	const shown = facets.filter(({ values }) => values.length > 0);
	if (shown.length === 0) return null;
	return <section class="common">
		<h3>{words.common}</h3>
		<div class="fields-of">{shown.map(({ field, values }) => <section key={field}>
			<h4>{labelOf(field)}</h4>
			<ul>{values.map((one) => <li key={one.value} style={{ '--part': String(one.num_of_new_requests / all) }}>
				<Value fact={{ field, value: one.value }}>{briefValue(field, one.value)}</Value>
				<span class="n">{count(one.num_of_new_requests)}</span>
			</li>)}</ul>
		</section>)}</div>
	</section>;
}

function Unknown({ result: { unknown } }: { result: Tried }) {
	if (unknown.length === 0) return null;
	return <section class="unknown-of">
		<h3>{words.unknown}</h3>
		<ul>{unknown.map((one) => <li key={one}>{one}</li>)}</ul>
	</section>;
}

/** Copies are the rule in forms that others read. */
function Copies({ result: { rule, forms } }: { result: Tried }) {
	const { say } = useConsole();
	const all = (form: 'json' | 'terraform' | 'curl'): string => forms.map((one) => one[form]).join('\n');
	const button = (name: string, text: string) => text !== '' &&
		<button type="button" class="small" onClick={() => copy(text, say)}>{name}</button>;
	return <div class="row copies">
		{button(words.copyText, rule)}
		{button(words.copyJSON, all('json'))}
		{button(words.copyTerraform, all('terraform'))}
		{button(words.copyCurl, all('curl'))}
	</div>;
}
