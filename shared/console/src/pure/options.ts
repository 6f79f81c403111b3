// The list of options below a text, which keys and the pointer move through.
import type { Option } from './complete';

/** An option, and the text and the caret if it is taken. */
export interface Completed extends Option {
	taken: { text: string; caret: number };
}

/** The options at the caret. */
export interface Options {
	options: readonly Completed[];
	note: string; // why there are no options, or none yet
	touched: boolean; // Tab and Enter take an option
	active: number; // the option that they take
}

export const noOptions: Options = { options: [], note: '', touched: false, active: 0 };

/** stepped chooses the next option, or the one before. If none is chosen yet, it is the first or the last one. */
export function stepped(now: Options, by: 1 | -1): Options {
	const n = now.options.length;
	return { ...now, touched: true, active: now.touched ? (now.active + by + n) % n : by > 0 ? 0 : n - 1 };
}

/** closed is the list without options. One that is closed stays the same. */
export function closed(now: Options): Options {
	return now.options.length === 0 && now.note === '' ? now : { ...now, options: [], note: '' };
}
