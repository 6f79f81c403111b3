// The page around the screens: navigation, filter bar, period, and what opens above them.
import type { ComponentType } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import compareStyle from '../compare/compare.css';
import { Dashboard } from '../dashboard/dashboard';
import eventsStyle from '../events/events.css';
import { forgetTyped, keepTyped, writeTyped } from '../foundation/addressdraft';
import { API, Refusal } from '../foundation/api';
import { forgetHeavy } from '../foundation/ask';
import { type Console, ConsoleProvider, type How } from '../foundation/context';
import { keepKey, readKey } from '../foundation/key';
import { useShortcuts } from '../foundation/keys';
import { lazy } from '../foundation/lazy';
import { learnFields } from '../foundation/remember';
import { keepTheme, readTheme } from '../foundation/theme';
import documentsStyle from '../parts/documents.css';
import { type Choice, LinkTo } from '../parts/menu';
import '../parts/result';
import { share } from '../parts/share';
import type { Field } from '../pure/complete';
import { asksAboutRequests, type Place, periodOf, readFragment, type Screen, screens, writeFragment } from '../pure/fragment';
import '../pure/blame';
import '../pure/networks';
import '../pure/receivers';
import '../pure/tags';
import '../pure/trial'; // screens share these, and shall each need few scripts
import { absolute, isZone, lengthOf, resolve, shift, zoomOut } from '../pure/time';
import { words } from '../pure/words';
import '../reports/lazily';
import '../reports/reportparts';
import reportsStyle from '../reports/reports.css';
import statusStyle from '../status/status.css';
import '../parts/tags.words';
import tryStyle from '../try/try.css';
import { Bar } from './bar';
import { useDropped } from './dropped';
import explainStyle from './explain.css';
import helpStyle from './help.css';
import importStyle from './imports.css';
import { Picker } from './period';

const Explain = lazy(() => import('./explain').then((m) => m.Explain), explainStyle);
const Help = lazy(() => import('./help').then((m) => m.Help), helpStyle);
const ImportLog = lazy(() => import('./imports').then((m) => m.ImportLog), importStyle);
const KeyForm = lazy(() => import('./keyform').then((m) => m.KeyForm));
const Menu = lazy(() => import('./valuemenu').then((m) => m.Menu));

const ReportNow = lazy(() => import('../reports/reportnow').then((m) => m.ReportNow));

/** The screens. The first one is there at once, the others are loaded. */
const screenOf: Readonly<Record<Screen, ComponentType>> = {
	dashboard: Dashboard,
	events: lazy(() => import('../events/events').then((m) => m.Events), eventsStyle),
	compare: lazy(() => import('../compare/compare').then((m) => m.Compare), compareStyle),
	try: lazy(() => import('../try/try').then((m) => m.Try), tryStyle),
	reports: lazy(() => import('../reports/reports').then((m) => m.Reports), documentsStyle, reportsStyle),
	planets: lazy(() => import('../planets/planets').then((m) => m.Planets), documentsStyle),
	status: lazy(() => import('../status/status').then((m) => m.Status), statusStyle),
};

const noticeTime = 3000;

/** What another screen does not take over. */
const anew: Partial<Place> = { record: null, report: '', version: null, tab: '', by: null, chart: '', live: 0 };

/** App reads the address and draws the screen that it names. */
export function App() {
	const [place, go] = usePlace();
	const [round, ask] = useRound();
	const [session, setSession] = useState(0); // changes with the key: nothing that another key was shown is left
	const [keyless, setKeyless] = useState<string | null>(null); // the request for which the server wants a key
	const [api] = useState(() => new API(new URL('api/v4.0/', document.baseURI).href, readKey, setKeyless));
	const [chosen, setChosen] = useState<{ choice: Choice; place: Place } | null>(null);
	const choice = chosen?.place === place ? chosen.choice : null; // its element may not be in the answer of another place
	const [notice, say] = useNotice();
	const [help, setHelp] = useState(false);
	const [logs, bring] = useState<readonly File[] | null>(null); // to import; null: the dialog is closed
	const dropping = useDropped(bring);
	const fields = useFields(api, session, `${round} ${place.screen} ${periodOf(place)} ${place.filter}`);
	const zone = isZone(place.zone) ? place.zone : 'UTC';
	const closeMenu = useCallback(() => {
		setChosen((open) => {
			const at = open?.choice.at;
			if (at instanceof HTMLElement) (at.closest<HTMLElement>('[role=grid]') ?? at).focus({ preventScroll: true });
			return null;
		});
	}, []);
	const value: Console = {
		api, place, zone, round, fields, go, say, bring, href: (change) => writeFragment(changed(place, change)), hasKey: readKey() !== '',
		ask: () => {
			setKeyless(null);
			ask();
		},
		useKey: (key) => {
			keepKey(key);
			forgetHeavy();
			setKeyless(null);
			setChosen(null);
			setSession((n) => n + 1);
		},
		choose: (fact, at, more = []) => setChosen({ choice: { fact, at, more }, place }),
	};
	useShortcuts(shortcutsOf(value, () => setHelp(true), choice && closeMenu));
	useEffect(() => { // also while the script of the menu is loaded
		if (!choice) return;
		const top = choice.at.getBoundingClientRect().top;
		const outside = (event: Event): void => {
			if (!document.querySelector('.menu')?.contains(event.target as Node)) closeMenu();
		};
		const scrolled = (event: Event): void => { // not when the page has become shorter or longer, and the value stays where it is
			if (Math.abs(choice.at.getBoundingClientRect().top - top) > 1) outside(event);
		};
		addEventListener('pointerdown', outside);
		addEventListener('scroll', scrolled, true);
		return () => {
			removeEventListener('pointerdown', outside);
			removeEventListener('scroll', scrolled, true);
		};
	}, [choice]);
	const bar = useRef<HTMLDivElement>(null);
	useLayoutEffect(() => { // what stays below it needs its height, and so does the browser when it scrolls to what has the focus
		const observer = new ResizeObserver(() => {
			const height = bar.current && getComputedStyle(bar.current).position === 'sticky' ? bar.current.offsetHeight : 0;
			document.documentElement.style.setProperty('--bar', `${height}px`);
		});
		if (bar.current) observer.observe(bar.current);
		return () => observer.disconnect();
	}, [asksAboutRequests(place.screen)]);
	const Shown = showsReport(place) ? ReportNow : screenOf[place.screen];
	const first = useRef(true);
	useEffect(() => {
		document.title = `${words.screens[place.screen]} – ${words.name}`;
		// what had the focus may have been on the screen before
		if (!first.current && document.activeElement === document.body) document.getElementById('answer')?.focus({ preventScroll: true });
		first.current = false;
	}, [place.screen]);
	return <ConsoleProvider key={session} value={value}>
		<a class="skip" href="#answer" onClick={(event) => {
			event.preventDefault(); // the fragment is the state of the page
			document.getElementById('answer')?.focus();
		}}>{words.skip}</a>
		<Header place={place} help={() => setHelp(true)}
			forget={value.hasKey ? () => value.useKey('') : null} share={() => share(value)}
			report={place.screen === 'dashboard' ? () => go({ panel: showsReport(place) ? '' : 'report' }) : null} />
		{asksAboutRequests(place.screen) && <div class="ask" ref={bar}>
			<Bar />
			<Picker />
		</div>}
		<main id="answer" tabIndex={-1}>
			<h1 class="hidden">{words.screens[place.screen]}</h1>
			{keyless !== null && <KeyForm requestID={keyless} />}
			{place.panel === 'explain' && asksAboutRequests(place.screen) && <Explain />}
			<Shown />
			{choice && <Menu choice={choice} close={closeMenu} />}
		</main>
		{logs && <ImportLog logs={logs} close={() => bring(null)} />}
		{dropping && <div class="notice dropping">{words.dropLog}</div>}
		{help && <Help close={() => setHelp(false)} />}
		<div class="notice" role="status">{notice}</div>
	</ConsoleProvider>;
}


/** reports tells whether a report is shown in place of the dashboard. */
function showsReport({ screen, panel }: Place): boolean {
	return screen === 'dashboard' && panel === 'report';
}

/** changed is a place after a change. */
function changed(place: Place, change: Partial<Place>): Place {
	const other = change.screen !== undefined && change.screen !== place.screen;
	const asked = other || change.filter !== undefined || change.period !== undefined;
	const leaves = change.screen !== undefined && showsReport(place);
	return { ...place, ...(other ? anew : {}), ...(leaves ? { panel: '' } : {}), ...(asked ? { find: '' } : {}), ...change };
}

/** usePlace is the place in the address, and the way to another one. */
function usePlace(): [Place, Console['go']] {
	const [place, setPlace] = useState(() => readFragment(location.hash));
	const latest = useRef(place);
	latest.current = place;
	useLayoutEffect(() => {
		const read = (): void => {
			forgetTyped();
			setPlace(readFragment(location.hash));
		};
		addEventListener('popstate', read);
		addEventListener('hashchange', read);
		return () => {
			removeEventListener('popstate', read);
			removeEventListener('hashchange', read);
		};
	}, []);
	const go = useCallback((change: Partial<Place>, how: How = 'push') => {
		const next = changed(latest.current, change);
		const fragment = writeFragment(next);
		if (fragment === writeFragment(latest.current)) return;
		if (how === 'type') keepTyped(fragment);
		else writeTyped(); // Back leads to what was typed
		if (how === 'push') history.pushState(null, '', fragment);
		else if (how === 'replace') history.replaceState(history.state, '', fragment);
		latest.current = next;
		setPlace(next);
	}, []);
	return [place, go];
}

/** useRound counts how often the same question is asked. */
function useRound(): [number, () => void] {
	const [round, setRound] = useState(0);
	return [round, useCallback(() => setRound((n) => n + 1), [])];
}

/** useFields loads the catalogue of fields once a key allows it. If that fails, the next question asks for it again. */
function useFields(api: API, session: number, question: string): readonly Field[] {
	const [fields, setFields] = useState<readonly Field[]>([]);
	const latest = useRef<{ session: number; own: AbortController } | null>(null); // null after a failure
	useEffect(() => {
		if (latest.current?.session === session) return;
		latest.current?.own.abort();
		const asked = latest.current = { session, own: new AbortController() };
		setFields([]);
		api.fields(asked.own.signal).then((found) => {
			if (latest.current !== asked) return;
			learnFields(found);
			setFields(found);
		}, (error: unknown) => {
			const refused = error instanceof Refusal && [401, 403].includes(error.status); // another key is another session
			if (latest.current === asked && !refused) latest.current = null;
		});
	}, [session, question]);
	return fields;
}

const noNotice = { text: '', stays: false };

/** useNotice returns the notice of the page and how to show one. One that stays gives way to another, and ends without ending that. */
function useNotice(): [string, Console['say']] {
	const [notice, setNotice] = useState(noNotice);
	const say = useCallback((text: string, stays = false) => setNotice((was) =>
		((stays || text === '') && was.text !== '' && !was.stays ? was : { text, stays })), []);
	useEffect(() => {
		if (notice.text === '' || notice.stays) return;
		const timer = setTimeout(() => setNotice(noNotice), noticeTime);
		return () => clearTimeout(timer);
	}, [notice]);
	return [notice.text, say];
}

/** live switches between asking again and again, and not. Only a period that ends now has anything newer. */
function live({ place, go }: Console): void {
	const rate = { dashboard: 30, events: 5 }[place.screen as string] ?? 0;
	if (lengthOf(periodOf(place)) !== null) go({ live: place.live > 0 ? 0 : rate }, 'replace');
}

/** shortcutsOf are the keys that work everywhere. */
function shortcutsOf(c: Console, help: () => void, closeMenu: (() => void) | null): Record<string, () => void> {
	const period = resolve(periodOf(c.place), Date.now());
	const screen = (name: Screen) => () => {
		c.go({ ...anew, screen: name });
		document.getElementById('answer')?.focus(); // so that Tab goes on at its beginning
	};
	const press = (selector: string) => () => document.querySelector<HTMLElement>(selector)?.click();
	const step = (way: string) => () => { // in the record that is open, or else the list takes the keys
		const button = document.querySelector<HTMLElement>(`[data-step=${way}]`);
		if (button) button.click();
		else document.querySelector<HTMLElement>('[role=grid]')?.focus();
	};
	return {
		'/': () => document.getElementById('filter')?.focus(),
		q: () => document.getElementById('quick-find')?.focus(),
		'g d': screen('dashboard'), 'g e': screen('events'), 'g c': screen('compare'), 'g t': screen('try'), 'g r': screen('reports'),
		'g p': screen('planets'), 'g s': screen('status'),
		x: () => c.go({ panel: c.place.panel === 'explain' ? '' : 'explain' }),
		l: () => live(c),
		f: () => ['dashboard', 'events'].includes(c.place.screen) && c.go({ panel: c.place.panel === 'facets' ? '' : 'facets' }),
		t: press('#period'), r: c.ask, y: () => share(c), '?': help,
		'[': () => period && c.go({ period: absolute(shift(period, -1)) }),
		']': () => period && c.go({ period: absolute(shift(period, 1)) }),
		z: () => period && c.go({ period: absolute(zoomOut(period)) }),
		j: step('older'), k: step('newer'),
		Escape: () => {
			const cancel = document.querySelector<HTMLElement>('[data-cancel]');
			if (closeMenu) closeMenu();
			else if (cancel) cancel.click();
			else if (c.place.record) c.go({ record: null });
			else if (c.place.panel !== '') c.go({ panel: '' });
		},
	};
}

function Header({ place, help, forget, share: onShare, report }: {
	place: Place; help(): void; forget: (() => void) | null; share(): void; report: (() => void) | null;
}) {
	const link = (screen: Screen) => <LinkTo key={screen} change={{ ...anew, screen }} current={place.screen === screen && 'page'}>
		{screen === 'try' ? <>{words.tryShort[0]}<span>{words.tryShort[1]}</span></> : words.screens[screen]}
	</LinkTo>;
	return <header class="top">
		<span class="brand"><Orbit /> <span>{words.name}</span></span>
		<nav aria-label={words.name}>{screens.map(link)}</nav>
		<span class="grow" />
		{report && <button type="button" title={words.reportTitle} aria-pressed={showsReport(place)} onClick={report}>
			{words.report}</button>}
		<button type="button" title={`${words.shareTitle} (y)`} onClick={onShare}>{words.share}</button>
		<ThemeField />
		{forget && <button type="button" onClick={forget}>{words.keyForget}</button>}
		<a class="api" href="api/">{words.apiPage}</a>
		<button type="button" class="icon" aria-label={words.help} title={`${words.help} (?)`} onClick={help}>?</button>
	</header>;
}

/** Orbit is the mark of the product. */
function Orbit() {
	return <svg class="mark" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
		<circle cx="12" cy="12" r="3.5" fill="currentColor" />
		<ellipse cx="12" cy="12" rx="10.5" ry="5" fill="none" stroke="currentColor" stroke-width="1.5" transform="rotate(-25 12 12)" />
		<circle cx="21" cy="7.2" r="2" fill="currentColor" />
	</svg>;
}

function ThemeField() {
	const [theme, setTheme] = useState(readTheme);
	return <select aria-label={words.theme} title={words.theme} value={theme}
		onChange={(event) => {
			setTheme(event.currentTarget.value);
			keepTheme(event.currentTarget.value);
		}}>
		{Object.entries(words.themes).map(([value, name]) => <option key={value} value={value}>{name}</option>)}
	</select>;
}
