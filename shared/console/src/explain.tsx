// Explain: what a question means, and what it would read and cost. It asks for estimates only.
import './app';
import { type Canonical, type Priced, Refusal } from './api';
import { type Asker, type Planned, useAsked, usePlanned } from './ask';
import { useConsole } from './context';
import { copy } from './menu';
import { Answered } from './states';
import { shell } from './pure/curl';
import { filtersOf, splitPeriod } from './pure/filter';
import { bytes, count, dollars, milliseconds } from './pure/format';
import { periodOf, type Place } from './pure/fragment';
import { conditionsOf } from './pure/lex';
import type { Mistake } from './pure/mistakes';
import { addUp, type Estimate, rangeOf } from './pure/price';
import { resolve } from './pure/time';
import { words } from './strings.explain';

/** A question of the screen, and what it would read. */
interface Estimated {
	route: Priced;
	particulars: string; // beside the filter and the period of the page
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
		const [text, ...estimates] = await Promise.all([
			asker.canonical(filters, 'text/plain'),
			...planned.map(async (one) => ({
				route: one[0], particulars: particularsOf(one, planned, place.filter), estimate: await asker.estimate(...one),
			})),
		]);
		return { filters, text, json: json.text, estimates };
	} catch (error) {
		if (!(error instanceof Refusal) || error.mistakes.length === 0 || error.mistakes.some((one) => one.parameter)) throw error;
		return { mistakes: error.mistakes, fixed: splitPeriod(error.fixed, Date.now()).filter };
	}
}

/** particularsOf names the period and the conditions of a question that are not those of the page, and its other parameters. */
function particularsOf([, { filters, ...others }]: Planned, planned: readonly Planned[], filter: string): string {
	const split = (text: unknown): string[] => conditionsOf(String(text));
	const known = [...split(filter), split(planned[0]?.[1]['filters'])[0]]; // the first one has the period of the page
	return [...split(filters).filter((condition) => !known.includes(condition)),
		...Object.entries(others).map(([name, value]) => `${name} ${Array.isArray(value) ? value.join(', ') : String(value)}`)].join(' · ');
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
	const largest = [...estimates].sort((a, b) => (b.estimate.bytes?.high ?? 0) - (a.estimate.bytes?.high ?? 0))[0];
	const columns = (largest?.estimate.columns ?? []).flatMap(({ name, bytes: n }) => (n === undefined ? [] : [{ name, n }]))
		.sort((a, b) => b.n - a.n);
	const most = columns[0]?.n ?? 1;
	const together = addUp(estimates.map(({ estimate }) => estimate));
	const number = (n: number | undefined): string => (n === undefined ? words.unknown : count(n));
	return <>
		<h3>{words.reads} <small>{words.readsHint}</small></h3>
		<div class="scroll" tabIndex={0} role="region" aria-label={words.reads}><table class="numbers">
			<thead><tr>{[words.route, words.hours, words.objects, words.records, words.bytes, words.wait, words.cost].map((name) =>
				<th scope="col" key={name}>{name}</th>)}</tr></thead>
			<tbody>
				{estimates.map(({ route, particulars, estimate }, i) => <tr key={i}>
					<th scope="row">{words.routes[route]}{particulars !== '' && <small>{particulars}</small>}</th>
					<td>{number(estimate.partitions)}</td><td>{number(estimate.objects)}</td><td>{number(estimate.rows)}</td>
					<Amounts estimate={estimate} />
				</tr>)}
				{estimates.length > 1 && <tr class="together">
					<th scope="row">{words.together}</th><td /><td /><td /><Amounts estimate={together} />
				</tr>}
			</tbody>
		</table></div>
		{(together.warnings ?? []).map((warning) => <p class="warning-of" key={warning}>{warning}</p>)}
		{largest && columns.length > 0 && <>
			<h3>{words.columns(words.routes[largest.route])}</h3>
			<ul class="columns-of">{columns.slice(0, mostColumns).map(({ name, n }) => <li key={name}>
				<code>{name}</code><span class="size" aria-hidden="true"><i style={{ '--part': String(n / most) }} /></span>
				<span>{bytes(n)}</span>
			</li>)}</ul>
			{columns.length > mostColumns && <p class="quiet">{words.more(columns.length - mostColumns)}</p>}
		</>}
	</>;
}

/** Amounts are the cells of what is read, how long it takes and what it costs. Without the bytes, the price is not known. */
function Amounts({ estimate: e }: { estimate: Estimate }) {
	return <>
		<td>{e.bytes ? `${e.unknown ? words.atLeast : ''}${rangeOf(e.bytes, bytes)}` : words.unknown}</td>
		<td>{e.wait_ms ? rangeOf(e.wait_ms, milliseconds) : words.unknown}</td>
		<td>{e.cost_usd ? rangeOf(e.cost_usd, dollars) : e.bytes ? words.free : words.unknown}</td>
	</>;
}
