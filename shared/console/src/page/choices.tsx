// The panel of the picker, in which a period and a zone are chosen.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useConsole } from '../foundation/context';
import { periodOf } from '../pure/fragment';
import { isZone, momentIn, parseMoment, parseTime, periodText, presets, resolve } from '../pure/time';
import { words } from '../texts/choices';
import { words as common } from '../texts/page';

/** Choices are the periods that end now, both ends of any other, and the zone. */
export function Choices({ change }: { change(period: string): void }) {
	const { place, zone } = useConsole();
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
