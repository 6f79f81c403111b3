// Package pendingtest has the tests that every pending.Store must pass, and a store in memory.
package pendingtest

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/search/pending"
	"github.com/orrery/orrery/shared/table"
	"github.com/orrery/orrery/shared/table/tabletest"
)

// NewMemory returns a store in memory, whose queries do not expire. It answers so fast that it does so even after the
// context of a call has ended: queries of tests have a nanosecond.
func NewMemory() pending.Store {
	const century = 100 * 365 * 24 * time.Hour
	return pending.Over(fast{&tabletest.Memory{}}, century, func() time.Time { return time.Time{} })
}

type fast struct{ memory *tabletest.Memory }

func (f fast) Get(ctx context.Context, key table.Key) (table.Item, error) {
	return f.memory.Get(context.WithoutCancel(ctx), key)
}

func (f fast) Range(ctx context.Context, r table.Range) iter.Seq2[table.Item, error] {
	return f.memory.Range(context.WithoutCancel(ctx), r)
}

func (f fast) Write(ctx context.Context, changes ...table.Change) error {
	return f.memory.Write(context.WithoutCancel(ctx), changes...)
}

// Run tests an implementation of pending.Store. The function open returns an empty store.
func Run(t *testing.T, open func(t *testing.T) pending.Store) {
	const filters = `timestamp between 2026-01-01 and 2026-01-02, host="ä\"`
	query := func(n int) pending.Query {
		return pending.Query{
			ID:        pending.ID(fmt.Sprintf("%032x", n)),
			Key:       fmt.Sprintf("key-%d", n),
			Request:   []byte(`{"Route":"logs"}` + "\n" + filters + "\x00\xff"),
			Execution: engine.Execution(fmt.Sprintf(`{"id":"%d"}`, n)),
			Began:     time.UnixMilli(1767268800123).UTC(),
		}
	}
	keep := func(t *testing.T, q pending.Store, p pending.Query) pending.Query {
		t.Helper()
		kept, err := q.Keep(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		return kept
	}
	found := func(t *testing.T, q pending.Store, want pending.Query) {
		t.Helper()
		for name, find := range map[string]func() (pending.Query, error){
			"by id":  func() (pending.Query, error) { return q.Get(t.Context(), want.ID) },
			"by key": func() (pending.Query, error) { return q.Find(t.Context(), want.Key) },
		} {
			if got, err := find(); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %+.300v, %v; want %+.300v", name, got, err, want)
			}
		}
	}

	t.Run("kept queries are found unchanged", func(t *testing.T) {
		q := open(t)
		for n := range 3 {
			keep(t, q, query(n))
		}
		for n := range 3 {
			found(t, q, query(n))
		}
	})
	t.Run("a short request", func(t *testing.T) {
		q := open(t)
		p := query(1)
		p.Request = []byte("x")
		keep(t, q, p)
		found(t, q, p)
	})
	t.Run("a filter of a megabyte that does not compress", func(t *testing.T) {
		q := open(t)
		p := query(1)
		p.Request = []byte(Incompressible(1 << 20))
		keep(t, q, p)
		found(t, q, p)
		if err := q.Forget(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if _, err := q.Get(t.Context(), p.ID); fault.KindOf(err) != fault.NotFound {
			t.Errorf("the query still exists: %v", err)
		}
	})
	t.Run("the first query with a key is kept", func(t *testing.T) {
		q := open(t)
		first, second := query(1), query(2)
		second.Key = first.Key
		keep(t, q, first)
		if kept := keep(t, q, second); kept.ID != first.ID || kept.Execution != first.Execution {
			t.Errorf("kept is %+v", kept)
		}
		if _, err := q.Get(t.Context(), second.ID); fault.KindOf(err) != fault.NotFound {
			t.Errorf("the second query is kept, too: %v", err)
		}
	})
	t.Run("one of many concurrent queries with a key is kept", func(t *testing.T) {
		q := open(t)
		ids := make([]pending.ID, 8)
		var all sync.WaitGroup
		for n := range ids {
			all.Go(func() {
				p := query(n)
				p.Key = "shared"
				kept, err := q.Keep(t.Context(), p)
				if err != nil {
					t.Error(err)
				}
				ids[n] = kept.ID
			})
		}
		all.Wait()
		for _, id := range ids {
			if id != ids[0] {
				t.Fatalf("kept are %v", ids)
			}
		}
	})
	t.Run("a query can be kept twice", func(t *testing.T) {
		q := open(t)
		keep(t, q, query(1))
		if kept := keep(t, q, query(1)); kept.ID != query(1).ID {
			t.Errorf("kept is %+v", kept)
		}
		found(t, q, query(1))
	})
	t.Run("a query moves to another execution", func(t *testing.T) {
		q := open(t)
		p := query(1)
		keep(t, q, p)
		p.Execution = "another"
		if err := q.Move(t.Context(), p.ID, p.Execution); err != nil {
			t.Fatal(err)
		}
		found(t, q, p)
	})
	t.Run("a detached query is found by its ID only", func(t *testing.T) {
		q := open(t)
		p := query(1)
		keep(t, q, p)
		for range 2 {
			if err := q.Detach(t.Context(), p); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := q.Get(t.Context(), p.ID); err != nil || !reflect.DeepEqual(got, p) {
			t.Errorf("get: %+v, %v", got, err)
		}
		if _, err := q.Find(t.Context(), p.Key); fault.KindOf(err) != fault.NotFound {
			t.Errorf("find: %v", err)
		}
		again := query(2)
		again.Key = p.Key
		keep(t, q, again)
		if err := q.Detach(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		found(t, q, again) // detaching the first query does not remove the key of the second
	})
	t.Run("a forgotten query is not found and cannot move", func(t *testing.T) {
		q := open(t)
		p := query(1)
		keep(t, q, p)
		for range 2 {
			if err := q.Forget(t.Context(), p); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := q.Get(t.Context(), p.ID); fault.KindOf(err) != fault.NotFound {
			t.Errorf("get: %v", err)
		}
		if _, err := q.Find(t.Context(), p.Key); fault.KindOf(err) != fault.NotFound {
			t.Errorf("find: %v", err)
		}
		if err := q.Move(t.Context(), p.ID, "another"); fault.KindOf(err) != fault.NotFound {
			t.Errorf("move: %v", err)
		}
		if _, err := q.Get(t.Context(), p.ID); fault.KindOf(err) != fault.NotFound {
			t.Errorf("the move restored the query: %v", err)
		}
		again := query(2)
		again.Key = p.Key
		keep(t, q, again)
		found(t, q, again)
		if err := q.Forget(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		found(t, q, again) // forgetting the first query does not remove the key of the second
	})
}

// Incompressible returns a text of n bytes that compression does not make much shorter.
func Incompressible(n int) string {
	var b strings.Builder
	x := uint64(1)
	for b.Len() < n {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b.WriteByte(byte(33 + x%94))
	}
	return b.String()
}
