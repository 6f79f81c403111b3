// Package pending runs queries that may take longer than their requests. Equal requests share one query, a caller can
// ask for the answer later by the query's ID, and a query without callers is stopped.
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

// ID identifies a query. It consists of 128 random bits in hexadecimal, so that it cannot be guessed.
type ID string

func newID() ID {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return ID(hex.EncodeToString(b[:]))
}

// Request is a query to answer.
type Request struct {
	Caller string      // who shares the limits of this process with other callers
	Key    string      // equal for requests of one caller with the same meaning
	Text   []byte      // the encoded request; it is stored with the query
	Query  query.Query // not clamped to the extent of the data

	// Affordable returns an error if the query, which was not answered at once, must not be started. nil: it may be.
	Affordable func(ctx context.Context) error
}

// Query is a query that has been started. It has everything that another process needs to continue it.
type Query struct {
	ID        ID
	Key       string // equal for equal requests over equal data
	Request   []byte // Request.Text
	Execution engine.Execution
	Began     time.Time
}

// Store stores pending queries so that every instance of the service finds them. It may remove queries when their
// results no longer exist.
type Store interface {
	// Keep stores a query, unless a query with the same key is stored already. It returns the stored query.
	Keep(ctx context.Context, p Query) (Query, error)
	// Find returns the query with a key. Errors: kind fault.NotFound.
	Find(ctx context.Context, key string) (Query, error)
	// Get returns the query with an ID. Errors: kind fault.NotFound.
	Get(ctx context.Context, id ID) (Query, error)
	// Move records that a query continues as another execution. Errors: kind fault.NotFound if the query is no longer
	// stored.
	Move(ctx context.Context, id ID, to engine.Execution) error
	// Detach removes the key of a query, so that an equal request starts a new one. The query is still found by its ID.
	// It is not an error if the key does not exist or belongs to another query.
	Detach(ctx context.Context, p Query) error
	// Forget removes a query. Removing a query that is not stored is not an error.
	Forget(ctx context.Context, p Query) error
}

// TimeoutError reports that the query takes longer than the caller waits. The query continues, and its answer can be
// requested by its ID.
type TimeoutError struct {
	ID         ID
	RetryAfter time.Duration
}

func (e *TimeoutError) Error() string { return fmt.Sprintf("query %.8s… is still running", e.ID) }

// Unwrap returns an error of kind fault.Timeout.
func (e *TimeoutError) Unwrap() error {
	return &fault.Error{
		Kind: fault.Timeout, Message: "the query takes longer than an answer may", RetryAfter: e.RetryAfter,
	}
}

// ErrNoQuery is of kind fault.NotFound.
var ErrNoQuery = fault.New(fault.NotFound,
	"there is no such query: it was cancelled, its answer is kept no longer, or it belongs to another key")
