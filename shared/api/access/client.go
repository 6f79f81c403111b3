package access

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// ClientOf returns the address of the client of a request: the address of the connection, or, if a proxy of the
// configuration has it, the address in X-Forwarded-For. Any client can send that header, so only what such proxies have
// appended to it counts: from the end, the first address that no proxy of the configuration has.
func (a *Access) ClientOf(r *http.Request) string {
	client := r.RemoteAddr
	forwarded := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, before := range slices.Backward(forwarded) {
		before = strings.TrimSpace(before)
		if _, ok := ipOf(before); !ok || !a.isProxy(client) {
			break
		}
		client = before
	}
	return client
}

// isProxy reports whether an address is one of a proxy of the configuration.
func (a *Access) isProxy(address string) bool {
	ip, ok := ipOf(address)
	return ok && slices.ContainsFunc(a.Proxies, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// ipOf returns the IP address in an address with or without a port. An address behind API Gateway has no port.
func ipOf(address string) (netip.Addr, bool) {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		both, err := netip.ParseAddrPort(address)
		if err != nil {
			return netip.Addr{}, false
		}
		ip = both.Addr()
	}
	return ip.Unmap().WithZone(""), true
}

// networkOf returns the network by which a client is counted: its address, or of an IPv6 client its /64, which usually
// is one customer. It is invalid if the address is.
func networkOf(address string) netip.Prefix {
	ip, ok := ipOf(address)
	if !ok {
		return netip.Prefix{}
	}
	bits := 32
	if ip.Is6() {
		bits = 64
	}
	network, err := ip.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return network
}
