package scan

import (
	"container/list"
	"sync"
)

// lru holds values of a limited size together. If there are too many, it removes those that were not asked for the
// longest. It is safe for concurrent use.
type lru[K comparable, V any] struct {
	most int64 // of the sizes of all values

	mu    sync.Mutex
	size  int64
	known map[K]*list.Element // of *sized[K, V]
	order list.List           // the latest first
}

type sized[K comparable, V any] struct {
	key   K
	value V
	size  int64
}

func (c *lru[K, V]) find(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	element, ok := c.known[key]
	if !ok {
		return value, false
	}
	c.order.MoveToFront(element)
	return element.Value.(*sized[K, V]).value, true
}

// add adds a value, or replaces the value of its key.
func (c *lru[K, V]) add(key K, value V, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = map[K]*list.Element{}
	}
	if element, ok := c.known[key]; ok {
		c.remove(element)
	}
	c.known[key] = c.order.PushFront(&sized[K, V]{key, value, size})
	for c.size += size; c.size > c.most; {
		c.remove(c.order.Back())
	}
}

func (c *lru[K, V]) remove(element *list.Element) {
	of := c.order.Remove(element).(*sized[K, V])
	delete(c.known, of.key)
	c.size -= of.size
}

// sizes returns the size of all values together, and their number.
func (c *lru[K, V]) sizes() (size int64, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size, len(c.known)
}

func (c *lru[K, V]) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.size, c.known = 0, nil
	c.order.Init()
}
