// The ways from a record: to the requests around it and to those like it, and copies of it.
import type { Console, Item } from '../foundation/context';
import { only } from '../pure/filter';
import { type Likeness, likeFilter, likenesses } from '../pure/like';
import { withoutSecrets } from '../pure/parts';
import { isHeavy } from '../pure/price';
import { type LogRecord, referenceOf, textOf } from '../pure/record';
import { requestAsCurl } from '../pure/replay';
import { sensitiveIn } from '../pure/secrets';
import { absolute } from '../pure/time';
import { words as texts } from '../pure/words';
import { announced, copy, toClipboard } from './menu';
import { words } from './ways.words';

export const likenessNames: Readonly<Record<Likeness, string>> = {
	ip: words.sameAddress, session: words.sameSession, rule: words.sameRule, path: words.samePath,
};

/** around is the period of five minutes before and after a record. */
export function around(record: LogRecord): string {
	const ms = Date.parse(textOf(record, 'timestamp'));
	return absolute({ from: ms - 300_000, to: ms + 300_000 });
}

/** filterOf finds a record. */
export function filterOf(reference: string): string {
	return only({ field: 'record_ref', value: reference });
}

/** waysOf are the ways from a row. What the list has not loaded of the record is asked for when a way needs it. */
export function waysOf(row: LogRecord, loaded: readonly string[], console: Console): Item[] {
	const { fields, go, say } = console;
	const copyAs = (text: (record: LogRecord) => string) => (): void =>
		void copyLater(lookUp(console, row, null).then((record) => text(withoutSecrets(record, sensitiveIn(fields)))), say);
	return [
		[words.around, '', () => go({ filter: '', record: null, period: around(row) })],
		...(Object.keys(likenesses) as Likeness[]).flatMap((likeness) => wayTo(likeness, row, loaded, console)),
		[words.copyFilter, '', () => copy(filterOf(referenceOf(row)), say)],
		[words.copyJSON, '', copyAs((record) => JSON.stringify(record, null, 2))],
		[words.copyCurl, '', copyAs(requestAsCurl)],
	];
}

/** wayTo leads to the requests like a row, unless it is known that there are none. */
function wayTo(likeness: Likeness, row: LogRecord, loaded: readonly string[], console: Console): Item[] {
	const name = likenessNames[likeness];
	const needed = likenesses[likeness].flat();
	const filter = likeFilter(row, likeness);
	if (filter !== '') return [[name, filter, () => console.go({ filter, record: null })]];
	if (needed.every((field) => loaded.includes(field))) return [];
	return [[name, '', () => {
		const from = location.hash;
		lookUp(console, row, needed).then((record) => {
			const found = likeFilter(record, likeness);
			if (found === '') console.say(words.none(name));
			else if (location.hash === from) console.go({ filter: found, record: null });
		}, (error: unknown) => console.say(messageOf(error)));
	}]];
}

/** lookUp asks for members of a record, or for all, unless that is heavy: then the reader sees the price in the record. */
async function lookUp({ api, say }: Console, row: LogRecord, fields: readonly string[] | null): Promise<LogRecord> {
	const question = { filters: filterOf(referenceOf(row)), limit: 1, ...(fields ? { fields } : {}) };
	const { signal } = new AbortController();
	const progress = announced(say);
	say(texts.asking);
	if (isHeavy(await api.estimate('logs', question, signal, progress))) throw new Error(words.heavy);
	const { results: [record] } = await api.ask('logs', question, signal, progress);
	if (!record) throw new Error(words.gone);
	return record;
}

/** copyLater copies a text that is not there yet. Browsers allow that only to what begins with the click. */
async function copyLater(text: Promise<string>, say: Console['say']): Promise<void> {
	const content = text.then((found) => new Blob([found], { type: 'text/plain' }));
	const done = navigator.clipboard ? navigator.clipboard.write([new ClipboardItem({ 'text/plain': content })]) : text.then(toClipboard);
	const [found, copied] = await Promise.allSettled([content, done]);
	say(found.status === 'rejected' ? messageOf(found.reason) : copied.status === 'fulfilled' ? texts.copied : texts.notCopied);
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
