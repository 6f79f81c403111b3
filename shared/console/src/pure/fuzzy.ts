// The search for texts by some of their letters.

/** fuzzy returns the texts that have the letters of a search in their order, those in which they are closest first. */
export function fuzzy<T>(list: readonly T[], search: string, textOf: (one: T) => string): T[] {
	const letters = [...search.toLowerCase()].filter((letter) => !/\s/.test(letter));
	if (letters.length === 0) return [...list];
	return list.map((one) => ({ one, span: spanOf(textOf(one).toLowerCase(), letters) }))
		.filter(({ span }) => span < Infinity)
		.sort((a, b) => a.span - b.span)
		.map(({ one }) => one);
}

/** spanOf returns the length of the shortest part of a text that has letters in their order. */
function spanOf(text: string, letters: readonly string[]): number {
	let best = Infinity;
	for (let from = text.indexOf(letters[0] ?? ''); from >= 0; from = text.indexOf(letters[0] ?? '', from + 1)) {
		let at = from;
		for (const letter of letters.slice(1)) {
			at = text.indexOf(letter, at + 1);
			if (at < 0) return best; // later beginnings have no more of them
		}
		best = Math.min(best, at - from + 1);
	}
	return best;
}
