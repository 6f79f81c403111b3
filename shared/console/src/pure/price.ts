// What a question costs before it runs, and what it cost.
import { bytes, dollars, milliseconds } from './format';

export interface Range {
	low: number;
	high: number;
}

/** The estimate of a question, as the API gives it. */
export interface Estimate {
	objects?: number; // absent if it is not known
	rows?: number;
	bytes: Range | null;
	cost_usd?: Range | null;
	wait_ms: Range | null;
	warnings?: string[];
}

/** A question is heavy above one of these. */
export const threshold = { bytes: 1_000_000_000, usd: 0.01, ms: 10_000 };

/** isHeavy reports whether a question waits until somebody runs it. */
export function isHeavy(e: Estimate): boolean {
	return (e.bytes?.high ?? 0) > threshold.bytes || (e.cost_usd?.high ?? 0) > threshold.usd ||
		(e.wait_ms?.high ?? 0) > threshold.ms;
}

/** priceOf writes an estimate: reads 2.1–8.3 MB of 24 objects, about 90 ms, $0.00005. */
export function priceOf(e: Estimate): string {
	const parts = [];
	const of = e.objects === undefined ? '' : ` of ${objects(e.objects)}`;
	parts.push(e.bytes ? `reads ${rangeOf(e.bytes, bytes)}${of}` : `reads an unknown amount${of}`);
	if (e.wait_ms) parts.push(`takes about ${rangeOf(e.wait_ms, milliseconds)}`);
	if (e.cost_usd) parts.push(`costs ${rangeOf(e.cost_usd, dollars)}`);
	return parts.join(', ');
}

export function objects(n: number): string {
	return n === 1 ? '1 object' : `${n} objects`;
}

function rangeOf(r: Range, write: (n: number) => string): string {
	const [low, high] = [write(r.low), write(r.high)];
	return low === high ? low : `${low}–${high}`;
}

/** addUp returns the estimate of several questions together. */
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
		wait_ms: sum((e) => e.wait_ms),
		warnings: [...new Set(estimates.flatMap((e) => e.warnings ?? []))],
	};
}
