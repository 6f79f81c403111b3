// Package keystest is the test suite for implementations of keys.Store.
package keystest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/keys"
)

// At is the start time of the suite.
var At = time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)

// Key returns the n-th key of the suite, derived from a word.
func Key(word string, n int) keys.Key {
	hash := keys.HashOf(word)
	return keys.Key{
		ID: keys.IDOf(hash), Hash: hash, Name: "it's " + word, Scopes: []keys.Scope{keys.ConfRead, keys.DataRead},
		Created: At.Add(time.Duration(n) * time.Second),
	}
}

// Run runs the suite. open returns an empty store.
func Run(t *testing.T, open func(t *testing.T) keys.Store) {
	t.Run("a new store is empty", func(t *testing.T) { newStoreIsEmpty(t, open(t)) })
	t.Run("a created key is found", func(t *testing.T) { createdKeyIsFound(t, open(t)) })
	t.Run("keys are listed oldest first", func(t *testing.T) { listedOldestFirst(t, open(t)) })
	t.Run("creating the same key again has no effect", func(t *testing.T) { createdAgain(t, open(t)) })
	t.Run("another key with the same ID is refused", func(t *testing.T) { idTaken(t, open(t)) })
	t.Run("revoking twice has no effect", func(t *testing.T) { revokedTwice(t, open(t)) })
	t.Run("concurrent writes are kept", func(t *testing.T) { concurrentWrites(t, open(t)) })
	t.Run("a cancelled call returns context.Canceled", func(t *testing.T) { cancelled(t, open(t)) })
}

func newStoreIsEmpty(t *testing.T, s keys.Store) {
	if list, err := s.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("List: %v, %v", list, err)
	}
	id := Key("none", 0).ID
	if _, err := s.Find(t.Context(), id); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Find: %v, want kind NotFound", err)
	}
	if err := s.Revoke(t.Context(), id, At); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Revoke: %v, want kind NotFound", err)
	}
	if _, err := s.Find(t.Context(), id); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Find after revoking an unknown key: %v, want kind NotFound", err)
	}
}

func createdKeyIsFound(t *testing.T, s keys.Store) {
	full := Key("full", 0)
	full.Branches, full.Expires = []string{"a/b", "prod", "ünï", `with "quotes", and more`}, At.Add(time.Hour)
	full.TokenKey = keys.TokenKey{0, 1, 254, 255}
	for _, want := range []keys.Key{full, Key("bare", 1)} {
		mustCreate(t, s, want)
		got, err := s.Find(t.Context(), want.ID)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
	}
}

func listedOldestFirst(t *testing.T, s keys.Store) {
	var want []keys.Key
	for n := range 30 {
		want = append(want, Key(fmt.Sprint("word ", n), n))
	}
	for n := range want { // created in a different order
		mustCreate(t, s, want[(n*7)%len(want)])
	}
	if err := s.Revoke(t.Context(), want[3].ID, At); err != nil {
		t.Fatal(err)
	}
	want[3].Revoked = At
	got, err := s.List(t.Context())
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func createdAgain(t *testing.T, s keys.Store) {
	k := Key("word", 0)
	mustCreate(t, s, k)
	mustCreate(t, s, k)
	if err := s.Revoke(t.Context(), k.ID, At); err != nil {
		t.Fatal(err)
	}
	mustCreate(t, s, k)
	k.Revoked = At
	got, err := s.List(t.Context())
	if diff := cmp.Diff([]keys.Key{k}, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func idTaken(t *testing.T, s keys.Store) {
	k := Key("word", 0)
	mustCreate(t, s, k)
	other := Key("other", 1)
	other.ID = k.ID
	if err := s.Create(t.Context(), other); fault.KindOf(err) != fault.Conflict {
		t.Errorf("%v, want kind Conflict", err)
	}
	got, err := s.Find(t.Context(), k.ID)
	if diff := cmp.Diff(k, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func revokedTwice(t *testing.T, s keys.Store) {
	k, beside := Key("word", 0), Key("beside", 1)
	mustCreate(t, s, k)
	mustCreate(t, s, beside)
	for n := range 2 {
		if err := s.Revoke(t.Context(), k.ID, At.Add(time.Duration(n)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	k.Revoked = At
	got, err := s.List(t.Context())
	if diff := cmp.Diff([]keys.Key{k, beside}, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func concurrentWrites(t *testing.T, s keys.Store) {
	const callers = 6
	var wg sync.WaitGroup
	for n := range callers {
		wg.Go(func() {
			own := Key(fmt.Sprint("own ", n), n)
			shared := Key("shared", callers)
			for _, k := range []keys.Key{shared, own} {
				if err := s.Create(context.Background(), k); err != nil {
					t.Error(err)
				}
			}
			if err := s.Revoke(context.Background(), own.ID, At); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	list, err := s.List(t.Context())
	if err != nil || len(list) != callers+1 {
		t.Fatalf("%d keys, %v, want %d", len(list), err, callers+1)
	}
	for n, k := range list {
		if (n < callers) != (k.Revoked.Equal(At)) {
			t.Errorf("key %d, %s, was revoked at %v", n, k.Name, k.Revoked)
		}
	}
}

func cancelled(t *testing.T, s keys.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	k := Key("word", 0)
	_, listing := s.List(ctx)
	_, finding := s.Find(ctx, k.ID)
	for name, err := range map[string]error{
		"Create": s.Create(ctx, k), "List": listing, "Find": finding, "Revoke": s.Revoke(ctx, k.ID, At),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want context.Canceled", name, err)
		}
	}
	if list, err := s.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("a cancelled call created %v, %v", list, err)
	}
}

func mustCreate(t *testing.T, s keys.Store, k keys.Key) {
	t.Helper()
	if err := s.Create(t.Context(), k); err != nil {
		t.Fatal(err)
	}
}
