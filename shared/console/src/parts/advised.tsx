// What a screen offers when the server advises another question.
import { useConsole } from '../foundation/context';
import { adviceOf } from '../pure/advice';
import { ago } from '../pure/format';
import { absolute } from '../pure/time';
import { words } from './advised.words';

/** Advised does what the server advises for a question that is more than it can answer. */
export function Advised({ message }: { message: string }) {
	const { go } = useConsole();
	const advice = adviceOf(message);
	if (!advice) return null;
	return <button type="button" class="primary" onClick={() => go(advice)}>
		{'segment' in advice ? words.useSegment(advice.segment) : 'against' in advice ? words.useAgainst(advice.against) : words.usePeriod}
	</button>;
}

/** Fits offers the newest part of the period in which the question is light. */
export function Fits({ from, to }: { from: string; to: string }) {
	const { go } = useConsole();
	const period = { from: Date.parse(from), to: Date.parse(to) };
	return <button type="button" onClick={() => go({ period: absolute(period) })}>{words.fits(ago(period.to - period.from))}</button>;
}
