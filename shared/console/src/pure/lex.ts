// The tokens of a filter in the query-string form, for colours and completion. What a filter means is the server's to
// decide: no text is a mistake here.

export type Kind = 'field' | 'key' | 'operator' | 'value' | 'word' | 'mark' | 'space';

/** A token, by its place in the text in UTF-16 units. */
export interface Token {
	kind: Kind;
	from: number;
	to: number;
}

/** tokensOf returns the tokens of a filter. Together they are the whole text. */
export function tokensOf(text: string): Token[] {
	const tokens: Token[] = [];
	let at = 0;
	let state: 'field' | 'key' | 'operator' | 'value' = 'field';
	let opened = false; // the brackets of a key
	let list = false; // inside the brackets of a list
	let between = false;
	const push = (kind: Kind, to: number): void => {
		if (to > at) tokens.push({ kind, from: at, to });
		at = Math.max(to, at);
	};
	while (at < text.length) {
		const rest = text.slice(at);
		const space = /^\s+/.exec(rest);
		if (space) {
			push('space', at + space[0].length);
			continue;
		}
		const c = rest[0] ?? '';
		if (c === ',') {
			push('mark', at + 1);
			if (!list) state = 'field';
			continue;
		}
		if (state === 'field') {
			if (c === '[') {
				push('mark', at + 1);
				state = 'key';
				opened = true;
				continue;
			}
			const not = /^not(?=\s)/i.exec(rest);
			if (not) {
				push('word', at + 3);
				continue;
			}
			const name = /^[^\s=!<>~:,()[\]"&|;{}\0“”„‟]+/.exec(rest);
			push('field', at + (name ? name[0].length : 1));
			if (name && !/^\s*\[/.test(text.slice(at))) state = 'operator';
			continue;
		}
		if (state === 'key') {
			if (c === ']') {
				push('mark', at + 1);
				state = 'operator';
			} else if (c === '~' && opened) {
				push('operator', at + 1);
			} else {
				push('key', c === '"' ? stringEnd(text, at) : trimEnd(text, at, endOf(text, at, /[\],]/)));
			}
			opened = false;
			continue;
		}
		if (state === 'operator') {
			const word = /^(not|between|in|is)\b/i.exec(rest);
			const sign = /^[=!<>~]+/.exec(rest);
			if (word) {
				const name = word[0].toLowerCase();
				push('word', at + name.length);
				if (name === 'not') continue;
				between = name === 'between';
				state = 'value';
			} else if (sign) {
				push('operator', at + sign[0].length);
				between = false;
				state = 'value';
			} else {
				push('value', endOf(text, at, /,/));
			}
			continue;
		}
		if (c === '(' && !list) {
			list = opensList(text, at, tokens);
			if (list) {
				push('mark', at + 1);
				continue;
			}
		}
		if (c === ')' && list) {
			push('mark', at + 1);
			list = false;
			continue;
		}
		if (c === '"') {
			push('value', stringEnd(text, at));
			continue;
		}
		const and = between ? /^and(?=\s)/i.exec(rest) : null;
		if (and) {
			push('word', at + 3);
			continue;
		}
		let end = endOf(text, at, list ? /[,)]/ : /,/);
		if (between) {
			const next = /\sand\s/i.exec(text.slice(at, end));
			if (next) end = at + next.index;
		}
		push('value', trimEnd(text, at, end));
	}
	return tokens;
}

/**
 * opensList reports whether a bracket opens a list: after "in", or after "~" if it has a comma inside or closes at the
 * end of the condition.
 */
function opensList(text: string, at: number, tokens: Token[]): boolean {
	const before = tokens.filter((token) => token.kind !== 'space').at(-1);
	if (!before) return false;
	if (before.kind === 'word') return /^in$/i.test(text.slice(before.from, before.to));
	if (before.kind !== 'operator' || !text.slice(before.from, before.to).endsWith('~')) return false;
	let depth = 0;
	for (let i = at; i < text.length; i++) {
		const c = text[i];
		if (c === '"') i = stringEnd(text, i) - 1;
		else if (c === '(') depth++;
		else if (c === ')' && --depth === 0) return /^\s*(,|$)/.test(text.slice(i + 1));
		else if (c === ',' && depth === 1) return true;
	}
	return false;
}

function stringEnd(text: string, at: number): number {
	for (let i = at + 1; i < text.length; i++) {
		if (text[i] === '\\' && (text[i + 1] === '"' || text[i + 1] === '\\')) i++;
		else if (text[i] === '"') return i + 1;
	}
	return text.length;
}

function endOf(text: string, at: number, stop: RegExp): number {
	for (let i = at; i < text.length; i++) {
		if (stop.test(text[i] ?? '')) return i;
	}
	return text.length;
}

function trimEnd(text: string, from: number, to: number): number {
	while (to > from + 1 && /\s/.test(text[to - 1] ?? '')) to--;
	return to;
}

/** conditionsOf returns the conditions of a filter, without the commas between them. */
export function conditionsOf(text: string): string[] {
	const found: string[] = [];
	let from = 0;
	let depth = 0;
	for (const token of tokensOf(text)) {
		if (token.kind !== 'mark') continue;
		const mark = text[token.from];
		if (mark === '(') depth++;
		if (mark === ')') depth--;
		if (mark === ',' && depth <= 0) {
			found.push(text.slice(from, token.from));
			from = token.to;
		}
	}
	found.push(text.slice(from));
	return found.map((condition) => condition.trim()).filter((condition) => condition !== '');
}
