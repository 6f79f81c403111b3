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
)

// Observation describes a request that was answered.
type Observation struct {
	Route   string // operation id, or "none"
	Status  int    // 499 if the client disconnected before the answer
	Elapsed time.Duration
	Sent    int64         // bytes of the body
	Engine  time.Duration // of the query, as its answer reports it
	Scanned int64         // bytes that the engine read for it
}

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
	c := &call{
		w: &meter{ResponseWriter: w}, began: s.Now(), id: r.Header.Get("X-Request-Id"), client: s.access.ClientOf(r),
		prepare: s.Prepare,
	}
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
	s.Observe(Observation{routeID(c), status, elapsed, c.w.bytes, c.engine, c.scanned})
	attributes := []slog.Attr{
		slog.String("request_id", c.id),
		slog.String("method", c.r.Method),
		slog.String("route", routeID(c)),
		slog.Int("status", status),
		slog.Float64("ms", float64(elapsed.Microseconds())/1000),
		slog.Int64("bytes", c.w.bytes),
	}
	if c.caller.Name != "" {
		attributes = append(attributes, slog.String("key", c.caller.Name))
	}
	if c.caller.WrongKey != "" {
		attributes = append(attributes, slog.String("unknown_key", c.caller.WrongKey), slog.String("address", c.client))
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

// routeID returns the operation id of the route for the log.
func routeID(c *call) string {
	if c.route == nil {
		return "none"
	}
	return c.route.id
}
