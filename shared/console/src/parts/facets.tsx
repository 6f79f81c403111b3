// Facets: the most frequent values of any field, each a click away from its requests.
import { useState } from 'preact/hooks';
import type { Answer, Facet } from '../foundation/api';
import { type Asker, type Planned, useAsked } from '../foundation/ask';
import { useConsole, useCounted } from '../foundation/context';
import { presentPeriod } from '../foundation/running';
import { absent, add, addOnly, filtersOf, nameOf, present } from '../pure/filter';
import { brief, count, requests } from '../pure/format';
import { periodOf, type Place } from '../pure/fragment';
import { groupings, labelOf } from '../pure/groupings';
import { briefValue } from '../pure/reason';
import { groupOf, tagGroups } from '../pure/tags';
import { words } from './facets.words';
import { Answered } from './answer';
import { Count, Share, Value } from './menu';
import { words as tagWords } from './tags.words';

/** The fields of an address that names none. */
const usual: readonly string[] = ['result', 'reason', 'country', 'host', 'method', 'status', 'ip', 'path', 'user_agent'];

const mostFields = 16; // of one question
const fewValues = 5;
const manyValues = 20;

const tags = 'tags';
const manyTags = 80; // of which each group shows some

/** Facets reads the fields from the address, asks for their values, and draws them beside the answer. */
export function Facets() {
	const { api, place, round, go } = useConsole();
	const limit = place.many ? manyValues : fewValues;
	const fields = place.facets ?? usual;
	const question = `facets ${limit} ${fields.join()} ${periodOf(place)} ${place.filter}`;
	const asked = useAsked(api, question, round, (asker) => ask(asker, place, fields, limit));
	return <aside class="facets" aria-labelledby="facets-title">
		<div class="row between">
			<h2 id="facets-title">{words.title}</h2>
			<button type="button" class="icon" aria-label={words.close} title={`${words.close} (f)`}
				onClick={() => go({ panel: '' })}>×</button>
		</div>
		<AddField chosen={fields} />
		<Answered asked={asked} metas={(answers) => answers.map((one) => one.meta)} brief>
			{(answers) => {
				const facets = answers.flatMap((one) => one.results);
				return <>
					<div class="facet-list"><ByGroup facets={facets} chosen={fields} limit={limit} /></div>
					{limit < manyValues && facets.some((facet) => facet.distinct > limit) &&
						<button type="button" class="small" onClick={() => go({ many: true })}>{words.more}</button>}
				</>;
			}}
		</Answered>
	</aside>;
}

/** ask asks for the values of fields, and in a question of its own for so many tags that each group has some. */
async function ask(asker: Asker, place: Place, fields: readonly string[], limit: number): Promise<Answer<Facet>[]> {
	const period = presentPeriod(place);
	const filters = filtersOf(place.filter, period);
	const questions = [
		{ filters, by: fields.filter((field) => field !== tags), limit },
		{ filters, by: fields.filter((field) => field === tags), limit: manyTags },
	].filter(({ by }) => by.length > 0);
	await asker.afford(questions.map((parameters): Planned => ['facets', parameters]));
	return Promise.all(questions.map((parameters) => asker.ask('facets', parameters)));
}

/** ByGroup draws the values of fields under the groups of the catalogue, each with its further fields. */
function ByGroup({ facets, chosen, limit }: { facets: readonly Facet[]; chosen: readonly string[]; limit: number }) {
	const { fields, go } = useConsole();
	const groupOfField = (by: string): string => fields.find((field) => field.name === nameOf(by))?.group ?? '';
	return <>{Object.entries(words.groups).map(([group, name]) => {
		const own = facets.filter((facet) => groupOfField(facet.by) === group);
		const others = groupings(fields.filter((field) => field.group === group)).filter(({ name: one }) => !chosen.includes(one));
		return own.length + others.length === 0 ? null : <section class="facet-group" key={group} aria-label={name}>
			{name !== '' && <h3>{name}</h3>}
			{own.map((facet) => <OneFacet key={facet.by} facet={facet} chosen={chosen} limit={limit} />)}
			{others.length > 0 && <p class="other-fields">{others.map((one) => <button type="button" class="link" key={one.name}
				title={one.doc} aria-label={words.addOne(one.label)}
				onClick={() => go({ facets: [...chosen, one.name].slice(-mostFields) })}>{one.label}</button>)}</p>}
		</section>;
	})}</>;
}

/** AddField adds a field of the catalogue, with a key if it has members. */
function AddField({ chosen }: { chosen: readonly string[] }) {
	const { place, fields, go } = useConsole();
	const [text, setText] = useState('');
	const offered = fields.filter((field) => field.groupable).flatMap((field) => (field.key ?
		(field.key.names ?? []).map((name) => `${field.name}["${name}"]`) : [field.name, ...field.networks ?? []]))
		.filter((name) => !chosen.includes(name));
	return <form class="add-field" onSubmit={(event) => {
		event.preventDefault();
		const field = text.trim();
		if (field === '' || chosen.includes(field)) return;
		go({ facets: [field, ...chosen].slice(0, mostFields) });
		setText('');
	}}>
		<label for="facet-field" class="hidden">{words.add}</label>
		<input id="facet-field" list="facet-fields" value={text} placeholder={words.addHint} autocomplete="off" spellcheck={false}
			onInput={(event) => setText(event.currentTarget.value)} />
		<datalist id="facet-fields">{offered.map((name) => <option key={name} value={name} />)}</datalist>
		<button type="submit" disabled={text.trim() === ''}>{words.addButton}</button>
		{place.facets && <button type="button" class="link" onClick={() => go({ facets: null })}>{words.usual}</button>}
	</form>;
}

/** OneFacet are the values of a field, those of the rest together, and the requests without one. */
function OneFacet({ facet, chosen, limit }: { facet: Facet; chosen: readonly string[]; limit: number }) {
	const { place, go } = useConsole();
	const { filter, period } = useCounted();
	const without = absent(facet.by, facet.type);
	const label = labelOf(facet.by);
	const keep = (conditions: readonly string[]) => (): void => go({ filter: conditions.reduce(add, place.filter), record: null });
	const shown = facet.by === tags ? tagGroups.map((group) => ({
		name: tagWords[group], values: facet.values.filter((one) => groupOf(String(one.value)) === group).slice(0, limit),
	})) : [{ name: '', values: facet.values }];
	const hidden = facet.distinct - shown.reduce((sum, { values }) => sum + values.length, 0);
	return <section class="facet">
		<div class="row between">
			<h4>{label} <small>{words.distinct(brief(facet.distinct))}</small></h4>
			<button type="button" class="icon" aria-label={words.remove(label)} title={words.remove(label)}
				disabled={chosen.length === 1} onClick={() => go({ facets: chosen.filter((field) => field !== facet.by) })}>×</button>
		</div>
		{facet.values.length === 0 ? <p class="quiet">{words.none}</p> : shown.filter(({ values }) => values.length > 0)
			.map((part) => <div key={part.name}>
				{part.name !== '' && <h5>{part.name}</h5>}
				<Values field={facet.by} values={part.values} of={facet.num_of_requests} />
			</div>)}
		<p class="quiet">
			{hidden > 0 && (facet.rest ? words.rest(brief(hidden), requests(facet.rest.num_of_requests)) : words.restOf(brief(hidden)))}
			{facet.num_of_absent > 0 && <span>
				<Count n={facet.num_of_absent} write={requests} filter={without.reduce(add, filter)} period={period} />{' '}
				<button type="button" class="link" onClick={keep(without)}>{words.absent}</button>
			</span>}
			{facet.num_of_absent > 0 && facet.type === 'string' && facet.values.length > 0 &&
				<button type="button" class="link" onClick={keep([present(facet.by)])}>{words.present}</button>}
		</p>
	</section>;
}

function Values({ field, values, of }: { field: string; values: Facet['values']; of: number }) {
	const { filter, period } = useCounted();
	return <ul>{values.map((one) => {
		const fact = { field, value: one.value };
		const counted = { n: one.num_of_requests, filter: addOnly(filter, fact), period };
		return <li key={String(one.value)} title={words.blocked(count(one.num_of_blocked_requests))}
			style={{ '--part': String(of === 0 ? 0 : one.num_of_requests / of) }}>
			<Value fact={fact}>{briefValue(field, one.value)}</Value>
			<span class="n"><Count {...counted} write={brief} /></span>
			<span class="n part"><Share {...counted} of={of} /></span>
		</li>;
	})}</ul>;
}
