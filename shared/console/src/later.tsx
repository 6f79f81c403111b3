// Parts of the page that are loaded when they are opened, each with its own style. The events have that of the page, and their
// script has the quick search.
import type { ComponentType } from 'preact';
import { useEffect, useReducer, useState } from 'preact/hooks';
import type { Asker } from './ask';
import blameStyle from './blame.css';
import chipsStyle from './chips.css';
import columnsStyle from './columns.css';
import compareStyle from './compare.css';
import explainStyle from './explain.css';
import exportStyle from './export.css';
import facetsStyle from './facets.css';
import filtersStyle from './filters.css';
import helpStyle from './help.css';
import linesStyle from './lines.css';
import planetsStyle from './planets.css';
import recordStyle from './record.css';
import reportsStyle from './reports.css';
import standoutStyle from './standout.css';
import statusStyle from './status.css';
import type { Names } from './configurations';
import { words } from './strings';

/** The parts. Each imports './app', so that all that the first page has is one file, which is not loaded again. */
const parts = {
	advised: { load: () => import('./advised').then((m) => m.Advised) },
	busiest: { load: () => import('./busiest').then((m) => m.Busiest) },
	choices: { load: () => import('./choices').then((m) => m.Choices) },
	chips: { load: () => import('./chips').then((m) => m.Chips), style: chipsStyle },
	find: { load: () => import('./events').then((m) => m.QuickFind), style: filtersStyle },
	lists: { load: () => import('./chips').then((m) => m.List), style: chipsStyle },
	columns: { load: () => import('./columns').then((m) => m.Columns), style: columnsStyle },
	compare: { load: () => import('./compare').then((m) => m.Compare), style: compareStyle },
	configurations: { load: () => import('./configurations').then((m) => m.Configurations), style: planetsStyle },
	events: { load: () => import('./events').then((m) => m.Events) },
	explain: { load: () => import('./explain').then((m) => m.Explain), style: explainStyle },
	export: { load: () => import('./export').then((m) => m.Export), style: exportStyle },
	facets: { load: () => import('./facets').then((m) => m.Facets), style: facetsStyle },
	filters: { load: () => import('./filters').then((m) => m.Filters), style: filtersStyle },
	help: { load: () => import('./help').then((m) => m.Help), style: helpStyle },
	keyform: { load: () => import('./keyform').then((m) => m.KeyForm) },
	lines: { load: () => import('./lines').then((m) => m.Lines), style: linesStyle },
	menu: { load: () => import('./valuemenu').then((m) => m.Menu) },
	nothing: { load: () => import('./blame').then((m) => m.Nothing), style: blameStyle },
	numbers: { load: () => import('./lines').then((m) => m.Numbers) },
	overlay: { load: () => import('./lines').then((m) => m.Overlay), style: linesStyle },
	planets: { load: () => import('./planets').then((m) => m.Planets), style: planetsStyle },
	record: { load: () => import('./record').then((m) => m.RecordView), style: recordStyle },
	reports: { load: () => import('./reports').then((m) => m.Reports), style: reportsStyle, also: planetsStyle },
	split: { load: () => import('./lines').then((m) => m.Split), style: linesStyle },
	standout: { load: () => import('./standout').then((m) => m.StandOut), style: standoutStyle },
	status: { load: () => import('./status').then((m) => m.Status), style: statusStyle },
};

export type PartName = keyof typeof parts;

/** What a part needs. */
type Given<N extends PartName> = Parameters<Awaited<ReturnType<typeof parts[N]['load']>>>[0];

/** askConfigurations returns the names of the configurations, which only few parts need. */
export async function askConfigurations(asker: Pick<Asker, 'get' | 'ask'>): Promise<Names> {
	return (await import('./configurations')).askConfigurations(asker);
}

const loaded = new Map<PartName, ComponentType<object>>();

/** Later draws a part as soon as it is loaded. */
export function Later<N extends PartName>({ part, given }: { part: N; given?: Given<N> }) {
	const [, redraw] = useReducer((n: number) => n + 1, 0);
	const [failed, setFailed] = useState(false);
	useEffect(() => {
		if (!loaded.has(part)) load(part).then(() => redraw(0), () => setFailed(true));
	}, [part]);
	const Loaded = loaded.get(part);
	if (Loaded) return <Loaded {...(given as object)} />;
	if (failed) return <NotLoaded />;
	return <p class="quiet" role="status"><span class="late">{words.loading}</span></p>;
}

async function load(name: PartName): Promise<void> {
	const part: { load(): Promise<unknown>; style?: string; also?: string } = parts[name];
	if (part.also) await loadStyle(part.also); // the part's own rules come after those that it shares
	const [component] = await Promise.all([part.load(), part.style && loadStyle(part.style)]);
	loaded.set(name, component as ComponentType<object>);
}

const styles = new Map<string, Promise<void>>();

/** loadStyle adds a style sheet to the page, once. It is in the folder of the scripts. */
function loadStyle(name: string): Promise<void> {
	const there = styles.get(name);
	if (there) return there;
	const loading = addStyle(name);
	styles.set(name, loading);
	loading.catch(() => styles.delete(name));
	return loading;
}

function addStyle(name: string): Promise<void> {
	return new Promise((resolve, reject) => {
		const link = document.createElement('link');
		link.rel = 'stylesheet';
		link.href = new URL(name, import.meta.url).href;
		link.onload = () => resolve();
		link.onerror = () => {
			link.remove();
			reject(new Error(name));
		};
		document.head.append(link);
	});
}

/** NotLoaded offers to load the page again: browsers do not ask again for a script that failed, and there may be a newer one. */
function NotLoaded() {
	return <section class="trouble failed" role="alert">
		<p><strong>{words.notLoaded}</strong></p>
		<p>{words.notLoadedHint}</p>
		<button type="button" onClick={() => location.reload()}>{words.reload}</button>
	</section>;
}
