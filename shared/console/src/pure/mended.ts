// What is still wrong with settings after the server has refused them and they were edited.
import { equalJSON, type Json, textAt } from './json';
import { compareNetworks } from './networklists';
import { networkOf } from './networks';

/** A place in settings: the names of members and the numbers of entries. */
type Place = readonly (string | number)[];

function valueAt(value: Json | undefined, place: Place): Json | undefined {
	return place.reduce<Json | undefined>((at, step) => {
		if (typeof step === 'number') return Array.isArray(at) ? at[step] : undefined;
		return at instanceof Map ? at.get(step) : undefined;
	}, value);
}

/**
 * placeNow returns where a mistake of refused settings is in the present ones, or null if it was mended: if the value at its place
 * is another one, or nothing else is the same network any more. Entries of a list are found again when others are gone.
 */
export function placeNow(place: Place, refused: Json | undefined, now: Json | undefined): Place | null {
	if (now === undefined) return place; // a text with a mistake, which says nothing about others
	const at = place.findIndex((step) => typeof step === 'number');
	const moved = at < 0 ? place : movedTo(place, at, refused, now);
	if (moved === null || !equalJSON(valueAt(refused, place), valueAt(now, moved))) return null;
	if (moved[0] !== 'trusted_nets' || moved[2] !== 'address') return moved;
	const list = valueAt(now, moved.slice(0, 1));
	const text = textAt(valueAt(now, moved.slice(0, 2)), 'address');
	const twice = Array.isArray(list) && list.some((other, i) => i !== moved[1] && networkOf(textAt(other, 'address')) !== null &&
		compareNetworks(textAt(other, 'address'), text) === 0);
	return networkOf(text) === null || twice ? moved : null;
}

/** movedTo returns a place with the present number of its entry, or null if the entry is gone. */
function movedTo(place: Place, at: number, refused: Json | undefined, now: Json): Place | null {
	const path = place.slice(0, at);
	const [before, after] = [valueAt(refused, path), valueAt(now, path)];
	if (!Array.isArray(before) || !Array.isArray(after)) return place;
	const index = Number(place[at]);
	const entry = before[index];
	if (equalJSON(entry, after[index])) return place;
	const to = after.findIndex((one) => equalJSON(one, entry));
	if (to >= 0) return [...path, to, ...place.slice(at + 1)];
	return before.length === after.length ? place : null;
}
