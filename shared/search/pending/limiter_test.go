package pending

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/fault"
)

func TestLimiter(t *testing.T) {
	t.Run("a nil limiter has no limit", func(t *testing.T) {
		var limiter *Limiter
		release, err := limiter.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		release()
	})
	t.Run("a waiting query gets a released slot", func(t *testing.T) {
		limiter := NewLimiter(1, 1, time.Second)
		release, err := limiter.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		entered := make(chan error)
		go func() {
			second, err := limiter.Acquire(context.Background())
			if err == nil {
				second()
			}
			entered <- err
		}()
		release()
		if err := <-entered; err != nil {
			t.Errorf("the waiting query got %v", err)
		}
	})
	t.Run("too many waiting queries are refused with a retry time", func(t *testing.T) {
		limiter := NewLimiter(1, 0, 3*time.Second)
		if _, err := limiter.Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, err := limiter.Acquire(t.Context())
		var refused *fault.Error
		if !errors.As(err, &refused) || refused.Kind != fault.Unavailable || refused.RetryAfter != 3*time.Second {
			t.Errorf("got %v, want Unavailable with RetryAfter 3s", err)
		}
	})
	t.Run("a cancelled query no longer waits", func(t *testing.T) {
		limiter := NewLimiter(1, 1, time.Second)
		if _, err := limiter.Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := limiter.Acquire(ctx); fault.KindOf(err) != fault.Canceled {
			t.Errorf("got %v, want Canceled", err)
		}
		if n := limiter.waiting.Load(); n != 0 {
			t.Errorf("%d still waiting", n)
		}
	})
	t.Run("a deadline that passes while waiting is a timeout", func(t *testing.T) {
		limiter := NewLimiter(1, 1, time.Second)
		if _, err := limiter.Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
		defer cancel()
		if _, err := limiter.Acquire(ctx); fault.KindOf(err) != fault.Timeout {
			t.Errorf("got %v, want Timeout", err)
		}
	})
}
