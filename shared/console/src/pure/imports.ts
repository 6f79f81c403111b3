// Logs that a reader imports: what the server says of them, and the state of one import.

/** What the beginning of a log shows. */
export interface Sample {
	log: string;
	format: string; // as the import takes it
	format_name: string;
	guessed: boolean;
	compression: string;
	first: Readonly<Record<string, unknown>> | null;
	from: string | null;
	to: string | null;
	problem: string;
}

/** The result of importing a log. */
export interface Imported {
	log: string;
	id: string | null;
	format: string;
	records: number;
	known: number;
	expired: number;
	rejected: Readonly<Record<string, number>>;
	first_rejected: string;
	absent: readonly string[];
	from: string | null;
	to: string | null;
	error: string; // of one of several logs
}

/** The state of an import. sent is the part of the log that was sent, from 0 to 1. */
export type State =
	| { is: 'asked' }
	| { is: 'reading' }
	| { is: 'shown'; sample: Sample }
	| { is: 'sending'; sample: Sample; sent: number }
	| { is: 'done'; logs: readonly Imported[] }
	| { is: 'undoing'; logs: readonly Imported[] }
	| { is: 'undone'; records: number }
	| { is: 'kept'; logs: readonly Imported[]; message: string } // undoing has failed
	| { is: 'failed'; message: string; sample: Sample | null; doubted: boolean };

/** sampleBytes is the length of the beginning of a log that shows what it is. */
export const sampleBytes = 1 << 20;

/** lengthShown returns how much of a log shows what it is: of a zip archive, whose directory is at its end, all. */
export function lengthShown(length: number, start: Uint8Array): number {
	return start[0] === 0x50 && start[1] === 0x4b ? length : Math.min(length, sampleBytes);
}

/** pathOf returns the path of the API by which a log is imported, or its beginning is looked at. */
export function pathOf(route: 'imports' | 'samples', name: string, options: {
	sample?: Sample | null; host?: string; anyway?: boolean;
}): string {
	const parameters = [
		['name', name], ['format', options.sample?.guessed ? options.sample.format : ''],
		['set', options.host ? `host=${options.host}` : ''], ['anyway', options.anyway ? 'true' : ''],
	] as const;
	return `${route}?` + parameters.filter(([, value]) => value !== '').map(([key, value]) => `${key}=${encodeURIComponent(value)}`)
		.join('&');
}

/** pathOfImport returns the path of an import, by which it is forgotten. */
export function pathOfImport(id: string): string {
	return `imports/${encodeURIComponent(id)}`;
}

const telling = [
	'timestamp', 'ip', 'method', 'host', 'path', 'query', 'status', 'user_agent', 'referer', 'bytes_sent', 'request_time', 'reason',
];

/** factsOf returns the fields of a record for people, the telling ones first. */
export function factsOf(record: Readonly<Record<string, unknown>>): { first: [string, string][]; others: [string, string][] } {
	const all = Object.entries(record).map(([name, value]): [string, string] =>
		[name, typeof value === 'string' ? value : JSON.stringify(value)]);
	return {
		first: telling.flatMap((name) => all.filter(([other]) => other === name)),
		others: all.filter(([name]) => !telling.includes(name)),
	};
}

/** The logs together: their records, their period in milliseconds, their rejected lines, what can be undone. */
export function together(logs: readonly Imported[]): {
	records: number; known: number; expired: number; rejected: number;
	period: { from: number; to: number } | null;
	ids: string[];
} {
	const sum = (of: (log: Imported) => number): number => logs.reduce((n, log) => n + of(log), 0);
	const times = (of: (log: Imported) => string | null): number[] => logs.flatMap((log) => of(log) ?? []).map(Date.parse);
	const [from, to] = [times((log) => log.from), times((log) => log.to)];
	return {
		records: sum((log) => log.records), known: sum((log) => log.known), expired: sum((log) => log.expired),
		rejected: sum((log) => Object.values(log.rejected).reduce((n, one) => n + one, 0)),
		period: from.length === 0 ? null : { from: Math.min(...from), to: Math.max(...to) },
		// what an earlier import has brought is not undone with this one
		ids: logs.flatMap((log) => (log.id !== null && log.records > 0 && log.known === 0 ? [log.id] : [])),
	};
}
