package api

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// guard keeps web pages of other sites from using a browser that can reach this server.
//
// Without keys anybody who reaches the server may read the logs, so it answers only requests to a name of this
// machine (a page can make a name of its own point here, but not be called localhost), and none that a foreign
// page sent. With keys a foreign page still must not write with credentials that the browser remembers.
func (s *server) guard(r *http.Request) error {
	if r.URL.Path == healthPath {
		return nil
	}
	if s.Keys == nil && !loopbackName(r.Host) {
		return errForeignHost()
	}
	if !strings.HasPrefix(r.URL.Path, "/api/") {
		return nil
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if (s.Keys == nil || !reads) && s.foreignPage(r) {
		return errForeignPage()
	}
	return nil
}

// foreignPage tells whether a browser says that a page of another origin sent the request.
func (s *server) foreignPage(r *http.Request) bool {
	if strings.EqualFold(r.Header.Get("Sec-Fetch-Site"), "cross-site") {
		return true
	}
	for _, origin := range r.Header.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || !strings.EqualFold(u.Host, r.Host) || !s.ownScheme(r, u.Scheme) {
			return true // among them "null", the origin of a page that hides its own
		}
	}
	return false
}

// ownScheme tells whether this server can have sent a page of that scheme. A server with keys may stand behind a
// proxy that speaks TLS for it; headers that say so are not asked, because anybody can send them.
func (s *server) ownScheme(r *http.Request, scheme string) bool {
	if r.TLS != nil {
		return strings.EqualFold(scheme, "https")
	}
	return strings.EqualFold(scheme, "http") || s.Keys != nil && strings.EqualFold(scheme, "https")
}

// loopbackName tells whether a Host header names this machine.
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
