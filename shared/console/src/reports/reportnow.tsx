// The report about the filter and the period of the dashboard, and the way to repeat it every week.
import { useEffect, useState } from 'preact/hooks';
import { useAsked } from '../foundation/ask';
import { useConsole } from '../foundation/context';
import { presentPeriod } from '../foundation/running';
import { Answered, Panel, Progress, Trouble } from '../parts/answer';
import { askConfigurations } from '../parts/lazily';
import { LinkTo, saveFile } from '../parts/menu';
import { filtersOf } from '../pure/filter';
import { periodOf } from '../pure/fragment';
import { firstConfig, nameForm } from '../pure/names';
import { addressesOf } from '../pure/receivers';
import type { Document } from '../pure/reportanswer';
import { dateIn, momentIn } from '../pure/time';
import { everyMonday, freeName } from '../pure/weekly';
import { ReceiverHint, ReportPage } from './lazily';
import { words } from './reportnow.words';
import { askList, type List, pathOf } from './reportparts';

/** ReportNow makes the report when it is opened. A heavy one waits until somebody runs it. */
export function ReportNow() {
	const { api, place, zone, round, go } = useConsole();
	const [weekly, setWeekly] = useState(false);
	const asked = useAsked(api, `report ${periodOf(place)} ${zone} ${place.filter}`, round, async (asker) => {
		const parameters = { filters: filtersOf(place.filter, presentPeriod(place)), tz: zone };
		await asker.afford([['report', parameters]]);
		return { parameters, document: JSON.parse(await asker.report({ ...parameters, format: 'json' })) as Document };
	});
	const made = asked.answer;
	const [saved, setSaved] = useState(0); // how often the page was to be saved
	const page = useAsked(api, saved > 0 ? 'page' : '', saved, (asker) =>
		(saved > 0 && made ? asker.report({ ...made.parameters, format: 'html' }) : Promise.resolve('')));
	useEffect(() => {
		if (!page.answer || !made) return;
		const name = `report-${dateIn(Date.parse(made.document.report.period.from), zone)}.html`;
		saveFile(name, new Blob([page.answer], { type: 'text/html' }));
	}, [page.answer]);
	return <div class="report-now">
		<div class="row report-tools" role="group" aria-label={words.tools}>
			<button type="button" class="primary" aria-expanded={weekly} onClick={() => setWeekly(!weekly)}>{words.weekly}</button>
			<button type="button" title={words.saveHint} disabled={!made} onClick={() => setSaved(saved + 1)}>{words.save}</button>
			<button type="button" disabled={!made} onClick={() => print()}>{words.print}</button>
			<button type="button" onClick={() => go({ panel: '' })}>{words.back}</button>
		</div>
		{saved > 0 && <><Progress asked={page} /><Trouble asked={page} name={words.save} /></>}
		{weekly && <Weekly />}
		<Answered asked={asked} metas={() => []}>{({ document }) => <ReportPage document={document} />}</Answered>
	</div>;
}

/** A configuration among the others, with its reports. */
interface Chosen {
	names: readonly string[];
	config: string;
	list: List | null;
}

/** Weekly schedules the report with the filter of the page. */
function Weekly() {
	const { api, place, round } = useConsole();
	const [chosen, choose] = useState(place.config);
	const asked = useAsked<Chosen>(api, `weekly ${chosen}`, round, async (asker) => {
		const { names } = await askConfigurations(asker);
		const config = chosen || (names.find((one) => one === firstConfig) ?? names[0] ?? firstConfig);
		return { names: names.includes(config) ? names : [...names, config], config, list: await askList(asker, config) };
	});
	return <section class="weekly" aria-labelledby="weekly-title">
		<h2 id="weekly-title">{words.title}</h2>
		<Progress asked={asked} />
		<Panel asked={asked} question={undefined}>{({ names, config, list }) => <>
			{names.length > 1 && <div class="field"><label for="weekly-config">{words.config}</label>
				<select id="weekly-config" value={config} onChange={(event) => choose(event.currentTarget.value)}>
					{names.map((one) => <option key={one} value={one}>{one}</option>)}</select></div>}
			{list ? <Schedule key={config} config={config} list={list} /> : <p class="quiet">{words.none}</p>}
		</>}</Panel>
	</section>;
}

/** Schedule says what will be made, and makes it so. */
function Schedule({ config, list }: { config: string; list: List }) {
	const { api, place, zone } = useConsole();
	const [name, setName] = useState(() => freeName(list.reports.map((one) => one.name)));
	const [mail, setMail] = useState('');
	const [to, setTo] = useState<readonly string[]>([]);
	const [wanted, setWanted] = useState(0); // how often it was to be scheduled
	const taken = list.reports.some((one) => one.name === name);
	const wrong = taken ? words.taken : nameForm.test(name) ? '' : words.wrongName;
	const addresses = addressesOf(mail);
	const definition = everyMonday(place.filter, zone, [
		...to.map((one) => ({ to: one })), ...(addresses.length > 0 ? [{ mail: addresses }] : []),
	]);
	const done = useAsked(api, wanted > 0 ? 'schedule' : '', wanted, async (asker) => {
		if (wanted === 0) return null;
		await api.change('PUT', pathOf(config, name), JSON.stringify(definition), '');
		const listed = await askList(asker, config).catch(() => null); // it is scheduled anyway
		const next = listed?.reports.find((one) => one.name === name)?.next;
		return { name, at: next ? `${momentIn(Date.parse(next.due), zone)} (${zone})` : '' };
	});
	if (done.answer) {
		return <p role="status">{words.scheduled(done.answer.name, done.answer.at)}{' '}
			<LinkTo change={{ screen: 'reports', config, report: done.answer.name }}>{words.open}</LinkTo></p>;
	}
	return <form onSubmit={(event) => {
		event.preventDefault();
		if (wrong === '') setWanted(wanted + 1);
	}}>
		<p>{words.about(zone)} {place.filter.trim() !== '' && <>{words.filter} <code>{place.filter}</code></>}</p>
		<p class="quiet" id="weekly-hint"><ReceiverHint list={list} /></p>
		<div class="field">
			<label for="weekly-name">{words.name}</label>
			<input id="weekly-name" value={name} autocomplete="off" spellcheck={false} aria-invalid={wrong !== ''}
				aria-describedby={wrong === '' ? undefined : 'weekly-wrong'} onInput={(event) => setName(event.currentTarget.value)} />
			{wrong !== '' && <small id="weekly-wrong" class="wrong-text">{wrong}</small>}
		</div>
		<div class="field">
			<label for="weekly-mail">{words.mail}</label>
			<input id="weekly-mail" value={mail} autocomplete="off" spellcheck={false} disabled={list.domains.length === 0}
				placeholder={words.addresses} aria-describedby="weekly-hint" onInput={(event) => setMail(event.currentTarget.value)} />
		</div>
		{list.destinations.length > 0 && <fieldset class="row">
			<legend>{words.to}</legend>
			{list.destinations.map((one) => <label key={one}><input type="checkbox" checked={to.includes(one)}
				onChange={() => setTo(to.includes(one) ? to.filter((other) => other !== one) : [...to, one])} /> {one}</label>)}
		</fieldset>}
		{wanted > 0 && <Trouble asked={done} name={words.schedule} />}
		<button type="submit" class="primary" disabled={done.state === 'asking' || wrong !== ''}>{words.schedule}</button>
	</form>;
}
