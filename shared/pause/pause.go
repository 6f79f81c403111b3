// Package pause waits.
package pause

import (
	"context"
	"time"
)

// For waits until d is over or ctx ends, and returns the error of ctx, or nil if d is over.
func For(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
