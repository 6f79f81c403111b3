// The form of a scheduled report, the difference between two definitions, and the merge of two.
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Refusal } from '../foundation/api';
import { useConsole } from '../foundation/context';
import { withPeriod } from '../pure/filter';
import { applies, changesOf, type Form, join, type Member, type Receiver, type Side } from '../pure/schedule';
import { ReceiverHint } from './lazily';
import { words } from './reports.words';

/** What is wrong, by the member and the place in it: deliver.0.mail.1. */
export type Wrong = ReadonlyMap<string, string>;

/** placeMessages returns what is wrong with a definition by its places, as the server reports it. */
export function placeMessages(refusal: Refusal): Wrong {
	if (refusal.mistakes.length > 0) return new Map([['filters', refusal.mistakes.map((mistake) => mistake.message).join(' ')]]);
	return new Map(refusal.details.map((detail) => [detail.loc.slice(1).join('.'), detail.msg]));
}

const checkPause = 300; // milliseconds after the last key
const anyPeriod = 'timestamp between 2000-01-01 and 2000-01-02';

interface Props {
	form: Form;
	change(form: Form): void;
	wrong: Wrong;
	destinations: readonly string[]; // that the operator has defined
	domains: readonly string[];
}

/** ReportForm edits the members of a definition. */
export function ReportForm({ form, change, wrong, destinations, domains }: Props) {
	const set = (changes: Partial<Form>): void => change(kept({ ...form, ...changes }));
	const select = (member: 'period' | 'weekday' | 'template' | 'compare' | 'when', names: Record<string, string>, out: string[] = []) =>
		<Labelled member={member} wrong={wrong}>{(given) => <select {...given} value={form[member]}
			onChange={(event) => set({ [member]: event.currentTarget.value })}>
			{Object.entries(names).filter(([one]) => !out.includes(one)).map(([one, name]) =>
				<option key={one} value={one}>{name}</option>)}
		</select>}</Labelled>;
	const text = (member: 'title' | 'at' | 'max_bytes', hint = '', placeholder = '') =>
		<Labelled member={member} wrong={wrong} hint={hint}>{(given) => <input {...given} value={form[member]} autocomplete="off"
			placeholder={placeholder} onInput={(event) => set({ [member]: event.currentTarget.value })} />}</Labelled>;
	const short = form.period === 'hour' || form.period === 'day';
	return <div class="report-form">
		{text('title', words.hints.title)}
		<FilterField form={form} set={set} wrong={wrong} />
		<div class="fields">
			{select('period', words.periods)}
			{applies('weekday', form.period) && select('weekday', words.weekdays)}
			{applies('at', form.period) && text('at', '', '07:00')}
			<Labelled member="tz" wrong={wrong}>{(given) => <>
				<input {...given} value={form.tz} list="report-zones" autocomplete="off" spellcheck={false}
					onInput={(event) => set({ tz: event.currentTarget.value })} />
				<datalist id="report-zones">{['UTC', ...Intl.supportedValuesOf('timeZone')].map((one) =>
					<option key={one} value={one} />)}</datalist>
			</>}</Labelled>
		</div>
		<div class="fields">
			{select('template', words.templates)}
			{select('compare', words.compares, short ? [] : ['same-weekday'])}
			{select('when', words.whens, form.period === 'hour' ? ['always'] : [])}
		</div>
		{form.period === 'hour' && <p class="quiet">{words.hints.hourly}</p>}
		<Receivers form={form} set={set} wrong={wrong} destinations={destinations} domains={domains} />
		{text('max_bytes', words.hints.max_bytes)}
	</div>;
}

/** kept returns a form whose members fit its period. */
function kept(form: Form): Form {
	const short = form.period === 'hour' || form.period === 'day';
	return {
		...form,
		when: form.period === 'hour' ? 'attacks' : form.when,
		compare: form.compare === 'same-weekday' && !short ? 'previous' : form.compare,
	};
}

interface Given {
	id: string;
	'aria-invalid': boolean;
	'aria-describedby': string | undefined;
}

/** Labelled is a field with its name, a hint, and what is wrong with it. */
function Labelled({ member, wrong, hint = '', children }: {
	member: Member; wrong: Wrong; hint?: string; children(given: Given): ComponentChildren;
}) {
	const id = `report-${member}`;
	const message = wrong.get(member) ?? '';
	const described = [hint !== '' && `${id}-hint`, message !== '' && `${id}-wrong`].filter(Boolean).join(' ');
	return <div class="field">
		<label for={id}>{words.members[member]}</label>
		{children({ id, 'aria-invalid': message !== '', 'aria-describedby': described || undefined })}
		{hint !== '' && <small id={`${id}-hint`}>{hint}</small>}
		{message !== '' && <small id={`${id}-wrong`} class="wrong-text">{message}</small>}
	</div>;
}

/** FilterField edits the filter. The server finds its mistakes a moment after the last key. */
function FilterField({ form, set, wrong }: { form: Form; set(changes: Partial<Form>): void; wrong: Wrong }) {
	const mistakes = useMistakesOf(form.filters);
	const message = mistakes.length > 0 ? mistakes.join(' ') : wrong.get('filters') ?? '';
	return <Labelled member="filters" wrong={message === '' ? new Map() : new Map([['filters', message]])} hint={words.hints.filters}>
		{(given) => <textarea {...given} rows={2} value={form.filters} spellcheck={false}
			onInput={(event) => set({ filters: event.currentTarget.value })} />}
	</Labelled>;
}

function useMistakesOf(filter: string): readonly string[] {
	const { api } = useConsole();
	const [found, setFound] = useState<{ of: string; messages: readonly string[] }>({ of: '', messages: [] });
	useEffect(() => {
		if (filter.trim() === '') return;
		const own = new AbortController();
		const timer = setTimeout(() => {
			const show = (refusal: Refusal | null): void =>
				setFound({ of: filter, messages: (refusal?.mistakes ?? []).map((mistake) => mistake.message) });
			api.mistakes(withPeriod(filter, anyPeriod), own.signal).then(show, () => undefined); // saving reports that the server fails
		}, checkPause);
		return () => {
			clearTimeout(timer);
			own.abort();
		};
	}, [filter]);
	return found.of === filter ? found.messages : [];
}

/** Receivers edits where the report goes. */
function Receivers({ form, set, wrong, destinations, domains }: {
	form: Form; set(changes: Partial<Form>): void; wrong: Wrong; destinations: readonly string[]; domains: readonly string[];
}) {
	const rows = form.deliver;
	const change = (at: number, receiver: Receiver): void => set({ deliver: rows.map((one, i) => (i === at ? receiver : one)) });
	const all = wrong.get('deliver') ?? '';
	return <fieldset class="receivers" aria-describedby={all === '' ? undefined : 'deliver-wrong'}>
		<legend>{words.members.deliver}</legend>
		{rows.map(({ kind, text }, i) => {
			const message = [...wrong].filter(([place]) => place.startsWith(`deliver.${i}.`) || place === `deliver.${i}`)
				.map(([, one]) => one).join(' ');
			const given: Given & { 'aria-label': string } = {
				id: `receiver-${i}`, 'aria-invalid': message !== '', 'aria-describedby': message === '' ? undefined : `receiver-${i}-wrong`,
				'aria-label': `${words.receiver(i + 1)}: ${words.kinds[kind]}`,
			};
			return <div class="receiver" key={i}>
				<span class="quiet">{words.kinds[kind]}</span>
				{kind === 'to' && destinations.length > 0 ? <select {...given} value={text}
					onChange={(event) => change(i, { kind, text: event.currentTarget.value })}>
					{[...new Set([...destinations, text])].map((one) => <option key={one} value={one}>{one}</option>)}
				</select> : <input {...given} value={text} autocomplete="off" spellcheck={false}
					placeholder={kind === 'mail' ? words.addresses : ''}
					onInput={(event) => change(i, { kind, text: event.currentTarget.value })} />}
				<button type="button" class="icon" aria-label={words.removeTo(text)} title={words.removeTo(text)}
					onClick={() => set({ deliver: rows.filter((_, at) => at !== i) })}>×</button>
				{message !== '' && <small id={given.id + '-wrong'} class="wrong-text">{message}</small>}
			</div>;
		})}
		<div class="row">
			<button type="button" class="small" disabled={destinations.length === 0}
				onClick={() => set({ deliver: [...rows, { kind: 'to', text: unused(destinations, rows) }] })}>{words.addTo}</button>
			<button type="button" class="small" disabled={domains.length === 0}
				onClick={() => set({ deliver: [...rows, { kind: 'mail', text: '' }] })}>{words.addMail}</button>
			<small><ReceiverHint list={{ destinations, domains }} /></small>
		</div>
		{all !== '' && <small id="deliver-wrong" class="wrong-text">{all}</small>}
	</fieldset>;
}

/** unused returns the first destination that no row has yet. */
function unused(destinations: readonly string[], rows: readonly Receiver[]): string {
	return destinations.find((one) => !rows.some((row) => row.kind === 'to' && row.text === one)) ?? destinations[0] ?? '';
}

/** shown writes the value of a member. */
export function shown(member: Member, form: Form): string {
	const value = form[member];
	switch (member) {
		case 'deliver': return form.deliver.map((one) => one.text).join('; ') || words.empty;
		case 'paused': return form.paused ? words.yes : words.no;
		case 'period': return words.periods[form.period] ?? form.period;
		case 'weekday': return applies(member, form.period) ? words.weekdays[form.weekday] ?? form.weekday : words.empty;
		case 'template': return words.templates[form.template] ?? form.template;
		case 'compare': return words.compares[form.compare] ?? form.compare;
		case 'when': return words.whens[form.when] ?? form.when;
		case 'at': return applies(member, form.period) ? form.at : words.empty;
		default: return value === '' ? words.empty : String(value);
	}
}

/** Changes lists the members that differ, before and after. */
export function Changes({ before, after }: { before: Form; after: Form }) {
	const changed = changesOf(before, after);
	if (changed.length === 0) return <p class="quiet">{words.nothingChanged}</p>;
	return <ul class="difference">{changed.map((member) => <li key={member} class="changed">
		<p><span class="sign" aria-hidden="true">~</span> <b>{words.members[member]}</b></p>
		<div class="side old"><span class="hidden">{words.before}</span><code>{shown(member, before)}</code></div>
		<div class="side new"><span class="hidden">{words.after}</span><code>{shown(member, after)}</code></div>
	</li>)}</ul>;
}

/** Join joins two changes of a definition. Where both changed the same, the reader chooses. */
export function Join({ base, mine, theirs, use }: { base: Form; mine: Form; theirs: Form; use(joined: Form): void }) {
	const [choice, setChoice] = useState<ReadonlyMap<Member, Side>>(new Map());
	const { joined, conflicts } = join(base, mine, theirs, choice);
	return <section class="merge" aria-labelledby="join-title">
		<h2 id="join-title">{words.meanwhile}</h2>
		<p>{conflicts.length === 0 ? words.meanwhileNone : words.meanwhileHint}</p>
		{conflicts.map((member) => <fieldset class="choice" key={member}>
			<legend>{words.members[member]}</legend>
			{(['mine', 'theirs'] as const).map((side) => <label key={side} class={choice.get(member) === side ? 'chosen' : ''}>
				<input type="radio" name={`join-${member}`} checked={choice.get(member) === side}
					onChange={() => setChoice(new Map([...choice, [member, side]]))} />
				<b>{words[side]}</b> <code>{shown(member, side === 'mine' ? mine : theirs)}</code>
			</label>)}
		</fieldset>)}
		<div class="row">
			<button type="button" class="primary" disabled={conflicts.some((member) => !choice.has(member))} onClick={() => use(joined)}>
				{words.useJoined}</button>
			<span class="quiet">{words.useJoinedHint}</span>
		</div>
		<h3>{words.meanwhileTheirs}</h3>
		<Changes before={base} after={theirs} />
	</section>;
}
