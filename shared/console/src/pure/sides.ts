// The sides of a comparison as filters.
import { add } from './filter';
import { conditionsOf, tokensOf } from './lex';
import { absolute } from './time';

/** A side: the requests of a period that satisfy the conditions, and not all of those that are excepted. */
export interface Side {
	filter: string;
	except?: string | undefined;
	period: { from: string; to: string };
}

/** withoutPeriod is a side of an answer, whose filter begins with its period, with the other conditions only. */
export function withoutPeriod(side: Side): Side {
	return { ...side, filter: side.filter.replace(/^timestamp between [^,]*(, )?/, '') };
}

/**
 * requestsOf returns the filter and the period of the requests of a side that satisfy a further condition, if there is one.
 * The filter of the side has no period. That of the requests is null if several conditions are excepted together: what is
 * left without them would need OR.
 */
export function requestsOf(side: Side, and: string | null = ''): { filter: string | null; period: string } {
	const except = conditionsOf(side.except ?? '');
	const { from, to } = side.period;
	return {
		filter: and === null || except.length > 1 ? null :
			[...except.map(inverted), and].filter((one) => one !== '').reduce(add, side.filter),
		period: absolute({ from: Date.parse(from), to: Date.parse(to) }),
	};
}

const opposites: Readonly<Record<string, string>> = { '=': '!=', '!=': '=', '~': '!~', '!~': '~' };

/** inverted negates a condition. */
export function inverted(condition: string): string {
	const not = /^not\s+/i.exec(condition);
	if (not) return condition.slice(not[0].length);
	const tokens = tokensOf(condition);
	const at = tokens.findIndex((token) => (token.kind === 'operator' || token.kind === 'word') && condition[token.from - 1] !== '[');
	const token = tokens[at];
	if (!token) return `not ${condition}`;
	const sign = condition.slice(token.from, token.to);
	const cut = (text: string, to: number): string => condition.slice(0, token.from) + text + condition.slice(to);
	if (/^not$/i.test(sign)) return cut('', tokens[at + 2]?.from ?? token.to).replace(/\s+/, ' ');
	const opposite = opposites[sign];
	if (opposite) return cut(opposite, token.to);
	return token.kind === 'word' ? cut(`not ${sign}`, token.to) : `not ${condition}`;
}
