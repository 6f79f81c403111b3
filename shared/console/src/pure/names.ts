// Names: of configurations, of saved filters and of reports. In the text of a filter, @server-errors stands for the conditions of a filter.
import { conditionsOf } from './lex';

/** The configuration of a new store. */
export const firstConfig = 'prod';

/** The form of the names of saved filters and of reports. */
export const nameForm = /^[a-z0-9-]{1,64}$/;

/** savedNames returns the names of the saved filters that stand for conditions of a text: @server-errors. */
export function savedNames(text: string): string[] {
	return conditionsOf(text).flatMap((condition) => /^@([a-z0-9-]+)$/.exec(condition)?.[1] ?? []);
}

/** expanded puts the filters in the place of their names. Names that are not known stay. */
export function expanded(text: string, filters: ReadonlyMap<string, string>): string {
	if (savedNames(text).length === 0) return text;
	return conditionsOf(text)
		.map((condition) => (condition.startsWith('@') ? filters.get(condition.slice(1)) : undefined) ?? condition)
		.filter((condition) => condition !== '').join(', ');
}

/** savedAt returns the name that is being typed at a place, and where it begins. */
export function savedAt(text: string, caret: number): { from: number; typed: string } | null {
	const m = /(?:^|,)\s*(@[a-z0-9-]*)$/.exec(text.slice(0, caret));
	return m ? { from: caret - (m[1] ?? '').length, typed: (m[1] ?? '').slice(1) } : null;
}
