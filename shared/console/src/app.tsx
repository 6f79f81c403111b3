// The page around the screens: navigation, filter bar, period, and what opens above them.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { API } from './api';
import { Bar } from './bar';
import { type Console, ConsoleProvider } from './context';
import { Dashboard } from './dashboard';
import { Events } from './events';
import { setShortcuts, shortcutsOn, useShortcuts } from './keys';
import { type Choice, copy, Menu } from './menu';
import { Picker } from './period';
import type { Field } from './pure/complete';
import { type Place, periodOf, readFragment, type Screen, writeFragment } from './pure/fragment';
import { absolute, isZone, resolve, shift, zoomOut } from './pure/time';
import { words } from './strings';
import { keepTheme, readTheme } from './theme';

const keySetting = 'orrery.key'; // in sessionStorage: it is gone with the tab
const noticeTime = 3000;

/** App reads the address and draws the screen that it names. */
export function App() {
	const [place, go] = usePlace();
	const [round, ask] = useRound();
	const [key, useKey] = useKeyOfTab(ask);
	const [api] = useState(() => new API(new URL('api/v4.0/', document.baseURI).href, () => sessionStorage.getItem(keySetting) ?? ''));
	const [choice, setChoice] = useState<Choice | null>(null);
	const [notice, say] = useNotice();
	const [help, setHelp] = useState(false);
	const fields = useFields(api, key);
	const zone = isZone(place.zone) ? place.zone : 'UTC';
	const closeMenu = useCallback(() => {
		setChoice((open) => {
			const at = open?.at;
			if (at instanceof HTMLElement) (at.closest<HTMLElement>('[role=grid]') ?? at).focus({ preventScroll: true });
			return null;
		});
	}, []);
	const value: Console = {
		api, place, zone, round, fields, go, ask, say, useKey, hasKey: key !== '',
		choose: (fact, at) => setChoice({ fact, at }),
	};
	useShortcuts(shortcutsOf(value, () => setHelp(true), closeMenu));
	useEffect(() => {
		document.title = `${words.screens[place.screen]} – ${words.name}`;
	}, [place.screen]);
	return <ConsoleProvider value={value}>
		<a class="skip" href="#answer" onClick={(event) => {
			event.preventDefault(); // the fragment is the state of the page
			document.getElementById('answer')?.focus();
		}}>{words.skip}</a>
		<Header place={place} go={go} help={() => setHelp(true)} forget={key === '' ? null : () => useKey('')} share={() => share(value)} />
		<div class="ask">
			<Bar />
			<Picker />
		</div>
		<main id="answer" tabIndex={-1}>
			<h1 class="hidden">{words.screens[place.screen]}</h1>
			{place.screen === 'events' ? <Events /> : <Dashboard />}
			{choice && <Menu choice={choice} close={closeMenu} />}
		</main>
		{help && <Help close={() => setHelp(false)} />}
		<div class="notice" role="status">{notice}</div>
	</ConsoleProvider>;
}

/** usePlace is the place in the address, and the way to another one. */
function usePlace(): [Place, Console['go']] {
	const [place, setPlace] = useState(() => readFragment(location.hash));
	const latest = useRef(place);
	latest.current = place;
	useEffect(() => {
		const read = (): void => setPlace(readFragment(location.hash));
		addEventListener('popstate', read);
		addEventListener('hashchange', read);
		return () => {
			removeEventListener('popstate', read);
			removeEventListener('hashchange', read);
		};
	}, []);
	const go = useCallback((change: Partial<Place>, how: 'push' | 'replace' = 'push') => {
		const next = { ...latest.current, ...change };
		const fragment = writeFragment(next);
		if (fragment === writeFragment(latest.current)) return;
		if (how === 'push') history.pushState(null, '', fragment);
		else history.replaceState(null, '', fragment);
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

function useKeyOfTab(ask: () => void): [string, (key: string) => void] {
	const [key, setKey] = useState(() => sessionStorage.getItem(keySetting) ?? '');
	const change = useCallback((to: string) => {
		if (to === '') sessionStorage.removeItem(keySetting);
		else sessionStorage.setItem(keySetting, to);
		setKey(to);
		ask();
	}, [ask]);
	return [key, change];
}

/** useFields loads the catalogue of fields once a key allows it. */
function useFields(api: API, key: string): readonly Field[] {
	const [fields, setFields] = useState<readonly Field[]>([]);
	useEffect(() => {
		const own = new AbortController();
		api.fields(own.signal).then(setFields, () => undefined); // without it there are no completions
		return () => own.abort();
	}, [api, key]);
	return fields;
}

function useNotice(): [string, (text: string) => void] {
	const [notice, setNotice] = useState('');
	useEffect(() => {
		if (notice === '') return;
		const timer = setTimeout(() => setNotice(''), noticeTime);
		return () => clearTimeout(timer);
	}, [notice]);
	return [notice, setNotice];
}

/** share copies a link whose period is absolute, so that it always shows the same. */
function share({ place, zone, say }: Console): void {
	const period = resolve(periodOf(place), Date.now());
	const fragment = writeFragment({ ...place, period: period ? absolute(period) : place.period, zone: place.zone || zone });
	copy(new URL(fragment, location.href).href, (text) => say(text === words.copied ? words.shared : text));
}

/** shortcutsOf are the keys that work everywhere. */
function shortcutsOf(c: Console, help: () => void, closeMenu: () => void): Record<string, () => void> {
	const period = resolve(periodOf(c.place), Date.now());
	const screen = (name: Screen) => () => c.go({ screen: name, record: null });
	const press = (selector: string) => () => document.querySelector<HTMLElement>(selector)?.click();
	return {
		'/': () => document.getElementById('filter')?.focus(),
		'g d': screen('dashboard'), 'g e': screen('events'),
		t: press('#period'), r: c.ask, y: () => share(c), '?': help,
		'[': () => period && c.go({ period: absolute(shift(period, -1)) }),
		']': () => period && c.go({ period: absolute(shift(period, 1)) }),
		z: () => period && c.go({ period: absolute(zoomOut(period)) }),
		j: press('[data-step=older]'), k: press('[data-step=newer]'),
		Escape: () => {
			const cancel = document.querySelector<HTMLElement>('[data-cancel]');
			if (document.querySelector('.menu')) closeMenu();
			else if (cancel) cancel.click();
			else if (c.place.record) c.go({ record: null });
		},
	};
}

function Header({ place, go, help, forget, share: onShare }: {
	place: Place; go: Console['go']; help(): void; forget: (() => void) | null; share(): void;
}) {
	const link = (screen: Screen) => {
		const to: Place = { ...place, screen, record: null };
		return <a href={writeFragment(to)} aria-current={place.screen === screen ? 'page' : undefined} onClick={(event) => {
			if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a new tab
			event.preventDefault();
			go({ screen, record: null });
		}}>{words.screens[screen]}</a>;
	};
	return <header class="top">
		<span class="brand"><Orbit /> {words.name}</span>
		<nav aria-label={words.name}>{link('dashboard')}{link('events')}</nav>
		<span class="grow" />
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

/** Help lists the shortcuts, and switches them off. */
function Help({ close }: { close(): void }) {
	const dialog = useRef<HTMLDialogElement>(null);
	const [on, setOn] = useState(shortcutsOn);
	useEffect(() => dialog.current?.showModal(), []);
	return <dialog ref={dialog} aria-labelledby="help-title" onClose={close} onClick={(event) => {
		if (event.target === dialog.current) dialog.current?.close(); // beside the box
	}}>
		<div class="help">
			<h2 id="help-title">{words.help}</h2>
			<dl>{words.shortcuts.map(([keys, text]) => <div key={keys}>
				<dt>{keys.split(' ').map((one) => <kbd key={one}>{one}</kbd>)}</dt><dd>{text}</dd>
			</div>)}</dl>
			<label><input type="checkbox" checked={on} onChange={(event) => {
				setOn(event.currentTarget.checked);
				setShortcuts(event.currentTarget.checked);
			}} /> {words.shortcutsOn}</label>
			<button type="button" class="primary" onClick={() => dialog.current?.close()}>{words.close}</button>
		</div>
	</dialog>;
}
