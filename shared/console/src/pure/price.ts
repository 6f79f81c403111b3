// What a question costs before it runs, and what it cost.
import type * as answers from './answers';
import { ago, bytes, dollars, milliseconds } from './format';
import { words } from './words';

export type Range = answers.BytesEstimate;

/** The estimate of a question, as far as it is known, with the length of its period. */
export interface Estimate extends Partial<Omit<answers.Estimate, 'bytes' | 'cost_usd' | 'wait_ms'>> {
	bytes: Range | null;
	cost_usd?: Range | null; // of several questions: null if nothing is charged
	wait_ms: Range | null;
	length?: number; // of the period, in milliseconds
	fits?: { from: string; to: string }; // the newest part of the period that is light, as far as it was looked for
	unknown?: number; // of several questions: the longest period of those whose bytes are not known; 0: all are known
}

/** A question is heavy above one of these. The length of its period counts if its bytes are not known. */
export const threshold = { bytes: 1_000_000_000, usd: 0.01, ms: 10_000, length: 86_400_000 };

/**
 * isHeavy reports whether a question waits until somebody runs it. It is heavy by what is known of it. If its bytes are
 * not known, it is heavy unless its period is known to be a day or less.
 */
export function isHeavy(e: Estimate): boolean {
	return (e.bytes?.high ?? 0) > threshold.bytes || (e.cost_usd?.high ?? 0) > threshold.usd ||
		(e.wait_ms?.high ?? 0) > threshold.ms || unknownOf(e) > threshold.length;
}

/** unknownOf returns the length of the period of which it is not known what is read. */
function unknownOf(e: Estimate): number {
	return e.unknown ?? (e.bytes ? 0 : e.length ?? Infinity);
}

/** priceOf writes an estimate: reads 2.1–8.3 MB of 24 objects, about 90 ms, $0.00005. */
export function priceOf(e: Estimate): string {
	const unknown = unknownOf(e);
	const of = e.objects === undefined ? '' : objects(e.objects);
	const w = words.prices;
	const parts = [e.bytes ? w.reads(rangeOf(e.bytes, bytes), unknown > 0, of) :
		w.readsUnknown(of, Number.isFinite(unknown) && unknown > 0 ? ago(unknown) : '')];
	if (e.wait_ms) parts.push(w.takes(rangeOf(e.wait_ms, milliseconds)));
	if (e.cost_usd) parts.push(w.costs(rangeOf(e.cost_usd, dollars)));
	return parts.join(', ');
}

export function objects(n: number): string {
	return words.prices.objects(n);
}

/** rangeOf writes a range, or one number if both ends are the same. */
export function rangeOf(r: Range, write: (n: number) => string): string {
	const [low, high] = [write(r.low), write(r.high)];
	return low === high ? low : `${low}–${high}`;
}

function longest(estimates: readonly Estimate[]): Range | null {
	return estimates.map((e) => e.wait_ms)
		.reduce((a, b) => (a && b ? { low: Math.max(a.low, b.low), high: Math.max(a.high, b.high) } : a ?? b), null);
}

/** addUp returns the estimate of several questions that run at the same time: the longest wait is that for all. */
export function addUp(estimates: readonly Estimate[]): Estimate {
	const sum = (of: (e: Estimate) => Range | null | undefined): Range | null => {
		const known = estimates.map(of).filter((r): r is Range => r != null);
		if (known.length === 0) return null;
		return known.reduce((a, b) => ({ low: a.low + b.low, high: a.high + b.high }));
	};
	const known = estimates.flatMap((e) => e.objects ?? []);
	return {
		...(known.length > 0 ? { objects: Math.max(...known) } : {}),
		bytes: sum((e) => e.bytes),
		cost_usd: sum((e) => e.cost_usd),
		wait_ms: longest(estimates),
		unknown: Math.max(0, ...estimates.map(unknownOf)),
		warnings: [...new Set(estimates.flatMap((e) => e.warnings ?? []))],
	};
}
