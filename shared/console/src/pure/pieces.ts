// The pages of an export, put together to files.

export type Format = 'csv' | 'ndjson' | 'json';

type Bytes = Uint8Array<ArrayBuffer>;

/** wireOf returns the format in which the pages of an export are asked for: those of the API as JSON have more than records. */
export function wireOf(format: Format): 'csv' | 'ndjson' {
	return format === 'csv' ? 'csv' : 'ndjson';
}

/** What a file has before, between and behind the records of its pages. */
export interface Frame {
	before: Bytes;
	between: Bytes;
	behind: Bytes;
}

/** frameOf returns the frame of the files of an export, of which one page is known. */
export function frameOf(format: Format, page: Bytes): Frame {
	switch (format) {
		case 'csv': return { before: headerOf(page), between: ascii(''), behind: ascii('') };
		case 'ndjson': return { before: ascii(''), between: ascii(''), behind: ascii('') };
		case 'json': return { before: ascii('[\n'), between: ascii(',\n'), behind: ascii('\n]\n') };
	}
}

/** contentOf returns the records of a page as a file has them. */
export function contentOf(format: Format, page: Bytes): Bytes {
	switch (format) {
		case 'csv': return withoutHeader(page);
		case 'ndjson': return page;
		case 'json': return withCommas(page);
	}
}

/** withCommas returns lines with a comma behind each but the last one, which has no end. */
function withCommas(lines: Bytes): Bytes {
	const records = recordsIn(lines, 'ndjson');
	const out = new Uint8Array(Math.max(0, lines.length + records - 2));
	let at = 0;
	for (const byte of lines) {
		if (at === out.length) break;
		if (byte === 10) out[at++] = 44;
		out[at++] = byte;
	}
	return out;
}

const ascii = (text: string): Bytes => Uint8Array.from([...text].map((c) => c.charCodeAt(0)));

/** withoutHeader returns a page of CSV without its first line, the names of the columns. */
export function withoutHeader(page: Bytes): Bytes {
	const end = page.indexOf(10); // names have no line ends
	return end < 0 ? page.subarray(page.length) : page.subarray(end + 1);
}

/** headerOf returns the first line of a page of CSV. */
export function headerOf(page: Bytes): Bytes {
	return page.subarray(0, page.length - withoutHeader(page).length);
}

/** recordsIn returns how many records a page has: its lines outside quotes, without that of the header. */
export function recordsIn(page: Bytes, format: 'csv' | 'ndjson'): number {
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
