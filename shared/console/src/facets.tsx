// Facets: the most frequent values of any field, each a click away from its requests.
import { useState } from 'preact/hooks';
import './app';
import type { Facet } from './api';
import { type Asker, useAsked } from './ask';
import { useConsole } from './context';
import { Value } from './menu';
import { Answered } from './states';
import { absent, add, filtersOf } from './pure/filter';
import { brief, count, requests, share } from './pure/format';
import { periodOf, type Place } from './pure/fragment';
import { resolve } from './pure/time';
import { words } from './strings.facets';

/** The fields of an address that names none. */
const usual: readonly string[] = ['result', 'country', 'host', 'method', 'status', 'ip', 'path', 'user_agent'];

const mostFields = 16; // of one question
const fewValues = 5;
const manyValues = 20;

/** Facets reads the fields from the address, asks for their values, and draws them beside the events. */
export function Facets() {
	const { api, place, round, go } = useConsole();
	const [limit, setLimit] = useState(fewValues);
	const fields = place.by ?? usual;
	const question = `facets ${limit} ${fields.join()} ${periodOf(place)} ${place.filter}`;
	const asked = useAsked(api, question, round, (asker) => ask(asker, place, fields, limit));
	return <aside class="facets" aria-labelledby="facets-title">
		<div class="row between">
			<h2 id="facets-title">{words.title}</h2>
			<button type="button" class="icon" aria-label={words.close} title={`${words.close} (f)`}
				onClick={() => go({ panel: '' })}>×</button>
		</div>
		<AddField chosen={fields} />
		<Answered asked={asked} metas={(answer) => [answer.meta]} brief>
			{({ results }) => <>
				<div class="facet-list">{results.map((facet) => <OneFacet key={facet.by} facet={facet} chosen={fields} />)}</div>
				{limit < manyValues && results.some((facet) => facet.distinct > facet.values.length) &&
					<button type="button" class="small" onClick={() => setLimit(manyValues)}>{words.more}</button>}
			</>}
		</Answered>
	</aside>;
}

async function ask(asker: Asker, place: Place, by: readonly string[], limit: number) {
	const period = resolve(periodOf(place), Date.now());
	if (!period) throw new Error(`no period: ${place.period}`);
	const parameters = { filters: filtersOf(place.filter, period), by, limit };
	await asker.afford([['facets', parameters]]);
	return asker.ask('facets', parameters);
}

/** AddField adds a field of the catalogue, with a key if it has members. */
function AddField({ chosen }: { chosen: readonly string[] }) {
	const { place, fields, go } = useConsole();
	const [text, setText] = useState('');
	const offered = fields.filter((field) => field.groupable).flatMap((field) => (field.key ?
		(field.key.names ?? []).map((name) => `${field.name}["${name}"]`) : [field.name])).filter((name) => !chosen.includes(name));
	return <form class="add-field" onSubmit={(event) => {
		event.preventDefault();
		const field = text.trim();
		if (field === '' || chosen.includes(field)) return;
		go({ by: [field, ...chosen].slice(0, mostFields) });
		setText('');
	}}>
		<label for="facet-field" class="hidden">{words.add}</label>
		<input id="facet-field" list="facet-fields" value={text} placeholder={words.addHint} autocomplete="off" spellcheck={false}
			onInput={(event) => setText(event.currentTarget.value)} />
		<datalist id="facet-fields">{offered.map((name) => <option key={name} value={name} />)}</datalist>
		<button type="submit" disabled={text.trim() === ''}>{words.addButton}</button>
		{place.by && <button type="button" class="link" onClick={() => go({ by: null })}>{words.usual}</button>}
	</form>;
}

/** OneFacet are the values of a field, those of the rest together, and the requests without one. */
function OneFacet({ facet, chosen }: { facet: Facet; chosen: readonly string[] }) {
	const { place, go } = useConsole();
	const all = facet.num_of_requests;
	const hidden = facet.distinct - facet.values.length;
	return <section class="facet">
		<div class="row between">
			<h3>{facet.by} <small>{words.distinct(brief(facet.distinct))}</small></h3>
			<button type="button" class="icon" aria-label={words.remove(facet.by)} title={words.remove(facet.by)}
				disabled={chosen.length === 1} onClick={() => go({ by: chosen.filter((field) => field !== facet.by) })}>×</button>
		</div>
		{facet.values.length === 0 ? <p class="quiet">{words.none}</p> : <ul>{facet.values.map((one) => <li key={String(one.value)}
			title={words.blocked(count(one.num_of_blocked_requests))}
			style={{ '--part': String(all === 0 ? 0 : one.num_of_requests / all) }}>
			<Value fact={{ field: facet.by, value: one.value }}>{one.value === '' ? '""' : String(one.value)}</Value>
			<span class="n">{brief(one.num_of_requests)}</span><span class="n part">{share(one.num_of_requests, all)}</span>
		</li>)}</ul>}
		<p class="quiet">
			{hidden > 0 && (facet.rest ? words.rest(brief(hidden), requests(facet.rest.num_of_requests)) : words.restOf(brief(hidden)))}
			{facet.num_of_absent > 0 && <button type="button" class="link" onClick={() => go({
				filter: absent(facet.by, facet.type).reduce(add, place.filter), record: null,
			})}>{requests(facet.num_of_absent)} {words.absent}</button>}
		</p>
	</section>;
}
