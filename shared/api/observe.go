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

// call is the state of a request.
type call struct {
	r        *http.Request
	w        *meter
	id       string
	began    time.Time
	route    *route      // nil until it is found
	caller   keys.Caller // zero until authenticated
	callerID string      // owner of the key, who alone may ask about its queries; "" if no key is needed
	client   string      // address of the client
	keyID    string      // ID of the key; "" if no key is needed
	seal     *seal       // of the tokens of logs; nil if the key sees all branches
	wrongKey string      // the beginning of the hash of an unknown key, for the log
	accepts  string      // media type of the answer

	formQuery   string // of the location of the query
	filters     string // as sent, for error messages; never logged
	fingerprint string // of the filter; "" until it is bound
	scanned     int64  // bytes read by the engine
	engine      time.Duration
	abandoned   bool // the client disconnected before the answer
	failed      bool // the query whose answer the client asks for has failed, so asking again does not help
}

// meter records the status and size of a response.
type meter struct {
	http.ResponseWriter
	status int
	bytes  int64
	lost   bool // a write failed
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

// callOf returns the call of a request from its context.
func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

// goodID is the form of request ids accepted from a proxy: safe in logs and headers.
var goodID = regexp.MustCompile(`\A[A-Za-z0-9._-]{8,64}\z`)

func randomID() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return hex.EncodeToString(b[:])
}

// begin assigns the request id and sets the headers that all responses have.
func (s *server) begin(w http.ResponseWriter, r *http.Request) *call {
	c := &call{w: &meter{ResponseWriter: w}, began: s.Now(), id: r.Header.Get("X-Request-Id"), client: s.clientOf(r)}
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

// finish answers after a panic and writes the access log, which has no headers, filters, parameters or keys.
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
	elapsed := s.Now().Sub(c.began)
	s.Observe(Observation{c.routeID(), status, elapsed, c.w.bytes, c.engine, c.scanned})
	attributes := []slog.Attr{
		slog.String("request_id", c.id),
		slog.String("method", c.r.Method),
		slog.String("route", c.routeID()),
		slog.Int("status", status),
		slog.Float64("ms", float64(elapsed.Microseconds())/1000),
		slog.Int64("bytes", c.w.bytes),
	}
	if c.caller.Name != "" {
		attributes = append(attributes, slog.String("key", c.caller.Name))
	}
	if c.wrongKey != "" {
		attributes = append(attributes, slog.String("unknown_key", c.wrongKey), slog.String("address", c.client))
	}
	if c.fingerprint != "" {
		attributes = append(attributes, slog.String("fingerprint", c.fingerprint))
	}
	if c.scanned > 0 {
		attributes = append(attributes, slog.Int64("bytes_scanned", c.scanned))
	}
	s.Log.LogAttrs(c.r.Context(), slog.LevelInfo, "request", attributes...)
}

// statusGone is the logged status if the client disconnected before the answer.
const statusGone = 499

// gone reports whether the client disconnected, which it may also do after the answer. A timeout is not a disconnect:
// the client still waits for the answer.
func (c *call) gone() bool { return errors.Is(c.r.Context().Err(), context.Canceled) }

func (c *call) routeID() string {
	if c.route == nil {
		return "none"
	}
	return c.route.id
}
