package keys

import (
	"context"
	"sync"
	"time"

	"github.com/orrery/orrery/shared/fault"
)

// How long answers of the store are cached. A revoked key is refused at most knownFor after its revocation. A key that
// was tried before it was created is accepted at most unknownFor after that.
const (
	knownFor   = 60 * time.Second
	unknownFor = 5 * time.Second
)

// maxCached bounds the cached keys, and separately the cached unknown hashes, so that a caller who tries many keys
// cannot fill the memory.
const maxCached = 1024

// Cache finds callers in a store and caches its answers. It implements Callers.
//
// If the store fails, cached answers are used until they expire. After that Find returns the store's error.
type Cache struct {
	store Store
	now   func() time.Time

	mu      sync.Mutex
	known   map[string]cacheEntry // by ID
	unknown map[Hash]time.Time
}

type cacheEntry struct {
	key   Key
	asked time.Time // just before the request to the store
}

var _ Callers = (*Cache)(nil)

// NewCache returns a cache of a store.
func NewCache(store Store, now func() time.Time) *Cache {
	return &Cache{store: store, now: now, known: map[string]cacheEntry{}, unknown: map[Hash]time.Time{}}
}

// Find implements Callers. Keys are looked up by their ID, a public part of the hash. The whole hash is then compared
// in constant time.
func (c *Cache) Find(ctx context.Context, hash Hash) (Caller, bool, error) {
	now := c.now()
	k, ok, err := c.find(ctx, hash, now)
	if err != nil || !ok || k.State(now) != usable {
		return Caller{}, false, err
	}
	return k.caller(), true, nil
}

// find returns the key with the hash, even if it is revoked or expired.
func (c *Cache) find(ctx context.Context, hash Hash, now time.Time) (Key, bool, error) {
	id := IDOf(hash)
	if k, hit := c.lookup(id, hash, now); hit {
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
	if c.known[id].asked.After(now) { // a later request has been answered already
		return k, true, nil
	}
	makeRoom(c.known, func(r cacheEntry) bool { return now.Sub(r.asked) >= knownFor })
	c.known[id] = cacheEntry{k, now}
	return k, true, nil
}

// lookup returns a cached answer. For an unknown key it is the zero Key, whose hash matches no key.
func (c *Cache) lookup(id string, hash Hash, now time.Time) (k Key, hit bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r, ok := c.known[id]; ok && now.Sub(r.asked) < knownFor {
		return r.key, true
	}
	asked, ok := c.unknown[hash]
	return Key{}, ok && now.Sub(asked) < unknownFor
}

// makeRoom removes the old entries of a full map, or all entries if none is old.
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
