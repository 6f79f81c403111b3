// What the incidents of a period come to: the worst one decides, and is first.
import type { IncidentResult } from './answers';

/** The longest period in which the server looks for incidents. */
export const mostDays = 31;

export type Held = IncidentResult['held']['state'];

/** What the verdict needs of an incident. */
export type Judged = Pick<IncidentResult, 'begin' | 'end' | 'certain'> & { held: { state: Held } };

/** The states, the worst one first. */
const states: readonly Held[] = ['not held', 'look', 'unknown', 'held'];

/** The answer to whether the origin held. */
export interface Verdict {
	state: Held | 'none'; // of the worst incident
	worst: number; // incidents in this state
	going: number; // incidents that are still going on
	guessed: boolean; // no incident is certain
}

/** verdictOf returns the verdict on incidents. */
export function verdictOf(incidents: readonly Judged[]): Verdict {
	const state = states.find((one) => incidents.some(({ held }) => held.state === one)) ?? 'none';
	return {
		state, worst: incidents.filter(({ held }) => held.state === state).length,
		going: incidents.filter(({ end }) => end === null).length,
		guessed: incidents.length > 0 && incidents.every(({ certain }) => !certain),
	};
}

/** inOrder sorts incidents: those that are still going on, then the worst ones, then the others; each from the newest to the oldest. */
export function inOrder<T extends Judged>(incidents: readonly T[]): T[] {
	const rank = ({ held, end }: T): number => (end === null ? -1 : Math.min(states.indexOf(held.state), states.indexOf('unknown')));
	return [...incidents].sort((a, b) => rank(a) - rank(b) || Date.parse(b.begin) - Date.parse(a.begin));
}
