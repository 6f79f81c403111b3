// Values of fields: shown with the ways to keep only them, to leave them out, and to copy them. Their menu, which opens by
// click, by a long touch, by the right button and by keys, is in valuemenu.tsx. Also links, and numbers of requests as links.
import type { ComponentChildren, JSX } from 'preact';
import { idle, type Progress } from '../foundation/api';
import { type Console, type Item, useConsole } from '../foundation/context';
import { addOnly, addWithout, type Fact, only, without } from '../pure/filter';
import { count, milliseconds, share } from '../pure/format';
import type { Place } from '../pure/fragment';
import { words } from '../pure/words';

/** A value whose menu is open, with the items of its row. */
export interface Choice {
	fact: Fact | null;
	at: Element;
	more: readonly Item[];
}

/** Value is a button with a value, whose menu it opens. A double click keeps only the value. */
export function Value({ fact, children }: { fact: Fact; children: ComponentChildren }) {
	const { choose } = useConsole();
	const act = useActs(fact);
	return <span class="value" onContextMenu={(event) => {
		event.preventDefault();
		choose(fact, event.currentTarget);
	}}>
		<button type="button" class="plain" aria-haspopup="menu" title={String(fact.value)}
			onClick={(event) => (event.detail > 1 ? act.only() : choose(fact, event.currentTarget))}
			onKeyDown={(event) => keys(event, act)}>
			{children}
		</button>
		<Acts fact={fact} />
	</span>;
}

/** LinkTo is a link to another place, which the browser opens in a new tab as well. */
export function LinkTo({ change, name, kind, current, twin, children }: {
	change: Partial<Place>; name?: string; kind?: string; current?: 'page' | 'true' | false; children: ComponentChildren;
	twin?: boolean | undefined; // of a link beside it, which is enough for keys
}) {
	const { go, href } = useConsole();
	const click = (event: JSX.TargetedMouseEvent<HTMLElement>): void => {
		if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a new tab
		event.preventDefault();
		go(change);
	};
	return <a href={href(change)} class={kind} tabIndex={twin ? -1 : undefined} title={name} aria-label={name}
		aria-current={current || undefined} onClick={click}>{children}</a>;
}

/** Count is a number about requests, which leads to their events. Without a filter that has exactly these, it is no link. */
export function Count({ n, filter, period, beside, twin, write = count }: {
	n: number; filter: string | null; period?: string | undefined; beside?: Partial<Place> | undefined; twin?: boolean;
	write?(n: number): string;
}) {
	const text = write(n);
	if (n === 0 || filter === null) return <span class="count">{text}</span>;
	return <LinkTo kind="count" name={words.countOf(text, filter)} twin={twin}
		change={{ screen: 'events', record: null, filter, ...(period ? { period } : {}), ...beside }}>{text}</LinkTo>;
}

/** Share is a part of all requests, which leads to the events of the part. Their number is beside it. */
export function Share({ n, of, ...counted }: {
	n: number; of: number; filter: string | null; period?: string | undefined; twin?: boolean;
}) {
	return of === 0 ? <>{share(n, of)}</> : <Count twin n={n} write={() => share(n, of)} {...counted} />;
}

/** keys handles + and − on a focused value. */
function keys(event: JSX.TargetedKeyboardEvent<HTMLElement>, act: ReturnType<typeof useActs>): void {
	if (event.key === '+') act.only();
	else if (event.key === '-' || event.key === '−') act.without();
	else return;
	event.preventDefault();
	event.stopPropagation();
}

/** Acts are the two quick signs beside a value under the mouse. Other users have the menu. */
export function Acts({ fact }: { fact: Fact }) {
	const act = useActs(fact);
	const on = (run: () => void) => (event: JSX.TargetedMouseEvent<HTMLElement>): void => {
		event.stopPropagation();
		run();
	};
	return <span class="acts" aria-hidden="true">
		<span title={only(fact)} onClick={on(act.only)}>+</span>
		<span title={without(fact)} onClick={on(act.without)}>−</span>
	</span>;
}

/** useActs returns what can be done with a value. */
export function useActs(fact: Fact) {
	const { place, go, say } = useConsole();
	return {
		only: () => go({ filter: addOnly(place.filter, fact), record: null }),
		without: () => go({ filter: addWithout(place.filter, fact), record: null }),
		copy: () => copy(String(fact.value), say),
		events: () => go({ filter: addOnly(place.filter, fact), screen: 'events', record: null }),
	};
}

/** copy puts a text on the clipboard and says so. */
export function copy(text: string, say: (text: string) => void): void {
	toClipboard(text).then(() => say(words.copied), () => say(words.notCopied));
}

/** toClipboard puts a text on the clipboard. For a page that came over HTTP from another machine, browsers have only the older way. */
export async function toClipboard(text: string): Promise<void> {
	try {
		await navigator.clipboard.writeText(text);
	} catch (error) {
		const at = document.activeElement;
		const field = document.createElement('textarea');
		field.value = text;
		field.style.position = 'fixed'; // so that nothing scrolls
		(document.querySelector('dialog[open]') ?? document.body).append(field);
		field.select();
		const done = document.execCommand('copy');
		field.remove();
		if (at instanceof HTMLElement) at.focus({ preventScroll: true });
		if (!done) throw error;
	}
}

/** announced says when a busy service is asked again, until it is. */
export function announced(say: Console['say']): Progress {
	let timer = 0;
	return {
		...idle,
		waiting: (until) => {
			clearInterval(timer);
			if (until === null) return say('');
			const tell = (): void => say(words.busy(milliseconds(Math.max(1000, until - Date.now()))), true);
			tell();
			timer = setInterval(tell, 1000);
		},
	};
}

/** saveFile lets the browser save a file. */
export function saveFile(name: string, content: Blob): void {
	const link = document.createElement('a');
	link.href = URL.createObjectURL(content);
	link.download = name;
	document.body.append(link);
	link.click();
	link.remove();
	setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // the browser reads it after the click
}
