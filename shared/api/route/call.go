package route

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/orrery/orrery/shared/api/access"
)

// Call is a request to a route, from its arrival to its answer. A handler reads the request and sends the answer; what
// it learns about the query is for the log and for error messages.
type Call struct {
	Request *http.Request
	Writer  *Meter
	ID      string
	Began   time.Time
	Route   *Route        // nil until it is found
	Client  string        // address of the client
	Caller  access.Caller // zero until authenticated
	Accepts string        // media type of the answer
	Prepare Prepare       // nil: nothing is done before a body is parsed

	Filters     string // as sent, for error messages; never logged
	Fingerprint string // of the filter; "" until it is bound
	Scanned     int64  // bytes read by the engine
	Engine      time.Duration
	Abandoned   bool // the client disconnected before the answer
	Failed      bool // the query whose answer the client asks for has failed, so asking again does not help
}

// Prepare waits until a request of the caller may be parsed. release ends this time.
type Prepare func(ctx context.Context, caller string) (release func(), err error)

// Meter records the status and size of a response.
type Meter struct {
	http.ResponseWriter
	Status int
	Bytes  int64
	Lost   bool // a write failed
}

func (m *Meter) WriteHeader(status int) {
	if m.Status == 0 {
		m.Status = status
	}
	m.ResponseWriter.WriteHeader(status)
}

func (m *Meter) Write(p []byte) (int, error) {
	if m.Status == 0 {
		m.Status = http.StatusOK
	}
	n, err := m.ResponseWriter.Write(p)
	m.Bytes += int64(n)
	m.Lost = m.Lost || err != nil
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (m *Meter) Unwrap() http.ResponseWriter { return m.ResponseWriter }

// Gone reports whether the client disconnected, which it may also do after the answer. A timeout is not a disconnect:
// the client still waits for the answer.
func (c *Call) Gone() bool { return errors.Is(c.Request.Context().Err(), context.Canceled) }
