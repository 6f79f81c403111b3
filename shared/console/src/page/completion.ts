// Completion in the filter bar: asks the server for the options that it knows. It is loaded with the first key.
import type { Console } from '../foundation/context';
import { announced } from '../parts/menu';
import { mostOptions } from '../pure/complete';
import { type Event, offered, placeAt, type Values } from '../pure/completing';
import { filtersOf } from '../pure/filter';
import { periodOf } from '../pure/fragment';
import type { Options } from '../pure/options';
import { resolve } from '../pure/time';
import { words } from './completion.words';
import type { SavedFilter } from './saved';

const valuesPause = 120; // milliseconds after the last key

/** What completion works with. */
export interface Means {
	console: Console;
	signal: AbortSignal; // ends when the list is closed, or the text changes
	/** saved returns the saved filters. It says that it waits for a busy service. */
	saved(say: (note: string) => void): Promise<readonly SavedFilter[]>;
	show(found: Options): void;
}

/** complete shows the options at a place of a text, and those of the server when it has answered. */
export function complete(means: Means, text: string, caret: number, asked: boolean): void {
	const { console, signal, saved, show } = means;
	const place = placeAt(text, caret);
	const happens = (event: Event): void => {
		const found = signal.aborted ? null : offered(place, event);
		if (found) show(found);
	};
	const waits = (note: string): void => happens({ kind: 'waiting', note });
	const nothing = (): void => undefined; // without the permission to read them there are no options, nor of a field without values
	happens({ kind: 'opened', fields: console.fields, asked });
	const { wants } = place;
	if (wants?.kind === 'saved') saved(waits).then((list) => happens({ kind: 'saved', list }), nothing);
	if (wants?.kind === 'values') {
		const timer = setTimeout(() => void valuesOf(means, wants, waits).then(happens, nothing), valuesPause);
		signal.addEventListener('abort', () => clearTimeout(timer));
	}
}

/** valuesOf asks for the values that are sought. */
async function valuesOf(
	{ console: { api, place }, signal }: Means, { field, sought }: Values, waits: (note: string) => void,
): Promise<Event> {
	const period = resolve(periodOf(place), Date.now());
	const parameters = {
		field, limit: mostOptions, ...(sought.text === '' ? {} : { [sought.part]: sought.text }),
		...(period ? { filters: filtersOf('', period) } : {}),
	};
	const { results, meta } = await api.ask('values', parameters, signal, announced(waits));
	return {
		kind: 'values', values: results.map((one) => one.value), unavailable: meta.unavailable ? words.noOptions(meta.unavailable) : '',
	};
}
