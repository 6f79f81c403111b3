// Package httpserver serves HTTP and HTTPS: timeouts, a certificate that is renewed, and flags for networks.
package httpserver

import (
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Timeouts of the server.
const (
	headerWait = 10 * time.Second // for the headers of a request
	bodyWait   = 60 * time.Second // for a whole request
	idleWait   = 2 * time.Minute  // for the next request of a connection
	DrainWait  = 30 * time.Second // for running requests at shutdown
)

// New returns a server with the timeouts of this file.
func New(handler http.Handler, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerWait,
		ReadTimeout:       bodyWait,
		IdleTimeout:       idleWait,
		MaxHeaderBytes:    1 << 20, // the request line contains the filter
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
}

// Reachable returns an address that this machine can connect to: localhost instead of the unspecified address.
func Reachable(a net.Addr) string {
	if tcp, ok := a.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("localhost", strconv.Itoa(tcp.Port))
	}
	return a.String()
}
