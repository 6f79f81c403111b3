// Whether a text is to be run as a filter, or to be understood, because somebody pasted it.
import { isJSON } from './filter';
import { conditionsOf } from './lex';

const condition = /^\s*(?:not\s+)?([A-Za-z_]\w*)(\s*\[[^\]]*\])?\s*(!?[=~]|[<>]=?|\b(?:not|is|in|between)\b)(.*)/is;
const unfinished = /^\s*(?:not\s+)?([A-Za-z_]\w*)(?:\s*\[[^\]]*\]?)?(?:\s+\w+){0,2}\s*$/;

/**
 * isFilter reports whether a text begins like a filter, also like one with mistakes or one that goes on. The name of a field is enough
 * before the sign of an operator, and before a word of one if the catalogue has it: other sentences are no filters.
 */
export function isFilter(text: string, fields: readonly { name: string }[]): boolean {
	if (/^\s*(?!\d|[0-9a-f]{32}\b)(?:not\s*)?\w*\s*$/.test(text) || /^\s*@/.test(text)) return true;
	if (isJSON(text)) return text.length < 12 || /"(?:field|op|value|and|or|not)"\s*:/i.test(text);
	const known = (name: string | undefined): boolean =>
		name !== undefined && (fields.length === 0 || fields.some((field) => field.name === name));
	const [whole, name = '', key, operator = '', value = ''] = condition.exec(conditionsOf(text)[0] ?? '') ?? [];
	if (whole === undefined) return known(unfinished.exec(text)?.[1]);
	if (key !== undefined || known(name)) return true;
	return !/^[a-z]/i.test(operator) && !/\s[\w.]+=/.test(value); // a log may have names and values without commas
}
