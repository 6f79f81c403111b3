// The pages of an export, put together to files.

export type Format = 'csv' | 'ndjson';

/** withoutHeader returns a page of CSV without its first line, the names of the columns. */
export function withoutHeader(page: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
	const end = page.indexOf(10); // names have no line ends
	return end < 0 ? page.subarray(page.length) : page.subarray(end + 1);
}

/** headerOf returns the first line of a page of CSV. */
export function headerOf(page: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
	return page.subarray(0, page.length - withoutHeader(page).length);
}

/** recordsIn returns how many records a page has: its lines outside quotes, without that of the header. */
export function recordsIn(page: Uint8Array<ArrayBuffer>, format: Format): number {
	let lines = 0;
	let quoted = false;
	for (const byte of page) {
		if (byte === 34 && format === 'csv') quoted = !quoted;
		else if (byte === 10 && !quoted) lines++;
	}
	return format === 'csv' ? Math.max(0, lines - 1) : lines;
}

/** fileName names an export by its period, and a piece of it by its number: 1, 2, …; 0 is the whole. */
export function fileName(period: { from: number; to: number }, format: Format, piece: number, incomplete: boolean): string {
	const time = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace(/[-:]/g, '');
	return `orrery-logs-${time(period.from)}-${time(period.to)}${piece > 0 ? `-${piece}` : ''}${incomplete ? '-incomplete' : ''}.${format}`;
}
