// Networks of addresses: which one is inside another, how many addresses they have, and lists of them that are pasted.
// Whether a text is an address is the server's to decide: here a text without a meaning only has no hint.

/** A network by its first address. */
export interface Network {
	bits: 32 | 128;
	from: bigint;
	length: number; // of the prefix
}

/** networkOf reads an address or a network, and returns null if the text is none. */
export function networkOf(text: string): Network | null {
	const [address = '', prefix, more] = text.trim().split('/');
	if (more !== undefined) return null;
	const four = fourOf(address);
	const value = four ?? sixOf(address);
	if (value === null) return null;
	const bits = four === null ? 128 : 32;
	if (prefix !== undefined && !/^\d{1,3}$/.test(prefix)) return null;
	const length = prefix === undefined ? bits : Number(prefix);
	if (length > bits) return null;
	const mapped = bits === 128 && value >> 32n === 0xffffn && length >= 96; // IPv4, written as IPv6
	return mapped ? masked(32, value & 0xffffffffn, length - 96) : masked(bits, value, length);
}

function masked(bits: 32 | 128, value: bigint, length: number): Network {
	const rest = BigInt(bits - length);
	return { bits, from: (value >> rest) << rest, length };
}

function fourOf(text: string): bigint | null {
	const parts = text.split('.');
	if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)) return null;
	return parts.reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
}

function sixOf(text: string): bigint | null {
	const last = text.slice(text.lastIndexOf(':') + 1);
	if (last.includes('.')) {
		const four = fourOf(last);
		if (four === null) return null;
		text = text.slice(0, text.length - last.length) + (four >> 16n).toString(16) + ':' + (four & 0xffffn).toString(16);
	}
	const halves = text.split('::');
	if (halves.length > 2) return null;
	const groups = halves.map((half) => (half === '' ? [] : half.split(':')));
	const missing = 8 - groups.reduce((n, half) => n + half.length, 0);
	if (halves.length === 2 ? missing < 1 : missing !== 0) return null;
	const all = [...groups[0] ?? [], ...(halves.length === 2 ? Array<string>(missing).fill('0') : []), ...groups[1] ?? []];
	if (!all.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return null;
	return all.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n);
}

/** addressText writes the first address of a network as servers write addresses: without leading zeros, and :: for most zeros. */
export function addressText({ bits, from }: Network): string {
	const size = bits === 32 ? 8 : 16;
	const part = (i: number): number => Number((from >> BigInt(bits - (i + 1) * size)) & ((1n << BigInt(size)) - 1n));
	const parts = Array.from({ length: bits / size }, (_, i) => part(i));
	if (bits === 32) return parts.join('.');
	const text = parts.map((one) => one.toString(16)).join(':');
	const zeros = [...text.matchAll(/\b0(?::0)+\b/g)].sort((a, b) => b[0].length - a[0].length)[0];
	if (!zeros) return text;
	return `${text.slice(0, zeros.index).replace(/:$/, '')}::${text.slice(zeros.index + zeros[0].length).replace(/^:/, '')}`;
}

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
