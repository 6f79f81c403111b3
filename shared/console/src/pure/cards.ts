// The cards that show the rows of a list where the window is narrow.

const short = new Set(['timestamp', 'result', 'method', 'status', 'ip', 'country']);

/** linesOf puts columns on lines, in their order: up to three short ones together, another one alone or behind a short one. */
export function linesOf(columns: readonly string[]): string[][] {
	const lines: string[][] = [];
	for (const column of columns) {
		const line = lines.at(-1);
		const most = short.has(column) ? 3 : 2;
		if (line && line.length < most && line.every((other) => short.has(other))) line.push(column);
		else lines.push([column]);
	}
	return lines;
}
