// JSON as it was written: numbers keep their digits and members their order, so that settings that are read and saved
// again are the same.

/** A number by its text: 1.0 is not 1, and long numbers lose nothing. */
export class NumberText {
	constructor(readonly text: string) {}
}

export type Members = Map<string, Json>;
export type Json = null | boolean | string | NumberText | Json[] | Members;

/** A text that is not JSON, and where. */
export class NotJSON extends Error {
	constructor(message: string, readonly at: number) {
		super(message);
	}
}

/** readJSON reads a text. */
export function readJSON(text: string): Json {
	const reader = new Reader(text);
	const value = reader.value();
	reader.end();
	return value;
}

class Reader {
	private at = 0;

	constructor(private readonly text: string) {}

	value(): Json {
		this.space();
		const c = this.text[this.at];
		if (c === '{') return this.members();
		if (c === '[') return this.list();
		if (c === '"') return this.string();
		for (const [word, value] of [['true', true], ['false', false], ['null', null]] as const) {
			if (this.text.startsWith(word, this.at)) {
				this.at += word.length;
				return value;
			}
		}
		const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
		number.lastIndex = this.at;
		const found = number.exec(this.text);
		if (!found) throw this.mistake(c === undefined ? 'the text ends here' : `“${c}” begins no value`);
		this.at += found[0].length;
		return new NumberText(found[0]);
	}

	end(): void {
		this.space();
		if (this.at < this.text.length) throw this.mistake('there is more after the end');
	}

	private members(): Members {
		const members: Members = new Map();
		this.at++;
		if (this.takes('}')) return members;
		do {
			this.space();
			const from = this.at;
			if (this.text[this.at] !== '"') throw this.mistake('a name in quotes is missing');
			const name = this.string();
			if (members.has(name)) throw new NotJSON(`the member “${name}” is there twice`, from);
			if (!this.takes(':')) throw this.mistake('a colon is missing');
			members.set(name, this.value());
		} while (this.takes(','));
		if (!this.takes('}')) throw this.mistake('a comma or “}” is missing');
		return members;
	}

	private list(): Json[] {
		const list: Json[] = [];
		this.at++;
		if (this.takes(']')) return list;
		do list.push(this.value()); while (this.takes(','));
		if (!this.takes(']')) throw this.mistake('a comma or “]” is missing');
		return list;
	}

	private string(): string {
		const from = this.at;
		for (let i = from + 1; i < this.text.length; i++) {
			if (this.text[i] === '\\') i++;
			else if (this.text[i] === '"') {
				this.at = i + 1;
				try {
					return JSON.parse(this.text.slice(from, this.at)) as string;
				} catch {
					throw new NotJSON('the text in quotes has an unknown escape or a line break', from);
				}
			}
		}
		throw new NotJSON('the closing quote is missing', from);
	}

	private takes(c: string): boolean {
		this.space();
		if (this.text[this.at] !== c) return false;
		this.at++;
		return true;
	}

	private space(): void {
		while (/[ \t\r\n]/.test(this.text[this.at] ?? '')) this.at++;
	}

	private mistake(message: string): NotJSON {
		return new NotJSON(message, this.at);
	}
}

/** lineOf returns the line and column of a place in a text, from 1. */
export function lineOf(text: string, at: number): { line: number; column: number } {
	const lines = text.slice(0, at).split('\n');
	return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
}

/** writeJSON writes a value, on lines if an indent is given. */
export function writeJSON(value: Json, indent = '', margin = ''): string {
	const inner = margin + indent;
	const join = (open: string, parts: string[], close: string): string => {
		if (parts.length === 0) return open + close;
		if (indent === '') return open + parts.join(',') + close;
		return `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${margin}${close}`;
	};
	if (value instanceof NumberText) return value.text;
	if (Array.isArray(value)) return join('[', value.map((one) => writeJSON(one, indent, inner)), ']');
	if (value instanceof Map) {
		const colon = indent === '' ? ':' : ': ';
		return join('{', [...value].map(([name, one]) => JSON.stringify(name) + colon + writeJSON(one, indent, inner)), '}');
	}
	return JSON.stringify(value);
}

/** pretty writes a value for people. */
export function pretty(value: Json): string {
	return writeJSON(value, '  ');
}

/** equalJSON reports whether two values are the same. The order of members does not matter; undefined is no value. */
export function equalJSON(a: Json | undefined, b: Json | undefined): boolean {
	if (a instanceof NumberText) return b instanceof NumberText && a.text === b.text;
	if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((one, i) => equalJSON(one, b[i]));
	if (a instanceof Map) {
		return b instanceof Map && a.size === b.size && [...a].every(([name, one]) => b.has(name) && equalJSON(one, b.get(name)));
	}
	return a === b;
}

/** textAt returns the member of an object if it is a text, else "". */
export function textAt(value: Json | undefined, name: string): string {
	const member = value instanceof Map ? value.get(name) : undefined;
	return typeof member === 'string' ? member : '';
}
