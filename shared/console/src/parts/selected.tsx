// A selection in a chart: its figures, which the chart has, and what can be asked about it.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useConsole } from '../foundation/context';
import type { Place } from '../pure/fragment';
import { conditionOf, nameOf } from '../pure/selection';
import { words } from './selected.words';

/** A figure of the selected segments. */
export interface Figure {
	name: string;
	text: ComponentChildren;
}

/** Selected is what a selection has, and the ways from it. Esc closes it. */
export function Selected({ period, of, figures, whole = false, from = {}, close }: {
	period: string; // that is selected
	of: string; // the period of the chart
	figures: readonly Figure[];
	whole?: boolean; // everything is selected, so there are no other requests
	from?: Partial<Place>; // what the ways have in common if the chart is not of the page's own question
	close(): void;
}) {
	const { place, zone, go } = useConsole();
	const box = useRef<HTMLElement>(null);
	const latest = useRef(close);
	latest.current = close;
	useLayoutEffect(() => { // a key can follow as soon as the selection can be seen
		const key = (event: KeyboardEvent): void => {
			const at = event.target instanceof Element ? event.target : null;
			if (event.key !== 'Escape' || document.querySelector('.menu')) return;
			if (at !== document.body && !box.current?.closest('.chart')?.contains(at)) return;
			event.stopPropagation();
			const plot = box.current?.closest('.chart')?.querySelector<HTMLElement>('.plot');
			if (box.current?.contains(at)) plot?.focus({ preventScroll: true });
			latest.current();
		};
		document.addEventListener('keydown', key, true);
		return () => document.removeEventListener('keydown', key, true);
	}, []);
	const way = (name: string, title: string, change: Partial<Place>) =>
		<button type="button" class="small" title={title} onClick={() => {
			close();
			go({ ...from, ...change });
		}}>{name}</button>;
	return <section class="selected-part" aria-label={words.name} ref={box}>
		<p role="status">
			<b>{nameOf(period, zone)}</b>
			{figures.map((one) => <span key={one.name}>{one.name} <b>{one.text}</b></span>)}
		</p>
		<span class="row">
			{way(words.zoom, '', { period })}
			{way(words.differs, whole ? words.differsBefore : words.differsTitle, {
				screen: 'compare', panel: '', other: '', period: whole ? period : of,
				select: whole ? '' : conditionOf(period), against: whole ? 'previous' : '',
			})}
			{place.screen !== 'events' &&
				way(words.requests, words.requestsTitle, { screen: 'events', panel: '', record: null, period })}
			{way(words.report, words.reportTitle, { screen: 'dashboard', panel: 'report', period })}
			<button type="button" class="icon" aria-label={words.close} onClick={close}>×</button>
		</span>
	</section>;
}
