// The filter bar: a text area over a coloured copy of its text. The server finds the mistakes; they are underlined where
// they are, and listed below.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Refusal } from '../foundation/api';
import { useConsole } from '../foundation/context';
import { lazy } from '../foundation/lazy';
import chipsStyle from '../parts/chips.css';
import findStyle from '../parts/find.css';
import { announced } from '../parts/menu';
import { isJSON, splitPeriod } from '../pure/filter';
import { isFilter } from '../pure/filterlike';
import { periodOf } from '../pure/fragment';
import { tokensOf } from '../pure/lex';
import { place as placeMistakes, type Placed } from '../pure/mistakes';
import { savedNames } from '../pure/names';
import { closed, type Completed, noOptions, stepped } from '../pure/options';
import { filterWith, needsOf, ranAs } from '../pure/run';
import { words } from '../pure/words';
import pastedStyle from './pasted.css';
import type { SavedFilter } from './saved';

const Chips = lazy(() => import('./chips').then((m) => m.Chips), chipsStyle);
const Filters = lazy(() => import('./filters').then((m) => m.Filters), findStyle);
const List = lazy(() => import('./chips').then((m) => m.List), chipsStyle);
const Pasted = lazy(() => import('./pasted').then((m) => m.Pasted), pastedStyle);

const parsePause = 200; // milliseconds after the last key

interface Found {
	text: string; // that it is of
	mistakes: readonly Placed[];
	fixed: string;
	json: string; // the canonical form, with the period; "" of a filter with mistakes
}

const nothingFound: Found = { text: '', mistakes: [], fixed: '', json: '' };

/** Bar edits the filter of the address. Enter runs it. */
export function Bar() {
	const { place, go, ask, fields } = useConsole();
	const [draft, setDraft] = useState(place.filter);
	const [from, setFrom] = useState(place.filter); // the address that the draft began with
	if (from !== place.filter) { // a click or Back changed the filter
		setFrom(place.filter);
		setDraft(place.filter);
	}
	const [pasted, setPasted] = useState(false); // the meanings of the draft are shown
	const foreign = draft !== place.filter && !isFilter(draft, fields); // was pasted, and is not sent anywhere
	const found = useMistakes(foreign ? '' : draft);
	const [run, stopRun] = useRun(setDraft);
	const edit = (text: string): void => {
		stopRun();
		setPasted(false);
		setDraft(text);
	};
	const completion = useCompletion();
	const area = useRef<HTMLTextAreaElement>(null);
	const [list, setList] = useState<'saved' | 'history' | null>(null);
	const closeList = (): void => {
		setList(null);
		area.current?.focus();
	};
	const accept = ({ taken }: Completed): void => {
		const element = area.current;
		if (!element) return;
		element.value = taken.text; // at once: the next key may come before the next frame
		element.focus();
		element.setSelectionRange(taken.caret, taken.caret);
		edit(taken.text);
		completion.open(taken.text, taken.caret);
	};
	const runDraft = (): void => {
		completion.close();
		if (foreign) setPasted(true);
		else if (draft.trim() === place.filter) ask();
		else run(draft);
	};
	/** leave moves the focus to the answer, so that letters are shortcuts again. */
	const leave = (): void => document.getElementById('answer')?.focus({ preventScroll: true });
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
		else if (event.key === 'Escape' && (open || completion.note !== '')) completion.close();
		else if (event.key === 'Escape' && draft === place.filter && !document.querySelector('[data-cancel]')) leave();
		else if (event.key === 'Enter' && event.altKey && found.fixed !== '') edit(found.fixed);
		else if (event.key === 'Enter' && !event.shiftKey) runDraft();
		else if (event.key === ' ' && event.ctrlKey) completion.open(draft, area.current?.selectionStart ?? draft.length, true);
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
					if (isFilter(value, fields)) completion.open(value, selectionStart);
					else completion.close();
				}}
				onScroll={(event) => {
					const copy = event.currentTarget.previousElementSibling;
					if (copy) copy.scrollTop = event.currentTarget.scrollTop;
				}} />
			<Completions options={completion.options} active={completion.touched ? completion.active : -1} accept={accept} />
			{completion.note !== '' && <div class="completions quiet" role="status">{completion.note}</div>}
		</div>
		{draft !== '' && <button type="button" class="icon clear" aria-label={words.clear} title={words.clear} onClick={() => {
			edit('');
			go({ filter: '' });
			area.current?.focus();
		}}>×</button>}
		<button type="button" class="icon" aria-label={words.filterLists} title={`${words.filterLists} (Ctrl-R)`} aria-haspopup="dialog"
			aria-expanded={list !== null} onClick={() => setList(list === null ? 'saved' : null)}>★</button>
		<button type="submit" class="primary run" title={words.runTitle}>{words.run}</button>
		{list !== null && <Filters key={list} first={list} text={draft} close={closeList} use={(filter) => {
			closeList();
			setDraft(filter);
			run(filter);
		}} />}
		{foreign && !pasted && <p class="mistakes quiet" role="status">{words.pasteHint}</p>}
		{foreign && pasted && <Pasted key={draft} text={draft} run={() => run(draft)} close={() => setPasted(false)}
			chosen={() => setDraft(place.filter)} back={() => area.current?.focus()} />}
		<Mistakes mistakes={listed} text={draft} fixed={found.fixed} fix={edit} />
		{found.text === draft && found.json !== '' && !isJSON(draft) &&
			<Chips text={draft} json={found.json} edit={edit} run={run} />}
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
			{mistakes.some((mistake) => mistake.code === 'or_unsupported') && <List text={text} fix={fix} />}
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
			const sent = filterWith(text, period, Date.now());
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

/**
 * useRun puts a filter into the address. A period in it goes to the picker, JSON and names become a query string: while the
 * server is asked for these, the run can be stopped, because the reader types on.
 */
function useRun(show: (text: string) => void): [run: (text: string) => void, stop: () => void] {
	const console = useConsole();
	const { place, go, say } = console;
	const own = useRef<AbortController | null>(null);
	const stop = (): void => own.current?.abort();
	useEffect(() => stop, []);
	const run = (text: string): void => {
		stop();
		const { signal } = own.current = new AbortController();
		const apply = (text: string | null): void => {
			if (signal.aborted || text === null) return;
			const place = ranAs(text, Date.now());
			show(place.filter);
			go(place);
		};
		const needs = needsOf(text, periodOf(place), Date.now());
		if (needs.kind === 'nothing') return apply(text); // at once
		import('./filters').then((m) => m.read(console, text, needs, signal)).then(apply, (error: unknown) =>
			signal.aborted || say(error instanceof Error ? error.message : String(error)));
	};
	return [run, stop];
}

/** useCompletion is the state of the list of options. */
function useCompletion() {
	const console = useConsole();
	const [state, setState] = useState(noOptions);
	const pending = useRef<AbortController | null>(null);
	const names = useRef<{ list: Promise<SavedFilter[]>; own: AbortController } | null>(null); // asked for once, until the list is closed
	const tell = useRef<(note: string) => void>(() => undefined); // whoever waits for them
	const saved = (say: (note: string) => void): Promise<SavedFilter[]> => {
		tell.current = say;
		if (!names.current) {
			const own = new AbortController();
			const progress = announced((note) => tell.current(note));
			names.current = { list: import('./filters').then((m) => m.savedFilters(console.api, own.signal, progress)), own };
		}
		return names.current.list;
	};
	return {
		...state,
		open: (text: string, caret: number, asked = false) => {
			pending.current?.abort();
			const { signal } = pending.current = new AbortController();
			import('./completion').then((m) => !signal.aborted &&
				m.complete({ console, signal, saved, show: setState }, text, caret, asked),
			() => undefined); // without it there are no options
		},
		close: () => {
			pending.current?.abort();
			names.current?.own.abort();
			names.current = null;
			setState(closed);
		},
		move: (by: 1 | -1) => setState((now) => stepped(now, by)),
	};
}

/** Completions is the list of options. While it is pressed the text area keeps the focus, without which the list closes. */
function Completions({ options, active, accept }: {
	options: readonly Completed[]; active: number; accept(option: Completed): void;
}) {
	useEffect(() => document.getElementById(`completion-${active}`)?.scrollIntoView({ block: 'nearest' }), [active]);
	return <div class="completions" id="completions" role="listbox" aria-label={words.options} hidden={options.length === 0}
		onMouseDown={(event) => event.preventDefault()}>
		{options.map((option, i) => <div role="option" id={`completion-${i}`} key={option.label} aria-selected={i === active}
			onClick={() => accept(option)}>
			<code>{option.label}</code>{option.detail !== '' && <span>{option.detail}</span>}
			{option.example && <small>{option.example}</small>}
		</div>)}
	</div>;
}
