package access

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Web pages of other sites must not use the API through a browser that can reach this server.

// CheckHost returns an error if the server needs no key and the request is not to a loopback name, because the host
// name of another site may resolve to this machine.
func (a *Access) CheckHost(r *http.Request) error {
	if a.Keys == nil && !LoopbackName(r.Host) {
		return errForeignHost()
	}
	return nil
}

// CheckPage returns an error if a page of another origin must not send the request. A server without keys refuses all
// requests from such pages. A server with keys refuses only writes, which the browser may send with saved credentials.
func (a *Access) CheckPage(r *http.Request) error {
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if (a.Keys == nil || !reads) && a.foreignPage(r) {
		return errForeignPage()
	}
	return nil
}

// foreignPage reports whether a page of another origin sent the request, according to the browser.
func (a *Access) foreignPage(r *http.Request) bool {
	if strings.EqualFold(r.Header.Get("Sec-Fetch-Site"), "cross-site") {
		return true
	}
	for _, origin := range r.Header.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || !strings.EqualFold(u.Host, r.Host) || !a.ownScheme(r, u.Scheme) {
			return true // includes "null", the origin of a page that hides its own
		}
	}
	return false
}

// ownScheme reports whether a page of this server may have the scheme. A server with keys may be behind a proxy that
// terminates TLS. Headers of proxies are not considered, because any client can send them.
func (a *Access) ownScheme(r *http.Request, scheme string) bool {
	if r.TLS != nil {
		return strings.EqualFold(scheme, "https")
	}
	return strings.EqualFold(scheme, "http") || a.Keys != nil && strings.EqualFold(scheme, "https")
}

// LoopbackName reports whether a Host header is a loopback name or address.
func LoopbackName(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.IsLoopback()
}
