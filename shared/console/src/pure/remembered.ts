// The filters that were asked: the newest of each.
import type { Field } from './complete';
import { tokensOf } from './lex';
import { sensitiveIn } from './secrets';

/** A filter that was asked. */
export interface Remembered {
	filter: string; // canonical, without a period
	at: number; // when it was asked last
	requests: number; // that matched then
}

export const mostRemembered = 100;

/** remembered adds a filter to a list, newest first, in which each is once. */
export function remembered(list: readonly Remembered[], one: Remembered): Remembered[] {
	return [one, ...list.filter((other) => other.filter !== one.filter)].slice(0, mostRemembered);
}

/**
 * divided divides a list into the filters that the browser may keep and those that only the tab may: they name a field whose
 * values may identify a person or give access, or one that the catalogue does not have, also while it is not loaded.
 */
export function divided(list: readonly Remembered[], catalogue: readonly Field[]): { plain: Remembered[]; secret: Remembered[] } {
	const sensitive = sensitiveIn(catalogue);
	const isPlain = ({ filter }: Remembered): boolean =>
		tokensOf(filter).every(({ kind, from, to }) => kind !== 'field' || !sensitive(filter.slice(from, to)));
	return { plain: list.filter(isPlain), secret: list.filter((one) => !isPlain(one)) };
}

/** readRemembered reads a list that was kept. What is none is an empty one. */
export function readRemembered(text: string | null): Remembered[] {
	try {
		const list = JSON.parse(text ?? '[]') as unknown;
		if (!Array.isArray(list)) return [];
		return list.filter((one: unknown): one is Remembered => {
			const { filter, at, requests } = (one ?? {}) as Partial<Remembered>;
			return typeof filter === 'string' && typeof at === 'number' && typeof requests === 'number';
		});
	} catch {
		return [];
	}
}
