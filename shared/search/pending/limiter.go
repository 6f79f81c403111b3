package pending

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/orrery/orrery/shared/fault"
)

// Limiter bounds how many queries use the engine at once. Further ones wait, and are refused when many wait. A nil
// Limiter sets no bound.
type Limiter struct {
	slots      chan struct{}
	waiting    atomic.Int64
	maxWaiting int64
	retryAfter time.Duration
}

// NewLimiter lets atOnce queries run and maxWaiting others wait. It asks those it refuses to retry after retryAfter.
func NewLimiter(atOnce, maxWaiting int, retryAfter time.Duration) *Limiter {
	return &Limiter{
		slots: make(chan struct{}, max(1, atOnce)), maxWaiting: int64(max(0, maxWaiting)), retryAfter: retryAfter,
	}
}

// Acquire waits for a slot and returns the function that releases it. Errors: fault.Unavailable when many wait,
// fault.Timeout or fault.Canceled when ctx ends first.
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
			Kind: fault.Unavailable, Message: "too many queries are running; try again shortly", RetryAfter: l.retryAfter,
		}
	}
	defer l.waiting.Add(-1)
	select {
	case l.slots <- struct{}{}:
		return release, nil
	case <-ctx.Done():
		return nil, l.ended(ctx.Err())
	}
}

// ended is the failure of a query whose context ended while it waited.
func (l *Limiter) ended(err error) error {
	if errors.Is(err, context.Canceled) {
		return &fault.Error{Kind: fault.Canceled, Message: "the request was cancelled", Err: err}
	}
	return &fault.Error{
		Kind: fault.Timeout, Message: "time ran out while the query waited in line", RetryAfter: l.retryAfter, Err: err,
	}
}
