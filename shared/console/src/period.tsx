// The picker of the period and the zone.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useConsole } from './context';
import { periodOf } from './pure/fragment';
import {
	absolute, isZone, lengthOf, momentIn, parseMoment, parseTime, periodIn, periodText, presetName, presets, resolve, shift, zoomOut,
} from './pure/time';
import { words } from './strings';

/** Picker shows the period, and opens the ways to choose another one. */
export function Picker() {
	const { place, zone, go } = useConsole();
	const [open, setOpen] = useState(false);
	const box = useRef<HTMLDivElement>(null);
	const text = periodOf(place);
	const period = resolve(text, Date.now());
	useEffect(() => {
		if (!open) return;
		const outside = (event: Event): void => {
			if (!box.current?.contains(event.target as Node)) setOpen(false);
		};
		addEventListener('pointerdown', outside);
		return () => removeEventListener('pointerdown', outside);
	}, [open]);
	const change = (to: string): void => {
		setOpen(false);
		go({ period: to });
	};
	const name = lengthOf(text) !== null ? presetName(text) : period ? periodIn(period, zone) : text;
	return <div class="picker" ref={box} onKeyDown={(event) => {
		if (event.key !== 'Escape' || !open) return;
		setOpen(false);
		event.stopPropagation();
		box.current?.querySelector<HTMLElement>('#period')?.focus();
	}}>
		<button type="button" class="icon" aria-label={words.earlier} title={`${words.earlier} ([)`} disabled={!period}
			onClick={() => period && change(absolute(shift(period, -1)))}>‹</button>
		<button type="button" id="period" aria-expanded={open} aria-haspopup="dialog" aria-label={`${words.period}: ${name}`}
			onClick={() => setOpen(!open)}>
			{name.split(' – ').map((end, i) => <>{i > 0 && ' – '}<span>{end}</span></>)}</button>
		<button type="button" class="icon" aria-label={words.later} title={`${words.later} (])`} disabled={!period}
			onClick={() => period && change(absolute(shift(period, 1)))}>›</button>
		<button type="button" class="icon" aria-label={words.wider} title={`${words.wider} (z)`} disabled={!period}
			onClick={() => period && change(absolute(zoomOut(period)))}>⤢</button>
		{open && <Panel change={change} />}
	</div>;
}

function Panel({ change }: { change(period: string): void }) {
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
	return <div class="panel" role="dialog" aria-label={words.period}>
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
				<button type="submit" class="primary" disabled={text === null}>{words.apply}</button>
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
