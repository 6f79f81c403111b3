// What stands out: the values that blocked requests have more often than the others, in sentences.
import { Fragment } from 'preact';
import type { Answer, Diff, Finding, Parameters } from '../foundation/api';
import { type Asker, useAsked } from '../foundation/ask';
import { useConsole, useCounted } from '../foundation/context';
import { presentPeriod } from '../foundation/running';
import { Answered } from '../parts/answer';
import { Count, LinkTo } from '../parts/menu';
import { add, filtersOf } from '../pure/filter';
import { count, share } from '../pure/format';
import { periodOf, type Place } from '../pure/fragment';
import { conditionsOf } from '../pure/lex';
import { briefValue } from '../pure/reason';
import { requestsOf, withoutPeriod } from '../pure/sides';
import { words } from './standout.words';

const mostFindings = 20; // of which some are about values that are rarer in the selected requests
const mostSentences = 5;

/** Who asks, and for what. The fields of the decision differ by definition. */
const fields = ['country', 'host', 'human', 'ip', 'method', 'organization', 'path', 'protocol', 'user_agent'] as const;

/** StandOut reads from the address which requests are selected, asks how they differ from the others, and says it. */
export function StandOut() {
	const { api, place, round } = useConsole();
	const selected = selectedOf(place);
	const question = `standout ${periodOf(place)} ${selected} ${place.filter}`;
	const asked = useAsked(api, question, round, (asker) => ask(asker, place));
	return <section class="stand-out" aria-labelledby="stand-out">
		<h2 id="stand-out">{words.name(selected)}</h2>
		<Answered asked={asked} metas={(answer) => [answer.meta]} part>{({ results, meta, selected: of }) => <>
			{meta.diff && <Sentences findings={results} diff={meta.diff} selected={of} />}
			{meta.diff?.small && results.length > 0 && <p class="quiet">{words.small}</p>}
		</>}</Answered>
		<Compared selected={selected} others={asked.answer?.meta.diff?.baseline.num_of_requests !== 0} />
	</section>;
}

/** Compared opens the full comparison with the others. If there are no others, it opens that with the period before. */
function Compared({ selected, others }: { selected: string; others: boolean }) {
	const { go } = useConsole();
	return <button type="button" class="link" onClick={() => go({
		screen: 'compare', panel: '', other: '', by: null,
		select: others ? selected : '', against: others ? '' : 'previous',
	})}>{others ? words.compare : words.compareBefore}</button>;
}

function selectedOf(place: Place): string {
	return place.select || 'blocked is true';
}

/** What stands out in the selected requests. */
interface Found extends Answer<Finding> {
	selected: string;
}

async function ask(asker: Asker, place: Place): Promise<Found> {
	const period = presentPeriod(place);
	const selected = selectedOf(place);
	const parameters: Parameters = { filters: filtersOf(place.filter, period), select: selected, by: fields, limit: mostFindings };
	await asker.afford([['diff', parameters]]);
	return { ...await asker.ask('diff', parameters), selected };
}

/** Sentence says how many requests of both sides have a value. */
function Sentence({ finding: { by, value, ...of }, condition, diff }: { finding: Finding; condition: string | null; diff: Diff }) {
	return <span><b class="text">{words.of(by, briefValue(by, value))}</b>{' '}{(['selected', 'baseline'] as const).map((side) => {
		const { share: part, num_of_requests: n } = of[side];
		const counted = requestsOf(withoutPeriod(diff[side]), condition);
		return <Fragment key={side}>
			<Count twin n={n} {...counted} write={() => share(part, 1)} />{words.sides[side][0]}
			<Count n={n} {...counted} />{words.sides[side][1]}
		</Fragment>;
	})}</span>;
}

function Sentences({ findings, diff, selected }: { findings: readonly Finding[]; diff: Diff; selected: string }) {
	const { place, go } = useConsole();
	const counted = useCounted();
	const more = findings.filter((one) => one.selected.share > one.baseline.share).slice(0, mostSentences);
	if (more.length === 0) return <p>{diff.baseline.num_of_requests === 0 ? words.noOthers(selected) : words.none}</p>;
	return <ol>{more.map(({ condition, excluded, ...one }) => <li key={`${one.by} ${String(one.value)}`}>
		<Sentence finding={one} condition={condition ?? null} diff={diff} />
		{condition && excluded && <>
			<button type="button" class="link" aria-label={words.onlyLabel(condition)}
				onClick={() => go({ filter: add(place.filter, condition) })}>{words.only}</button>
			<button type="button" class="link" aria-label={words.withoutLabel(condition)}
				onClick={() => go({ filter: add(place.filter, excluded) })}>{words.without}</button>
			<LinkTo kind="link" name={words.openLabel(count(one.selected.num_of_requests), selected, condition)} change={{
				screen: 'events', filter: [...conditionsOf(selected), condition].reduce(add, counted.filter), period: counted.period,
			}}>{words.open}</LinkTo>
		</>}
	</li>)}</ol>;
}
