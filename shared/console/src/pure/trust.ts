// What a change of settings means for requests: whom it meets, and which parts of it loosen a check.
import { differenceOf } from './difference';
import { equalJSON, type Json, textAt } from './json';
import { compare, contains, sizeOf } from './networklists';
import { addressText, type Network, networkOf } from './networks';

/** netsOf returns the trusted addresses and networks of settings, without global filters. */
function netsOf(settings: Json | undefined): string[] {
	return listOf(settings).filter((entry) => textAt(entry, 'source') !== 'global_filter').map((entry) => textAt(entry, 'address'));
}

/** filtersIn returns the ids of the trusted global filters. */
function filtersIn(settings: Json | undefined): string[] {
	return listOf(settings).filter((entry) => textAt(entry, 'source') === 'global_filter').map((entry) => textAt(entry, 'gf_id'));
}

function listOf(settings: Json | undefined): Json[] {
	const list = settings instanceof Map ? settings.get('trusted_nets') : undefined;
	return Array.isArray(list) ? list : [];
}

/** textOf writes a network: an address alone if it has only one. */
function textOf(network: Network): string {
	return addressText(network) + (network.length === network.bits ? '' : `/${network.length}`);
}

/** beyond is the condition of requests from one of the networks, but from none of the others; "" if there are no such addresses. */
export function beyond(networks: readonly string[], others: readonly string[]): string {
	const read = (texts: readonly string[], own: boolean) => texts.flatMap((text) => {
		const network = networkOf(text);
		return network ? [{ network, own }] : [];
	});
	const all = [...read(others, false), ...read(networks, true)] // of equal ones, the others first
		.sort((a, b) => compare(a.network, b.network));
	const around: typeof all = []; // the networks of either list that decide about the present one, the nearest last
	const from: string[] = [];
	const except: string[] = [];
	for (const one of all) {
		while (around.length > 0 && !contains(around[around.length - 1]?.network ?? one.network, one.network)) around.pop();
		const outer = around[around.length - 1];
		if (outer && (!outer.own || one.own)) continue;
		if (one.own) from.push(textOf(one.network));
		else if (outer) except.push(textOf(one.network));
		around.push(one);
	}
	if (from.length === 0) return '';
	return [`ip in (${from.join(', ')})`, ...(except.length === 0 ? [] : [`ip not in (${except.join(', ')})`])].join(', ');
}

/** Whom a change meets. */
export const groups = ['newly', 'noLonger', 'challenged'] as const;

export type Group = typeof groups[number];

/** metBy returns the conditions of the requests that a change meets, by group, without the groups that it does not meet. */
export function metBy(before: Json | undefined, after: Json | undefined): [Group, string][] {
	const [was, is] = [netsOf(before), netsOf(after)];
	const challenge = (settings: Json | undefined) => (settings instanceof Map ? settings.get('ichallenge') : undefined);
	const shown = before !== undefined && !equalJSON(challenge(before), challenge(after));
	const found: Record<Group, string> = {
		newly: beyond(is, was), noLonger: beyond(was, is), challenged: shown ? 'ichallenge is true' : '',
	};
	return groups.filter((group) => found[group] !== '').map((group) => [group, found[group]]);
}

/** newFilters returns the global filters that a change trusts. Only the gateway knows their requests. */
export function newFilters(before: Json | undefined, after: Json | undefined): string[] {
	const was = new Set(filtersIn(before));
	return filtersIn(after).filter((id) => id !== '' && !was.has(id));
}

/** A part of a change that loosens a check. */
export type Loosening = { kind: 'everybody' | 'wide'; bits: Network['bits']; name: string } | { kind: 'off'; name: string };

const longest: Readonly<Record<Network['bits'], number>> = { 32: 7, 128: 15 }; // prefixes of networks that are too wide for one owner
const allSix = 3; // the length of 2000::/3, which has every public address of IPv6

/** reachOf reports whether an address or a network is everybody, or wider than what one owner has; "" if it is neither. */
export function reachOf(text: string): 'everybody' | 'wide' | '' {
	const network = networkOf(text);
	if (!network || network.length > longest[network.bits]) return '';
	return network.length <= (network.bits === 32 ? 0 : allSix) ? 'everybody' : 'wide';
}

/** loosened returns the parts of a change that loosen a check. */
export function loosened(before: Json | undefined, after: Json | undefined): Loosening[] {
	const [was, is] = [netsOf(before), netsOf(after)];
	const fresh = new Set(is.filter((text) => reachOf(text) !== '' && beyond([text], was) !== ''));
	const found: Loosening[] = [...fresh].map((text) => ({
		kind: reachOf(text) === 'everybody' ? 'everybody' : 'wide', bits: networkOf(text)?.bits ?? 32, name: text,
	}));
	const all = 2 ** 32;
	const together = sizeOf(is).four === all && sizeOf(was).four < all;
	if (together && !found.some((one) => one.kind === 'everybody' && one.bits === 32)) {
		found.unshift({ kind: 'everybody', bits: 32, name: '' });
	}
	return [...found, ...switchedOff(before, after)];
}

const offWords = ['off', 'disabled', 'inactive', 'none'];
const onWords = ['on', 'enabled', 'active'];
const opposite = /^(?:disable|skip|bypass|ignore|report_only|dry_run)/i; // members whose true is the loose side

/** switchedOff returns the members that were switched off. Names and texts for people are no switches. */
function switchedOff(before: Json | undefined, after: Json | undefined): Loosening[] {
	if (before === undefined) return [];
	return differenceOf(before, after).flatMap(({ path, before: was, after: is }) => {
		if (['name', 'id', 'trusted_nets'].includes(path[0] ?? '') || (path[0] === 'ichallenge' && path[1] !== 'attrs')) return [];
		return offIn(was, is, path);
	});
}

function offIn(was: Json | undefined, is: Json | undefined, path: readonly string[]): Loosening[] {
	if (was instanceof Map || is instanceof Map) {
		const [a, b] = [was, is].map((side) => (side instanceof Map ? side : new Map<string, Json>()));
		return [...new Set([...a?.keys() ?? [], ...b?.keys() ?? []])].flatMap((name) => offIn(a?.get(name), b?.get(name), [...path, name]));
	}
	const reversed = opposite.test(path[path.length - 1] ?? '');
	const off = reversed ? isOn(is) && !isOn(was) : is === undefined ? isOn(was) : isOff(is) && was !== undefined && !isOff(was);
	return off ? [{ kind: 'off', name: path.join(' › ') }] : [];
}

const isOn = (value: Json | undefined): boolean => value === true || (typeof value === 'string' && onWords.includes(value.toLowerCase()));

const isOff = (value: Json): boolean => value === false || (typeof value === 'string' && offWords.includes(value.toLowerCase()));
