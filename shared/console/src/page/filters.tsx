// The lists of the filter bar: saved filters, which all users of a configuration share, and those that this browser asked.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useConsole } from '../foundation/context';
import { forgetFilters, forgetsOnClose, rememberedFilters, setForgetsOnClose } from '../foundation/remember';
import { announced } from '../parts/menu';
import { ago, requests } from '../pure/format';
import { fuzzy } from '../pure/fuzzy';
import { nameForm } from '../pure/names';
import type { Remembered } from '../pure/remembered';
import { words } from './filters.words';
import { chooseConfig, chosenConfig, configurations, pathOf, type SavedFilter } from './saved';

export { read } from './reading'; // for the bar, which loads them when it needs the server
export { savedFilters } from './saved';

type Tab = keyof typeof words.tabs;

interface Props {
	first: Tab;
	text: string; // of the bar
	use(filter: string): void;
	close(): void;
}

/** An entry of either list. */
interface Entry {
	id: string;
	name: string; // "": it has none
	detail: string;
	filter: string;
}

/** Filters lists filters below the bar. Typing searches them, Enter takes one. */
export function Filters({ first, text, use, close }: Props) {
	const [tab, setTab] = useState<Tab>(first);
	const [search, setSearch] = useState('');
	const [active, setActive] = useState(0);
	const box = useRef<HTMLDivElement>(null);
	const field = useRef<HTMLInputElement>(null);
	const saved = useSaved();
	const [history, setHistory] = useState<readonly Remembered[]>(rememberedFilters);
	useLayoutEffect(() => field.current?.focus(), [tab]);
	useLayoutEffect(() => {
		const outside = (event: Event): void => {
			if (!box.current?.parentElement?.contains(event.target as Node)) close();
		};
		addEventListener('pointerdown', outside);
		return () => removeEventListener('pointerdown', outside);
	}, []);
	const all: readonly Entry[] = tab === 'saved' ? saved.list.map((one) =>
		({ id: one.name, name: `@${one.name}`, detail: one.title ?? '', filter: one.filters })) :
		history.map((one) => ({
			id: one.filter, name: '', detail: words.matched(requests(one.requests), ago(Date.now() - one.at)), filter: one.filter,
		}));
	const found = fuzzy(all, search, (one) => `${one.name} ${one.detail} ${one.filter}`);
	const chosen = Math.min(active, found.length - 1);
	useEffect(() => document.getElementById(`filter-${chosen}`)?.scrollIntoView({ block: 'nearest' }), [chosen]);
	return <div class="filters-of" role="dialog" aria-label={words.title} ref={box} onKeyDown={(event) => {
		if (event.key !== 'Escape') return;
		event.preventDefault();
		event.stopPropagation();
		close();
	}}>
		<div class="row between">
			<div class="row">{(Object.keys(words.tabs) as Tab[]).map((one) => <button type="button" key={one} class="small"
				aria-pressed={tab === one} onClick={() => {
					setTab(one);
					setActive(0);
				}}>{words.tabs[one]}</button>)}</div>
			<button type="button" class="icon" aria-label={words.close} onClick={close}>×</button>
		</div>
		<input ref={field} role="combobox" aria-label={words.find} placeholder={words.find} aria-description={words.keys} autocomplete="off"
			spellcheck={false} aria-expanded={found.length > 0} aria-controls="filters-found" aria-autocomplete="list"
			aria-activedescendant={found.length > 0 ? `filter-${chosen}` : undefined} value={search}
			onInput={(event) => {
				setSearch(event.currentTarget.value);
				setActive(0);
			}}
			onKeyDown={(event) => {
				if (event.isComposing) return; // its Enter takes a word of an input method
				const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
				const one = found[chosen];
				if (by !== undefined && found.length > 0) setActive((chosen + by + found.length) % found.length);
				else if (event.key === 'Enter') {
					if (one) use(one.filter);
				} else if (event.key === 'r' && event.ctrlKey) setActive((chosen + 1) % Math.max(1, found.length));
				else return;
				event.preventDefault();
			}} />
		<ul class="found" id="filters-found" role="listbox" aria-label={words.filtersOf} hidden={found.length === 0}>
			{found.map((one, i) => <li key={one.id} id={`filter-${i}`} role="option" aria-selected={i === chosen}
				onClick={() => use(one.filter)}>
				{one.name !== '' && <b>{one.name}</b>} <code>{one.filter}</code> <small>{one.detail}</small>
			</li>)}
		</ul>
		{found.length === 0 && saved.loaded && <p class="quiet">{all.length > 0 ? words.noneFound : tab === 'history' ? words.noHistory :
			words.none(saved.config)}</p>}
		{tab === 'saved' ? <Saving saved={saved} text={text} chosen={saved.list.find((one) => one.name === found[chosen]?.id) ?? null} /> :
			<Forgetting changed={() => setHistory(rememberedFilters())} />}
	</div>;
}

interface Saved {
	names: readonly string[]; // of the configurations
	config: string;
	list: readonly SavedFilter[];
	loaded: boolean;
	failure: string;
	choose(config: string): void;
	/** write changes a filter, and reads the list again. */
	write(method: 'PUT' | 'DELETE', name: string, body: string, etag: string): Promise<boolean>;
}

/** useSaved is the saved filters of the configuration that was chosen last. */
function useSaved(): Saved {
	const { api, say } = useConsole();
	const [names, setNames] = useState<readonly string[]>([]);
	const [config, setConfig] = useState(chosenConfig);
	const [list, setList] = useState<readonly SavedFilter[]>([]);
	const [loaded, setLoaded] = useState(false);
	const [failure, setFailure] = useState('');
	const [round, setRound] = useState(0);
	const fail = (error: unknown): void => setFailure(error instanceof Error ? error.message : String(error));
	useEffect(() => {
		const own = new AbortController();
		configurations(api, own.signal, announced(say)).then((all) => {
			setNames(all);
			setConfig((now) => (now === '' ? all[0] ?? '' : now));
		}, (error: unknown) => !own.signal.aborted && fail(error));
		return () => own.abort();
	}, []);
	useEffect(() => {
		if (config === '') return;
		const own = new AbortController();
		api.get(pathOf(config), own.signal, announced(say)).then(({ text }) => {
			setList((JSON.parse(text) as { filters: SavedFilter[] }).filters);
			setLoaded(true);
		}, (error: unknown) => {
			if (own.signal.aborted) return;
			setList([]);
			fail(error);
		});
		return () => own.abort();
	}, [config, round]);
	return {
		names: names.includes(config) || config === '' ? names : [...names, config], config, list, loaded, failure,
		choose: (name) => {
			chooseConfig(name);
			setFailure('');
			setList([]); // those of the other configuration must not be changed
			setLoaded(false);
			setConfig(name);
		},
		write: async (method, name, body, etag) => {
			setFailure('');
			try {
				await api.change(method, pathOf(config, name), body, etag);
				return true;
			} catch (error) {
				fail(error);
				return false;
			} finally {
				setRound((n) => n + 1); // somebody else may have changed it
			}
		},
	};
}

/** Saving saves the text of the bar under a name, and deletes the chosen filter. */
function Saving({ saved, text, chosen }: { saved: Saved; text: string; chosen: SavedFilter | null }) {
	const { say } = useConsole();
	const [name, setName] = useState('');
	const [removed, setRemoved] = useState<(SavedFilter & { config: string }) | null>(null); // can be saved again
	const wrong = name !== '' && !nameForm.test(name);
	const there = saved.list.find((one) => one.name === name);
	const save = (): void => {
		if (!nameForm.test(name) || text.trim() === '') return;
		void saved.write('PUT', name, bodyOf(text, there?.title), there?.etag ?? '').then((done) => done && say(words.saved(name)));
	};
	const remove = (one: SavedFilter): void => void saved.write('DELETE', one.name, '', one.etag).then((done) => {
		if (!done) return;
		say(words.removed(one.name));
		setRemoved({ ...one, config: saved.config });
	});
	const undo = (one: SavedFilter): void => void saved.write('PUT', one.name, bodyOf(one.filters, one.title), '').then((done) => {
		if (!done) return;
		say(words.saved(one.name));
		setRemoved(null);
	});
	return <>
		{saved.failure !== '' && <p class="wrong-text" role="alert">{saved.failure}</p>}
		<div class="row saving">
			{saved.names.length > 1 && <>
				<label for="filters-config" class="quiet">{words.config}</label>
				<select id="filters-config" value={saved.config} onChange={(event) => saved.choose(event.currentTarget.value)}>
					{saved.names.map((one) => <option key={one} value={one}>{one}</option>)}
				</select>
			</>}
			{chosen && <button type="button" class="small" onClick={() => remove(chosen)}>{words.remove(`@${chosen.name}`)}</button>}
			{removed?.config === saved.config && <button type="button" class="small" onClick={() => undo(removed)}>
				{words.undo(`@${removed.name}`)}</button>}
		</div>
		{text.trim() === '' ? <p class="quiet">{words.emptyFilter}</p> : <div class="row saving">
			<label for="filters-name" class="quiet">{words.save}</label>
			<input id="filters-name" value={name} placeholder={words.nameHint} autocomplete="off" spellcheck={false} aria-invalid={wrong}
				aria-describedby={wrong ? 'filters-name-wrong' : undefined}
				onInput={(event) => setName(event.currentTarget.value)} onKeyDown={(event) => {
					if (event.key !== 'Enter' || event.isComposing) return;
					event.preventDefault(); // the bar around would run its filter
					save();
				}} />
			<button type="button" disabled={name === '' || wrong} onClick={save}>{there ? words.replace : words.saveNew}</button>
			{wrong && <small id="filters-name-wrong" class="wrong-text">{words.wrongName}</small>}
		</div>}
	</>;
}

/** bodyOf is a saved filter as the API takes it. */
function bodyOf(filters: string, title: string | undefined): string {
	return JSON.stringify({ filters, ...(title ? { title } : {}) });
}

/** Forgetting chooses how long the browser keeps the history. */
function Forgetting({ changed }: { changed(): void }) {
	const [closing, setClosing] = useState(forgetsOnClose);
	return <div class="row between saving">
		<label><input type="checkbox" checked={closing} onChange={(event) => {
			setForgetsOnClose(event.currentTarget.checked);
			setClosing(event.currentTarget.checked);
		}} /> {words.forgetOnClose}</label>
		<button type="button" class="small" onClick={() => {
			forgetFilters();
			changed();
		}}>{words.forget}</button>
	</div>;
}
