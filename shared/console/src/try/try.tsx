// Try a rule: what a rate limit or a filter would have done to the requests of the period. One rule, or two side by side.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { type Answer, type Parameters, Refusal, type Tried } from '../foundation/api';
import { type Asked, useAsked } from '../foundation/ask';
import { useConsole } from '../foundation/context';
import { presentPeriod } from '../foundation/running';
import { Answered } from '../parts/answer';
import { add, filtersOf } from '../pure/filter';
import { periodOf } from '../pure/fragment';
import { conditionsOf } from '../pure/lex';
import { besideOf, isWhole, readRule, writeRule } from '../pure/rule';
import { absolute, endOfNewest, momentIn } from '../pure/time';
import { firstRule, ruleConditions } from '../pure/trial';
import { Figures, OutcomeOf } from './outcome';
import { RuleForm } from './ruleform';
import { words } from './try.words';

const day = 86_400_000;

/** Try reads the rules from the address, asks what they would have done, and draws it. */
export function Try() {
	const { place, go } = useConsole();
	const rule = place.rule || firstRule;
	const other = place.otherRule;
	const [first, second] = [useTrial(rule), useTrial(other)];
	const both = [first.answer, second.answer].flatMap((one) => one?.results[0] ?? []);
	return <div class="try">
		<OnlyOn rule={rule} />
		{[rule, other].some(isLimit) && <Attack key={place.attack} />}
		{other !== '' && both.length === 2 && <Figures results={both} />}
		<div class={other === '' ? 'trials' : 'trials two'}>
			<Trial id="rule" name={words.form} rule={rule} asked={first} use={(text, change) => go({ ...change, rule: text })}>
				{other === '' && <button type="button" class="small" onClick={() => go({ rule, otherRule: besideOf(rule) })}>
					{words.beside}</button>}
			</Trial>
			{other !== '' && <Trial id="other" name={words.otherForm} rule={other} asked={second}
				use={(text, change) => go({ ...change, otherRule: text })}>
				<button type="button" class="small" onClick={() => go({ otherRule: '' })}>{words.remove}</button>
			</Trial>}
		</div>
	</div>;
}

/** isLimit reports whether a rule is a limit, which can be compared with an attack. */
function isLimit(rule: string): boolean {
	return readRule(rule).kind === 'limit';
}

/** useTrial asks what a rule would have done. It asks nothing of a rule from which something is missing. */
function useTrial(rule: string): Asked<Answer<Tried> | null> {
	const { api, place, zone, round } = useConsole();
	return useAsked(api, `try ${periodOf(place)} ${zone} ${JSON.stringify([place.filter, rule, place.attack])}`, round, async (asker) => {
		if (rule === '' || !isWhole(readRule(rule))) return null;
		const attack = place.attack !== '' && isLimit(rule) ? { attack: place.attack } : {};
		const parameters: Parameters = { filters: filtersOf(place.filter, presentPeriod(place)), rule, tz: zone, ...attack };
		await asker.afford([['whatif', parameters]]);
		return asker.ask('whatif', parameters);
	});
}

/** Trial is a rule as a form, and what it would have done. */
function Trial({ id, name, rule, asked, use, children }: {
	id: 'rule' | 'other'; name: string; rule: string; asked: Asked<Answer<Tried> | null>; children: ComponentChildren;
	use(rule: string, change?: { filter: string }): void;
}) {
	const { failure } = asked;
	const wrong = failure instanceof Refusal ? failure.details.filter(({ loc }) => loc.includes('rule')).map(({ msg }) => msg) : [];
	return <section class="trial" aria-label={name}>
		<RuleForm id={id} name={name} value={rule} wrong={wrong} use={use}>{children}</RuleForm>
		<Answered asked={asked} metas={(answer) => (answer ? [answer.meta] : [])}>
			{(answer) => answer?.results.map((one) => <>
				<Late key="late" answer={answer} result={one} />
				<OutcomeOf key="outcome" id={id} result={one} tried={(threshold) =>
					use(writeRule({ ...readRule(one.rule), threshold: String(threshold) }))} />
			</>)}
		</Answered>
	</section>;
}

/** OnlyOn says that the filter of the page limits the requests on which rules are tried, and offers to make it a part of the rule. */
function OnlyOn({ rule }: { rule: string }) {
	const { place, fields, go } = useConsole();
	const read = readRule(rule);
	const conditions = ruleConditions(place.filter, fields);
	if (place.filter.trim() === '') return null;
	const joined = conditionsOf(conditions).reduce(add, read.where);
	return <p class="only-on">{words.onlyOn} <code>{place.filter}</code>{' '}
		{read.kind !== 'enforce' && read.kind !== 'text' && conditions !== '' && <button type="button" class="small"
			onClick={() => go({ filter: '', rule: writeRule({ ...read, where: joined }) })}>{words.toRule}</button>}{' '}
		<button type="button" class="small" onClick={() => go({ filter: '', rule })}>{words.onAll}</button>
	</p>;
}

/** Attack is the conditions of an attack, with which limits are compared. */
function Attack() {
	const { place, go } = useConsole();
	const [text, setText] = useState(place.attack);
	return <form class="attack" onSubmit={(event) => {
		event.preventDefault();
		go({ attack: text.trim() });
	}}>
		<label>{words.attack}{' '}
			<input id="attack" value={text} placeholder={words.attackHint} spellcheck={false} autocomplete="off"
				onInput={(event) => setText(event.currentTarget.value)} /></label>{' '}
		<button type="submit" class="small">{words.compare}</button>{' '}
		{place.attack !== '' && <button type="button" class="small" onClick={() => go({ attack: '' })}>{words.noAttack}</button>}
	</form>;
}

/** Late says that the data ends before the period, and leads to where it ends. */
function Late({ answer: { meta: { newest, period } }, result }: { answer: Answer<Tried>; result: Tried }) {
	const { zone, go } = useConsole();
	const ms = newest === null ? NaN : Date.parse(newest);
	if (result.num_of_requests > 0 || !(ms < Date.parse(period.from))) return null;
	const to = endOfNewest(ms);
	return <p class="warning">{words.looksEmpty(momentIn(ms, zone))}{' '}
		<button type="button" class="small" onClick={() => go({ period: absolute({ from: to - day, to }) })}>{words.newestDay}</button></p>;
}
