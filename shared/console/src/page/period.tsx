// The picker of the period. The ways to choose another one and the zone are in choices.tsx.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useConsole } from '../foundation/context';
import { lazy } from '../foundation/lazy';
import { periodOf } from '../pure/fragment';
import { absolute, lengthOf, otherZone, periodIn, presetName, resolve, shift, zoomOut } from '../pure/time';
import { words } from '../pure/words';

const Choices = lazy(() => import('./choices').then((m) => m.Choices));

/** Picker shows the period, and opens the ways to choose another one. */
export function Picker() {
	const { place, zone, go } = useConsole();
	const [open, setOpen] = useState(false);
	const box = useRef<HTMLDivElement>(null);
	const text = periodOf(place);
	const period = resolve(text, Date.now());
	useLayoutEffect(() => {
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
	const other = otherZone(zone);
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
			title={period ? `${periodIn(period, other)} ${other}` : ''}
			onClick={() => setOpen(!open)}>
			{name.split(' – ').map((end, i) => <>{i > 0 && ' – '}<span>{end}</span></>)}</button>
		<button type="button" class="icon" aria-label={words.later} title={`${words.later} (])`} disabled={!period}
			onClick={() => period && change(absolute(shift(period, 1)))}>›</button>
		<button type="button" class="icon" aria-label={words.wider} title={`${words.wider} (z)`} disabled={!period}
			onClick={() => period && change(absolute(zoomOut(period)))}>⤢</button>
		{open && <Choices change={change} />}
	</div>;
}
