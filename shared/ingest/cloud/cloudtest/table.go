// Package cloudtest has the suite that every cloud.Table passes, and one in memory.
package cloudtest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/orrery/orrery/shared/ingest/cloud"
)

// Table is a cloud.Table in memory.
type Table struct {
	mu    sync.Mutex
	items map[cloud.Key]cloud.Item
}

var _ cloud.Table = (*Table)(nil)

// Get reads an item.
func (t *Table) Get(ctx context.Context, key cloud.Key) (cloud.Item, error) {
	if err := ctx.Err(); err != nil {
		return cloud.Item{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	item := t.items[key]
	item.Key, item.Body = key, slices.Clone(item.Body)
	return item, nil
}

// List reads the items of a partition.
func (t *Table) List(ctx context.Context, partition, prefix string) ([]cloud.Item, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	keys := slices.SortedFunc(maps.Keys(t.items), func(a, b cloud.Key) int { return strings.Compare(a.Sort, b.Sort) })
	var items []cloud.Item
	for _, key := range keys {
		if key.Partition == partition && strings.HasPrefix(key.Sort, prefix) {
			item := t.items[key]
			item.Body = slices.Clone(item.Body)
			items = append(items, item)
		}
	}
	return items, nil
}

// Write makes all changes or none.
func (t *Table) Write(ctx context.Context, changes ...cloud.Change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range changes {
		if t.items[c.Key].Revision != c.Seen {
			return cloud.ErrConflict
		}
	}
	if t.items == nil {
		t.items = map[cloud.Key]cloud.Item{}
	}
	for _, c := range changes {
		t.items[c.Key] = cloud.Item{Key: c.Key, Revision: c.Seen + 1, Body: slices.Clone(c.Body)}
	}
	return nil
}
