// Live: events that arrive while the list is open, asked for by the place of the newest one.
import { useEffect, useState } from 'preact/hooks';
import { type Answer, idle, type Meta, type Parameters } from '../foundation/api';
import { useConsole } from '../foundation/context';
import { goesOn, liveRate } from '../parts/refresh';
import { filtersOf } from '../pure/filter';
import { addTo, arrive, type Arrived, mostRows, none, show } from '../pure/live';
import type { LogRecord } from '../pure/record';

/** The seconds between two questions, of which 0 is off. */
export const rates = [0, 2, 5, 10, 30] as const;

const ahead = 86_400_000; // clocks of others may be ahead

/** What arrived since the list was asked. */
export interface Live extends Arrived {
	metas: readonly Meta[]; // of the questions together
	failure: string;
	show(): void;
}

interface State extends Arrived {
	of: Answer<LogRecord> | null;
	metas: readonly Meta[];
	failure: string;
}

/** useLive asks again and again for events that are newer than those of an answer, if the address asks for that. */
export function useLive(logs: Answer<LogRecord> | null, parameters: Parameters): Live {
	const console = useConsole();
	const { api, place } = console;
	const { filter } = place;
	const seconds = liveRate(place);
	const empty: State = { ...none, of: logs, metas: [], failure: '' };
	const [state, setState] = useState(empty);
	const own = state.of === logs ? state : empty;
	useEffect(() => {
		if (!logs || seconds === 0) return;
		const stop = new AbortController();
		let head = logs.meta.head;
		let timer = 0;
		const change = (next: (now: State) => State): void => setState((now) => next(now.of === logs ? now : { ...empty, of: logs }));
		const later = (): void => {
			timer = setTimeout(() => void poll(), seconds * 1000);
		};
		const poll = async (): Promise<void> => {
			if (document.hidden) return later();
			if (!goesOn(console)) return;
			const filters = filtersOf(filter, { from: Date.parse(logs.meta.period.from), to: Date.now() + ahead });
			try {
				const newer = { ...parameters, filters, since: head, limit: mostRows };
				const { results, meta } = await api.ask('logs', newer, stop.signal, idle);
				head = meta.head ?? head;
				change((s) => ({
					...s, ...arrive(s, results, meta.next != null, isRead()), metas: [addTo(s.metas[0], meta)], failure: '',
				}));
			} catch (error) {
				if (stop.signal.aborted) return;
				change((s) => ({ ...s, failure: error instanceof Error ? error.message : String(error) }));
			}
			later();
		};
		later();
		return () => {
			clearTimeout(timer);
			stop.abort();
		};
	}, [logs, seconds]);
	return { ...own, show: () => setState((now) => (now.of === logs ? { ...now, ...show(now) } : now)) };
}

/** isRead reports whether somebody reads the list: it is scrolled, or a record is open. */
function isRead(): boolean {
	return document.querySelector('.record') !== null || (document.querySelector('.rows')?.scrollTop ?? 0) > 0;
}
