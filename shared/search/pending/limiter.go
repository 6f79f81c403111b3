package pending

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/orrery/orrery/shared/fault"
)

// Limiter limits the number of queries that use the engine at the same time. Further queries wait, and are refused if
// too many wait. A nil Limiter has no limit.
type Limiter struct {
	slots      chan struct{}
	waiting    atomic.Int64
	maxWaiting int64
	retryAfter time.Duration
}

// NewLimiter returns a Limiter that allows atOnce queries to run and maxWaiting others to wait. The error of a refused
// query has the given retryAfter.
func NewLimiter(atOnce, maxWaiting int, retryAfter time.Duration) *Limiter {
	return &Limiter{
		slots: make(chan struct{}, max(1, atOnce)), maxWaiting: int64(max(0, maxWaiting)), retryAfter: retryAfter,
	}
}

// Acquire waits for a slot and returns the function that releases it. Errors: fault.Unavailable if too many queries
// wait, fault.Timeout or fault.Canceled if ctx ends first.
func (l *Limiter) Acquire(ctx context.Context) (release func(), err error) {
	if l == nil {
		return func() {}, nil
	}
	release = func() { <-l.slots }
	select {
	case l.slots <- struct{}{}:
		return release, nil
	default:
	}
	if l.waiting.Add(1) > l.maxWaiting {
		l.waiting.Add(-1)
		return nil, &fault.Error{
			Kind:       fault.Unavailable,
			Message:    "too many queries are running; try again shortly",
			RetryAfter: l.retryAfter,
		}
	}
	defer l.waiting.Add(-1)
	select {
	case l.slots <- struct{}{}:
		return release, nil
	case <-ctx.Done():
		return nil, l.contextError(ctx.Err())
	}
}

// Load returns the number of queries that use the engine and of those that wait.
func (l *Limiter) Load() (running, waiting int) { return len(l.slots), int(l.waiting.Load()) }

// contextError returns the error for a context that ended while the query waited.
func (l *Limiter) contextError(err error) error {
	if errors.Is(err, context.Canceled) {
		return &fault.Error{Kind: fault.Canceled, Message: "the request was cancelled", Err: err}
	}
	return &fault.Error{
		Kind:       fault.Timeout,
		Message:    "time ran out while the query waited to start",
		RetryAfter: l.retryAfter,
		Err:        err,
	}
}
