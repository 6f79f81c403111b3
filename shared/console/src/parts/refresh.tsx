// Live: how often a screen is asked for again, by the address. It stops when nobody uses the page.
import { useEffect } from 'preact/hooks';
import { forgetHeavy, isAsking } from '../foundation/ask';
import { type Console, useConsole } from '../foundation/context';
import { periodOf, type Place } from '../pure/fragment';
import { lengthOf } from '../pure/time';
import { words } from '../pure/words';
import { Select } from './select';

/** The seconds between two questions of the dashboard, of which 0 is off. */
export const slowRates = [0, 10, 30, 60] as const;

const idleTime = 900_000; // without a hand on the page, nothing is asked for longer

let used = Date.now();
for (const hand of ['pointerdown', 'keydown', 'wheel']) {
	addEventListener(hand, () => {
		used = Date.now();
	}, { capture: true, passive: true });
}

/** goesOn reports whether Live asks again. It is switched off if nobody has used the page for long. */
export function goesOn({ go, say }: Console): boolean {
	if (Date.now() - used <= idleTime) return true;
	go({ live: 0 }, 'replace');
	say(words.liveStopped);
	return false;
}

/** liveRate is how many seconds after an answer the next one is asked for. A period that has ended has no newer one: it is 0. */
export function liveRate(place: Place): number {
	return lengthOf(periodOf(place)) === null ? 0 : place.live;
}

/** LiveField chooses how often newer answers are asked for. */
export function LiveField({ rates }: { rates: readonly number[] }) {
	const { place, go } = useConsole();
	if (lengthOf(periodOf(place)) === null) return null;
	return <Select name={words.live} value={String(place.live)} choose={(n) => go({ live: Number(n) }, 'replace')}
		options={[...new Set([...rates, place.live])].map((n) => [String(n), words.liveRate(n)] as const)} />;
}

/**
 * useRefresh asks the questions of the page again, so many seconds after they were answered. A part of the page that still waits
 * for its answer gets it first. Heavy questions wait again until somebody runs them.
 */
export function useRefresh(answered: boolean): void {
	const console = useConsole();
	const { place, round, ask } = console;
	const seconds = answered ? liveRate(place) : 0;
	useEffect(() => {
		if (seconds === 0) return;
		const timer = setInterval(() => {
			if (document.hidden || isAsking() || !goesOn(console)) return;
			forgetHeavy();
			ask();
		}, seconds * 1000);
		return () => clearInterval(timer);
	}, [seconds, round]);
}
