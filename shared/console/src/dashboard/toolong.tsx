// What the dashboard says about a period that is too long to look for incidents.
import { useConsole } from '../foundation/context';
import { periodOf } from '../pure/fragment';
import { mostDays } from '../pure/incidents';
import { shorter } from '../pure/narrower';
import { presetName, resolve } from '../pure/time';
import { words } from './toolong.words';

/** TooLong offers a shorter period, in which incidents are looked for. */
export function TooLong() {
	const { place, go } = useConsole();
	const period = resolve(periodOf(place), Date.now());
	const [last] = period ? shorter(periodOf(place), period).slice(-1) : [];
	return <p class="said">
		<span>{words.tooLong(mostDays)}</span>
		{last && <button type="button" class="small" onClick={() => go({ period: last.period })}>
			{words.onlyLast(presetName(last.name))}</button>}
	</p>;
}
