// Older pages of the events. Each is asked for when somebody wants it, and waits if it is heavy.
import { useLayoutEffect, useState } from 'preact/hooks';
import type { Answer, Meta, Parameters } from '../foundation/api';
import { type Asked, useAsked } from '../foundation/ask';
import { useConsole } from '../foundation/context';
import type { LogRecord } from '../pure/record';
import { words } from '../pure/words';
import { Progress, Trouble } from './answer';
import { words as ofEvents } from './events.words';

/** The events that are loaded. */
export interface Pages {
	rows: readonly LogRecord[];
	next: string | null; // cursor of the next page
	metas: readonly Meta[]; // of the pages after the first one
	asked: Asked<unknown>; // the next page
	/** more asks for the next page. */
	more(): void;
}

/** A page, and the cursor that leads to it. */
interface Page {
	cursor: string;
	answer: Answer<LogRecord>;
}

/** usePages adds older pages to the first one. */
export function usePages(first: Answer<LogRecord> | null, parameters: Parameters): Pages {
	const { api } = useConsole();
	const fresh = { of: first, rows: first?.results ?? [], next: first?.meta.next ?? null, metas: [] as readonly Meta[], wanted: '' };
	const [state, setState] = useState(fresh);
	const own = state.of === first ? state : fresh;
	const asked = useAsked<Page | null>(api, `older ${own.wanted}`, 0, async (asker) => {
		if (own.wanted === '') return null;
		const page = { ...parameters, cursor: own.wanted };
		await asker.afford([['logs', page]]);
		return { cursor: own.wanted, answer: await asker.ask('logs', page) };
	});
	useLayoutEffect(() => { // as soon as the button acts again
		const page = asked.answer;
		if (!page || page.cursor !== own.next || own.wanted === '') return;
		const { results, meta } = page.answer;
		setState({ ...own, rows: [...own.rows, ...results], next: meta.next ?? null, metas: [...own.metas, meta], wanted: '' });
	}, [asked.answer]);
	return {
		...own, asked,
		more: () => {
			if (own.next === null) return;
			if (own.wanted !== own.next) setState({ ...own, wanted: own.next });
			else if (asked.state !== 'asking' && asked.state !== 'held') asked.run(); // it failed, or was cancelled
		},
	};
}

/** Older loads the next page, shows that it is asked for, or why there is none. */
export function Older({ pages: { asked, next, more } }: { pages: Pages }) {
	if (next === null) return null;
	const asking = asked.state === 'asking';
	return <div class="more">
		{asked.state !== 'held' && <button type="button" disabled={asking} onClick={more}>
			{asking ? words.loading : ofEvents.loadMore}</button>}
		<Progress asked={asked} />
		<Trouble asked={asked} />
	</div>;
}
