// Explain: what a question means, and what it would read and cost. It asks for estimates only.
import { useState } from 'preact/hooks';
import { type Canonical, type Meta, Refusal } from '../foundation/api';
import { type Asker, metaOf, type Planned, useAsked, usePlanned } from '../foundation/ask';
import { useConsole } from '../foundation/context';
import { Answered } from '../parts/answer';
import { copy } from '../parts/menu';
import { shell } from '../pure/curl';
import { filtersOf, splitPeriod } from '../pure/filter';
import { bytes, count, dollars, milliseconds } from '../pure/format';
import { periodOf, type Place } from '../pure/fragment';
import { conditionsOf } from '../pure/lex';
import type { Mistake } from '../pure/mistakes';
import { shorter } from '../pure/narrower';
import { addUp, type Estimate, rangeOf } from '../pure/price';
import { conditionWithoutSecrets, sensitiveIn } from '../pure/secrets';
import { type Period, periodCondition, resolve } from '../pure/time';
import { words } from './explain.words';

/** A question of the screen, and what it would read. */
interface Estimated {
	question: Planned;
	particulars: Particulars;
	estimate: Estimate;
}

/** What a question has beside the filter and the period of the page. */
interface Particulars {
	conditions: readonly string[];
	parameters: readonly string[];
}

/** A shorter period, and what the questions would read of it. */
interface Narrower {
	name: string;
	period: string;
	estimate: Estimate;
}

interface Meaning {
	filters: string;
	text: Canonical;
	json: string;
	estimates: Estimated[];
}

interface Mistaken {
	mistakes: readonly Mistake[];
	fixed: string;
}

/** Explain reads the question from the address, asks what it means, and draws that above the answer. */
export function Explain() {
	const { api, place, round, go } = useConsole();
	const planned = usePlanned();
	const asked = useAsked(api, `explain ${periodOf(place)} ${place.filter} ${JSON.stringify(planned)}`, round,
		(asker) => ask(asker, place, planned));
	return <section class="explain" aria-labelledby="explain-title">
		<div class="row between">
			<h2 id="explain-title">{words.title}</h2>
			<button type="button" class="icon" aria-label={words.close} title={`${words.close} (x)`}
				onClick={() => go({ panel: '' })}>×</button>
		</div>
		<Answered asked={asked} metas={() => []}>
			{(answer) => ('mistakes' in answer ? <Mistakes mistaken={answer} /> : <>
				<Means meaning={answer} />
				<Reads estimates={answer.estimates} />
				<Narrow planned={planned} />
				<p class="quiet">{words.shell} <code>orrery explain logs {shell(answer.filters)}</code></p>
			</>)}
		</Answered>
	</section>;
}

async function ask(asker: Asker, place: Place, planned: readonly Planned[]): Promise<Meaning | Mistaken> {
	const period = resolve(periodOf(place), Date.now());
	if (!period) throw new Error(`no period: ${place.period}`);
	const filters = filtersOf(place.filter, period);
	try {
		const json = await asker.canonical(filters, 'application/json'); // first, because an error as text has no places
		const [text, estimates] = await Promise.all([
			asker.canonical(filters, 'text/plain'),
			Promise.all(planned.map(async (question) => ({
				question, particulars: particularsOf(question, planned, place.filter),
				estimate: await asker.estimate(...question).catch(notEstimated),
			}))),
		]);
		return { filters, text, json: json.text, estimates };
	} catch (error) {
		if (!(error instanceof Refusal) || error.mistakes.length === 0 || error.mistakes.some((one) => one.parameter)) throw error;
		return { mistakes: error.mistakes, fixed: splitPeriod(error.fixed, Date.now()).filter };
	}
}

/** notEstimated is what is known of a question whose estimate the server refuses: why it does. */
function notEstimated(error: unknown): Estimate {
	if (!(error instanceof Refusal) || error.mistakes.length > 0) throw error;
	return { bytes: null, wait_ms: null, warnings: [error.message] };
}

/** within returns the questions about the period of the page, about a part of it. */
function within(planned: readonly Planned[], part: Period): Planned[] {
	const filters = planned.map(([, parameters]) => String(parameters['filters']));
	const whole = filters.map((text) => conditionsOf(text)[0] ?? '').find((condition) => condition.startsWith('timestamp between '));
	return planned.flatMap(([route, parameters], i): Planned[] => {
		const text = filters[i] ?? '';
		if (whole === undefined || !text.startsWith(whole)) return [];
		return [[route, { ...parameters, filters: periodCondition(part) + text.slice(whole.length) }]];
	});
}

/** particularsOf returns the period and the conditions of a question that are not those of the page, and its other parameters. */
function particularsOf([, { filters, ...others }]: Planned, planned: readonly Planned[], filter: string): Particulars {
	const split = (text: unknown): string[] => (typeof text === 'string' ? conditionsOf(text) : []);
	const known = [...split(filter), split(planned[0]?.[1]['filters'])[0]]; // the first one has the period of the page
	return {
		conditions: split(filters).filter((condition) => !known.includes(condition)),
		parameters: Object.entries(others).map(([name, value]) => `${name} ${Array.isArray(value) ? value.join(', ') : String(value)}`),
	};
}

function Mistakes({ mistaken: { mistakes, fixed } }: { mistaken: Mistaken }) {
	const { go } = useConsole();
	return <div class="trouble failed">
		<p><strong>{words.mistakes}</strong></p>
		<ul>{mistakes.map((mistake) => <li key={`${mistake.offset} ${mistake.message}`}>{mistake.message}</li>)}</ul>
		{fixed !== '' && <button type="button" onClick={() => go({ filter: fixed })}>{words.fix}: <code>{fixed}</code></button>}
	</div>;
}

/** Means are the canonical forms of the filter. */
function Means({ meaning: { text, json } }: { meaning: Meaning }) {
	const { say } = useConsole();
	const form = (name: string, content: string) => <div class="form-of">
		<div class="row between"><span class="quiet">{name}</span>
			<button type="button" class="link" aria-label={`${words.copy}: ${name}`} onClick={() => copy(content, say)}>
				{words.copy}</button></div>
		<pre tabIndex={0} aria-label={name}>{content}</pre>
	</div>;
	return <>
		<h3>{words.means}</h3>
		<div class="forms">{form(words.text, text.text)}{form(words.json, json)}</div>
		{text.relative !== '' && <p class="quiet">{words.relative} <code>{text.relative}</code></p>}
	</>;
}

const mostColumns = 12;

/** Reads is a table of the estimates, and the columns of the largest. */
function Reads({ estimates }: { estimates: readonly Estimated[] }) {
	const sensitive = sensitiveIn(useConsole().fields);
	const detail = ({ conditions, parameters }: Particulars) => { // a record adds conditions that the reader has not written
		const text = [...conditions.map((condition) => conditionWithoutSecrets(condition, sensitive)), ...parameters].join(' · ');
		return text !== '' && <small>{text}</small>;
	};
	const largest = [...estimates].sort((a, b) => (b.estimate.bytes?.high ?? 0) - (a.estimate.bytes?.high ?? 0))[0];
	const columns = (largest?.estimate.columns ?? []).flatMap(({ name, bytes: n }) => (n === undefined ? [] : [{ name, n }]))
		.sort((a, b) => b.n - a.n);
	const most = columns[0]?.n || 1; // nothing of objects that need not be read
	const together = addUp(estimates.map(({ estimate }) => estimate));
	const actual = addActual(estimates.flatMap(({ question }) => metaOf(question) ?? []));
	const number = (n: number | undefined): string => (n === undefined ? words.unknown : count(n));
	return <>
		<h3>{words.reads} <small>{words.readsHint}</small></h3>
		<div class="scroll" tabIndex={0} role="region" aria-label={words.reads}><table class="numbers">
			<thead><tr>{[words.route, words.hours, words.objects, words.records, words.bytes, words.wait, words.cost].map((name) =>
				<th scope="col" key={name}>{name}</th>)}</tr></thead>
			<tbody>
				{estimates.map(({ question, particulars, estimate }, i) => <tr key={i}>
					<th scope="row">{question[1]['marks'] ? words.marks : words.routes[question[0]]}{detail(particulars)}</th>
					<td>{number(estimate.partitions)}</td>
					<td>{number(estimate.objects)}{estimate.objects_reused ? words.reused(estimate.objects_reused) : ''}</td>
					<td>{number(estimate.rows)}</td>
					<Amounts estimate={estimate} actual={metaOf(question)} />
				</tr>)}
				{estimates.length > 1 && <tr class="together">
					<th scope="row">{words.together}</th><td /><td /><td /><Amounts estimate={together} actual={actual} />
				</tr>}
			</tbody>
		</table></div>
		{(together.warnings ?? []).map((warning) => <p class="warning-of" key={warning}>{warning}</p>)}
		{largest && columns.length > 0 && <>
			<h3>{words.columns(words.routes[largest.question[0]])}</h3>
			<ul class="columns-of">{columns.slice(0, mostColumns).map(({ name, n }) => <li key={name}>
				<code>{name}</code><span class="size" aria-hidden="true"><i style={{ '--part': String(n / most) }} /></span>
				<span>{bytes(n)}</span>
			</li>)}</ul>
			{columns.length > mostColumns && <p class="quiet">{words.more(columns.length - mostColumns)}</p>}
		</>}
	</>;
}

/** What questions really read and cost, and how long they took. */
type Actual = Pick<Meta, 'bytes_scanned' | 'elapsed_ms' | 'cost_usd'>;

/** addActual adds up questions that ran at the same time. */
function addActual(metas: readonly Meta[]): Actual | undefined {
	if (metas.length === 0) return undefined;
	const sum = (of: (one: Meta) => number | undefined): number => metas.reduce((all, one) => all + (of(one) ?? 0), 0);
	return {
		bytes_scanned: sum((one) => one.bytes_scanned), elapsed_ms: Math.max(...metas.map((one) => one.elapsed_ms)),
		...(metas.some((one) => one.cost_usd !== undefined) ? { cost_usd: sum((one) => one.cost_usd) } : {}),
	};
}

/**
 * Amounts are the cells of what is read, how long it takes and what it costs, and of what that was if the question ran.
 * Without the bytes, the price is not known.
 */
function Amounts({ estimate: e, actual }: { estimate: Estimate; actual: Actual | undefined }) {
	const cell = (estimated: string, was: string | undefined) =>
		<td>{estimated}{was !== undefined && <small>{words.actual(was)}</small>}</td>;
	return <>
		{cell(e.bytes ? `${e.unknown ? words.atLeast : ''}${rangeOf(e.bytes, bytes)}` : words.unknown,
			actual && bytes(actual.bytes_scanned))}
		{cell(e.wait_ms ? rangeOf(e.wait_ms, milliseconds) : words.unknown, actual && milliseconds(actual.elapsed_ms))}
		{cell(e.cost_usd ? rangeOf(e.cost_usd, dollars) : e.bytes ? words.free : words.unknown,
			actual?.cost_usd === undefined ? undefined : dollars(actual.cost_usd))}
	</>;
}

/** Narrow offers shorter periods, with what the same questions would read of them. That is asked for when somebody wants it. */
function Narrow({ planned }: { planned: readonly Planned[] }) {
	const { api, place, round, go } = useConsole();
	const [wanted, want] = useState(false);
	const period = resolve(periodOf(place), Date.now());
	const parts = period ? shorter(periodOf(place), period) : [];
	const question = `narrower ${wanted} ${periodOf(place)} ${JSON.stringify(planned)}`;
	const asked = useAsked<Narrower[]>(api, question, round, async (asker) => (!wanted ? [] : Promise.all(parts.map(async (one) => ({
		name: one.name, period: one.period,
		estimate: addUp(await Promise.all(within(planned, one.part).map((less) => asker.estimate(...less)))),
	})))));
	if (parts.length === 0) return null;
	return <div>
		<button type="button" class="small" aria-expanded={wanted} onClick={() => want(!wanted)}>{words.narrow}</button>
		{wanted && <Answered asked={asked} metas={() => []}>
			{(narrower) => <div class="row"><h3>{words.narrower}</h3>{narrower.map(({ name, period: shown, estimate }) =>
				<button type="button" class="small" key={name} onClick={() => go({ period: shown })}>
					{words.last(name, estimate.bytes ? rangeOf(estimate.bytes, bytes) : words.unknown)}</button>)}</div>}
		</Answered>}
	</div>;
}
