// Dashboard: what is going on, who does it, and to what.
import { type Answer, type Meta, type Segment, type Top } from './api';
import { type Asker, useAsked } from './ask';
import { Chart } from './chart';
import { useConsole } from './context';
import { Value } from './menu';
import { leadToData, never } from './start';
import { Answered, Nothing } from './states';
import { brief, bytes, changeOf, count, seconds, share } from './pure/format';
import { add, type Fact, filtersOf } from './pure/filter';
import { periodOf, type Place } from './pure/fragment';
import { type Period, previous, resolve } from './pure/time';
import { words } from './strings';

/** The figures of a period. */
interface Figures {
	timeline: Answer<Segment>;
	monitored: number;
	clients: number;
	metas: Meta[];
}

interface Answers {
	now: Figures;
	before: Figures;
	top: Answer<Top>;
}

/** Dashboard reads the question from the address, asks it, and draws the answer. */
export function Dashboard() {
	const console = useConsole();
	const { api, place, round } = console;
	const asked = useAsked(api, `dashboard ${periodOf(place)} ${place.filter}`, round, async (asker) => {
		const answers = await ask(asker, place);
		return leadToData(console, answers.now.timeline) ? never<Answers>() : answers;
	});
	return <Answered asked={asked} metas={(a) => [...a.now.metas, ...a.before.metas, a.top.meta]}>
		{({ now, before, top }) => total(now.timeline.results, 'num_of_requests') === 0 ?
			<><Nothing meta={now.timeline.meta} /><Questions /></> :
			<>
				<Tiles now={now} before={before} />
				<Chart segments={now.timeline.results} before={before.timeline.results}
					length={now.timeline.meta.segment_seconds ?? 60} height={220} period={now.timeline.meta.period} />
				<Lists top={top.results} requests={total(now.timeline.results, 'num_of_requests')} />
				<Questions />
			</>}
	</Answered>;
}

async function ask(asker: Asker, place: Place): Promise<Answers> {
	const period = resolve(periodOf(place), Date.now());
	if (!period) throw new Error(`no period: ${place.period}`);
	const earlier = previous(period);
	const top = { filters: filtersOf(place.filter, period), limit: 8 };
	await asker.afford([['topx', top], ['timeline', { filters: filtersOf(place.filter, earlier) }]]);
	const [now, before, keys] = await Promise.all([
		figures(asker, place.filter, period), figures(asker, place.filter, earlier), asker.ask('topx', top),
	]);
	return { now, before, top: keys };
}

async function figures(asker: Asker, filter: string, period: Period): Promise<Figures> {
	const filters = filtersOf(filter, period);
	const [timeline, monitored, clients] = await Promise.all([
		asker.ask('timeline', { filters }),
		asker.ask('histogram', { filters, measure: 'monitored' }),
		asker.ask('facets', { filters, by: ['ip'], limit: 1 }),
	]);
	return {
		timeline,
		monitored: monitored.results.reduce((sum, one) => sum + one.value, 0),
		clients: clients.results[0]?.distinct ?? 0,
		metas: [timeline.meta, monitored.meta, clients.meta],
	};
}

function total(segments: readonly Segment[], of: keyof Segment): number {
	return segments.reduce((sum, segment) => sum + segment[of], 0);
}

type TileName = keyof typeof words.tiles;

/** The condition that a tile adds; the first one and those of amounts add none. */
const tileConditions: Partial<Record<TileName, string>> = {
	blocked: 'blocked is true', challenged: 'result="Challenged"', monitored: 'monitor is true', human: 'human is true',
	refused: 'upstream_status>=400',
};

function valuesOf(f: Figures): Record<TileName, number> {
	const of = (name: keyof Segment): number => total(f.timeline.results, name);
	return {
		requests: of('num_of_requests'), blocked: of('num_of_blocked_requests'), challenged: of('num_of_challenges'),
		monitored: f.monitored, human: of('num_of_human_requests'), refused: of('num_of_origin_blocked_requests'),
		clients: f.clients, bytes: of('sum_of_sent_bytes'),
	};
}

/** Tiles are the numbers of the period, each with that of the period before, and a click away from its requests. */
function Tiles({ now, before }: { now: Figures; before: Figures }) {
	const values = valuesOf(now);
	const earlier = valuesOf(before);
	return <section class="tiles" aria-label={words.screens.dashboard}>
		{(Object.keys(words.tiles) as TileName[]).map((name) =>
			<Tile key={name} name={name} value={values[name]} before={earlier[name]} of={values.requests} />)}
	</section>;
}

function Tile({ name, value, before, of }: { name: TileName; value: number; before: number; of: number }) {
	const { place, go } = useConsole();
	const write = name === 'bytes' ? bytes : brief;
	const change = changeOf(value, before);
	const sign = { more: '▲', less: '▼', same: '=', new: '' }[change.sign];
	const part = name !== 'requests' && name !== 'clients' && name !== 'bytes';
	const condition = tileConditions[name];
	const content = <>
		<span class="name">{words.tiles[name]}</span>
		<span class="number">{write(value)}{part && <small>{share(value, of)}</small>}</span>
		<span class="change" title={before === 0 ? words.noneBefore : undefined}>
			{before === 0 ? words.noneBefore : <>
				<span aria-hidden="true">{sign}</span> {change.text}<span class="hidden"> {words.changes[change.sign]}</span>
				{' · '}{words.before(write(before))}
			</>}
		</span>
	</>;
	const click = name === 'requests' ? () => go({ screen: 'events' }) :
		condition ? () => go({ filter: add(place.filter, condition) }) : null;
	if (!click) return <div class={`tile ${name}`} title={words.tileTitles[name]}>{content}</div>;
	return <button type="button" class={`tile ${name}`} title={words.tileTitles[name]} onClick={click}>{content}</button>;
}

type ListName = keyof typeof words.lists;

/** factOf returns the field and value of a top key. The keys of times are targets. */
function factOf(top: Top): Fact {
	if (top.label === 'total_time') return { field: 'url', value: top.key };
	if (top.label === 'reason' && top.key.startsWith('Monitor')) return { field: 'monitor_reasons', value: top.key };
	return { field: top.label, value: top.key };
}

function Lists({ top, requests }: { top: readonly Top[]; requests: number }) {
	return <div class="lists">
		{(Object.keys(words.lists) as ListName[]).map((name) => {
			const keys = top.filter((one) => one.label === name);
			return name === 'total_time' ? <Slow key={name} keys={keys} /> :
				<List key={name} name={name} keys={keys} requests={requests} />;
		})}
	</div>;
}

/** List is a table of the top keys of a label, those with most blocked requests first. */
function List({ name, keys, requests }: { name: ListName; keys: readonly Top[]; requests: number }) {
	return <section class="list">
		<table>
			<caption><h2>{words.lists[name]}</h2> <small>{words.listOrder}</small></caption>
			<thead><tr>
				<th scope="col">{words.value}</th><th scope="col">{words.blocked}</th>
				<th scope="col">{words.requests}</th><th scope="col">{words.ofAll}</th>
			</tr></thead>
			<tbody>{keys.map((top) => <tr key={top.key}>
				<th scope="row" style={{ '--part': String(top.num_of_requests / requests) }}>
					{top.key_truncated ? <span class="text" title={top.key}>{top.key}</span> :
						<Value fact={factOf(top)}>{top.key === '' ? '""' : top.key}</Value>}
				</th>
				<td class={top.num_of_blocked_requests > 0 ? 'blocked' : ''}>{count(top.num_of_blocked_requests)}</td>
				<td>{count(top.num_of_requests)}</td>
				<td class="share">{share(top.num_of_requests, requests)}</td>
			</tr>)}</tbody>
		</table>
		{keys.length === 0 && <p class="quiet">{words.noValues}</p>}
	</section>;
}

function Slow({ keys }: { keys: readonly Top[] }) {
	const slowest = [...keys].sort((a, b) => (b.avg_total_time ?? 0) - (a.avg_total_time ?? 0));
	return <section class="list">
		<table>
			<caption><h2>{words.lists.total_time}</h2> <small>{words.slowOrder}</small></caption>
			<thead><tr>
				<th scope="col">{words.value}</th><th scope="col">{words.average}</th>
				<th scope="col">{words.longest}</th><th scope="col">{words.requests}</th>
			</tr></thead>
			<tbody>{slowest.map((top) => <tr key={top.key}>
				<th scope="row"><Value fact={factOf(top)}>{top.key}</Value></th>
				<td>{seconds(top.avg_total_time ?? 0)}</td><td>{seconds(top.max_total_time ?? 0)}</td>
				<td>{count(top.num_of_requests)}</td>
			</tr>)}</tbody>
		</table>
		{keys.length === 0 && <p class="quiet">{words.noValues}</p>}
	</section>;
}

/** Questions are three that a first visitor can click. */
function Questions() {
	const { go } = useConsole();
	const questions: [string, Partial<Place>][] = [
		[words.askAttack, { filter: 'blocked is true', screen: 'dashboard' }],
		[words.askFalse, { filter: 'blocked is true, human is true', screen: 'events' }],
		[words.askSlow, { filter: 'status>=500', screen: 'events' }],
	];
	return <p class="questions">
		{words.questions}: {questions.map(([text, change]) =>
			<button type="button" class="link" key={text} onClick={() => go(change)}>{text}</button>)}
	</p>;
}
