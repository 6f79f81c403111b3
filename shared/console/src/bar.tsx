// The filter bar: a text area over a coloured copy of its text. The server finds the mistakes; they are underlined where
// they are, and listed below.
import { useEffect, useRef, useState } from 'preact/hooks';
import { idle, Refusal } from './api';
import { useConsole } from './context';
import { Later } from './later';
import { fieldOptions, mostOptions, type Option, operatorOptions, take, valueOptions } from './pure/complete';
import { filtersOf, isJSON, splitPeriod, withPeriod } from './pure/filter';
import { periodOf } from './pure/fragment';
import { type Expected, expectedAt, tokensOf } from './pure/lex';
import { place as placeMistakes, type Placed } from './pure/mistakes';
import { expanded, savedAt, savedNames } from './pure/names';
import { periodCondition, resolve } from './pure/time';
import type { SavedFilter } from './saved';
import { words } from './strings';

const parsePause = 200; // milliseconds after the last key
const valuesPause = 120;

interface Found {
	text: string; // that it is of
	mistakes: readonly Placed[];
	fixed: string;
	json: string; // the canonical form, with the period; "" of a filter with mistakes
}

const nothingFound: Found = { text: '', mistakes: [], fixed: '', json: '' };

/** Bar edits the filter of the address. Enter runs it. */
export function Bar() {
	const { place, go, ask } = useConsole();
	const [draft, setDraft] = useState(place.filter);
	const [from, setFrom] = useState(place.filter); // the address that the draft began with
	if (from !== place.filter) { // a click or Back changed the filter
		setFrom(place.filter);
		setDraft(place.filter);
	}
	const found = useMistakes(draft);
	const [run, stopRun] = useRun(setDraft);
	const edit = (text: string): void => {
		stopRun();
		setDraft(text);
	};
	const completion = useCompletion();
	const area = useRef<HTMLTextAreaElement>(null);
	const [list, setList] = useState<'saved' | 'history' | null>(null);
	const closeList = (): void => {
		setList(null);
		area.current?.focus();
	};
	const accept = (option: Option): void => {
		const element = area.current;
		if (!element || !completion.at) return;
		const taken = take(draft, completion.at, option);
		element.value = taken.text; // at once: the next key may come before the next frame
		element.focus();
		element.setSelectionRange(taken.caret, taken.caret);
		edit(taken.text);
		completion.open(taken.text, taken.caret);
	};
	const runDraft = (): void => {
		completion.close();
		if (draft.trim() === place.filter) ask();
		else run(draft);
	};
	const onKeyDown = (event: KeyboardEvent): void => {
		if (event.isComposing) return; // its Enter takes a word of an input method
		const open = completion.options.length > 0;
		const chosen = completion.options[completion.active];
		const asksHistory = (event.key === 'ArrowUp' && draft === '' && !open) ||
			(event.key === 'r' && event.ctrlKey && !event.shiftKey && !event.altKey && !event.metaKey);
		if (asksHistory) setList('history');
		else if (event.key === 'ArrowDown' && open) completion.move(1);
		else if (event.key === 'ArrowUp' && open) completion.move(-1);
		else if ((event.key === 'Tab' || event.key === 'Enter') && open && chosen && completion.touched) accept(chosen);
		else if (event.key === 'Escape' && open) completion.close();
		else if (event.key === 'Enter' && event.altKey && found.fixed !== '') edit(found.fixed);
		else if (event.key === 'Enter' && !event.shiftKey) runDraft();
		else if (event.key === ' ' && event.ctrlKey) completion.open(draft, area.current?.selectionStart ?? draft.length);
		else {
			if (event.key === 'Tab') completion.close();
			return;
		}
		event.preventDefault();
	};
	const listed = found.text === draft ? found.mistakes : [];
	return <form class="bar" role="search" onSubmit={(event) => {
		event.preventDefault();
		runDraft();
	}}>
		<div class="editor">
			<Coloured text={draft} mistakes={listed} />
			<textarea id="filter" ref={area} rows={1} value={draft} aria-label={words.filter} placeholder={words.filterHint}
				spellcheck={false} autocomplete="off" autocapitalize="off"
				aria-autocomplete="list" aria-haspopup="listbox" aria-controls="completions"
				aria-activedescendant={completion.options.length > 0 && completion.touched ? `completion-${completion.active}` : undefined}
				aria-invalid={listed.length > 0} aria-describedby={listed.length > 0 ? 'mistakes' : undefined}
				onKeyDown={onKeyDown} onBlur={completion.close}
				onInput={(event) => {
					const { value, selectionStart } = event.currentTarget;
					edit(value);
					completion.open(value, selectionStart);
				}}
				onScroll={(event) => {
					const copy = event.currentTarget.previousElementSibling;
					if (copy) copy.scrollTop = event.currentTarget.scrollTop;
				}} />
			<Completions options={completion.options} active={completion.touched ? completion.active : -1} accept={accept} />
			{completion.note !== '' && <div class="completions quiet" role="status">{words.noOptions(completion.note)}</div>}
		</div>
		{draft !== '' && <button type="button" class="icon clear" aria-label={words.clear} title={words.clear} onClick={() => {
			edit('');
			go({ filter: '' });
			area.current?.focus();
		}}>×</button>}
		<button type="button" class="icon" aria-label={words.filterLists} title={`${words.filterLists} (Ctrl-R)`} aria-haspopup="dialog"
			aria-expanded={list !== null} onClick={() => setList(list === null ? 'saved' : null)}>★</button>
		<button type="submit" class="primary run" title={words.runTitle}>{words.run}</button>
		{list !== null && <Later key={list} part="filters" given={{
			first: list, text: draft, close: closeList,
			use: (filter) => {
				closeList();
				setDraft(filter);
				run(filter);
			},
		}} />}
		<Mistakes mistakes={listed} text={draft} fixed={found.fixed} fix={edit} />
		{found.text === draft && found.json !== '' && !isJSON(draft) &&
			<Later part="chips" given={{ text: draft, json: found.json, edit, run }} />}
	</form>;
}

/** Coloured is the copy of the text below the text area. */
function Coloured({ text, mistakes }: { text: string; mistakes: readonly Placed[] }) {
	const cuts = new Set<number>(mistakes.flatMap((mistake) => [mistake.from, mistake.to]));
	return <pre class="coloured" aria-hidden="true">
		{tokensOf(text).flatMap((token) => {
			const edges = [token.from, ...[...cuts].filter((cut) => cut > token.from && cut < token.to).sort((a, b) => a - b), token.to];
			return edges.slice(0, -1).map((from, i) => {
				const to = edges[i + 1] ?? token.to;
				const wrong = mistakes.some((mistake) => mistake.from <= from && to <= mistake.to);
				return <span key={from} class={wrong ? `t-${token.kind} wrong` : `t-${token.kind}`}>{text.slice(from, to)}</span>;
			});
		})}{'\n'}
	</pre>;
}

function Mistakes({ mistakes, text, fixed, fix }: {
	mistakes: readonly Placed[]; text: string; fixed: string; fix(text: string): void;
}) {
	return <div class="mistakes" id="mistakes" role="status">
		{mistakes.length > 0 && <>
			<strong>{words.mistakes(mistakes.length)}</strong>
			<ul>{mistakes.map((mistake) => <li key={`${mistake.from} ${mistake.message}`}>
				<code>{text.slice(mistake.from, mistake.to)}</code> {mistake.message}
			</li>)}</ul>
			{fixed !== '' && <button type="button" class="small" onClick={() => fix(fixed)}>
				{words.fix}: <code>{fixed}</code></button>}
			{mistakes.some((mistake) => mistake.code === 'or_unsupported') && <Later part="lists" given={{ text, fix }} />}
		</>}
	</div>;
}

/** useMistakes asks the server, a moment after the last key, what is wrong with a filter. */
function useMistakes(text: string): Found {
	const { api, place } = useConsole();
	const [found, setFound] = useState(nothingFound);
	const period = periodOf(place);
	useEffect(() => {
		if (text.trim() === '' || savedNames(text).length > 0) { // names are replaced when the filter runs
			setFound(nothingFound);
			return;
		}
		const own = new AbortController();
		const timer = setTimeout(() => {
			const sent = filterWith(text, period);
			const prefix = sent.slice(0, sent.length - text.length); // what is before the text; it is ASCII
			api.check(sent, own.signal).then((found) => {
				if (own.signal.aborted) return;
				const refusal = found instanceof Refusal ? found : null;
				const mistakes = refusal ? placeMistakes(text, prefix, refusal.mistakes) : [];
				setFound({
					text, mistakes, fixed: splitPeriod(refusal?.fixed ?? '', Date.now()).filter,
					json: typeof found === 'string' ? found : '',
				});
			}, () => undefined); // the screen reports that the server fails
		}, parsePause);
		return () => {
			clearTimeout(timer);
			own.abort();
		};
	}, [text, period]);
	return found;
}

/** filterWith joins a filter to a period, unless it is in the JSON form and has one. */
function filterWith(text: string, period: string): string {
	const resolved = resolve(period, Date.now());
	if (!resolved || (isJSON(text) && text.includes('"timestamp"'))) return text;
	return withPeriod(text, periodCondition(resolved));
}

/**
 * useRun puts a filter into the address. A period in it goes to the picker, JSON and names become a query string: while the
 * server is asked for these, the run can be stopped, because the reader types on.
 */
function useRun(show: (text: string) => void): [run: (text: string) => void, stop: () => void] {
	const { api, place, go, say } = useConsole();
	const own = useRef<AbortController | null>(null);
	const stop = (): void => own.current?.abort();
	const run = (text: string): void => {
		stop();
		const { signal } = own.current = new AbortController();
		const apply = (text: string): void => {
			if (signal.aborted) return;
			const { filter, period } = splitPeriod(text.trim(), Date.now());
			show(filter);
			go(period ? { filter, period } : { filter });
		};
		if (savedNames(text).length > 0) {
			import('./filters').then((m) => m.savedFilters(api, signal)).then((list) => {
				if (signal.aborted) return;
				const known = new Map(list.map((one) => [one.name, one.filters]));
				const missing = savedNames(text).filter((name) => !known.has(name));
				if (missing.length > 0) say(words.notSavedFilter(missing.join(', ')));
				else apply(expanded(text, known));
			}, (error: unknown) => signal.aborted || say(error instanceof Error ? error.message : String(error)));
		} else if (isJSON(text)) {
			const period = periodOf(place);
			const sent = filterWith(text, period);
			const read = (found: string): void => apply(sent === text ? found : splitPeriod(found, Date.now()).filter);
			api.parse(sent, signal).then(read, (error: unknown) => {
				if (!(error instanceof Refusal)) apply(text); // the mistakes are shown already
			});
		} else apply(text);
	};
	return [run, stop];
}

/** useCompletion is the state of the list of options. */
function useCompletion() {
	const { api, fields, place } = useConsole();
	const [state, setState] = useState<{ at: Expected | null; options: Option[]; note: string; active: number; touched: boolean }>(
		{ at: null, options: [], note: '', active: 0, touched: false });
	const pending = useRef<{ timer: number; own: AbortController } | null>(null);
	const names = useRef<Promise<SavedFilter[]> | null>(null); // asked for once, until the list is closed
	const stop = (): void => {
		if (!pending.current) return;
		clearTimeout(pending.current.timer);
		pending.current.own.abort();
		pending.current = null;
	};
	const show = (at: Expected, options: Option[], note = ''): void => {
		const useless = options.length === 1 && options[0]?.insert === at.typed;
		setState({ at, options: useless ? [] : options, note, active: 0, touched: at.typed !== '' });
	};
	const saved = (text: string, caret: number, from: number, typed: string): void => {
		const own = new AbortController();
		pending.current = { timer: 0, own };
		const at: Expected = { kind: 'field', field: '', from, to: caret, typed: text.slice(from, caret) };
		names.current ??= import('./filters').then((m) => m.savedFilters(api, new AbortController().signal));
		names.current.then((list) => !own.signal.aborted && show(at, savedOptions(list, typed)),
			() => undefined); // without the permission to read them there are no options
	};
	const values = (at: Expected): void => {
		const own = new AbortController();
		const timer = setTimeout(() => {
			const period = resolve(periodOf(place), Date.now());
			const typed = at.typed.replace(/^"|"$/g, '');
			const parameters = {
				field: at.field, limit: 12, ...(typed === '' ? {} : { prefix: typed }),
				...(period ? { filters: filtersOf('', period) } : {}),
			};
			api.ask('values', parameters, own.signal, idle).then(
				({ results, meta }) => show(at, valueOptions(results.map((one) => one.value)), meta.unavailable),
				() => undefined, // a field without values that can be listed has no options
			);
		}, valuesPause);
		pending.current = { timer, own };
	};
	return {
		...state,
		open: (text: string, caret: number) => {
			stop();
			const at = expectedAt(text, caret);
			const name = savedAt(text, caret);
			if (isJSON(text)) show(at, []);
			else if (name) saved(text, caret, name.from, name.typed);
			else if (at.kind === 'field') show(at, text.trim() === '' ? [] : fieldOptions(fields, at.typed));
			else if (at.kind === 'operator') show(at, operatorOptions(fields, at.field));
			else {
				show(at, []);
				values(at);
			}
		},
		close: () => {
			stop();
			names.current = null;
			setState((now) => (now.options.length === 0 && now.note === '' ? now : { ...now, options: [], note: '' }));
		},
		move: (by: number) => setState((now) => ({
			...now, touched: true,
			active: now.touched ? (now.active + by + now.options.length) % now.options.length : by > 0 ? 0 : now.options.length - 1,
		})),
	};
}

/** savedOptions returns the saved filters whose names have what is typed. */
function savedOptions(list: readonly SavedFilter[], typed: string): Option[] {
	return list.filter((one) => one.name.includes(typed)).slice(0, mostOptions)
		.map((one) => ({ insert: one.filters, label: `@${one.name}`, detail: one.title || one.filters }));
}

function Completions({ options, active, accept }: {
	options: readonly Option[]; active: number; accept(option: Option): void;
}) {
	return <div class="completions" id="completions" role="listbox" aria-label={words.options} hidden={options.length === 0}>
		{options.map((option, i) => <div role="option" id={`completion-${i}`} key={option.insert} aria-selected={i === active}
			onPointerDown={(event) => {
				event.preventDefault(); // the text area keeps the focus
				accept(option);
			}}>
			<code>{option.label}</code>{option.detail !== '' && <span>{option.detail}</span>}
		</div>)}
	</div>;
}
