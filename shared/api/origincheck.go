package api

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// checkOrigin prevents web pages of other sites from using the API through a browser that can reach this server.
//
// A server without keys answers only requests to a loopback name, because another site's host name may resolve to this
// machine, and refuses requests from pages of other origins. A server with keys refuses only writes from such pages,
// which the browser may send with saved credentials.
func (s *server) checkOrigin(r *http.Request) error {
	if r.URL.Path == healthPath {
		return nil
	}
	if s.Keys == nil && !loopbackName(r.Host) {
		return errForeignHost()
	}
	if !strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == pagePath {
		return nil
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if (s.Keys == nil || !reads) && s.foreignPage(r) {
		return errForeignPage()
	}
	return nil
}

// foreignPage reports whether a page of another origin sent the request, according to the browser.
func (s *server) foreignPage(r *http.Request) bool {
	if strings.EqualFold(r.Header.Get("Sec-Fetch-Site"), "cross-site") {
		return true
	}
	for _, origin := range r.Header.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || !strings.EqualFold(u.Host, r.Host) || !s.ownScheme(r, u.Scheme) {
			return true // includes "null", the origin of a page that hides its own
		}
	}
	return false
}

// ownScheme reports whether a page of this server may have the scheme. A server with keys may be behind a proxy that
// terminates TLS. Headers of proxies are not considered, because any client can send them.
func (s *server) ownScheme(r *http.Request, scheme string) bool {
	if r.TLS != nil {
		return strings.EqualFold(scheme, "https")
	}
	return strings.EqualFold(scheme, "http") || s.Keys != nil && strings.EqualFold(scheme, "https")
}

// loopbackName reports whether a Host header is a loopback name or address.
func loopbackName(host string) bool {
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
