package pending

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestSizesAreAwaitedWithoutTheLock: while the size of an answer is determined, which takes time for large ones, other
// queries are cancelled, and callers get their answers, also the large one.
func TestSizesAreAwaitedWithoutTheLock(t *testing.T) {
	for _, test := range []struct {
		rule string
		do   func(ctx context.Context, large, other *job) error
	}{
		{"another query is cancelled", func(ctx context.Context, _, other *job) error { return other.Cancel(ctx) }},
		{"another query is answered", func(ctx context.Context, _, other *job) error { return other.release(ctx, answered) }},
		{"it is answered", func(ctx context.Context, large, _ *job) error { return large.release(ctx, answered) }},
		{"a caller of it is gone", func(ctx context.Context, large, _ *job) error { return large.release(ctx, abandoned) }},
	} {
		t.Run(test.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLocal(nil, Options{Now: time.Now, Keep: time.Minute})
				add := func(id ID) *job {
					j := &job{
						local: l, query: Query{ID: id, Key: string(id)}, cancel: func() {}, waiting: 2, ended: time.Now(),
						done: make(chan struct{}), sized: make(chan struct{}),
					}
					l.byID[id], l.byKey[string(id)] = j, j
					return j
				}
				large, other := add("large"), add("other")
				close(large.done) // its size is not known yet
				found, done := make(chan error, 1), make(chan error, 1)
				go func() {
					_, err := l.find(t.Context(), "large")
					found <- err
				}()
				synctest.Wait()
				if len(found) > 0 {
					t.Fatal("find did not wait for the size")
				}
				go func() { done <- test.do(t.Context(), large, other) }()
				synctest.Wait()
				if len(done) == 0 {
					t.Error("it waits for the size")
				}
				large.bytes = 1
				close(large.sized)
				for _, ended := range []chan error{found, done} {
					if err := <-ended; err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
}
