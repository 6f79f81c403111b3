// The logarithmic axis of times.

/** The least number that a logarithmic axis has. */
export const leastOfLogarithm = 0.1;

/** logarithmicRange returns the powers of ten around some numbers. The axis has no zero, and begins at 0.1 or above. */
export function logarithmicRange(least: number, most: number): [number, number] {
	const from = Math.floor(Math.log10(Math.max(least, leastOfLogarithm)));
	return [10 ** from, 10 ** Math.max(from + 1, Math.ceil(Math.log10(Math.max(most, leastOfLogarithm))))];
}
