package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/orrery/orrery/shared/api/access"
)

// call is a request to a route, from its arrival to its answer. A handler reads the request and sends the answer; what it
// learns about the query is for the log and for error messages.
type call struct {
	r       *http.Request
	w       *meter
	id      string
	began   time.Time
	route   *route        // nil until it is found
	client  string        // address of the client
	caller  access.Caller // zero until authenticated
	accepts string        // media type of the answer
	prepare Prepare       // nil: nothing is done before a body is parsed

	filters     string // as sent, for error messages; never logged
	fingerprint string // of the filter; "" until it is bound
	scanned     int64  // bytes read by the engine
	engine      time.Duration
	abandoned   bool // the client disconnected before the answer
	failed      bool // the query whose answer the client asks for has failed, so asking again does not help
}

// Prepare waits until a request of the caller may be parsed. release ends this time.
type Prepare func(ctx context.Context, caller string) (release func(), err error)

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

// gone reports whether the client disconnected, which it may also do after the answer. A timeout is not a disconnect:
// the client still waits for the answer.
func (c *call) gone() bool { return errors.Is(c.r.Context().Err(), context.Canceled) }
