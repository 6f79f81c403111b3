// What is hidden because it may identify a person or give access.
import type { Field } from './complete';
import { tokensOf } from './lex';

/** dots stand for a value that is hidden. */
export const dots = '••••••';

/** Sensitive reports whether the values of a field may identify a person or give access. */
export type Sensitive = (field: string) => boolean;

/** sensitiveIn reads the catalogue. A field that it does not have counts as sensitive, also while it is not loaded. */
export function sensitiveIn(catalogue: readonly Field[]): Sensitive {
	const known = new Map(catalogue.map((field) => [field.name, field.sensitive]));
	return (field) => known.get(field) ?? true;
}

/** inLists are the sensitive fields whose values the lists show anyway, so they are hidden only in copies. */
export const inLists = new Set(['ip', 'url']);

/** conditionWithoutSecrets is a condition whose values are replaced by dots if its field is sensitive. */
export function conditionWithoutSecrets(condition: string, sensitive: Sensitive): string {
	const tokens = tokensOf(condition).map(({ kind, from, to }) => ({ kind, text: condition.slice(from, to) }));
	const field = tokens.find(({ kind }) => kind === 'field')?.text ?? '';
	if (inLists.has(field) || !sensitive(field)) return condition;
	return tokens.map(({ kind, text }) => (kind === 'value' ? dots : text)).join('');
}
