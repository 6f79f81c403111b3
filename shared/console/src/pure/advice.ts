// What the server advises when a question is more than it can answer.
import { splitPeriod } from './filter';

/** What to change in the address. */
export type Advice = { segment: string } | { period: string } | { against: string };

/** adviceOf reads the advice in the message of a refusal: a segment or a period that fits, or another side to compare with. */
export function adviceOf(message: string): Advice | null {
	const segment = /the shortest (?:segment )?that fits is (\d+[mhd])\b/.exec(message)?.[1];
	if (segment) return { segment };
	const against = /a length of time of at least (\d+[smhdw])\b/.exec(message)?.[1];
	if (against) return { against };
	const condition = /timestamp between \d{4}-[\d:. -]+ and \d{4}-[\d:. -]+/.exec(message)?.[0];
	const period = condition ? splitPeriod(condition.trim(), 0).period : null;
	return period ? { period } : null;
}
