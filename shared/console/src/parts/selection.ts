// What is selected in a chart, and what can be asked about it.
import { useState } from 'preact/hooks';
import { useConsole } from '../foundation/context';
import { lazy } from '../foundation/lazy';
import { periodOf } from '../pure/fragment';
import type { Selection } from '../pure/selection';
import style from './selected.css';

export const Selected = lazy(() => import('./selected').then((m) => m.Selected), style);

/**
 * useSelection returns the selected segments of a chart, and how to select others. The selection stays while newer segments come,
 * and ends with the period.
 */
export function useSelection(times: readonly number[]): [Selection | null, (to: Selection | null) => void] {
	const period = periodOf(useConsole().place);
	const [kept, keep] = useState<{ period: string; from: number | undefined; to: number | undefined } | null>(null);
	const [first, last] = kept?.period === period ? [kept.from, kept.to].map((time) => times.indexOf(time ?? -1)) : [];
	return [first === undefined || last === undefined || first < 0 || last < 0 ? null : { first, last },
		(to) => keep(to && { period, from: times[to.first], to: times[to.last] })];
}
