// The conditions of the filter one by one, and the list in place of an OR.
import { useConsole } from '../foundation/context';
import { chipsOf, invertedAt, withLists, withoutAt } from '../pure/chips';
import { limitOf, ruleConditions, tried } from '../pure/trial';
import { words } from './chips.words';

/** Chips are the conditions of a filter, each with the ways to negate it and to take it out. */
export function Chips({ text, json, edit, run }: { text: string; json: string; edit(text: string): void; run(text: string): void }) {
	const { place, fields, go } = useConsole();
	const shown = chipsOf(text, json);
	if (shown.length === 0) return null;
	const conditions = ruleConditions(text, fields);
	const change = (next: string): void => {
		edit(next);
		run(next);
	};
	return <ul class="chips" aria-label={words.conditions}>
		{shown.map(({ field, operator, value }, i) => {
			const name = `${field} ${operator} ${value}`;
			return <li key={`${i} ${name}`}>
				<button type="button" class="plain" title={`${words.invert}: ${name}`} onClick={() => change(invertedAt(text, i))}>
					<span class="hidden">{words.invert}: </span><b>{field}</b> <i>{operator}</i> {value}</button>
				<button type="button" class="plain" title={words.takeOut(name)} aria-label={words.takeOut(name)}
					onClick={() => change(withoutAt(text, i))}>×</button>
			</li>;
		})}
		<li class="as-json"><button type="button" class="link quiet" title={words.asJSONTitle} onClick={() => edit(jsonOf(json))}>
			{words.asJSON}</button>{' '}
			{place.screen !== 'try' && conditions !== '' && <button type="button" class="link quiet" title={words.tryTitle}
				onClick={() => go(tried(limitOf(conditions)))}>{words.tryRule}</button>}</li>
	</ul>;
}

/** jsonOf returns the JSON form of the conditions without the period, laid out for people. */
function jsonOf(json: string): string {
	const { AND } = JSON.parse(json) as { AND: unknown[] };
	return `[\n${AND.slice(1).map((one) => `  ${JSON.stringify(one)}`).join(',\n')}\n]`;
}

/** List offers a list in place of alternatives, which filters do not have. */
export function List({ text, fix }: { text: string; fix(text: string): void }) {
	const list = withLists(text);
	return list === null ? null : <button type="button" class="small" onClick={() => fix(list)}>
		{words.makeList}: <code>{list}</code></button>;
}
