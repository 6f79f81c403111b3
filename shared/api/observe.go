package api

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"time"

	"github.com/orrery/orrery/shared/keys"
)

// call is one request on its way.
type call struct {
	r        *http.Request
	w        *meter
	id       string
	began    time.Time
	route    *route      // nil until it is found
	caller   keys.Caller // zero until authenticated
	callerID string      // owner of the key, who alone may ask about its queries; "" if no key is needed
	accepts  string      // the media type the answer is wanted in

	filters     string // as sent, for errors; never logged
	fingerprint string // of the filter, once it is bound
	scanned     int64  // bytes that the engine read
	abandoned   bool   // there is no answer, because the caller went away
}

// meter notes what was sent.
type meter struct {
	http.ResponseWriter
	status int
	bytes  int64
	lost   bool // some of it could not be sent
}

func (m *meter) WriteHeader(status int) {
	if m.status == 0 {
		m.status = status
	}
	m.ResponseWriter.WriteHeader(status)
}

func (m *meter) Write(p []byte) (int, error) {
	if m.status == 0 {
		m.status = http.StatusOK
	}
	n, err := m.ResponseWriter.Write(p)
	m.bytes += int64(n)
	m.lost = m.lost || err != nil
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (m *meter) Unwrap() http.ResponseWriter { return m.ResponseWriter }

type callKey struct{}

// callOf is the call that a request belongs to.
func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

// goodID is a request id that a proxy before us may have given: fit for logs and headers.
var goodID = regexp.MustCompile(`\A[A-Za-z0-9._-]{8,64}\z`)

func randomID() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return hex.EncodeToString(b[:])
}

// begin gives the request its id and every answer the headers that all have.
func (s *server) begin(w http.ResponseWriter, r *http.Request) *call {
	c := &call{w: &meter{ResponseWriter: w}, began: s.Now(), id: r.Header.Get("X-Request-Id")}
	if !goodID.MatchString(c.id) {
		c.id = s.NewID()
	}
	c.r = r.WithContext(context.WithValue(r.Context(), callKey{}, c))
	h := w.Header()
	h.Set("X-Request-Id", c.id)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
	return c
}

// finish turns a panic into an answer and writes the access log: never a header, a filter, a parameter or a key.
func (s *server) finish(c *call) {
	if cause := recover(); cause != nil {
		if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			panic(cause)
		}
		s.fail(c, fmt.Errorf("panic: %v\n%s", cause, debug.Stack()))
	}
	status := c.w.status
	if c.abandoned || c.w.lost {
		status = statusGone
	}
	attributes := []slog.Attr{
		slog.String("request_id", c.id),
		slog.String("method", c.r.Method),
		slog.String("route", c.routeID()),
		slog.Int("status", status),
		slog.Float64("ms", float64(s.Now().Sub(c.began).Microseconds())/1000),
		slog.Int64("bytes", c.w.bytes),
	}
	if c.caller.Name != "" {
		attributes = append(attributes, slog.String("key", c.caller.Name))
	}
	if c.fingerprint != "" {
		attributes = append(attributes, slog.String("fingerprint", c.fingerprint))
	}
	if c.scanned > 0 {
		attributes = append(attributes, slog.Int64("bytes_scanned", c.scanned))
	}
	s.Log.LogAttrs(c.r.Context(), slog.LevelInfo, "request", attributes...)
}

// statusGone stands in the log for a caller who went away before the answer; nobody receives it.
const statusGone = 499

// gone tells whether the caller went away, or, after the answer was sent, has got it and closed. A time that is over is
// the server's own doing, and the caller waits for the answer.
func (c *call) gone() bool { return errors.Is(c.r.Context().Err(), context.Canceled) }

func (c *call) routeID() string {
	if c.route == nil {
		return "none"
	}
	return c.route.id
}
