// Package httpserver serves HTTP and HTTPS: timeouts, a certificate that is renewed, and flags for networks.
package httpserver

import (
	"io"
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
		Handler:           readingRest(handler),
		ReadHeaderTimeout: headerWait,
		ReadTimeout:       bodyWait,
		IdleTimeout:       idleWait,
		MaxHeaderBytes:    1 << 20, // the request line contains the filter
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
}

// Limits of what is read of a body after its request has been answered.
const (
	maxRest  = 8 << 20 // what PRODUCTION.md lets nginx accept
	restWait = 5 * time.Second
)

// readingRest returns a handler that reads what another one has left of a body, for example because it refuses the
// request. Otherwise the server would close the connection while a proxy still sends the body, and nginx would answer 502
// instead of the reason.
func readingRest(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := r.Body
		handler.ServeHTTP(w, r)
		if r.ContentLength == 0 || r.Header.Get("Expect") != "" { // such a client waits for the answer
			return
		}
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(restWait)) // otherwise ReadTimeout ends it
		_, _ = io.CopyN(io.Discard, body, maxRest)                                  // the client has its answer, or is gone
	})
}

// Reachable returns an address that this machine can connect to: localhost instead of the unspecified address.
func Reachable(a net.Addr) string {
	if tcp, ok := a.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("localhost", strconv.Itoa(tcp.Port))
	}
	return a.String()
}
