// Package publicnet sends requests to public addresses of the Internet only, for URLs that must not lead to other machines
// of the network of this one.
package publicnet

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"
)

// ErrNotPublic is the error of a host that has an address of a network that is not public. It does not have the address.
var ErrNotPublic = errors.New("its host does not have a public address")

// Network is how servers are reached. The zero value is for public addresses.
type Network struct {
	TLS      *tls.Config           // nil: the system's certificates
	Public   func(netip.Addr) bool // whether a server may have an address; nil: IsPublic
	Resolver *net.Resolver         // of the names of hosts; nil: the system's
}

// Client returns a client that connects directly, by TLS 1.2 or later, and follows no redirects. timeout is for each connection.
func (n Network) Client(timeout time.Duration) *http.Client {
	config := &tls.Config{}
	if n.TLS != nil {
		config = n.TLS.Clone()
	}
	config.MinVersion = max(config.MinVersion, tls.VersionTLS12)
	dialer := &net.Dialer{Timeout: timeout, Control: n.requirePublic, Resolver: n.Resolver}
	return &http.Client{
		Transport: &http.Transport{
			Proxy: nil, DialContext: dialer.DialContext, TLSClientConfig: config,
			DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// IsAddress reports whether a text is a URL that begins with https:// and has neither a user nor a password.
func IsAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme == "https" && u.Hostname() != "" && u.User == nil
}

// Cause returns the cause of a request that has failed, without the URL and the name of its host.
func Cause(err error) error {
	var timeout net.Error
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, ErrNotPublic):
		return ErrNotPublic
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return errors.New("no answer in time")
	case errors.As(err, &name):
		return errors.New("its host has no address")
	case errors.As(err, &certificate):
		return errors.New("its certificate is not valid")
	}
	return errors.New("the connection failed")
}

// requirePublic is called with each address before it is dialled. This is after its name was resolved, so a name that
// has another address each time cannot evade it.
func (n Network) requirePublic(_, address string, _ syscall.RawConn) error {
	public := n.Public
	if public == nil {
		public = IsPublic
	}
	a, err := netip.ParseAddrPort(address)
	if err != nil || !public(a.Addr()) {
		return ErrNotPublic
	}
	return nil
}

// IsPublic reports whether an address belongs to a machine on the Internet. The lists follow the registries of special
// addresses of IANA. IPv6 addresses that contain an IPv4 address (NAT64, 6to4, Teredo) are not public, whatever they
// lead to. A mapped address counts as its IPv4 address.
func IsPublic(a netip.Addr) bool {
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
