// The rule as a sentence of controls. What is chosen takes effect at once, what is typed with Enter or the button.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useConsole } from '../foundation/context';
import { narrow, useMedia } from '../foundation/media';
import { Select } from '../parts/select';
import { labelOf } from '../pure/groupings';
import { isWhole, type Kind, kinds, readRule, type Rule, writeRule } from '../pure/rule';
import { ruleConditions } from '../pure/trial';
import { words } from './try.words';

/** RuleForm edits a rule. use is called with a rule of which nothing is missing. */
export function RuleForm({ id, name, value, wrong, use, children }: {
	id: 'rule' | 'other'; name: string; value: string; wrong: readonly string[]; children: ComponentChildren;
	use(rule: string, change?: { filter: string }): void;
}) {
	const { place, fields } = useConsole();
	const [edited, setEdited] = useState({ of: value, rule: readRule(value) });
	const [asksFor, askFor] = useState<Kind | null>(null); // what is missing of a kind that was chosen
	const rule = edited.of === value ? edited.rule : readRule(value);
	const form = useRef<HTMLFormElement>(null);
	const edit = (change: Partial<Rule>): void => setEdited({ of: value, rule: { ...rule, ...change } });
	const choose = (change: Partial<Rule>, filter?: { filter: string }): void => {
		const next = { ...rule, ...change };
		const text = writeRule(next);
		setEdited({ of: isWhole(next) ? text : value, rule: next });
		askFor(isWhole(next) ? null : next.kind);
		if (isWhole(next)) use(text, filter);
	};
	const kind = (to: Kind): void => {
		if (to === 'text') {
			edit({ kind: to, text: writeRule(rule) });
			return askFor(to);
		}
		// A filter acts on requests with conditions. Those of the page are meant, if the rule has none.
		const taken = (to === 'block' || to === 'challenge') && rule.where === '' ? ruleConditions(place.filter, fields) : '';
		choose({ kind: to, ...(taken === '' ? {} : { where: taken }) }, taken === '' ? undefined : { filter: '' });
	};
	useLayoutEffect(() => {
		if (asksFor) form.current?.querySelector<HTMLElement>('.wanted')?.focus();
	}, [asksFor]);
	const invalid = { 'aria-invalid': wrong.length > 0, 'aria-describedby': wrong.length > 0 ? `${id}-wrong` : undefined };
	const conditions = (label: string, hint: string, wanted: boolean) => <label class="wide">{label}{' '}
		<input id={`${id}-where`} class={wanted ? 'wanted' : ''} value={rule.where} placeholder={hint} spellcheck={false} autocomplete="off"
			{...invalid} onInput={(event) => edit({ where: event.currentTarget.value })} /></label>;
	return <form class="rule" ref={form} aria-label={name} onSubmit={(event) => {
		event.preventDefault();
		choose({});
	}}>
		<div class="sentence">
			<Select id={`${id}-kind`} name={words.try} value={rule.kind} choose={(to) => kind(to as Kind)}
				options={kinds.map((one) => [one, words.kinds[one]] as const)} />
			{rule.kind === 'limit' && <LimitParts id={id} rule={rule} edit={edit} choose={choose} />}
			{rule.kind === 'limit' && conditions(words.where, words.whereHint, false)}
			{(rule.kind === 'block' || rule.kind === 'challenge') && conditions(words.whereOf, words.whereNeeded, true)}
			{rule.kind === 'enforce' && <label class="wide">{words.name}{' '}
				<input id={`${id}-name`} class="wanted" value={rule.name} placeholder={words.nameHint} spellcheck={false} autocomplete="off"
					{...invalid} onInput={(event) => edit({ name: event.currentTarget.value })} /></label>}
			{rule.kind === 'text' && <label class="wide text">{words.text}{' '}
				<textarea id={`${id}-text`} class="wanted" rows={6} value={rule.text} spellcheck={false}
					{...invalid} onInput={(event) => edit({ text: event.currentTarget.value })} /></label>}
			<button type="submit" class="primary">{words.run}</button>
		</div>
		{wrong.length > 0 && <small id={`${id}-wrong`} class="wrong-text">{wrong.join(' ')}</small>}
		{asksFor !== null && asksFor === rule.kind && !isWhole(rule) &&
			<small class="wrong-text" role="status">{words.needs[asksFor]}</small>}
		<div class="row">{id === 'rule' && <span class="quiet">{words.nothingSent}</span>}{children}</div>
	</form>;
}

/** withOwn are options and, if none of them is chosen, the one that is. */
function withOwn(options: Readonly<Record<string, string>>, own: string): (readonly [string, string])[] {
	return Object.entries(own in options ? options : { ...options, [own]: own });
}

function LimitParts({ id, rule, edit, choose }: {
	id: string; rule: Rule; edit(change: Partial<Rule>): void; choose(change: Partial<Rule>): void;
}) {
	const { fields } = useConsole();
	const narrowWindow = useMedia(narrow);
	const [opened, open] = useState(false);
	const folded = narrowWindow && !opened && rule.counted === '' && rule.above === '';
	const others = fields.filter((field) => field.groupable && !field.key && ruleConditions(`${field.name}=1`, fields) !== '');
	const named = (some: typeof others) => some.map(({ name }) => [name, labelOf(name)] as const);
	return <>
		<label>{words.threshold}{' '}
			<input id={`${id}-threshold`} class="wanted" type="number" min="0" inputMode="numeric" value={rule.threshold}
				onInput={(event) => edit({ threshold: event.currentTarget.value })} /></label>
		<Select id={`${id}-per`} name={rule.counted === '' ? words.per : words.valuesIn} value={rule.per} choose={(per) => choose({ per })}
			options={withOwn(words.lengths, rule.per)} />
		<Select id={`${id}-by`} name={words.by} value={rule.by} choose={(by) => choose({ by })} groups={[
			[words.usualKeys, withOwn(words.keys, rule.by)],
			[words.otherKeys, named(others.filter(({ name }) => !(name in words.keys) && name !== rule.by))],
		]} />
		{folded ? <button type="button" class="link" onClick={() => open(true)}>{words.more}</button> : <>
			<Select id={`${id}-counted`} name={words.counted} value={rule.counted} choose={(counted) => choose({ counted })} options={[
				['', words.requests], ...others.map(({ name }) => [name, words.different(labelOf(name))] as const),
				...(rule.counted === '' || others.some(({ name }) => name === rule.counted) ? [] : [[rule.counted, rule.counted] as const]),
			]} />
			<Select id={`${id}-above`} name={words.above} value={rule.above} choose={(above) => choose({ above })}
				options={withOwn(words.aboves, rule.above)} />
		</>}
	</>;
}
