// Changes of settings in the period, and what each did. They need further questions. The dashboard asks them at once if they are light,
// the events after a click.
import { useEffect, useState } from 'preact/hooks';
import { type Effect, type Meta, type Parameters, questionOf } from '../foundation/api';
import { type Asked, useAsked } from '../foundation/ask';
import { useConsole } from '../foundation/context';
import { mostSegments } from '../foundation/media';
import { presentPeriod } from '../foundation/running';
import type * as answers from '../pure/answers';
import { filtersOf } from '../pure/filter';
import { count } from '../pure/format';
import { periodOf } from '../pure/fragment';
import type { Estimate } from '../pure/price';
import { absolute, clockIn, dateIn, filterTime, segmentFor } from '../pure/time';
import { Answered, countedBy } from './answer';
import { words } from './changes.words';
import { Count } from './menu';
import type { Mark } from './plot';

const hour = 3_600_000;

/** A change, with its name in the zone of the page. */
interface Change extends answers.Mark {
	ms: number;
	name: string;
}

/** What a screen does with the changes: it marks them in its charts, and counts their questions among its own. */
export interface Marking {
	marks: readonly Mark[];
	metas: readonly Meta[];
	questions: Asked<unknown>['questions'];
}

const unmarked: Marking = { marks: [], metas: [], questions: [] };

/** The question of a screen beside which the changes are asked for, and the estimates of what it asks. */
interface Beside {
	parameters: Parameters;
	round: number;
	through: Estimate[];
}

/**
 * Changes marks the changes of the period in the charts, and lists them if it is open. Until then, a question that is heavy, also together
 * with those beside it, waits without a word.
 */
export function Changes({ mark, open = true, of }: { mark(marking: Marking): void; open?: boolean; of?: Beside }) {
	const { api, place, zone, round, choose, go } = useConsole();
	const [chosen, setChosen] = useState<Change | null>(null);
	const question = of ? questionOf('histogram', of.parameters) : `${periodOf(place)} ${place.filter}`;
	const asked = useAsked(api, `changes ${question}`, of?.round ?? round, async (asker) => {
		const period = presentPeriod(place);
		const parameters: Parameters = {
			...(of?.parameters ?? { filters: filtersOf(place.filter, period), segment: segmentFor(period, mostSegments()) }), marks: true,
		};
		await asker.afford([['histogram', parameters]], of?.through);
		return (await asker.ask('histogram', parameters)).meta;
	});
	const meta = asked.answer;
	const changes = meta ? changesOf(meta, zone) : [];
	useEffect(() => {
		if (meta) {
			mark({
				marks: changes.map(({ ms, name }) => ({ from: ms / 1000, to: ms / 1000 + 60, name, line: true })),
				metas: [meta], questions: asked.questions,
			});
		}
		return () => mark(unmarked);
	}, [meta, zone]);
	if (!open) return asked.state === 'asking' ? <span hidden aria-busy="true" /> : null;
	return <section class="changes" aria-label={words.name}>
		<Answered asked={asked} metas={(one) => [one]} part>
			{() => (changes.length === 0 ? <p>{words.none}</p> : <ul class="row">{changes.map((change) => <li key={change.name}>
				<button type="button" class="small" aria-haspopup="menu" onClick={(event) => choose(null, event.currentTarget, [
					[words.ask, '', () => setChosen(change)],
					[words.around, '', () => go({ period: absolute({ from: change.ms - hour, to: change.ms + hour - 1 }) })],
				])}>{change.name}</button>
				<small>{change.kind === 'revision' ? change.before !== undefined && words.before(change.before) :
					change.by && words.by(change.by)}</small>
			</li>)}</ul>)}
		</Answered>
		{chosen && changes.some(({ name }) => name === chosen.name) && <EffectOf change={chosen} close={() => setChosen(null)} />}
	</section>;
}

/** changesOf returns the changes that an answer names. The dates are there only if the period has several. */
function changesOf({ marks = [], period }: answers.Meta, zone: string): Change[] {
	const several = dateIn(Date.parse(period.from), zone) !== dateIn(Date.parse(period.to) - 1, zone);
	return marks.map((mark) => {
		const ms = Date.parse(mark.at);
		const at = `${several ? `${dateIn(ms, zone)} ` : ''}${clockIn(ms, zone, 'minutes')}`;
		const name = mark.kind === 'planet' ? words.planet(at, mark.config ?? '', mark.version ?? 0) : words.revision(at, mark.after ?? '');
		return { ...mark, ms, name };
	});
}

/** EffectOf is what a change did: the blocked requests in the hour before it and in the hour after it, by rule. */
function EffectOf({ change: { ms, name }, close }: { change: Change; close(): void }) {
	const { api, place, round } = useConsole();
	const asked = useAsked(api, `effect ${ms} ${place.filter}`, round, async (asker) => {
		const parameters: Parameters = { at: filterTime(ms), ...(place.filter === '' ? {} : { filters: place.filter }) };
		await asker.afford([['effect', parameters]]);
		return asker.ask('effect', parameters);
	});
	return <section class="effect" aria-labelledby="effect">
		<div class="row between"><h2 id="effect">{words.effect(name)}</h2>
			<button type="button" class="icon" aria-label={words.close} onClick={close}>×</button></div>
		<Answered asked={asked} metas={({ meta }) => [meta]} part>
			{({ results, meta }) => <>
				<p>{results.find(({ by }) => by === 'all')?.sentence}</p>
				{meta.effect?.shortened && <p class="quiet">{words.shortened}</p>}
				<Rules results={results.filter(({ by }) => by === 'rule')} />
			</>}
		</Answered>
	</section>;
}

function Rules({ results }: { results: readonly Effect[] }) {
	if (results.length === 0) return null;
	const cell = ({ num_of_blocked_requests: n, filter }: Effect['before']) => {
		const counted = countedBy({ filters: filter });
		return <td class="n"><Count n={n} filter={counted?.filter ?? null} period={counted?.period} /></td>;
	};
	const head = [words.rule, words.blockedBefore, words.blockedAfter, words.expected];
	return <div class="scroll" tabIndex={0} role="region" aria-label={words.rule}><table class="numbers">
		<thead><tr>{head.map((name, i) => <th scope="col" key={name} class={i === 1 || i === 2 ? 'n' : ''}>{name}</th>)}</tr></thead>
		<tbody>{results.map((one) => <tr key={one.value}>
			<th scope="row">{one.value}</th>{cell(one.before)}{cell(one.after)}
			<td>{one.difference === 0 ? words.asExpected : one.difference > 0 ? words.more(count(one.difference)) :
				words.less(count(-one.difference))}</td>
		</tr>)}</tbody>
	</table></div>;
}
