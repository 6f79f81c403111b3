// The review of a change: which parts of it loosen a check, and whom it meets.
import { type Answer, type Facet, type Meta, type Parameters, Refusal } from '../foundation/api';
import { type Asker, useAsked } from '../foundation/ask';
import { useConsole } from '../foundation/context';
import { Answered } from '../parts/answer';
import { Count } from '../parts/menu';
import { add, filtersOf, only } from '../pure/filter';
import { count, requests, share } from '../pure/format';
import { knownOf, numberIn } from '../pure/known';
import { networkOf } from '../pure/networks';
import { absolute, endOfNewest, momentIn, type Period, resolve } from '../pure/time';
import type { Group, Loosening } from '../pure/trust';
import { words } from './review.words';

const day = 86_400_000;
const mostAddresses = 3; // that are named
const mostBranches = 80; // that an answer can have
const longestLink = 2000; // characters of a filter that an address may have

/** What a change means: the parts of it that loosen a check, the conditions of the requests that it meets, and new global filters. */
export interface Meaning {
	loosened: readonly Loosening[];
	met: readonly [Group, string][];
	filters: readonly string[];
}

/** Review is what a change means, above its difference. */
export function Review({ config, meaning: { loosened, met, filters } }: { config: string; meaning: Meaning }) {
	return <>
		<Loosened found={loosened} />
		{met.length > 0 && <Met config={config} groups={met} />}
		{filters.length > 0 && <p class="quiet">{words.filtersTrusted(filters.join(', '))}</p>}
	</>;
}

function Loosened({ found }: { found: readonly Loosening[] }) {
	if (found.length === 0) return null;
	return <section class="trouble loosened" aria-labelledby="loosened">
		<h3 id="loosened"><span aria-hidden="true">▲</span> {words.loosens}</h3>
		<ul class="plain-list">{found.map((one) => <li key={`${one.kind} ${one.name}`}>{sentenceOf(one)}</li>)}</ul>
	</section>;
}

function sentenceOf(one: Loosening): string {
	if (one.kind === 'off') return words.switchedOff(one.name);
	if (one.kind === 'everybody') return one.name === '' ? words.togetherAll : words.trustsAll(one.name, one.bits === 32);
	return words.trustsWide(one.name, one.bits === 32 ? count(2 ** (32 - (networkOf(one.name)?.length ?? 32))) : '');
}

/** Confirm asks for the name of the planet, without which a change that loosens a check is not saved. */
export function Confirm({ name, typed, type, save }: { name: string; typed: string; type(text: string): void; save(): void }) {
	return <label class="confirm"><span>{words.typeName[0]}<b>{name}</b>{words.typeName[1]}</span>
		<input id="confirm-name" value={typed} autocomplete="off" spellcheck={false} onInput={(event) => type(event.currentTarget.value)}
			onKeyDown={(event) => event.key === 'Enter' && typed === name && save()} />
	</label>;
}

/** The requests of a group. */
interface Figures {
	group: Group;
	filter: string;
	requests: number;
	blocked: number | null; // null: the log does not say it
	addresses: number;
	most: Facet['values'];
}

/** Whom a change meets in a period. */
interface Found {
	period: Period;
	last: boolean; // the period ends now
	all: number | null; // requests of the configuration; null: not known
	figures: Figures[];
	metas: Meta[];
}

/** Met counts whom a change meets in the last 24 hours, or in the newest ones of the data. */
function Met({ config, groups }: { config: string; groups: readonly [Group, string][] }) {
	const { api, round, zone } = useConsole();
	const asked = useAsked(api, `meets ${config} ${JSON.stringify(groups)}`, round, (asker) => ask(asker, config, groups));
	return <section class="meets" aria-labelledby="meets">
		<h3 id="meets">{words.meets}</h3>
		<Answered asked={asked} metas={(found) => (found === 'not allowed' ? [] : found.metas)} part>
			{(found) => (found === 'not allowed' ? <p class="quiet">{words.notCounted}</p> : <>
				<p class="quiet">{words.meetsIn(found.last ? '' : momentIn(found.period.to, zone),
					found.all === null ? '' : requests(found.all), config)}</p>
				<dl>{found.figures.map((of) => <Row key={of.group} of={of} found={found} />)}</dl>
			</>)}
		</Answered>
	</section>;
}

/** addressesIn writes a number of addresses. */
function addressesIn(n: number): string {
	return n === 1 ? words.address : words.addresses(count(n));
}

function Row({ of, found: { all, period } }: { of: Figures; found: Found }) {
	const { group, filter, requests: n, blocked, addresses, most } = of;
	const counted = { filter: filter.length > longestLink ? null : filter, period: absolute(period) };
	const part = all !== null && all > 0 && n > 0 ? words.part(share(n, all)) : '';
	return <>
		<dt>{words.groups[group]}</dt>
		<dd>{n === 0 ? words.nobody : <>
			<Count n={n} write={requests} {...counted} />{part}{words.from}
			<Count n={addresses} write={addressesIn} {...counted} beside={{ panel: 'facets', facets: ['ip'] }} />.{' '}
			{blocked === null ? '' : blocked === 0 ? words.noneBlocked : <>
				<Count n={blocked} {...counted} filter={counted.filter && add(counted.filter, 'blocked is true')} />
				{words.wereBlocked(blocked)}
			</>}
			{addresses > 1 && <small>
				{words.mostly} {most.map(({ value, num_of_requests: own }) => `${value} (${count(own)})`).join(', ')}</small>}
		</>}</dd>
	</>;
}

/** ask counts the requests of each group, unless the key may not read requests. */
async function ask(asker: Asker, config: string, groups: readonly [Group, string][]): Promise<Found | 'not allowed'> {
	try {
		return await found(asker, config, groups);
	} catch (error) {
		if (error instanceof Refusal && error.status === 403) return 'not allowed';
		throw error;
	}
}

async function found(asker: Asker, config: string, groups: readonly [Group, string][]): Promise<Found> {
	const facets = async (parameters: Parameters[]): Promise<Answer<Facet>[]> => {
		await asker.afford(parameters.map((one) => ['facets', one] as const));
		return Promise.all(parameters.map((one) => asker.ask('facets', one)));
	};
	const branches = async (period: Period): Promise<Answer<Facet>> => {
		const [answer] = await facets([{ filters: filtersOf('', period), by: ['branch'], limit: mostBranches }]);
		if (!answer) throw new Error('a question without an answer');
		return answer;
	};
	let period = resolve('24h', Date.now()) ?? { from: 0, to: 0 };
	let answer = await branches(period);
	const newest = Date.parse(answer.meta.newest ?? '');
	const last = !(newest < period.from);
	if (!last) {
		const to = endOfNewest(newest);
		period = { from: to - day, to };
		answer = await branches(period);
	}
	const [branch] = answer.results;
	const named = branch !== undefined && branch.num_of_requests > 0; // otherwise the log has no configurations
	const own = branch?.values.find(({ value }) => value === config)?.num_of_requests;
	const all = named ? own ?? (branch.rest?.distinct ? null : 0) : answer.meta.num_of_requests ?? null;
	const filters = groups.map(([, filter]) => (named ? add(only({ field: 'branch', value: config }), filter) : filter));
	const counted = await facets(filters.map((filter) => (
		{ filters: filtersOf(filter, period), by: ['ip', 'result'], limit: mostAddresses })));
	return {
		period, last, all, metas: [answer, ...counted].map(({ meta }) => meta),
		figures: groups.map(([group], i) => figuresOf(group, filters[i] ?? '', counted[i]?.results ?? [])),
	};
}

function figuresOf(group: Group, filter: string, results: readonly Facet[]): Figures {
	const ip = results.find(({ by }) => by === 'ip');
	const result = results.find(({ by }) => by === 'result');
	const rest = result?.rest?.num_of_blocked_requests ?? 0;
	const blocked = (result?.values ?? []).reduce((sum, one) => sum + one.num_of_blocked_requests, rest);
	return {
		group, filter, requests: (ip?.num_of_requests ?? 0) + (ip?.num_of_absent ?? 0),
		blocked: numberIn(knownOf(results), 'result', blocked), addresses: ip?.distinct ?? 0, most: ip?.values ?? [],
	};
}
