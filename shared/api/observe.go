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
	"strings"
	"time"

	"github.com/orrery/orrery/shared/api/route"
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
func callOf(ctx context.Context) *route.Call { return ctx.Value(callKey{}).(*route.Call) }

// goodID is the form of request ids accepted from a proxy: safe in logs and headers.
var goodID = regexp.MustCompile(`\A[A-Za-z0-9._-]{8,64}\z`)

func randomID() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return hex.EncodeToString(b[:])
}

// begin assigns the request id and sets the headers that all responses have.
func (s *server) begin(w http.ResponseWriter, r *http.Request) *route.Call {
	c := &route.Call{
		Writer: &route.Meter{ResponseWriter: w}, Began: s.Now(), ID: r.Header.Get("X-Request-Id"), Client: s.access.ClientOf(r),
		Prepare: s.Prepare,
	}
	if !goodID.MatchString(c.ID) {
		c.ID = s.NewID()
	}
	c.Request = r.WithContext(context.WithValue(r.Context(), callKey{}, c))
	h := w.Header()
	h.Set("X-Request-Id", c.ID)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
	return c
}

// finish answers after a panic and writes the access log, which has no headers, filters, parameters or keys.
func (s *server) finish(c *route.Call) {
	if cause := recover(); cause != nil {
		if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			panic(cause)
		}
		s.fail(c, fmt.Errorf("panic: %v\n%s", cause, debug.Stack()))
	}
	status := c.Writer.Status
	if c.Abandoned || c.Writer.Lost {
		status = statusGone
	}
	elapsed := s.Now().Sub(c.Began)
	s.Observe(Observation{routeID(c), status, elapsed, c.Writer.Bytes, c.Engine, c.Scanned})
	attributes := []slog.Attr{
		slog.String("request_id", c.ID),
		slog.String("method", c.Request.Method),
		slog.String("route", routeID(c)),
		slog.String("path", shortened(c.Request.URL.Path)),
		slog.String("address", c.Client),
		slog.Int("status", status),
		slog.Float64("ms", float64(elapsed.Microseconds())/1000),
		slog.Int64("bytes", c.Writer.Bytes),
	}
	if c.Caller.Name != "" {
		attributes = append(attributes, slog.String("key", c.Caller.Name))
	}
	if c.Caller.KeyID != "" {
		attributes = append(attributes, slog.String("key_id", c.Caller.KeyID))
	}
	if c.Caller.WrongKey != "" {
		attributes = append(attributes, slog.String("unknown_key", c.Caller.WrongKey))
	}
	if c.Fingerprint != "" {
		attributes = append(attributes, slog.String("fingerprint", c.Fingerprint))
	}
	if c.Scanned > 0 {
		attributes = append(attributes, slog.Int64("bytes_scanned", c.Scanned))
	}
	s.Log.LogAttrs(c.Request.Context(), slog.LevelInfo, "request", attributes...)
}

// mostOfPath is how many bytes of a path are logged. Paths of routes are shorter.
const mostOfPath = 200

// shortened returns the beginning of a path.
func shortened(path string) string {
	if len(path) <= mostOfPath {
		return path
	}
	return strings.ToValidUTF8(path[:mostOfPath], "") + "…"
}

// statusGone is the logged status if the client disconnected before the answer.
const statusGone = 499

// routeID returns the operation id of the route for the log.
func routeID(c *route.Call) string {
	if c.Route == nil {
		return "none"
	}
	return c.Route.ID
}
