// Links to what is on the screen, for others.
import { keptColumns } from '../foundation/columnsetting';
import type { Console } from '../foundation/context';
import { type Place, periodOf, writeFragment } from '../pure/fragment';
import { absolute, resolve } from '../pure/time';
import { words } from '../pure/words';
import { copy } from './menu';

/** share copies a link whose period is absolute, as of a moment, so that it always shows the same. */
export function share({ place, zone, say }: Console, now = Date.now()): void {
	const period = resolve(periodOf(place), now);
	const columns = place.screen === 'events' ? place.columns ?? keptColumns() : place.columns;
	const shown = { ...place, columns, period: period ? absolute(period) : place.period, zone: place.zone || zone };
	copy(addressOf(shown), (text) => say(text === words.copied ? words.shared : text));
}

/** addressOf is the whole address of a place. It never has the key, for which the page asks whoever opens it. */
export const addressOf = (place: Place): string => new URL(writeFragment(place), location.href).href;
