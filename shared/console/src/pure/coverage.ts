// How far back the data goes, and which periods it has only in part.
export interface Asked {
	oldest?: string | null;
	period: { from: string; to: string };
}

/**
 * beginOf returns when the data begins, in whole seconds, if it lacks more than a hundredth of the period of an answer, and
 * null otherwise.
 */
export function beginOf(metas: readonly Asked[]): number | null {
	for (const { oldest, period } of metas) {
		const begin = Date.parse(oldest ?? '');
		const from = Date.parse(period.from);
		if (begin - from > (Date.parse(period.to) - from) / 100) return Math.floor(begin / 1000) * 1000;
	}
	return null;
}
