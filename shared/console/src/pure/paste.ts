// What a pasted text can mean, if it is no filter: an address, a network, the id of a request, a URL, a path, a host, a user agent,
// a time, a line of a log, or a whole mail with several of these. Only the meanings are conditions: nothing else of the text is.
import { patternOf, quote } from './filter';
import { around, type Moment, momentsOf } from './moments';
import { addressText, networkOf } from './networks';
import type { Period } from './time';

export type Kind = 'record' | 'request' | 'address' | 'network' | 'url' | 'path' | 'host' | 'agent' | 'time';

/** A meaning of a text: conditions and, if the text names a time, a period. */
export interface Meaning {
	kind: Kind;
	text: string; // what it was found as
	filter: string; // "" of a time alone
	period: Period | null;
}

const mostText = 100_000; // characters that are looked at

/** mostMeanings is how many meanings are shown. */
export const mostMeanings = 6;

interface Found {
	kind: Kind;
	text: string;
	filter: string;
	weight: number; // the likely meanings have more
	at: number; // in the text
}

const weights: Readonly<Record<Kind, number>> = {
	record: 110, request: 90, address: 80, network: 75, url: 60, path: 50, host: 40, agent: 20, time: 0,
};

/** meaningsOf returns what a text can mean, the likely meaning first. Times without an offset are of the zone. */
export function meaningsOf(whole: string, zone: string, now: number): Meaning[] {
	const text = whole.slice(0, mostText);
	const rest = new Rest(text);
	const found = [...links(rest), ...ids(rest), ...agents(rest, text), ...networks(rest)];
	rest.each(/[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g, () => ''); // the hosts of mails are not those of requests
	const moments = momentsOf(rest.text, zone, now).map((one) => ({ ...one, weight: one.weight - lessIn(text, one.at) }));
	for (const { at, end } of moments) rest.take(at, end);
	found.push(...paths(rest), ...hosts(rest, found));
	const moment = moments.reduce<Moment | null>((best, one) => (best && best.weight >= one.weight ? best : one), null);
	const period = moment && around(moment);
	const ranked = found.map((one) => ({ ...one, weight: one.weight - lessIn(text, one.at) }))
		.sort((a, b) => b.weight - a.weight || a.at - b.at)
		.filter((one, i, all) => all.findIndex((other) => other.filter === one.filter) === i);
	const meanings: Meaning[] = ranked.map(({ kind, text: shown, filter }) => ({ kind, text: shown, filter, period }));
	if (moment) meanings.splice(mostMeanings - 1, Infinity, { kind: 'time', text: moment.text, filter: '', period });
	return meanings.slice(0, mostMeanings);
}

/** Rest is what is left of a text: what was found in it is blank, so that nothing is found twice. */
class Rest {
	constructor(public text: string) {}

	take(from: number, to: number): void {
		this.text = this.text.slice(0, from) + ' '.repeat(to - from) + this.text.slice(to);
	}

	/** each finds a pattern, blanks what it matches, and returns what is made of the matches. */
	each<T>(pattern: RegExp, make: (match: RegExpExecArray) => T | null): T[] {
		const found: T[] = [];
		for (const match of [...this.text.matchAll(pattern)]) {
			const one = make(match);
			if (one === null) continue;
			this.take(match.index, match.index + match[0].length);
			found.push(one);
		}
		return found;
	}
}

/** lessIn returns how much less likely a part of a text is: one of a quoted reply, of the way of a mail, or of its signature. */
function lessIn(text: string, at: number): number {
	const before = text.slice(0, at);
	const begin = Math.max(0, before.search(/(?:^|\n)(?=\S)[^\n]*(?:\n[ \t][^\n]*)*$/)); // of the line, or of the header that goes on in it
	const line = text.slice(begin).replace(/^\n/, '').split('\n', 1)[0] ?? '';
	if (/^\s*(?:Received|DKIM-Signature|Message-ID|Return-Path|List-[\w-]+|X-Mailer)\s*:/i.test(line)) return 70;
	if (/\n-- ?\r?\n/.test(before)) return 60;
	if (/^\s*(?:Date|Datum|Sent|Gesendet|From|Von|To|An|Cc|Subject|Betreff)\s*:/i.test(line)) return 30;
	return /^\s*>/.test(line) || /(?:schrieb|wrote)[^\n]{0,60}:\s*$/im.test(before) ? 30 : 0;
}

function links(rest: Rest): Found[] {
	return rest.each(/\bhttps?:\/\/[^\s<>"'`|\\^{}]+/gi, (match) => {
		const shown = match[0].replace(/[.,;:!?)\]*]+$/, '');
		const record = /#\/events\/([\w-]{20,})/.exec(shown)?.[1];
		if (record) return { kind: 'record', text: record, filter: `record_ref=${quote(record)}`, weight: weights.record, at: match.index };
		const [, host = '', path = ''] = /^https?:\/\/(?:[^/?#]*@)?(\[[^\]]*\]|[^/?#:]+)(?::\d+)?([^?#]*)/i.exec(shown) ?? [];
		if (host === '') return null;
		const whole = path !== '' && path !== '/';
		return {
			kind: whole ? 'url' : 'host', text: host.toLowerCase() + (whole ? path : ''), at: match.index,
			filter: `host=${quote(host.toLowerCase())}${whole ? `, path=${quote(path)}` : ''}`, weight: weights.url,
		} satisfies Found;
	});
}

const label = new RegExp(
	String.raw`\b(?:request|req|incident|event|ray|reference|correlation|trace|support|anfrage|vorgangs?|referenz|fehler|ereignis)` +
	String.raw`[ _-]?(?:id|nr|no|nummer|number|code)?["']?\s*(?:is|ist|lautet)?\s*[:=#]?\s*["'„“]?([\w-]{6,64})`, 'gi');

/** ids finds ids of requests: UUIDs, 32 hexadecimal digits, what is named so, and references to records. */
function ids(rest: Rest): Found[] {
	const request = (text: string, weight: number, at: number): Found =>
		({ kind: 'request', text, filter: `request_id=${quote(text)}`, weight, at });
	const known = /\b(?:[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b/gi;
	return [
		...rest.each(/(?<![\w-])A[\w-]{35,63}(?![\w-])/g, ({ 0: text, index }): Found | null => (/[a-z]/.test(text) && /\d/.test(text) ?
			{ kind: 'record', text, filter: `record_ref=${quote(text)}`, weight: weights.record, at: index } : null)),
		...rest.each(known, ({ 0: text, index }) => request(text, weights.request, index)),
		...rest.each(label, ({ 0: whole, 1: text = '', index }) => {
			const code = /\d/.test(text) && !/^\d{1,5}$/.test(text) && !/^\d{4}-\d\d/.test(text);
			return code ? request(text, weights.request + 5, index + whole.length - text.length) : null;
		}),
	];
}

/** agents finds user agents, and takes them out, because their versions look like addresses. Only one that stands alone is a meaning. */
function agents(rest: Rest, text: string): Found[] {
	const alone = text.trim().replace(/^user-agent\s*[:=]?\s*/i, '').replace(/^"(.*)"$/s, '$1');
	return rest.each(/\bMozilla\/\d\.\d(?:[^\S\n]*(?:\([^)\n]*\)|[A-Z][\w!]*\/[\w.]+|like Gecko))*/g, ({ 0: agent, index }) => ({
		kind: 'agent', text: agent, filter: agent === alone ? `user_agent=${quote(agent)}` : `user_agent~${quote('^' + patternOf(agent))}`,
		weight: weights.agent, at: index,
	} satisfies Found));
}

const hidden = /^(?:10\.|127\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|0\.|::1$|fe80:|f[cd][0-9a-f]{2}:)/i;

const six = new RegExp(String.raw`(?<![\w.:])(?=[0-9a-f]*:[0-9a-f:]*:)` +
	String.raw`(?:[0-9a-f:]{2,30}:(?:\d{1,3}\.){3}\d{1,3}|[0-9a-f:]{2,39})(?:\/\d{1,3})?(?![\w:])`, 'gi');

/** networks finds addresses and networks. Those that no other machine can have seen are less likely. */
function networks(rest: Rest): Found[] {
	const make = ({ 0: text, index }: RegExpExecArray): Found | null => {
		if (/(?:version|firmware|build|v)\s?$/i.test(rest.text.slice(0, index))) return null;
		const found = networkOf(text.replace(/\[\.\]|\(\.\)/g, '.'));
		if (!found) return null;
		const kind = found.length === found.bits ? 'address' : 'network';
		const shown = addressText(found) + (kind === 'address' ? '' : `/${found.length}`);
		return { kind, text: shown, filter: `ip=${quote(shown)}`, at: index, weight: weights[kind] - (hidden.test(shown) ? 50 : 0) };
	};
	return [
		...rest.each(/(?<![\w.:/-])(?:\d{1,3}(?:\.|\[\.\]|\(\.\))){3}\d{1,3}(?:\/\d{1,2})?(?![\w.]*\w|\/\d)/g, make),
		...rest.each(six, make),
	];
}

/** paths finds paths, without their arguments, which may have secrets. */
function paths(rest: Rest): Found[] {
	return rest.each(/(?<![\w/.:<])(\/[\w%~.$&+@-][\w%~.$&+@/-]*)(?:\?[^\s"'<>]*)?/g, ({ 1: found = '', index }) => {
		const path = found.replace(/[.,;:!?]+$/, '');
		if (path.length < 3) return null;
		return { kind: 'path', text: path, filter: `path=${quote(path)}`, weight: weights.path, at: index } satisfies Found;
	});
}

const files = /\.(?:html?|php\d?|aspx?|jsp|js|css|png|jpe?g|gif|svg|pdf|docx?|xlsx?|zip|txt|log|gz|csv|json|xml|exe|eml|msg)$/i;

/** hosts finds names of hosts that no URL has. */
function hosts(rest: Rest, others: readonly Found[]): Found[] {
	return rest.each(/(?<![\w.@/-])(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,24}(?![\w@-])/gi, ({ 0: text, index }) => {
		const sentence = /[a-z]\.[A-Z][a-z]/.test(text) || /^(?:[a-z]\.)+[a-z]{1,2}$/i.test(text);
		const host = text.toLowerCase();
		if (sentence || files.test(text) || others.some((one) => one.filter.startsWith(`host=${quote(host)}`))) return null;
		return { kind: 'host', text: host, filter: `host=${quote(host)}`, weight: weights.host, at: index } satisfies Found;
	});
}
