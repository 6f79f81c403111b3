// Networks of addresses. Whether a text is an address is the server's to decide: here a text without a meaning only has no hint.

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
