// The panel of the picker, in which a period and a zone are chosen.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useConsole } from '../foundation/context';
import { extentOf } from '../pure/blame';
import { periodOf } from '../pure/fragment';
import { around, momentsOf } from '../pure/moments';
import { absolute, dayText, isZone, momentIn, parseMoment, parseTime, periodText, presets, resolve } from '../pure/time';
import { words as common } from '../pure/words';
import { words } from './choices.words';

const mostWait = 30_000; // milliseconds for the period of all data

/** Choices are the periods that end now, both ends of any other, and the zone. */
export function Choices({ change }: { change(period: string): void }) {
	const { api, place, zone, say } = useConsole();
	const period = resolve(periodOf(place), Date.now());
	const [from, setFrom] = useState(period ? momentIn(period.from, zone) : '');
	const [to, setTo] = useState(period ? momentIn(period.to, zone) : '');
	const [typed, setTyped] = useState(zone); // the zone of both
	if (typed !== zone) { // the instants stay
		const moved = (text: string): string => {
			const at = parseTime(text, typed);
			return at === null ? text : momentIn(at, zone);
		};
		setTyped(zone);
		setFrom(moved(from));
		setTo(moved(to));
	}
	const wrong = (text: string): boolean => parseMoment(text, zone, Date.now()) === null;
	const text = periodText(from, to, zone, Date.now());
	const first = useRef<HTMLButtonElement>(null);
	useLayoutEffect(() => first.current?.focus(), []);
	return <div class="panel" role="dialog" aria-label={common.period}>
		<fieldset class="presets">
			<legend>{words.periods}</legend>
			{presets.map((preset, i) => <button type="button" key={preset} ref={i === 0 ? first : null}
				aria-pressed={periodOf(place) === preset} onClick={() => change(preset)}>{preset}</button>)}
		</fieldset>
		<div class="row">
			{(['today', 'yesterday'] as const).map((name) => <button type="button" key={name}
				onClick={() => change(dayText(name, zone, Date.now()))}>{words.days[name]}</button>)}
			<button type="button" onClick={(event) => {
				const panel = event.currentTarget;
				api.get('status', AbortSignal.timeout(mostWait)).then(({ text: status }) => {
					const data = extentOf(status);
					if (!data) say(words.notAll);
					else if (panel.isConnected) change(absolute(data)); // nobody closed it
				}, (error: unknown) => say(error instanceof Error ? error.message : String(error)));
			}}>{words.all}</button>
		</div>
		<Around change={change} />
		<form onSubmit={(event) => {
			event.preventDefault();
			if (text !== null) change(text);
		}}>
			<fieldset class="ends">
				<legend>{words.exactly} ({zone})</legend>
				<TimeField name={words.from} value={from} change={setFrom} wrong={wrong(from)} />
				<TimeField name={words.to} value={to} change={setTo} wrong={wrong(to)} />
				<button type="submit" class="primary" disabled={text === null}>{common.apply}</button>
			</fieldset>
		</form>
		<ZoneField />
	</div>;
}

/** Around is the period around a time, as people write it. */
function Around({ change }: { change(period: string): void }) {
	const { zone } = useConsole();
	const [text, setText] = useState('');
	const moment = momentsOf(text, zone, Date.now())[0];
	const wrong = text !== '' && !moment;
	return <form onSubmit={(event) => {
		event.preventDefault();
		if (moment) change(absolute(around(moment)));
	}}>
		<div class="field">
			<label for="around">{words.around}</label>
			<span class="row"><input id="around" value={text} placeholder={words.aroundHint} spellcheck={false} autocomplete="off"
				aria-invalid={wrong} aria-describedby={wrong ? 'around-wrong' : undefined}
				onInput={(event) => setText(event.currentTarget.value)} />
			<button type="submit" disabled={!moment}>{common.apply}</button></span>
			{wrong && <small id="around-wrong" class="wrong-text">{words.noMoment}</small>}
		</div>
	</form>;
}

function TimeField({ name, value, change, wrong }: {
	name: string; value: string; change(text: string): void; wrong: boolean;
}) {
	const id = `end-${name}`;
	return <div class="field">
		<label for={id}>{name}</label>
		<input id={id} value={value} spellcheck={false} autocomplete="off" aria-invalid={wrong}
			aria-describedby={wrong ? `${id}-wrong` : undefined} onInput={(event) => change(event.currentTarget.value)} />
		{wrong && <small id={`${id}-wrong`} class="wrong-text">{words.noTime}</small>}
	</div>;
}

/** ZoneField chooses the zone in which times are shown and typed. */
function ZoneField() {
	const { place, zone, go } = useConsole();
	const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
	const names = [...new Set([zone, 'UTC', own, ...Intl.supportedValuesOf('timeZone')])].filter(isZone);
	return <div class="field">
		<label for="zone">{words.zone}</label>
		<select id="zone" value={zone} onChange={(event) => {
			const name = event.currentTarget.value;
			go({ zone: name === 'UTC' && place.zone === '' ? '' : name });
		}}>
			{names.map((name) => <option key={name} value={name}>
				{name === own && name !== 'UTC' ? words.ownZone(name) : name}</option>)}
		</select>
	</div>;
}
