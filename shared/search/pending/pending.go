// Package pending answers queries that may take longer than the request that asks them. Equal requests share one query,
// a caller whose time is over can ask again by the query's ID, and a query that nobody will ask for is stopped.
package pending

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/query"
)

// ID identifies a query that may outlive its request: 128 random bits in hexadecimal, so that it cannot be guessed.
type ID string

func newID() ID {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return ID(hex.EncodeToString(b[:]))
}

// Request is a query to answer.
type Request struct {
	Key   string      // equal for requests of one caller that mean the same
	Text  []byte      // the request as its caller writes it; it is kept with the query
	Query query.Query // not narrowed to the data
}

// Query is a query that has been started, with everything needed to go on with it in another process.
type Query struct {
	ID        ID
	Key       string // the same for equal requests over equal data
	Request   []byte // Request.Text
	Execution engine.Execution
	Began     time.Time
}

// Store keeps pending queries where every instance of the service finds them. It may forget those that are older than
// their results.
type Store interface {
	// Keep stores a query, unless one with its key is stored already; it returns the one that is stored.
	Keep(ctx context.Context, p Query) (Query, error)
	// Find returns the query with a key, Get the one with an ID. Errors: kind fault.NotFound.
	Find(ctx context.Context, key string) (Query, error)
	Get(ctx context.Context, id ID) (Query, error)
	// Move records that the query goes on as another execution. Errors: kind fault.NotFound when the query is not stored
	// any more.
	Move(ctx context.Context, id ID, to engine.Execution) error
	// Forget removes a query. Removing one that is not stored is not an error.
	Forget(ctx context.Context, p Query) error
}

// StillRunning reports that the caller's time was over before the query's. The query runs on under its ID.
type StillRunning struct {
	ID         ID
	RetryAfter time.Duration
}

func (e *StillRunning) Error() string { return fmt.Sprintf("query %.8s… runs on", e.ID) }

// Unwrap gives the failure its kind.
func (e *StillRunning) Unwrap() error {
	return &fault.Error{
		Kind: fault.Timeout, Message: "the query takes longer than an answer may", RetryAfter: e.RetryAfter,
	}
}

// ErrNoQuery is of kind fault.NotFound.
var ErrNoQuery = fault.New(fault.NotFound,
	"there is no such query: it was cancelled, its answer is kept no longer, or it belongs to another key")
