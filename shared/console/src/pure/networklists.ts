// Lists of networks: which one is inside another, how many addresses they have, and lists that are pasted.
import { type Network, networkOf } from './networks';

/** contains reports whether every address of a network is in another one. */
export function contains(outer: Network, inner: Network): boolean {
	if (outer.bits !== inner.bits || outer.length > inner.length) return false;
	const rest = BigInt(outer.bits - outer.length);
	return outer.from >> rest === inner.from >> rest;
}

/**
 * insideOf returns for each text the nearest other one whose network contains its own, or "". Of equal ones, the first
 * contains the others.
 */
export function insideOf(texts: readonly string[]): string[] {
	const inside = texts.map(() => '');
	const known = texts.flatMap((text, i) => {
		const network = networkOf(text);
		return network ? [{ text, network, i }] : [];
	}).sort((a, b) => compare(a.network, b.network) || a.i - b.i);
	const around: typeof known = []; // the networks that contain the present one, the nearest last
	for (const one of known) {
		while (around.length > 0 && !contains(around[around.length - 1]?.network ?? one.network, one.network)) around.pop();
		inside[one.i] = around[around.length - 1]?.text ?? '';
		around.push(one);
	}
	return inside;
}

/** sizeOf returns how many addresses of IPv4 the networks have together, and how many networks are of IPv6. */
export function sizeOf(texts: readonly string[]): { four: number; six: number } {
	const inside = insideOf(texts);
	let [four, six] = [0, 0];
	texts.forEach((text, i) => {
		const network = networkOf(text);
		if (!network || inside[i] !== '') return;
		if (network.bits === 32) four += 2 ** (32 - network.length);
		else six++;
	});
	return { four, six };
}

/** compareNetworks orders texts by their networks: IPv4 first, then by address; texts without a meaning last. */
export function compareNetworks(a: string, b: string): number {
	const [x, y] = [networkOf(a), networkOf(b)];
	if (!x || !y) return x ? -1 : y ? 1 : a < b ? -1 : a > b ? 1 : 0;
	return compare(x, y);
}

/** compare orders networks: IPv4 first, then by their first address, wider ones first. */
export function compare(x: Network, y: Network): number {
	if (x.bits !== y.bits) return x.bits - y.bits;
	return x.from < y.from ? -1 : x.from > y.from ? 1 : x.length - y.length;
}

/** linesOf reads pasted lines: an address, then perhaps a comma or a space, and a comment. */
export function linesOf(text: string): { address: string; comment: string }[] {
	return text.split(/\r?\n/).map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#')).map((line) => {
		const m = /^([^\s,;#]+)[\s,;#]*(.*)$/.exec(line);
		return { address: m?.[1] ?? line, comment: (m?.[2] ?? '').replace(/^"(.*)"$/, '$1') };
	});
}
