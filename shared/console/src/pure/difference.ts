// The difference between two settings, and the merge of two that began with the same one. Lists of entries, each with an
// address or the id of a global filter, are sets.
import { equalJSON, type Json, type Members, textAt } from './json';

/** A change of a member, by its way from the root. Of a list in another order, before and after are the names of its entries. */
export interface Change {
	path: string[];
	kind: 'added' | 'removed' | 'changed' | 'reordered';
	before: Json | undefined;
	after: Json | undefined;
}

/** differenceOf returns what changed, in the order of the settings after. */
export function differenceOf(before: Json | undefined, after: Json | undefined, path: string[] = []): Change[] {
	if (equalJSON(before, after)) return [];
	const [a, b] = [membersOf(before, after), membersOf(after, before)];
	if (a && b) {
		const names = [...b.keys(), ...[...a.keys()].filter((name) => !b.has(name))];
		const changes = names.flatMap((name) => differenceOf(a.get(name), b.get(name), [...path, name]));
		if (Array.isArray(after) && reordered(a, b)) {
			changes.push({ path, kind: 'reordered', before: [...a.keys()], after: [...b.keys()] });
		}
		return changes;
	}
	return [{ path, kind: before === undefined ? 'added' : after === undefined ? 'removed' : 'changed', before, after }];
}

/** reordered reports whether the entries that two lists share have another order. */
function reordered(a: Members, b: Members): boolean {
	const shared = [...b.keys()].filter((name) => a.has(name));
	return [...a.keys()].filter((name) => b.has(name)).some((name, i) => name !== shared[i]);
}

/** membersOf returns the members of an object, or of a list that is a set if the other value is one, too. */
function membersOf(value: Json | undefined, other: Json | undefined): Members | null {
	if (value instanceof Map) return value;
	if (!Array.isArray(value) || !Array.isArray(other)) return null;
	const [own, others] = [setOf(value), setOf(other)];
	return own && others ? own : null;
}

/** setOf returns the entries of a list by their names, or null if the list is no set. An empty list is one. */
function setOf(list: readonly Json[]): Members | null {
	const set: Members = new Map();
	for (const entry of list) {
		const name = textAt(entry, 'address') || textAt(entry, 'gf_id');
		if (name === '' || set.has(name)) return null;
		set.set(name, entry);
	}
	return set;
}

export type Side = 'mine' | 'theirs';

/** A member that both changed in different ways. */
export interface Conflict {
	path: string[];
	base: Json | undefined;
	mine: Json | undefined;
	theirs: Json | undefined;
}

/** pathText names a member: ichallenge › lang. */
export function pathText(path: readonly string[]): string {
	return path.join(' › ');
}

/**
 * merge joins what mine and theirs changed in the base. Where both changed the same, the choice of the path decides, mine
 * without one. The order of a list is theirs if only they changed it, else mine.
 */
export function merge(
	base: Json | undefined, mine: Json | undefined, theirs: Json | undefined, choices: ReadonlyMap<string, Side>,
): { merged: Json | undefined; conflicts: Conflict[] } {
	const conflicts: Conflict[] = [];
	const join = (b: Json | undefined, m: Json | undefined, t: Json | undefined, path: string[]): Json | undefined => {
		if (equalJSON(m, t) || equalJSON(b, t)) return m;
		if (equalJSON(b, m)) return t;
		if (m instanceof Map && t instanceof Map) return joinMembers(b instanceof Map ? b : new Map(), m, t, path);
		if (Array.isArray(m) && Array.isArray(t)) {
			const [sb, sm, st] = [setOf(Array.isArray(b) ? b : []), setOf(m), setOf(t)];
			if (sb && sm && st) return [...joinMembers(sb, sm, st, path).values()];
		}
		conflicts.push({ path, base: b, mine: m, theirs: t });
		return choices.get(pathText(path)) === 'theirs' ? t : m;
	};
	const joinMembers = (b: Members, m: Members, t: Members, path: string[]): Members => {
		const joined: Members = new Map();
		const [first, second] = reordered(b, t) && !reordered(b, m) ? [t, m] : [m, t];
		for (const name of new Set([...first.keys(), ...second.keys(), ...b.keys()])) {
			const value = join(b.get(name), m.get(name), t.get(name), [...path, name]);
			if (value !== undefined) joined.set(name, value);
		}
		return joined;
	};
	return { merged: join(base, mine, theirs, []), conflicts };
}
