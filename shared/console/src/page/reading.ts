// What a filter is when it runs, if the server has to say that: its names of saved filters, or its JSON form, as a query string.
import { Refusal } from '../foundation/api';
import type { Console } from '../foundation/context';
import { announced } from '../parts/menu';
import { type Needs, named, queryOf } from '../pure/run';
import { words } from '../pure/words';
import { savedFilters } from './saved';

/** read returns the query string of a filter, or null if it cannot run. Then it has said why. */
export async function read({ api, say }: Console, text: string, needs: Needs, signal: AbortSignal): Promise<string | null> {
	const progress = announced(say);
	if (needs.kind === 'names') {
		const found = named(text, await savedFilters(api, signal, progress));
		if (found.unknown.length === 0) return found.text;
		if (!signal.aborted) say(words.notSavedFilter(found.unknown.join(', ')));
		return null;
	}
	if (needs.kind === 'nothing') return text;
	try {
		return queryOf(text, needs.sent, await api.parse(needs.sent, signal, progress), Date.now());
	} catch (error) {
		if (!(error instanceof Refusal)) return text; // the screen reports that the server fails
		if (error.status !== 400) throw error;
		return null; // its mistakes are shown already
	}
}
