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

// maxCached is how many keys are remembered, and how many that are none: whoever tries many must not fill the
// memory.
const maxCached = 1024

// Cache knows the callers from a store, and remembers what it said for a while. It implements Callers.
//
// A store that cannot be asked is an error once what it said is too old: nobody gets in on old knowledge.
type Cache struct {
	store Store
	now   func() time.Time

	mu      sync.Mutex
	known   map[string]cacheEntry // by ID
	unknown map[Hash]time.Time
}

type cacheEntry struct {
	key   Key
	asked time.Time // before the store was asked
}

var _ Callers = (*Cache)(nil)

// NewCache is a cache over a store.
func NewCache(store Store, now func() time.Time) *Cache {
	return &Cache{store: store, now: now, known: map[string]cacheEntry{}, unknown: map[Hash]time.Time{}}
}

// Find implements Callers. Keys are looked up by a part of their hash that is no secret, and the whole is compared in
// constant time: how long it takes tells nothing of how much of a hash was right.
func (c *Cache) Find(ctx context.Context, hash Hash) (Caller, bool, error) {
	now := c.now()
	k, ok, err := c.find(ctx, hash, now)
	if err != nil || !ok || k.State(now) != usable {
		return Caller{}, false, err
	}
	return k.caller(), true, nil
}

// find gives the key with that hash, usable or not.
func (c *Cache) find(ctx context.Context, hash Hash, now time.Time) (Key, bool, error) {
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
	makeRoom(c.known, func(r cacheEntry) bool { return now.Sub(r.asked) >= knownFor })
	c.known[id] = cacheEntry{k, now}
	return k, true, nil
}

// remember tells what the store said not long ago. The zero Key, whose hash is that of no key, stands for none.
func (c *Cache) remember(id string, hash Hash, now time.Time) (k Key, answered bool) {
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
	if len(m) < maxCached {
		return
	}
	for key, value := range m {
		if old(value) {
			delete(m, key)
		}
	}
	if len(m) >= maxCached {
		clear(m)
	}
}
