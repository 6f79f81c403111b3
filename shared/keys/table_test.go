package keys_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/keys/keystest"
	"github.com/orrery/orrery/shared/table"
	"github.com/orrery/orrery/shared/table/tabletest"
	"github.com/orrery/orrery/shared/testkit/faulttest"
)

// TestItems: the keys of deployments are read, and written as they were.
func TestItems(t *testing.T) {
	const items = "testdata/items.json"
	full, bare, revoked := keystest.Key("full", 0), keystest.Key("bare", 1), keystest.Key("revoked", 2)
	full.Branches, full.Expires = []string{"a/b", "prod", "ünï"}, keystest.At.Add(time.Hour)
	full.TokenKey = keys.TokenKey{0, 1, 254, 255}
	memory := &tabletest.Memory{}
	s, at := keys.Over(memory), keystest.At.Add(time.Minute)
	for _, k := range []keys.Key{full, bare, revoked} {
		if err := s.Create(t.Context(), k); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Revoke(t.Context(), revoked.ID, at); err != nil {
		t.Fatal(err)
	}
	if _, err := s.TokenKeyOf(t.Context(), bare.ID); err != nil {
		t.Fatal(err)
	}
	tabletest.Equal(t, memory, items, "seal")
	revoked.Revoked = at
	s = keys.Over(tabletest.Load(t, items))
	list, err := s.List(t.Context())
	if diff := cmp.Diff([]keys.Key{full, bare, revoked}, list); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if tokenKey, err := s.TokenKeyOf(t.Context(), bare.ID); err != nil || tokenKey.IsZero() {
		t.Error(tokenKey, err)
	}
}

func TestUnknownKeysAreNotFound(t *testing.T) {
	s, id := keys.Over(&tabletest.Memory{}), keystest.Key("none", 0).ID
	for range 2 { // the revocation creates none
		if _, err := s.Find(t.Context(), id); fault.KindOf(err) != fault.NotFound {
			t.Errorf("find: %v, want kind NotFound", err)
		}
		if err := s.Revoke(t.Context(), id, keystest.At); fault.KindOf(err) != fault.NotFound {
			t.Errorf("revoke: %v, want kind NotFound", err)
		}
	}
	if list, err := s.List(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("list: %v, %v", list, err)
	}
}

func TestKeysAreListedOldestFirst(t *testing.T) {
	s := keys.Over(&tabletest.Memory{})
	var want []keys.Key
	for n := range 30 {
		want = append(want, keystest.Key(fmt.Sprint("word ", n), n))
	}
	for n := range want { // created in a different order
		if err := s.Create(t.Context(), want[(n*7)%len(want)]); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.List(t.Context())
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestAnotherKeyWithTheSameIDIsRefused(t *testing.T) {
	s, k, other := keys.Over(&tabletest.Memory{}), keystest.Key("word", 0), keystest.Key("other", 1)
	other.ID = k.ID
	if err := s.Create(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	if err := s.Create(t.Context(), other); fault.KindOf(err) != fault.Conflict {
		t.Errorf("%v, want kind Conflict", err)
	}
	got, err := s.Find(t.Context(), k.ID)
	if diff := cmp.Diff(k, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

// TestRevocationKeepsOtherAttributes: a later version may have added some.
func TestRevocationKeepsOtherAttributes(t *testing.T) {
	memory := tabletest.Load(t, "testdata/items.json")
	key := table.Key{Partition: "keys", Sort: keystest.Key("bare", 1).ID}
	want, err := memory.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	want.Attributes["later"] = "x"
	if err := memory.Write(t.Context(), table.Change{Key: key, Attributes: want.Attributes}); err != nil {
		t.Fatal(err)
	}
	if err := keys.Over(memory).Revoke(t.Context(), key.Sort, keystest.At); err != nil {
		t.Fatal(err)
	}
	want.Attributes["revoked_ms"] = keystest.At.UnixMilli()
	got, err := memory.Get(t.Context(), key)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

// TestEveryCallUnderFaults: a call succeeds after a network fault at any of its requests, and is unavailable if all
// fail. It never reports a key as missing or taken because of the network.
func TestEveryCallUnderFaults(t *testing.T) {
	memory := &tabletest.Memory{}
	there := keystest.Key("there", 0)
	if err := keys.Over(memory).Create(t.Context(), there); err != nil {
		t.Fatal(err)
	}
	calls := map[string]func(s *keys.Items, word string) error{
		"Create":     func(s *keys.Items, word string) error { return s.Create(t.Context(), keystest.Key(word, 1)) },
		"again":      func(s *keys.Items, _ string) error { return s.Create(t.Context(), there) },
		"List":       func(s *keys.Items, _ string) error { _, err := s.List(t.Context()); return err },
		"Find":       func(s *keys.Items, _ string) error { _, err := s.Find(t.Context(), there.ID); return err },
		"Revoke":     func(s *keys.Items, _ string) error { return s.Revoke(t.Context(), there.ID, keystest.At) },
		"TokenKeyOf": func(s *keys.Items, word string) error { _, err := s.TokenKeyOf(t.Context(), word); return err },
	}
	for name, call := range calls {
		for _, f := range tabletest.Survivable {
			for n := range 2 {
				word := fmt.Sprintf("%s with fault %d at request %d", name, f, n)
				t.Run(word, func(t *testing.T) {
					if err := call(keys.Over(tabletest.Behind(memory, faulttest.At(n, f))), word); err != nil {
						t.Errorf("one fault: %v", err)
					}
					if f == faulttest.Duplicate {
						return
					}
					err := call(keys.Over(tabletest.Behind(memory, faulttest.From(0, f))), word+", always")
					if fault.KindOf(err) != fault.Unavailable {
						t.Errorf("only faults: %v, want kind Unavailable", err)
					}
				})
			}
		}
	}
	got, err := keys.Over(memory).Find(t.Context(), there.ID)
	there.Revoked = keystest.At
	if diff := cmp.Diff(there, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

// TestTokenKeys: all processes get the same token key of a key, also if they ask for it at the same time. Token keys are not
// among the keys.
func TestTokenKeys(t *testing.T) {
	s := keys.Over(&tabletest.Memory{})
	made := make([]keys.TokenKey, 8)
	var all sync.WaitGroup
	for i := range made {
		all.Go(func() {
			var err error
			if made[i], err = s.TokenKeyOf(context.Background(), "a"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if made[0].IsZero() || len(slices.Compact(made)) != 1 {
		t.Error("the key has no token key, or several")
	}
	if other, err := s.TokenKeyOf(t.Context(), "b"); err != nil || other == made[0] {
		t.Error("two keys have one token key", err)
	}
	if list, err := s.List(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("there are %d keys, %v", len(list), err)
	}
}

// TestDelayedWrites: the first attempt to create a key may arrive after a second attempt and a revocation. The key
// stays revoked. A delayed revocation does not change the time of an earlier one.
func TestDelayedWrites(t *testing.T) {
	memory := &tabletest.Memory{}
	honest := keys.Over(memory)
	k := keystest.Key("word", 0)
	dies := func(call func(s *keys.Items) error) *faulttest.Transport {
		t.Helper()
		late := false
		network := &faulttest.Transport{Base: tabletest.Calls{}, Script: func(_ int, r *http.Request) faulttest.Fault {
			switch {
			case late:
				return faulttest.Break
			case r.Header.Get("X-Amz-Target") != "Table.Write":
				return faulttest.None
			}
			late = true
			return faulttest.Delay
		}}
		if err := call(keys.Over(tabletest.Remote{Table: memory, Network: network})); fault.KindOf(err) != fault.Unavailable {
			t.Fatalf("error %v", err)
		}
		return network
	}
	creating := dies(func(s *keys.Items) error { return s.Create(t.Context(), k) })
	if err := honest.Create(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	revoking := dies(func(s *keys.Items) error { return s.Revoke(t.Context(), k.ID, keystest.At.Add(time.Hour)) })
	if err := honest.Revoke(t.Context(), k.ID, keystest.At); err != nil {
		t.Fatal(err)
	}
	for _, late := range []*faulttest.Transport{creating, revoking} {
		if n, err := late.Deliver(); n != 1 || err != nil {
			t.Fatalf("%d requests were late, %v", n, err)
		}
		if got, err := honest.Find(t.Context(), k.ID); err != nil || !got.Revoked.Equal(keystest.At) {
			t.Errorf("revoked %v, %v", got.Revoked, err)
		}
	}
}

// TestMalformedItemIsAnError: a malformed list of branches must not become a key for all branches.
func TestMalformedItemIsAnError(t *testing.T) {
	for name, value := range map[string]any{
		"branches": "staging", "hash": "0f", "scopes": "data:read", "created_ms": "now", "seal": "0f", "name": int64(1),
	} {
		memory := tabletest.Load(t, "testdata/items.json")
		key := table.Key{Partition: "keys", Sort: keystest.Key("full", 0).ID}
		item, err := memory.Get(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		item.Attributes[name] = value
		if err := memory.Write(t.Context(), table.Change{Key: key, Attributes: item.Attributes}); err != nil {
			t.Fatal(err)
		}
		s := keys.Over(memory)
		if k, err := s.Find(t.Context(), key.Sort); err == nil {
			t.Errorf("%s %v was read as %+v", name, value, k)
		}
		if list, err := s.List(t.Context()); err == nil {
			t.Errorf("%s %v was listed as %+v", name, value, list)
		}
	}
}
