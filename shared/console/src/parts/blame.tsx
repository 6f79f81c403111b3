// An empty answer: where there are records, which condition keeps out all requests, and where the nearest requests are.
import { useState } from 'preact/hooks';
import type { Answer, Meta, Parameters, Segment } from '../foundation/api';
import { type Asker, useAsked } from '../foundation/ask';
import { useConsole, useCounted } from '../foundation/context';
import { extentOf, mostConditions, mostNearest, nearest, type Without, withoutEach } from '../pure/blame';
import { filtersOf } from '../pure/filter';
import { requests } from '../pure/format';
import { conditionsOf } from '../pure/lex';
import { absolute, endOfNewest, momentIn, type Period, periodIn, segmentFor } from '../pure/time';
import { words as empty } from '../pure/words';
import { Answered, wholeSeconds } from './answer';
import { words } from './blame.words';
import { Count } from './menu';

interface Found {
	without: readonly (Without & { requests: number })[];
	nearest: (Period & { requests: number }) | null | undefined; // null: there are none; undefined: unknown
	metas: readonly Meta[];
}

/** Nothing says why an answer is empty, and where there are records. */
export function Nothing({ meta }: { meta: Meta }) {
	const { place, zone, go, bring } = useConsole();
	const [why, askWhy] = useState(false);
	const from = Date.parse(meta.period.from);
	const to = Date.parse(meta.period.to);
	if (meta.newest === null) {
		return <section class="trouble"><p><strong>{words.noData}</strong></p><p>{words.noDataHint}</p>
			{!['athena', 'trino'].includes(meta.engine) && <button type="button" class="primary" onClick={() => bring([])}>
				{empty.importLog}</button>}
		</section>;
	}
	const newest = Date.parse(meta.newest);
	const outside = newest < from;
	return <><section class="trouble">
		<p><strong>{place.filter === '' ? empty.nothingAtAll : empty.nothing}</strong>
			{outside && ' ' + words.outside(momentIn(wholeSeconds(meta.newest), zone))}</p>
		<div class="row">
			{outside && <button type="button" class="primary" onClick={() => {
				const end = endOfNewest(newest);
				go({ period: absolute({ from: end - (to - from), to: end }) });
			}}>{words.goToNewest}</button>}
			{place.filter !== '' && <button type="button" onClick={() => go({ filter: '' })}>{words.dropFilter}</button>}
			{(place.filter !== '' || !outside) && <button type="button" aria-expanded={why} onClick={() => askWhy(!why)}>
				{place.filter === '' ? words.whereNearest : words.whyNothing}</button>}
		</div>
	</section>
	{why && <Blame period={{ from, to }} />}</>;
}

/** Blame asks how many requests there are without each condition, and where the nearest ones are. */
function Blame({ period }: { period: Period }) {
	const { api, place, round } = useConsole();
	const question = `blame ${absolute(period)} ${place.filter}`;
	const asked = useAsked(api, question, round, (asker) => ask(asker, place.filter, period));
	return <section class="blame" aria-label={words.name}>
		<Answered asked={asked} metas={(found) => found.metas} part>
			{(found) => <><Conditions found={found} /><Nearest found={found} /></>}
		</Answered>
	</section>;
}

async function ask(asker: Asker, filter: string, period: Period): Promise<Found> {
	const without = withoutEach(filter);
	const timeline = (conditions: string, of: Period, most: number): readonly ['timeline', Parameters] =>
		['timeline', { filters: filtersOf(conditions, of), segment: segmentFor(of, most) }];
	const data = extentOf((await asker.get('status')).text);
	const questions = [
		...without.map((one) => timeline(one.filter, period, 10)),
		...(data ? [timeline(filter, data, mostNearest)] : []),
	];
	await asker.afford(questions);
	const answers = await Promise.all(questions.map(([route, parameters]) => asker.ask(route, parameters)));
	const all = data ? answers[answers.length - 1] : undefined;
	return {
		without: without.map((one, i) => ({ ...one, requests: total(answers[i]) })),
		nearest: all ? nearest(all.results, all.meta.segment_seconds ?? 60, period) : undefined,
		metas: answers.map((answer) => answer.meta),
	};
}

function total(answer: Answer<Segment> | undefined): number {
	return answer?.results.reduce((sum, segment) => sum + segment.num_of_requests, 0) ?? 0;
}

function Conditions({ found: { without } }: { found: Found }) {
	const { place, go } = useConsole();
	const { period } = useCounted();
	if (without.length === 0) return null;
	const guilty = without.filter((one) => one.requests > 0);
	const sentence = guilty.length === 0 ? words.several : guilty.length === 1 && guilty[0] ? words.toBlame(guilty[0].condition) : '';
	return <>
		{sentence !== '' && <p><strong>{sentence}</strong></p>}
		<table class="findings">
			<caption class="hidden">{words.blame}</caption>
			<thead><tr><th scope="col">{words.condition}</th><th scope="col" class="n">{words.requests}</th><td /></tr></thead>
			<tbody>{without.map((one) => <tr key={one.condition}>
				<th scope="row"><code>{one.condition}</code></th>
				<td class="n"><Count n={one.requests} filter={one.filter} period={period} /></td>
				<td>{one.requests > 0 && <button type="button" class="small" aria-label={words.leaveOutLabel(one.condition)}
					onClick={() => go({ filter: one.filter })}>{words.leaveOut}</button>}</td>
			</tr>)}</tbody>
		</table>
		{conditionsOf(place.filter).length > mostConditions && <p class="quiet">{words.first(mostConditions)}</p>}
	</>;
}

function Nearest({ found: { nearest: there } }: { found: Found }) {
	const { place, zone, go } = useConsole();
	if (!there) return place.filter === '' || there === undefined ? null : <p>{words.never}</p>;
	const period = absolute(there);
	return <p class="row">
		<span>
			{words.nearest}{' '}
			<Count n={there.requests} filter={place.filter} period={period} write={requests} />, {periodIn(there, zone)} {zone}.
		</span>
		<button type="button" class="small" onClick={() => go({ period })}>{words.goThere}</button>
	</p>;
}
