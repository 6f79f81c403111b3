package delivery

import (
	"errors"
	"net/netip"
	"syscall"
)

// errNotPublic is the error of a webhook whose host has an address of a network that is not public. It does not have
// the address.
var errNotPublic = errors.New("its host does not have a public address")

// requirePublic is called with each address before it is dialled. This is after its name was resolved, so a name that
// has another address each time cannot evade it.
func (s Sender) requirePublic(_, address string, _ syscall.RawConn) error {
	public := s.public
	if public == nil {
		public = isPublic
	}
	a, err := netip.ParseAddrPort(address)
	if err != nil || !public(a.Addr()) {
		return errNotPublic
	}
	return nil
}

// isPublic reports whether an address belongs to a machine on the Internet. The lists follow the registries of special
// addresses of IANA. IPv6 addresses that contain an IPv4 address (NAT64, 6to4, Teredo) are not public, whatever they
// lead to. A mapped address counts as its IPv4 address.
func isPublic(a netip.Addr) bool {
	a = a.WithZone("").Unmap()
	if !a.IsGlobalUnicast() || a.IsPrivate() {
		return false
	}
	if a.Is6() && !globalUnicast.Contains(a) {
		return false
	}
	for _, p := range special {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// globalUnicast has all public addresses of IPv6. NAT64 (64:ff9b::/96), unique local and site local addresses are
// outside.
var globalUnicast = netip.MustParsePrefix("2000::/3")

// special are the other prefixes that are not public.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"), // carrier-grade NAT
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), // documentation
	netip.MustParsePrefix("192.88.99.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"), // documentation
	netip.MustParsePrefix("203.0.113.0/24"),  // documentation
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("2001::/23"),     // Teredo and others
	netip.MustParsePrefix("2001:db8::/32"), // documentation
	netip.MustParsePrefix("2002::/16"),     // 6to4
	netip.MustParsePrefix("3fff::/20"),     // documentation
}
