package athena_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine"
)

// TestPollReportsTheQueue: Poll reports how long a query has been in Athena's queue, while it waits there and while it
// runs.
func TestPollReportsTheQueue(t *testing.T) {
	var seconds atomic.Int64
	leave := make(chan struct{})
	options := withClock(func() time.Time { return now().Add(time.Duration(seconds.Load()) * time.Second) })
	options.server.Queue = func(ctx context.Context) error {
		select {
		case <-leave:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s := newFixture(t, options)
	end := make(chan struct{})
	s.backend.set(nil, end)
	q := bind(t, hours, stats)
	s.engine.register(q)
	x, err := s.engine.Start(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	check := func(at int64, want engine.Progress) {
		t.Helper()
		seconds.Store(at)
		_, got, err := s.engine.Poll(t.Context(), x, q)
		if err != nil || got != want {
			t.Errorf("after %d s: %+v, %v; want %+v", at, got, err, want)
		}
	}
	until := func(state string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for s.server.States()[0] != state {
			if err := ctx.Err(); err != nil {
				t.Fatal(err)
			}
			runtime.Gosched()
		}
	}
	check(3, engine.Progress{Queue: 3 * time.Second})
	close(leave)
	until("RUNNING")
	check(12, engine.Progress{Queue: 3 * time.Second})
	close(end)
	until("SUCCEEDED")
	check(13, engine.Progress{Done: true})
}
