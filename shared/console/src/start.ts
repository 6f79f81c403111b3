// The first visit: an address that names no period, where the usual period has no records.
import type { Answer, Segment } from './api';
import type { Console } from './context';
import { absolute } from './pure/time';
import { words } from './strings';

const day = 86_400_000;

/**
 * leadToData goes to the newest day of the data if the address names no period and the usual one is empty. It reports
 * whether it does.
 */
export function leadToData({ place, go, say }: Console, timeline: Answer<Segment>): boolean {
	const { newest } = timeline.meta;
	const empty = timeline.results.every((segment) => segment.num_of_requests === 0);
	if (place.period !== '' || place.filter !== '' || place.record || !empty || newest === null) return false;
	const to = Math.ceil(Date.parse(newest) / 60_000) * 60_000;
	go({ period: absolute({ from: to - day, to }) }, 'replace');
	say(words.shownDay);
	return true;
}

/** never is the answer to a question that another one has replaced. */
export function never<T>(): Promise<T> {
	return new Promise(() => undefined);
}
