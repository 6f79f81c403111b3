// The events that arrive while a list is open. The newest ones are kept; what is left out is known.
import type { LogRecord } from './record';

/** How many of the events that arrive are kept. */
export const mostRows = 2500;

/** The events that arrived, newest first. */
export interface Arrived {
	rows: readonly LogRecord[]; // shown above the list
	cut: boolean; // some between them and the list are left out: the list must not be shown below them
	waiting: readonly LogRecord[]; // not shown yet, because somebody is reading
	gap: boolean; // some between those that wait and the rows are left out
}

export const none: Arrived = { rows: [], cut: false, waiting: [], gap: false };

/** arrive adds events to those that are shown, or lets them wait. If the answer had more of them than it has, some are missing. */
export function arrive(now: Arrived, results: readonly LogRecord[], more: boolean, reading: boolean): Arrived {
	if (results.length === 0) return now;
	if (reading || now.waiting.length > 0) {
		const { rows, cut } = join(results, more, { rows: now.waiting, cut: now.gap });
		return { ...now, waiting: rows, gap: cut };
	}
	return { ...now, ...join(results, more, now) };
}

/** show puts those that wait above the others. */
export function show(now: Arrived): Arrived {
	return { ...none, ...join(now.waiting, now.gap, now) };
}

/** What an answer rests on, of which Live keeps only the sum. */
export interface Rests {
	questions?: number; // that it stands for; 1 if it is absent
	elapsed_ms: number;
	queue_ms?: number;
	bytes_scanned: number;
	objects?: number;
	cost_usd?: number;
	skipped?: string[];
	late?: number | null; // null: not known
}

/** addTo adds what an answer rests on to that of the answers before it. Times and objects are the most of one. */
export function addTo<T extends Rests>(sum: T | undefined, one: T): T {
	if (!sum) return one;
	const skipped = [...new Set([...sum.skipped ?? [], ...one.skipped ?? []])];
	return {
		...sum, ...one,
		questions: (sum.questions ?? 1) + (one.questions ?? 1),
		elapsed_ms: Math.max(sum.elapsed_ms, one.elapsed_ms),
		...(sum.queue_ms === undefined ? {} : { queue_ms: Math.max(sum.queue_ms, one.queue_ms ?? 0) }),
		bytes_scanned: sum.bytes_scanned + one.bytes_scanned,
		...(sum.objects === undefined && one.objects === undefined ? {} : { objects: Math.max(sum.objects ?? 0, one.objects ?? 0) }),
		...(sum.cost_usd === undefined && one.cost_usd === undefined ? {} : { cost_usd: (sum.cost_usd ?? 0) + (one.cost_usd ?? 0) }),
		...(skipped.length === 0 ? {} : { skipped }),
		...(sum.late === null || one.late === null ? { late: null } : { late: (sum.late ?? 0) + (one.late ?? 0) }),
	};
}

/** join puts newer events above others. If some between them are missing, only the newer ones are kept. */
function join(newer: readonly LogRecord[], missing: boolean, { rows, cut }: Pick<Arrived, 'rows' | 'cut'>): Pick<Arrived, 'rows' | 'cut'> {
	const all = missing ? newer : [...newer, ...rows];
	return { rows: all.slice(0, mostRows), cut: cut || missing || all.length > mostRows };
}
