package query

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// NetworkIn holds for a text that is the canonical text of an address in one of the networks. The canonical text is what
// net/netip prints: without leading zeros, without a zone, and in IPv6 with lower-case letters. An address ::ffff:a.b.c.d
// is an address of IPv6, so it is in no network of IPv4.
//
// The networks are masked and ascending, and none is inside another. networkIn makes such a list.
type NetworkIn struct{ Networks []netip.Prefix }

func (NetworkIn) test() {}

// networkIn returns the test for the addresses in any of the networks, which are masked.
func networkIn(networks []netip.Prefix) NetworkIn {
	sorted := slices.SortedFunc(slices.Values(networks), netip.Prefix.Compare)
	kept := sorted[:0]
	for _, n := range sorted {
		if len(kept) == 0 || !kept[len(kept)-1].Contains(n.Addr()) {
			kept = append(kept, n)
		}
	}
	return NetworkIn{Networks: kept}
}

// contains reports whether the text is the canonical text of an address in one of the networks.
func (t NetworkIn) contains(text string) bool {
	address, ok := addressOf(text)
	if !ok {
		return false
	}
	_, ok = t.around(address)
	return ok
}

// around returns the network that has the address in it.
func (t NetworkIn) around(address netip.Addr) (network netip.Prefix, ok bool) {
	after, _ := slices.BinarySearchFunc(t.Networks, address, func(n netip.Prefix, a netip.Addr) int {
		if n.Addr().Compare(a) <= 0 {
			return -1
		}
		return 1
	})
	if after == 0 || !t.Networks[after-1].Contains(address) {
		return netip.Prefix{}, false
	}
	return t.Networks[after-1], true
}

// intersection returns the test for the addresses that are in both. Of two networks that overlap, one is inside the other.
func (t NetworkIn) intersection(other NetworkIn) NetworkIn {
	var common []netip.Prefix
	within := func(inner, outer NetworkIn) {
		for _, n := range inner.Networks {
			if around, ok := outer.around(n.Addr()); ok && around.Bits() <= n.Bits() {
				common = append(common, n)
			}
		}
	}
	within(t, other)
	within(other, t)
	return networkIn(common)
}

// addressOf parses the canonical text of an address.
func addressOf(text string) (address netip.Addr, ok bool) {
	address, err := netip.ParseAddr(text)
	if err != nil || address.Zone() != "" {
		return netip.Addr{}, false
	}
	var buffer [len("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255")]byte
	return address, string(address.AppendTo(buffer[:0])) == text
}

// namesNetwork reports whether a text of a filter is written like a network: something and the length of a prefix, or an
// address and something. Other texts with a slash are texts.
func namesNetwork(text string) bool {
	before, after, slashed := cutLast(text, "/")
	if !slashed {
		return false
	}
	if after != "" && strings.Trim(after, "0123456789") == "" {
		return true
	}
	_, err := netip.ParseAddr(before)
	return err == nil
}

// parseNetwork parses a text that names a network. The bits after the prefix become zero.
func parseNetwork(text string) (network netip.Prefix, ok bool) {
	network, err := netip.ParsePrefix(text)
	return network.Masked(), err == nil
}

// canonicalNetwork returns the text of a network without the bits after its prefix, and every other text unchanged.
func canonicalNetwork(text string) string {
	if network, ok := parseNetwork(text); ok {
		return network.String()
	}
	return text
}

// nearestNetwork returns the network that a wrong text means if it has a netmask for the length of its prefix, or "".
func nearestNetwork(text string) string {
	before, after, _ := cutLast(text, "/")
	mask, err := netip.ParseAddr(after)
	if err != nil || !mask.Is4() {
		return ""
	}
	for bits := range mask.BitLen() + 1 {
		ones := netip.PrefixFrom(netip.AddrFrom4([4]byte{255, 255, 255, 255}), bits).Masked()
		if network, ok := parseNetwork(before + "/" + strconv.Itoa(bits)); ok && ones.Addr() == mask && network.Addr().Is4() {
			return network.String()
		}
	}
	return ""
}

func cutLast(text, separator string) (before, after string, found bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(separator):], true
}
