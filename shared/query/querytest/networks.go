package querytest

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
)

// Network returns a network of more than one address. Many groups of IPv6 are 0.
func Network(r *rand.Rand) netip.Prefix {
	var bytes [16]byte
	for i := range bytes {
		bytes[i] = byte(r.IntN(256))
	}
	if r.IntN(2) == 0 {
		return netip.PrefixFrom(netip.AddrFrom4([4]byte(bytes[:4])), r.IntN(32)).Masked()
	}
	return netip.PrefixFrom(sparse(r, bytes), r.IntN(128)).Masked()
}

// sparse returns an address of IPv6 of which many groups are 0. It may have an address of IPv4 in it.
func sparse(r *rand.Rand, bytes [16]byte) netip.Addr {
	zeros := r.IntN(256) & r.IntN(256) // of the groups that are not 0
	for i := range 8 {
		switch {
		case zeros>>i&1 == 0:
			bytes[2*i], bytes[2*i+1] = 0, 0
		case r.IntN(3) == 0:
			bytes[2*i] = 0
		}
	}
	if r.IntN(5) == 0 {
		copy(bytes[:12], []byte{10: 0xff, 11: 0xff})
	}
	return netip.AddrFrom16(bytes)
}

// AddressText returns a text of an address in or near a network, mostly the canonical one.
func AddressText(r *rand.Rand, n netip.Prefix) string {
	bytes := n.Addr().AsSlice()
	if r.IntN(3) > 0 { // inside, at an edge or between
		kind := r.IntN(3)
		for bit := n.Bits(); bit < 8*len(bytes); bit++ {
			if kind == 1 || kind == 2 && r.IntN(2) == 0 && r.IntN(8*len(bytes)) > 20 {
				bytes[bit/8] |= 1 << (7 - bit%8)
			}
		}
	}
	address, _ := netip.AddrFromSlice(bytes)
	switch r.IntN(8) {
	case 0:
		address = address.Next()
	case 1:
		address = address.Prev()
	case 2:
		bytes[r.IntN(len(bytes))] ^= 1 << r.IntN(8)
		address, _ = netip.AddrFromSlice(bytes)
	case 3:
		if address.Is6() {
			address = sparse(r, address.As16())
		}
	}
	if !address.IsValid() {
		return ""
	}
	if r.IntN(3) == 0 {
		all := Spellings(address)
		return all[r.IntN(len(all))]
	}
	return address.String()
}

// Spellings returns texts of an address, and texts that look like them, among them the canonical one.
func Spellings(a netip.Addr) []string {
	text := a.String()
	all := []string{
		text, text + " ", " " + text, text + "\n", text + "%eth0", strings.ToUpper(text), "0" + text, text + ".", text + ":",
		strings.Replace(text, ":", ":0", 1), strings.Replace(text, ".", ".0", 1), text + "/32", "::" + text, text + ":0",
		strings.Replace(text, "0", "", 1), "[" + text + "]",
	}
	if a.Is4() {
		return append(all, "::ffff:"+text, "::ffff:0:"+text, "::"+text, text+".1", text[:strings.LastIndex(text, ".")])
	}
	all = append(all, a.StringExpanded())
	groups := strings.Split(a.StringExpanded(), ":")
	for i, group := range groups {
		groups[i] = strings.TrimLeft(group[:3], "0") + group[3:]
	}
	all = append(all, strings.Join(groups, ":"))
	for from := range groups {
		for to := from + 1; to <= len(groups) && groups[to-1] == "0"; to++ {
			all = append(all, strings.Join(groups[:from], ":")+"::"+strings.Join(groups[to:], ":"))
		}
	}
	four := a.As16()
	return append(all, fmt.Sprintf("%s:%s", strings.Join(groups[:6], ":"), netip.AddrFrom4([4]byte(four[12:]))),
		"::"+netip.AddrFrom4([4]byte(four[12:])).String())
}

// Around returns the text of the network with a prefix of a length around the address that has the text, as package
// netip prints both. Lengths up to 32 are of IPv4, and the others of IPv6. Other texts have no network.
func Around(text string, bits int) (network string, ok bool) {
	address, err := netip.ParseAddr(text)
	if err != nil || address.String() != text || address.Zone() != "" || address.Is4() != (bits <= 32) {
		return "", false
	}
	return netip.PrefixFrom(address, bits).Masked().String(), true
}

// Inside reports whether the text is the canonical text of an address in a network.
func Inside(networks []netip.Prefix, text string) bool {
	address, err := netip.ParseAddr(text)
	return err == nil && address.String() == text && address.Zone() == "" &&
		slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(address) })
}
