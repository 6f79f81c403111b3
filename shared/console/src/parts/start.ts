// The first visit: an address that names no period, where the usual period has no records.
import type { Answer, Segment } from '../foundation/api';
import type { Console } from '../foundation/context';
import { rememberFilter } from '../foundation/remember';
import { splitPeriod } from '../pure/filter';
import { readFragment } from '../pure/fragment';
import { absolute, endOfNewest } from '../pure/time';
import { words } from '../pure/words';

const day = 86_400_000;

/**
 * leadToData goes to the newest day of the data if the address names no period and the usual one is empty, and to all of the
 * demo if there is only that. It reports whether it does. Otherwise the answer is what the reader asked for, and its filter is
 * remembered. Live stays with the present.
 */
export function leadToData({ go, say }: Console, timeline: Answer<Segment>): boolean {
	const place = readFragment(location.hash); // the reader may have chosen a period since the question
	const { newest, oldest, demo } = timeline.meta;
	const requests = timeline.results.reduce((sum, segment) => sum + segment.num_of_requests, 0);
	rememberFilter(splitPeriod(timeline.meta.filter, Date.now()).filter, requests);
	const { period, filter, record, live } = place;
	const whole = demo && oldest !== null;
	if (period !== '' || filter !== '' || record || live > 0 || (requests > 0 && !whole) || newest === null) return false;
	const to = endOfNewest(Date.parse(newest));
	go({ period: absolute({ from: whole ? Math.floor(Date.parse(oldest) / 1000) * 1000 : to - day, to }) }, 'replace');
	if (!whole) say(words.shownDay);
	return true;
}

/** never is the answer to a question that another one has replaced. */
export function never<T>(): Promise<T> {
	return new Promise(() => undefined);
}
