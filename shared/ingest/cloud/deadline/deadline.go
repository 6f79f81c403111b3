// Package deadline stops work before the deadline of its context, at a point from which another call can continue.
package deadline

import (
	"context"
	"time"
)

// DefaultReserve is how long before the deadline of the context work stops, at a point from which another call can
// continue.
const DefaultReserve = 90 * time.Second

// Stop returns when work must stop: the reserve before the deadline of the context, or half of the initial time
// before it if that is shorter. It returns the zero time if there is no deadline.
func Stop(ctx context.Context, reserve time.Duration, now time.Time) time.Time {
	deadline, ok := ctx.Deadline()
	if !ok {
		return time.Time{}
	}
	return deadline.Add(-min(reserve, deadline.Sub(now)/2))
}

// Passed returns a function that reports whether it is stop, unless that is zero. The first call of the function always
// returns false, so that every call of the Store makes progress.
func Passed(stop time.Time, now func() time.Time) func() bool {
	called := false
	return func() bool {
		if !called || stop.IsZero() {
			called = true
			return false
		}
		return !now().Before(stop)
	}
}
