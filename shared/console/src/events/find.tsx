// The quick search in the rows of the events.
import { useConsole } from '../foundation/context';
import { add } from '../pure/filter';
import type { LogRecord } from '../pure/record';
import { conditionFor } from '../pure/wanted';
import { words } from './find.words';

/** QuickFind searches the rows that are loaded. Enter makes it a condition, which searches all events. */
export function QuickFind({ value, rows, searched }: {
	value: string; rows: readonly LogRecord[]; searched: readonly string[];
}) {
	const { place, fields, go } = useConsole();
	const change = (text: string): void => go({ find: text }, 'type');
	const condition = value === '' ? '' : conditionFor(rows, searched, value, fields);
	return <span class="quick-find" role="search" aria-label={words.find}>
		<input id="quick-find" type="search" value={value} placeholder={`${words.find} (q)`} aria-label={words.find}
			aria-description={condition === '' ? undefined : words.keys(condition)} autocomplete="off" spellcheck={false}
			onInput={(event) => change(event.currentTarget.value)} onKeyDown={(event) => {
				if (event.isComposing) return;
				if (event.key === 'Enter' && condition !== '') go({ filter: add(place.filter, condition), record: null });
				else if (event.key === 'Escape' && value !== '') change('');
				else return;
				event.preventDefault();
				event.stopPropagation();
			}} />
		{condition !== '' && <small>{words.enter} <code>{condition}</code></small>}
	</span>;
}
