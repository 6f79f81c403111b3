// Live: how often a screen is asked for again, by the address. It stops when nobody uses the page.
import { useEffect, useRef } from 'preact/hooks';
import { forgetHeavy } from './ask';
import { useConsole } from './context';
import { periodOf } from './pure/fragment';
import { lengthOf } from './pure/time';
import { words } from './strings';

/** The seconds between two questions of the dashboard, of which 0 is off. */
export const slowRates = [0, 10, 30, 60] as const;

export const idleTime = 900_000; // without a hand on the page, nothing is asked for longer

/** LiveField chooses how often newer answers are asked for. A period that has ended has none. */
export function LiveField({ rates }: { rates: readonly number[] }) {
	const { place, go } = useConsole();
	if (lengthOf(periodOf(place)) === null) return null;
	return <label>{words.live} <select class="small" value={String(place.live)}
		onChange={(event) => go({ live: Number(event.currentTarget.value) }, 'replace')}>
		{[...new Set([...rates, place.live])].map((n) => <option key={n} value={String(n)}>{words.liveRate(n)}</option>)}
	</select></label>;
}

/** useRefresh asks the questions of the page again, so many seconds after they were answered. Heavy ones wait again. */
export function useRefresh(answered: boolean): void {
	const { place, round, go, ask, say } = useConsole();
	const seconds = answered && lengthOf(periodOf(place)) !== null ? place.live : 0;
	const used = useRef(Date.now());
	useEffect(() => {
		const touch = (): void => {
			used.current = Date.now();
		};
		addEventListener('pointerdown', touch);
		addEventListener('keydown', touch);
		return () => {
			removeEventListener('pointerdown', touch);
			removeEventListener('keydown', touch);
		};
	}, []);
	useEffect(() => {
		if (seconds === 0) return;
		const timer = setInterval(() => {
			if (document.hidden) return;
			if (Date.now() - used.current > idleTime) {
				go({ live: 0 }, 'replace');
				say(words.liveStopped);
				return;
			}
			forgetHeavy();
			ask();
		}, seconds * 1000);
		return () => clearInterval(timer);
	}, [seconds, round]);
}
