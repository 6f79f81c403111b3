package pending

import (
	"testing"
	"time"
)

// TestSizesAreAwaitedWithoutTheLock: while the size of an answer is determined, which takes time for large ones, other
// queries are cancelled and end.
func TestSizesAreAwaitedWithoutTheLock(t *testing.T) {
	now := time.Unix(0, 0)
	l := newLocal(nil, Options{Now: func() time.Time { return now }, Keep: time.Minute})
	add := func(id ID) *job {
		j := &job{
			local: l, query: Query{ID: id, Key: string(id)}, cancel: func() {}, ended: now,
			done: make(chan struct{}), sized: make(chan struct{}),
		}
		l.byID[id], l.byKey[string(id)] = j, j
		return j
	}
	large, other := add("large"), add("other")
	close(large.done) // its size is not known yet
	found := make(chan error)
	go func() {
		_, err := l.find(t.Context(), "large")
		found <- err
	}()
	for range 100 { // before and while find waits for the size
		if err := other.Cancel(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	large.bytes = 1
	close(large.sized)
	if err := <-found; err != nil {
		t.Error(err)
	}
}
