// Record: why was this blocked. The verdict first, then a sentence, the evidence, and every part of the record.
import { useEffect, useState } from 'preact/hooks';
import type { Explanation, Meta } from '../foundation/api';
import { type Asker, useAsked } from '../foundation/ask';
import { useConsole } from '../foundation/context';
import { Answered, Progress, Trouble } from '../parts/answer';
import { copy } from '../parts/menu';
import type { Pages } from '../parts/older';
import { ResultMark } from '../parts/result';
import { addressOf, share } from '../parts/share';
import { around, filterOf, likenessNames } from '../parts/ways';
import { words as ways } from '../parts/ways.words';
import { attemptsOf } from '../pure/attempts';
import { periodOf, start } from '../pure/fragment';
import { type Likeness, likeFilter, likenesses } from '../pure/like';
import { groupsOf, withoutSecrets } from '../pure/parts';
import { type LogRecord, pathOf, referenceOf, resultOf, textOf } from '../pure/record';
import { requestAsCurl } from '../pure/replay';
import { sensitiveIn } from '../pure/secrets';
import { type Step, stepsOf } from '../pure/steps';
import { ticketOf } from '../pure/ticket';
import { absolute, clockIn, dateIn, elsewhere, resolve } from '../pure/time';
import { tried } from '../pure/trial';
import { type Stage, stagesOf, why } from '../pure/why';
import { words as texts } from '../pure/words';
import { Evidence, type Explained, periodAround } from './evidence';
import { words } from './record.words';
import { GroupView, Matches } from './recordparts';

/** A record, if there is one with the reference. */
interface Found {
	reference: string;
	record: LogRecord | undefined;
	meta: Meta;
}

/** RecordView reads the reference to a record from the address, asks for the record, and draws it. */
export function RecordView({ reference, pages }: { reference: string; pages: Pages }) {
	const { api, go, round } = useConsole();
	const asked = useAsked(api, `record ${reference}`, round, (asker) => ask(asker, reference));
	const at = pages.rows.findIndex((row) => referenceOf(row) === reference);
	const show = (row: LogRecord | undefined): void => {
		if (row) go({ record: referenceOf(row) }, 'replace');
	};
	const [newer, older] = at < 0 ? [] : [pages.rows[at - 1], pages.rows[at + 1]];
	const last = at >= 0 && !older && pages.next !== null; // of those that are loaded
	const [ahead, setAhead] = useState(''); // the record after which the next page is asked for
	useEffect(() => {
		if (ahead === reference && !last) show(older);
	}, [ahead, last]);
	return <aside class="record" aria-label={texts.record} tabIndex={-1}>
		<div class="record-bar">
			<button type="button" onClick={() => go({ record: null })}>← {words.back}</button>
			<span class="grow" />
			<button type="button" disabled={!newer} onClick={() => show(newer)} aria-label={words.newer} title={words.newer}
				data-step="newer">↑</button>
			<button type="button" disabled={!older && !last} aria-label={words.older} title={words.older} data-step="older"
				onClick={() => {
					if (!last) return show(older);
					setAhead(reference);
					pages.more();
				}}>↓</button>
		</div>
		{ahead === reference && last && <><Progress asked={pages.asked} /><Trouble asked={pages.asked} /></>}
		<Answered asked={asked} metas={(answer) => [answer.meta]} brief>
			{(answer) => <Found key={answer.reference} {...answer} />}
		</Answered>
	</aside>;
}

/** ask needs no period: a reference contains the time of its record. */
async function ask(asker: Asker, reference: string): Promise<Found> {
	const parameters = { filters: filterOf(reference), limit: 1 };
	await asker.afford([['logs', parameters]]);
	const { results, meta } = await asker.ask('logs', parameters);
	return { reference, record: results[0], meta };
}

function Found({ record, reference }: Omit<Found, 'meta'>) {
	const { fields } = useConsole();
	const [open, setOpen] = useState(false);
	const [{ explanation, awaited }, explain] = useState<Explained>({ awaited: true });
	if (!record) return <p class="trouble">{ways.gone}</p>;
	const sensitive = sensitiveIn(fields);
	const safe = withoutSecrets(record, sensitive);
	const groups = groupsOf(record, sensitive);
	return <>
		<Head record={record} safe={safe} explanation={explanation} open={open} setOpen={setOpen} />
		<Matches groups={groups} secrets={open} />
		<Way stages={stagesOf(record)} />
		<Evidence record={record} reference={reference} explain={explain} />
		<Steps record={record} />
		<TakeAlong record={record} reference={reference} safe={safe} explanation={explanation} awaited={awaited} />
		{groups.map((group) => <GroupView key={group.name} group={group} record={record} secrets={open} />)}
		<details class="group">
			<summary>{words.raw}</summary>
			<pre tabIndex={0}>{JSON.stringify(open ? record : safe, null, 2)}</pre>
		</details>
	</>;
}

/** Head is the verdict, the sentence, and what can be copied. Copies have no secrets unless they are asked for. */
function Head({ record, safe, explanation: { verdict, cause = '' } = {}, open, setOpen }: {
	record: LogRecord; safe: LogRecord; explanation: Partial<Explanation> | undefined;
	open: boolean; setOpen(open: boolean): void;
}) {
	const console = useConsole();
	const { zone, say } = console;
	const drawn = open ? record : safe;
	const ms = Date.parse(textOf(record, 'timestamp'));
	const id = textOf(record, 'request_id');
	return <header class="record-head">
		<p class="facts">
			<ResultMark record={record} /> · {textOf(record, 'status')} ·
			{' '}<time title={elsewhere(ms, zone)}>{dateIn(ms, zone)} {clockIn(ms, zone, 'milliseconds')} {zone}</time>
		</p>
		{verdict && <p class="judged"><strong>{verdict.text}</strong>{cause !== '' && `: ${cause}`}</p>}
		<h2 class="why">{why(drawn)}</h2>
		<p class="line-of-request"><code>{textOf(record, 'method')} {textOf(record, 'host')}{pathOf(drawn)}</code></p>
		<Links record={record} />
		<div class="row">
			<button type="button" class="small" onClick={() => share(console)}>{words.copyLink}</button>
			<button type="button" class="small" aria-haspopup="menu" onClick={(event) => console.choose(null, event.currentTarget, [
				[ways.copyJSON, '', () => copy(JSON.stringify(safe, null, 2), say)],
				[ways.copyCurl, '', () => copy(requestAsCurl(safe), say)],
				[words.copyCurlSecrets, '', () => copy(requestAsCurl(record), say)],
			])}>{words.copyAs}</button>
			<button type="button" class="small" aria-pressed={open} title={words.secret} onClick={() => setOpen(!open)}>
				{words.showSecrets}</button>
		</div>
		{id !== '' && <p class="quiet">{texts.requestID} <code>{id}</code></p>}
	</header>;
}

/** Links lead to the requests around this one, and to those like it. */
function Links({ record }: { record: LogRecord }) {
	const { place, go } = useConsole();
	const period = absolute(periodAround(record, resolve(periodOf(place), Date.now())));
	const link = (name: string, filter: string, to: string) =>
		<button type="button" class="link" key={name} onClick={() => go({ filter, record: null, period: to })}>{name}</button>;
	return <p class="links">
		{link(ways.around, '', around(record))}
		{(Object.keys(likenesses) as Likeness[]).map((likeness) => [likenessNames[likeness], likeFilter(record, likeness)] as const)
			.filter(([, filter]) => filter !== '').map(([name, filter]) => link(name, filter, period))}
	</p>;
}

/** Steps are what to do about the request, with the requests to look at. */
function Steps({ record }: { record: LogRecord }) {
	const { place, go } = useConsole();
	const steps = stepsOf(record);
	const attempts = attemptsOf(record);
	if (steps.length + attempts.length === 0) return null;
	const period = absolute(periodAround(record, resolve(periodOf(place), Date.now())));
	const show = ({ filter, planets }: Step) => {
		if (!filter && !planets) return null;
		const to = planets ? { screen: 'planets' as const } : { filter: filter ?? '', record: null, period };
		return <button type="button" class="link" onClick={() => go(to)}>
			{planets ? words.toPlanets : words.show}</button>;
	};
	return <section class="steps" aria-labelledby="steps">
		<h3 id="steps">{words.whatToDo}</h3>
		<ol>{steps.map((step) => <li key={step.text}>{step.text} {show(step)}</li>)}
			{attempts.map(({ why: purpose, rule, filter }) => <li key={rule}>{words.attempts[purpose]}{' '}
				<button type="button" class="link" onClick={() => go({ ...tried(rule), filter, period })}>{words.toTry}</button></li>)}</ol>
	</section>;
}

/** TakeAlong has what others need of a record: the exemption for the settings, and texts for a ticket and for the customer. */
function TakeAlong({ record, reference, safe, explanation: { verdict, exemption, customer } = {}, awaited }: {
	record: LogRecord; reference: string; safe: LogRecord; explanation: Partial<Explanation> | undefined; awaited: boolean;
}) {
	const { fields, place, zone, say } = useConsole();
	const parts = exemption?.parts ?? [];
	const unknown = fields.length === 0; // without the catalogue, all is a secret
	const button = (name: string, textToCopy: () => string, title?: string, disabled = false) =>
		<button type="button" class="small" disabled={disabled} title={title} onClick={() => copy(textToCopy(), say)}>{name}</button>;
	return <section class="take-along" aria-labelledby="take-along">
		<h3 id="take-along">{words.takeAlong}</h3>
		{exemption && <p>{words.exemption(exemption.text)}</p>}
		<div class="row">
			{parts.length > 0 && button(words.copyJSON, () => parts.map((part) => part.json).join('\n'))}
			{parts.length > 0 && button(words.copyTerraform, () => parts.map((part) => part.terraform).join('\n'))}
			{button(words.copyTicket, () => ticketOf(safe, {
				result: texts.results[resultOf(record)], address: textOf(record, 'ip'), ms: Date.parse(textOf(record, 'timestamp')), zone,
				verdict, filter: filterOf(reference),
				link: addressOf({ ...start, screen: 'events', record: reference, period: around(record), zone: place.zone || zone }),
			}), unknown ? words.noTicketTitle : awaited ? words.ticketAwaited : words.copyTicketTitle, unknown || awaited)}
			{customer && button(words.copyCustomer, () => customer)}
		</div>
	</section>;
}

/** Way is the way of the request through the stages of the gateway. */
function Way({ stages }: { stages: readonly Stage[] }) {
	if (stages.length === 0) return null;
	const marks = { passed: '✓', stopped: '■', 'not reached': '–' };
	return <ol class="way" aria-label={words.wayThrough}>
		{stages.map(({ name, state }) => <li key={name} class={state.replace(' ', '-')}>
			<span class="stage">{words.stages[name]}</span>
			<span class="state"><span aria-hidden="true">{marks[state]}</span> {words.stageStates[state]}</span>
		</li>)}
	</ol>;
}
