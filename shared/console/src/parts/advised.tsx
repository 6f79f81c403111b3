// What a screen offers when the server advises another question.
import { useConsole } from '../foundation/context';
import { adviceOf } from '../pure/advice';
import { words } from '../texts/advised';

/** Advised does what the server advises for a question that is more than it can answer. */
export function Advised({ message }: { message: string }) {
	const { go } = useConsole();
	const advice = adviceOf(message);
	if (!advice) return null;
	return <button type="button" class="primary" onClick={() => go(advice)}>
		{'segment' in advice ? words.useSegment(advice.segment) : 'against' in advice ? words.useAgainst(advice.against) : words.usePeriod}
	</button>;
}
