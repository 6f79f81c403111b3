// The order of columns.

/** moved returns a list in which one element has another place. A place outside the list is its nearest end. */
export function moved<T>(list: readonly T[], from: number, to: number): T[] {
	const rest = list.filter((_, i) => i !== from);
	const end = Math.max(0, Math.min(rest.length, to));
	return [...rest.slice(0, end), ...list.slice(from, from + 1), ...rest.slice(end)];
}

/** toggled takes an element out of a list, or adds it at the end. */
export function toggled<T>(list: readonly T[], one: T): T[] {
	return list.includes(one) ? list.filter((other) => other !== one) : [...list, one];
}
