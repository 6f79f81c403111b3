package httpserver

import (
	"fmt"
	"net/netip"
)

// Network is a network of addresses, or one address, of a flag.
type Network struct{ netip.Prefix }

// UnmarshalText reads an address or a network.
func (n *Network) UnmarshalText(text []byte) error {
	if ip, err := netip.ParseAddr(string(text)); err == nil {
		ip = ip.Unmap() // callers are compared with it in this form
		n.Prefix = netip.PrefixFrom(ip, ip.BitLen())
		return nil
	}
	prefix, err := netip.ParsePrefix(string(text))
	if err != nil {
		return fmt.Errorf("%q is no address and no network; write one such as 127.0.0.1 or 10.0.3.0/28", text)
	}
	if prefix.Addr().Is4In6() {
		return fmt.Errorf("%q is a network of IPv4 addresses in IPv6; write it as IPv4, such as 10.0.3.0/28", text)
	}
	n.Prefix = prefix
	return nil
}

// Prefixes returns networks without the type of the flag.
func Prefixes(flags []Network) (prefixes []netip.Prefix) {
	for _, n := range flags {
		prefixes = append(prefixes, n.Prefix)
	}
	return prefixes
}
