// Completion in the filter bar: the options at the caret, some of which the server knows. It is loaded with the first key.
import type { Console } from '../foundation/context';
import { announced } from '../parts/menu';
import {
	type Expected, expectedAt, fieldOptions, keyOptions, mostOptions, nextOptions, operatorOptions, type Option, soughtOf, take,
	valueOptions,
} from '../pure/complete';
import { filtersOf, isJSON } from '../pure/filter';
import { periodOf } from '../pure/fragment';
import { savedAt } from '../pure/names';
import { resolve } from '../pure/time';
import { words } from '../texts/page';
import type { SavedFilter } from './saved';

const valuesPause = 120; // milliseconds after the last key

/** The options at the caret. */
export interface Completion {
	options: readonly Completed[];
	note: string; // why there are no options, or none yet
	touched: boolean; // Tab and Enter take an option
}

/** An option, and the text and the caret if it is taken. */
export interface Completed extends Option {
	taken: { text: string; caret: number };
}

/**
 * complete shows the options at a place of a text, and those of the server when it has answered. In an empty text there are none
 * unless the reader asks for them.
 */
export function complete(
	{ api, fields, place }: Console, saved: (say: (note: string) => void) => Promise<SavedFilter[]>, text: string, caret: number,
	asked: boolean, signal: AbortSignal, show: (found: Completion) => void,
): void {
	const offer = (at: Expected, options: readonly Option[], note = ''): void => {
		const pattern = at.kind === 'value' && at.operator.endsWith('~'); // any text may be a whole pattern
		const useless = options.length === 1 && options[0]?.insert === at.typed;
		show({
			options: useless ? [] : options.map((option) => ({ ...option, taken: take(text, at, option) })), note,
			touched: at.typed !== '' && !pattern,
		});
	};
	const at = expectedAt(text, caret);
	const name = savedAt(text, caret);
	if (isJSON(text)) {
		offer(at, []);
	} else if (name) {
		const named: Expected = { ...at, from: name.from, to: caret, typed: text.slice(name.from, caret) };
		saved((note) => !signal.aborted && offer(named, [], note)).then(
			(list) => !signal.aborted && offer(named, savedOptions(list, name.typed)),
			() => undefined, // without the permission to read them there are no options
		);
	} else if (at.kind === 'field') {
		offer(at, text.trim() === '' && !asked ? [] : fieldOptions(fields, at.typed));
	} else if (at.kind === 'key') {
		offer(at, keyOptions(fields, at.field, at.typed));
	} else if (at.kind === 'operator') {
		offer(at, operatorOptions(fields, at.field, at.typed));
	} else if (at.kind === 'next') {
		offer(at, nextOptions(at));
	} else {
		offer(at, []);
		const timer = setTimeout(() => {
			const period = resolve(periodOf(place), Date.now());
			const sought = soughtOf(at);
			const parameters = {
				field: at.field, limit: mostOptions, ...(sought.text === '' ? {} : { [sought.part]: sought.text }),
				...(period ? { filters: filtersOf('', period) } : {}),
			};
			const busy = announced((note) => !signal.aborted && offer(at, [], note));
			api.ask('values', parameters, signal, busy).then(
				({ results, meta }) => !signal.aborted &&
					offer(at, valueOptions(results.map((one) => one.value), at), meta.unavailable && words.noOptions(meta.unavailable)),
				() => undefined, // a field without values that can be listed has no options
			);
		}, valuesPause);
		signal.addEventListener('abort', () => clearTimeout(timer));
	}
}

/** savedOptions returns the saved filters whose names have what is typed. */
function savedOptions(list: readonly SavedFilter[], typed: string): Option[] {
	return list.filter((one) => one.name.includes(typed)).slice(0, mostOptions)
		.map((one) => ({ insert: one.filters, label: `@${one.name}`, detail: one.title || one.filters }));
}
