// The filter bar: a text area over a coloured copy of its text. The server finds the mistakes; they are underlined where
// they are, and listed below.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Refusal } from './api';
import { useConsole } from './context';
import { fieldOptions, type Option, operatorOptions, take, valueOptions } from './pure/complete';
import { filtersOf, isJSON, splitPeriod } from './pure/filter';
import { periodOf } from './pure/fragment';
import { type Expected, expectedAt, tokensOf } from './pure/lex';
import { place as placeMistakes, type Placed } from './pure/mistakes';
import { absolute, periodCondition, resolve } from './pure/time';
import { words } from './strings';

const parsePause = 200; // milliseconds after the last key
const valuesPause = 120;

interface Found {
	text: string; // that the mistakes are of
	mistakes: readonly Placed[];
	fixed: string;
}

const nothingFound: Found = { text: '', mistakes: [], fixed: '' };

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
	const run = useRun();
	const completion = useCompletion();
	const area = useRef<HTMLTextAreaElement>(null);
	const accept = (option: Option): void => {
		const element = area.current;
		if (!element || !completion.at) return;
		const taken = take(draft, completion.at, option);
		element.value = taken.text; // at once: the next key may come before the next frame
		element.focus();
		element.setSelectionRange(taken.caret, taken.caret);
		setDraft(taken.text);
		completion.open(taken.text, taken.caret);
	};
	const runDraft = (): void => {
		completion.close();
		if (draft.trim() === place.filter) ask();
		else run(draft);
	};
	const onKeyDown = (event: KeyboardEvent): void => {
		const open = completion.options.length > 0;
		const chosen = completion.options[completion.active];
		if (event.key === 'ArrowDown' && open) completion.move(1);
		else if (event.key === 'ArrowUp' && open) completion.move(-1);
		else if ((event.key === 'Tab' || event.key === 'Enter') && open && chosen && completion.touched) accept(chosen);
		else if (event.key === 'Escape' && open) completion.close();
		else if (event.key === 'Enter' && event.altKey && found.fixed !== '') setDraft(found.fixed);
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
					setDraft(value);
					completion.open(value, selectionStart);
				}}
				onScroll={(event) => {
					const copy = event.currentTarget.previousElementSibling;
					if (copy) copy.scrollTop = event.currentTarget.scrollTop;
				}} />
			<Completions options={completion.options} active={completion.touched ? completion.active : -1} accept={accept} />
		</div>
		{draft !== '' && <button type="button" class="icon" aria-label={words.clear} title={words.clear} onClick={() => {
			setDraft('');
			go({ filter: '' });
			area.current?.focus();
		}}>×</button>}
		<button type="submit" class="primary run" title={words.runTitle}>{words.run}</button>
		<Mistakes mistakes={listed} text={draft} fixed={found.fixed} fix={setDraft} />
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
		</>}
	</div>;
}

/** useMistakes asks the server, a moment after the last key, what is wrong with a filter. */
function useMistakes(text: string): Found {
	const { api, place } = useConsole();
	const [found, setFound] = useState(nothingFound);
	const period = periodOf(place);
	useEffect(() => {
		if (text.trim() === '') {
			setFound(nothingFound);
			return;
		}
		const own = new AbortController();
		const timer = setTimeout(() => {
			const prefix = isJSON(text) ? '' : prefixOf(period);
			api.mistakes(prefix + text, own.signal).then((refusal) => {
				if (own.signal.aborted) return;
				const mistakes = refusal ? placeMistakes(text, prefix, refusal.mistakes) : [];
				setFound({ text, mistakes, fixed: splitPeriod(refusal?.fixed ?? '').filter });
			}, () => undefined); // the screen reports that the server fails
		}, parsePause);
		return () => {
			clearTimeout(timer);
			own.abort();
		};
	}, [text, period]);
	return found;
}

function prefixOf(period: string): string {
	const resolved = resolve(period, Date.now());
	return resolved ? `${periodCondition(resolved)}, ` : '';
}

/** useRun puts a filter into the address. A period in it goes to the picker, and JSON becomes a query string. */
function useRun(): (text: string) => void {
	const { api, go } = useConsole();
	const apply = (text: string): void => {
		const { filter, period } = splitPeriod(text.trim());
		go(period ? { filter, period: absolute(period) } : { filter });
	};
	return (text) => {
		if (!isJSON(text)) {
			apply(text);
			return;
		}
		api.parse(text, new AbortController().signal).then(apply, (error: unknown) => {
			if (!(error instanceof Refusal)) apply(text); // the mistakes are shown already
		});
	};
}

/** useCompletion is the state of the list of options. */
function useCompletion() {
	const { api, fields, place } = useConsole();
	const [state, setState] = useState<{ at: Expected | null; options: Option[]; active: number; touched: boolean }>(
		{ at: null, options: [], active: 0, touched: false });
	const pending = useRef<{ timer: number; own: AbortController } | null>(null);
	const stop = (): void => {
		if (!pending.current) return;
		clearTimeout(pending.current.timer);
		pending.current.own.abort();
		pending.current = null;
	};
	const show = (at: Expected, options: Option[]): void => {
		const useless = options.length === 1 && options[0]?.insert === at.typed;
		setState({ at, options: useless ? [] : options, active: 0, touched: at.typed !== '' });
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
			api.ask('values', parameters, own.signal, { running: () => undefined, waiting: () => undefined }).then(
				(answer) => show(at, valueOptions(answer.results.map((one) => one.value))),
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
			if (isJSON(text)) show(at, []);
			else if (at.kind === 'field') show(at, text.trim() === '' ? [] : fieldOptions(fields, at.typed));
			else if (at.kind === 'operator') show(at, operatorOptions(fields, at.field));
			else {
				show(at, []);
				values(at);
			}
		},
		close: () => {
			stop();
			setState((now) => (now.options.length === 0 ? now : { ...now, options: [] }));
		},
		move: (by: number) => setState((now) => ({
			...now, touched: true,
			active: now.touched ? (now.active + by + now.options.length) % now.options.length : by > 0 ? 0 : now.options.length - 1,
		})),
	};
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
