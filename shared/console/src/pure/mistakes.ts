// The mistakes that the server finds in a filter, placed in the text of the filter bar.

/** A mistake as the server reports it. Offset and length are bytes of UTF-8. */
export interface Mistake {
	code: string;
	message: string;
	offset: number;
	length: number;
	suggestion?: string;
	parameter?: string;
}

/** A mistake at a place of the text, in UTF-16 units. */
export interface Placed {
	from: number;
	to: number;
	message: string;
	suggestion: string;
	code: string;
}

/** unitsOf returns the UTF-16 units that the first bytes of a text have in UTF-8. */
export function unitsOf(text: string, bytes: number): number {
	let units = 0;
	for (const character of text) {
		const code = character.codePointAt(0) ?? 0;
		const size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
		if (bytes < size) break;
		bytes -= size;
		units += character.length;
	}
	return units;
}

/**
 * place returns where the mistakes are in the typed text. The text that was sent is the typed text after a prefix of
 * ASCII: the period.
 */
export function place(typed: string, prefix: string, mistakes: readonly Mistake[]): Placed[] {
	return mistakes.map((mistake) => {
		const from = unitsOf(typed, Math.max(0, mistake.offset - prefix.length));
		const to = unitsOf(typed, Math.max(0, mistake.offset + mistake.length - prefix.length));
		return {
			from: Math.min(from, Math.max(0, typed.length - 1)), // a mistake at the end is shown at the last character
			to: Math.max(to, Math.min(from, typed.length - 1) + 1),
			message: mistake.message,
			suggestion: mistake.suggestion ?? '',
			code: mistake.code,
		};
	});
}
