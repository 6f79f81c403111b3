package keys_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/keys/keystest"
	"github.com/orrery/orrery/shared/table/tabletest"
)

var reading = []keys.Scope{keys.DataRead}

func open(t *testing.T) keys.Store {
	t.Helper()
	return keys.Over(&tabletest.Memory{})
}

func TestIssueStoresOnlyTheHash(t *testing.T) {
	s := open(t)
	g := keys.Grant{
		Name: "report", Scopes: []keys.Scope{keys.DataRead, keys.ConfRead, keys.DataRead},
		Branches: []string{"b", "a", "b"}, Expires: keystest.At.Add(time.Hour),
	}
	secret, k, err := keys.Issue(t.Context(), s, g, keystest.At)
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`\Aorr_[a-z2-7]{26}\z`).MatchString(secret) {
		t.Errorf("key %q", secret)
	}
	want := keys.Key{
		ID: keys.IDOf(keys.HashOf(secret)), Hash: keys.HashOf(secret),
		Name: "report", Scopes: []keys.Scope{keys.ConfRead, keys.DataRead},
		Branches: []string{"a", "b"}, Created: keystest.At, Expires: keystest.At.Add(time.Hour), TokenKey: k.TokenKey,
	}
	if k.TokenKey.IsZero() {
		t.Error("the key has no token key")
	}
	list, err := s.List(t.Context())
	if diff := cmp.Diff([]keys.Key{want}, list); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if diff := cmp.Diff(want, k); diff != "" {
		t.Error(diff)
	}
	again, other, err := keys.Issue(t.Context(), s, g, keystest.At)
	if err != nil || again == secret || other.TokenKey == k.TokenKey {
		t.Errorf("the same grant gave the same key or token key, %v", err)
	}
	digits := strings.Trim(fmt.Sprintf("%d", k.TokenKey[:]), "[]")
	if text := fmt.Sprintf("%v %+v", k, k); strings.Contains(text, digits) {
		t.Errorf("the token key is printed: %s", text)
	}
}

func TestInvalidGrants(t *testing.T) {
	many := make([]string, 101)
	for i := range many {
		many[i] = fmt.Sprint("b", i)
	}
	onBranches := func(branches ...string) keys.Grant {
		return keys.Grant{Name: "n", Scopes: reading, Branches: branches}
	}
	tests := map[string]struct {
		grant keys.Grant
		want  string
	}{
		"no name":                  {keys.Grant{Scopes: reading}, `"" is not a valid key name`},
		"a name with a line break": {keys.Grant{Name: "a\nb", Scopes: reading}, "is not a valid key name"},
		"a long name": {
			keys.Grant{Name: strings.Repeat("n", 65), Scopes: reading}, "is not a valid key name",
		},
		"no scope": {keys.Grant{Name: "n"}, "data:read, data:write, conf:read, conf:write"},
		"an unknown scope": {
			keys.Grant{Name: "n", Scopes: []keys.Scope{"data:erase"}}, `no scope "data:erase"`,
		},
		"an empty branch": {onBranches("a", ""), `"" is not a valid branch`},
		"an unprintable branch": {onBranches("a\x00"),
			"is not a valid branch",
		},
		"a long branch":   {onBranches(strings.Repeat("b", 129)), "is not a valid branch"},
		"many branches":   {onBranches(many...), "101 branches"},
		"already expired": {keys.Grant{Name: "n", Scopes: reading, Expires: keystest.At}, "is not in the future"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			_, _, err := keys.Issue(t.Context(), s, test.grant, keystest.At)
			if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
			if list, err := s.List(t.Context()); err != nil || len(list) > 0 {
				t.Errorf("it was stored: %v, %v", list, err)
			}
		})
	}
}

func TestRevokeByNameOrID(t *testing.T) {
	s := open(t)
	issue := func(name string) keys.Key {
		_, k, err := keys.Issue(t.Context(), s, keys.Grant{Name: name, Scopes: reading}, keystest.At)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	alone, old, young := issue("alone"), issue("both"), issue("both")
	revoke := func(which string) (keys.Key, error) {
		return keys.Revoke(t.Context(), s, which, keystest.At.Add(time.Minute))
	}
	if k, err := revoke("alone"); err != nil || k.ID != alone.ID || k.Revoked != keystest.At.Add(time.Minute) {
		t.Errorf("by a name that one key has: %+v, %v", k, err)
	}
	_, err := revoke("both")
	if fault.KindOf(err) != fault.Conflict {
		t.Fatalf("by a name that two keys have: %v, want kind Conflict", err)
	}
	for _, k := range []keys.Key{old, young} {
		if !strings.Contains(err.Error(), k.ID) {
			t.Errorf("by a name that two keys have: %v does not contain the ID %s", err, k.ID)
		}
	}
	if k, err := revoke(old.ID); err != nil || k.ID != old.ID {
		t.Errorf("by ID: %+v, %v", k, err)
	}
	if k, err := revoke("both"); err != nil || k.ID != young.ID {
		t.Errorf("by the name that is left: %+v, %v", k, err)
	}
	for _, which := range []string{"both", "none", ""} {
		if _, err := revoke(which); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%q: %v, want kind NotFound", which, err)
		}
	}
	if k, err := revoke(alone.ID); err != nil || k.Revoked != keystest.At.Add(time.Minute) {
		t.Errorf("a second time: %+v, %v", k, err)
	}
}

// storeSpy counts calls of Find and can make them fail.
type storeSpy struct {
	keys.Store
	finds int
	fails error
}

func (w *storeSpy) Find(ctx context.Context, id string) (keys.Key, error) {
	w.finds++
	if w.fails != nil {
		return keys.Key{}, w.fails
	}
	return w.Store.Find(ctx, id)
}

// cacheTest is a cache of a store with one key, and a clock.
type cacheTest struct {
	t      *testing.T
	store  *storeSpy
	cached *keys.Cache
	now    time.Time
	hash   keys.Hash
	id     string

	expires  time.Time
	tokenKey keys.TokenKey
}

func newCacheTest(t *testing.T, expires time.Time) *cacheTest {
	t.Helper()
	b := &cacheTest{t: t, store: &storeSpy{Store: open(t)}, now: keystest.At, expires: expires}
	b.cached = keys.NewCache(b.store, func() time.Time { return b.now })
	grant := keys.Grant{Name: "n", Scopes: reading, Branches: []string{"staging"}, Expires: expires}
	secret, k, err := keys.Issue(t.Context(), b.store, grant, keystest.At)
	if err != nil {
		t.Fatal(err)
	}
	b.hash, b.id, b.tokenKey = keys.HashOf(secret), k.ID, k.TokenKey
	return b
}

// wants checks what Find returns at a time after the start, and how often the store was read until then.
func (b *cacheTest) wants(after time.Duration, ok bool, finds int) {
	b.t.Helper()
	b.now = keystest.At.Add(after)
	key, got, err := b.cached.Find(b.t.Context(), b.hash)
	if err != nil || got != ok || b.store.finds != finds {
		b.t.Errorf("after %s: found %v, %v, with %d requests to the store; want %v, %d requests",
			after, got, err, b.store.finds, ok, finds)
	}
	want := keys.Caller{}
	if ok {
		want = keys.Caller{Name: "n", Scopes: reading, Branches: []string{"staging"}, Expires: b.expires, TokenKey: b.tokenKey}
	}
	if diff := cmp.Diff(want, key); diff != "" {
		b.t.Errorf("after %s: %s", after, diff)
	}
}

func (b *cacheTest) revoke() {
	b.t.Helper()
	if err := b.store.Revoke(b.t.Context(), b.id, b.now); err != nil {
		b.t.Fatal(err)
	}
}

func TestRevokedKeyIsRefusedWithinAMinute(t *testing.T) {
	b := newCacheTest(t, time.Time{})
	b.wants(0, true, 1)
	b.wants(59*time.Second, true, 1)
	b.revoke()
	b.wants(60*time.Second-1, true, 1)
	b.wants(60*time.Second, false, 2)
	b.wants(100*time.Second, false, 2) // the revocation is cached, too
}

// TestEveryInstanceRefusesARevokedKey: each instance refuses the key at most a minute after the revocation.
func TestEveryInstanceRefusesARevokedKey(t *testing.T) {
	b := newCacheTest(t, time.Time{})
	other := &cacheTest{t: t, store: &storeSpy{Store: b.store.Store}, hash: b.hash, id: b.id, tokenKey: b.tokenKey}
	other.cached = keys.NewCache(other.store, func() time.Time { return other.now })
	b.wants(0, true, 1)
	other.wants(30*time.Second, true, 1)
	b.now = keystest.At.Add(31 * time.Second)
	b.revoke()
	b.wants(60*time.Second, false, 2)
	other.wants(60*time.Second, true, 1)
	other.wants(90*time.Second, false, 2)
}

func TestKeyExpiresOnTime(t *testing.T) {
	b := newCacheTest(t, keystest.At.Add(10*time.Second))
	b.wants(0, true, 1)
	b.wants(10*time.Second-1, true, 1)
	b.wants(10*time.Second, false, 1)
}

// TestUnknownKeysAreCachedBriefly: a key created after it was tried works within seconds.
func TestUnknownKeysAreCachedBriefly(t *testing.T) {
	b := newCacheTest(t, time.Time{})
	early := keystest.Key("early", 0)
	b.hash = early.Hash
	b.wants(0, false, 1)
	b.wants(4*time.Second, false, 1)
	if err := b.store.Create(t.Context(), early); err != nil {
		t.Fatal(err)
	}
	b.now = keystest.At.Add(5 * time.Second)
	if _, ok, err := b.cached.Find(t.Context(), early.Hash); !ok || err != nil {
		t.Errorf("after 5 s: %v, %v", ok, err)
	}
}

// TestWholeHashIsCompared: the ID of a key, the start of its hash, is not secret.
func TestWholeHashIsCompared(t *testing.T) {
	b := newCacheTest(t, time.Time{})
	right := b.hash
	for _, remembered := range []bool{false, true} {
		b.hash[31] ^= 1
		b.wants(0, false, map[bool]int{false: 1, true: 2}[remembered])
		b.hash = right
		b.wants(0, true, 2)
	}
}

// TestExpiredAnswersAreNotUsed: expired answers are not used even if the store is down.
func TestExpiredAnswersAreNotUsed(t *testing.T) {
	b := newCacheTest(t, time.Time{})
	b.wants(0, true, 1)
	b.store.fails = fault.Wrap(fault.Unavailable, errors.New("connection refused"), "find key")
	b.wants(59*time.Second, true, 1)
	b.now = keystest.At.Add(60 * time.Second)
	if _, ok, err := b.cached.Find(t.Context(), b.hash); ok || fault.KindOf(err) != fault.Unavailable {
		t.Errorf("%v, %v", ok, err)
	}
	b.store.fails = nil
	b.wants(61*time.Second, true, 3)
}

// TestCacheOfUnknownKeysIsBounded: the cache is bounded, and a known key is still found.
func TestCacheOfUnknownKeysIsBounded(t *testing.T) {
	b := newCacheTest(t, time.Time{})
	first := keys.HashOf("guess 0")
	for n := range 5000 {
		if _, ok, err := b.cached.Find(t.Context(), keys.HashOf(fmt.Sprint("guess ", n))); ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	b.wants(0, true, 5001)
	if _, _, err := b.cached.Find(t.Context(), first); err != nil || b.store.finds != 5002 {
		t.Errorf("the first of 5,000 is still cached, %v", err)
	}
	b.wants(0, true, 5002)
}

func TestConcurrentCallers(t *testing.T) {
	s := open(t)
	cached := keys.NewCache(s, time.Now)
	secret, _, err := keys.Issue(t.Context(), s, keys.Grant{Name: "n", Scopes: reading}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			for i := range 200 {
				word, real := fmt.Sprint(n, " guess ", i), i%2 == 0
				if real {
					word = secret
				}
				if _, ok, err := cached.Find(context.Background(), keys.HashOf(word)); ok != real || err != nil {
					t.Error(word, ok, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestUnionTriesSourcesInOrder(t *testing.T) {
	failing := keys.NewCache(&storeSpy{fails: errors.New("down")}, time.Now)
	union := keys.Union{keys.OneKey("static"), failing}
	caller, ok, err := union.Find(t.Context(), keys.HashOf("static"))
	if !ok || err != nil || !caller.Allows(keys.ConfWrite) {
		t.Errorf("the first source: %+v, %v, %v", caller, ok, err)
	}
	if _, ok, err := union.Find(t.Context(), keys.HashOf("other")); ok || err == nil {
		t.Errorf("error of the second source: %v, %v", ok, err)
	}
	union = keys.Union{keys.OneKey("a"), keys.OneKey("b")}
	if _, ok, err := union.Find(t.Context(), keys.HashOf("c")); ok || err != nil {
		t.Errorf("unknown to all sources: %v, %v", ok, err)
	}
}
