// What happened to a request: a shape, a word and a colour.
import { isJudged, type LogRecord, resultOf } from '../pure/record';
import { words } from '../pure/words';

/** The members of a record that say it. */
export const resultFields = ['result', 'blocked', 'challenge', 'ichallenge', 'monitor', 'upstream_status'] as const;

export const shapes = { passed: '●', blocked: '■', challenged: '◆', monitored: '▲', refused: '✕' } as const;

export function ResultMark({ record }: { record: LogRecord }) {
	const result = resultOf(record);
	if (!isJudged(record)) return <span class="verdict">–</span>;
	return <span class={`verdict ${result}`}><span aria-hidden="true">{shapes[result]}</span> {words.results[result]}</span>;
}
