package pending

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/fault"
)

func TestLimiter(t *testing.T) {
	t.Run("a nil limiter has no limit", func(t *testing.T) {
		var limiter *Limiter
		release, err := limiter.Acquire(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		release()
	})
	t.Run("a waiting query gets a released slot", func(t *testing.T) {
		limiter := NewLimiter(Limits{AtOnce: 1, Waiting: 1})
		release := acquire(t, limiter, "a")
		waiting := wait(t, limiter, "a")
		release()
		(<-waiting)()
		if running, waiting := limiter.Load(); running != 0 || waiting != 0 {
			t.Errorf("%d running, %d waiting", running, waiting)
		}
	})
	t.Run("too many waiting queries are refused with a retry time", func(t *testing.T) {
		limiter := NewLimiter(Limits{AtOnce: 1, RetryAfter: 3 * time.Second})
		acquire(t, limiter, "a")
		_, err := limiter.Acquire(t.Context(), "b")
		var refused *fault.Error
		if !errors.As(err, &refused) || refused.Kind != fault.Unavailable || refused.RetryAfter != 3*time.Second {
			t.Errorf("got %v, want Unavailable with RetryAfter 3s", err)
		}
	})
	t.Run("one caller has at most half of the waiting queries", func(t *testing.T) {
		limiter := NewLimiter(Limits{AtOnce: 1, Waiting: 4})
		acquire(t, limiter, "a")
		wait(t, limiter, "a")
		wait(t, limiter, "a")
		_, err := limiter.Acquire(t.Context(), "a")
		if fault.KindOf(err) != fault.TooMany || !strings.Contains(err.Error(), "your queries") {
			t.Errorf("got %v, want TooMany for the caller", err)
		}
		wait(t, limiter, "b")
	})
	t.Run("two callers leave places for others", func(t *testing.T) {
		limiter := NewLimiter(Limits{AtOnce: 1, Waiting: 64})
		acquire(t, limiter, "a")
		refused := map[string]int{}
		for range 64 {
			for _, caller := range []string{"a", "b"} {
				if _, err := limiter.enter(caller); err != nil {
					refused[caller]++
				}
			}
		}
		if refused["a"] < 32 || refused["b"] < 32 {
			t.Errorf("refused: %v", refused)
		}
		for range 8 {
			wait(t, limiter, "c")
		}
		wait(t, limiter, "d")
	})
	t.Run("one caller does not use the slots that are left for others", func(t *testing.T) {
		limiter := NewLimiter(Limits{AtOnce: 2, PerCaller: 1, Waiting: 4})
		release := acquire(t, limiter, "a")
		second := wait(t, limiter, "a")
		acquire(t, limiter, "b")() // does not wait
		select {
		case <-second:
			t.Error("the second query of a began before the first one ended")
		default:
		}
		release()
		(<-second)()
	})
	t.Run("callers get slots in turn", func(t *testing.T) {
		limiter := NewLimiter(Limits{AtOnce: 1, Waiting: 20})
		release := acquire(t, limiter, "a")
		var mu sync.Mutex
		var order []string
		var all sync.WaitGroup
		for _, caller := range []string{"a", "a", "a", "b", "c", "b"} {
			slot := wait(t, limiter, caller)
			all.Go(func() {
				release := <-slot
				mu.Lock()
				order = append(order, caller)
				mu.Unlock()
				release()
			})
		}
		release()
		all.Wait()
		if want := []string{"a", "b", "c", "a", "b", "a"}; !slices.Equal(order, want) {
			t.Errorf("got %v, want %v", order, want)
		}
	})
	t.Run("a cancelled query no longer waits", func(t *testing.T) {
		limiter := NewLimiter(Limits{AtOnce: 1, Waiting: 1})
		release := acquire(t, limiter, "a")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := limiter.Acquire(ctx, "b"); fault.KindOf(err) != fault.Canceled {
			t.Errorf("got %v, want Canceled", err)
		}
		release()
		if running, waiting := limiter.Load(); running != 0 || waiting != 0 {
			t.Errorf("%d running, %d waiting", running, waiting)
		}
	})
	t.Run("a deadline that passes while waiting is a timeout", func(t *testing.T) {
		limiter := NewLimiter(Limits{AtOnce: 1, Waiting: 1})
		acquire(t, limiter, "a")
		ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
		defer cancel()
		if _, err := limiter.Acquire(ctx, "a"); fault.KindOf(err) != fault.Timeout {
			t.Errorf("got %v, want Timeout", err)
		}
	})
}

// TestLimiterUnderLoad checks that every query runs, within the limits, when callers also give up.
func TestLimiterUnderLoad(t *testing.T) {
	const atOnce, perCaller, perLine = 3, 2, 200
	limiter := NewLimiter(Limits{AtOnce: atOnce, PerCaller: perCaller, Waiting: 4 * perLine})
	var mu sync.Mutex
	running := map[string]int{}
	total := 0
	change := func(caller string, by int) {
		mu.Lock()
		defer mu.Unlock()
		running[caller] += by
		total += by
		if running[caller] > perCaller || total > atOnce {
			t.Errorf("%d queries run, %d of %s", total, running[caller], caller)
		}
	}
	var all sync.WaitGroup
	for i := range perLine {
		for _, caller := range []string{"a", "b"} {
			all.Go(func() {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				if i%5 == 0 {
					go cancel()
				}
				release, err := limiter.Acquire(ctx, caller)
				if err != nil {
					if i%5 != 0 {
						t.Error(err)
					}
					return
				}
				change(caller, 1)
				change(caller, -1)
				release()
			})
		}
	}
	all.Wait()
	if running, waiting := limiter.Load(); running != 0 || waiting != 0 {
		t.Errorf("%d running, %d waiting at the end", running, waiting)
	}
}

func acquire(t *testing.T, l *Limiter, caller string) (release func()) {
	t.Helper()
	release, err := l.Acquire(t.Context(), caller)
	if err != nil {
		t.Fatal(err)
	}
	return release
}

// wait puts a query into the caller's line and returns a channel that gets the function to release its slot.
func wait(t *testing.T, l *Limiter, caller string) <-chan func() {
	t.Helper()
	slot, err := l.enter(caller)
	if err != nil {
		t.Fatal(err)
	}
	if slot == nil {
		t.Fatalf("the query of %s does not have to wait", caller)
	}
	got := make(chan func(), 1)
	go func() {
		<-slot
		got <- func() { l.leave(caller) }
	}()
	return got
}
