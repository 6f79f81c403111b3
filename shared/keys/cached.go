package keys

import (
	"context"
	"sync"
	"time"

	"github.com/orrery/orrery/shared/fault"
)

// How long what a store said is believed. A revoked key is refused at most knownFor after it was revoked, a new one
// accepted at most unknownFor after somebody tried it too early.
const (
	knownFor   = 60 * time.Second
	unknownFor = 5 * time.Second
)

// mostRemembered is how many keys are remembered, and how many that are none: whoever tries many must not fill the
// memory.
const mostRemembered = 1024

// Cached knows the callers from a store, and remembers what it said for a while. It implements Callers.
//
// A store that cannot be asked is an error once what it said is too old: nobody gets in on old knowledge.
type Cached struct {
	store Store
	now   func() time.Time

	mu      sync.Mutex
	known   map[string]remembered // by ID
	unknown map[Hash]time.Time
}

type remembered struct {
	key   Key
	asked time.Time // before the store was asked
}

var _ Callers = (*Cached)(nil)

// NewCached is a cache over a store.
func NewCached(store Store, now func() time.Time) *Cached {
	return &Cached{store: store, now: now, known: map[string]remembered{}, unknown: map[Hash]time.Time{}}
}

// Find implements Callers. Keys are looked up by a part of their hash that is no secret, and the whole is compared in
// constant time: how long it takes tells nothing of how much of a hash was right.
func (c *Cached) Find(ctx context.Context, hash Hash) (Caller, bool, error) {
	now := c.now()
	k, ok, err := c.find(ctx, hash, now)
	if err != nil || !ok || k.State(now) != usable {
		return Caller{}, false, err
	}
	return k.caller(), true, nil
}

// find gives the key with that hash, usable or not.
func (c *Cached) find(ctx context.Context, hash Hash, now time.Time) (Key, bool, error) {
	id := IDOf(hash)
	if k, answered := c.remember(id, hash, now); answered {
		return k, k.Hash.equal(hash), nil
	}
	k, err := c.store.Find(ctx, id)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return Key{}, false, err
	}
	ok := err == nil && k.Hash.equal(hash)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !ok {
		makeRoom(c.unknown, func(asked time.Time) bool { return now.Sub(asked) >= unknownFor })
		c.unknown[hash] = now
		delete(c.known, id)
		return Key{}, false, nil
	}
	if c.known[id].asked.After(now) { // somebody who asked later was answered first
		return k, true, nil
	}
	makeRoom(c.known, func(r remembered) bool { return now.Sub(r.asked) >= knownFor })
	c.known[id] = remembered{k, now}
	return k, true, nil
}

// remember tells what the store said not long ago. The zero Key, whose hash is that of no key, stands for none.
func (c *Cached) remember(id string, hash Hash, now time.Time) (k Key, answered bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r, ok := c.known[id]; ok && now.Sub(r.asked) < knownFor {
		return r.key, true
	}
	asked, ok := c.unknown[hash]
	return Key{}, ok && now.Sub(asked) < unknownFor
}

// makeRoom keeps a map bounded: what is old goes first, and if nothing is, everything.
func makeRoom[K comparable, V any](m map[K]V, old func(V) bool) {
	if len(m) < mostRemembered {
		return
	}
	for key, value := range m {
		if old(value) {
			delete(m, key)
		}
	}
	if len(m) >= mostRemembered {
		clear(m)
	}
}
