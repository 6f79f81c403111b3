// Package lakestatetest has the test suite that every lakestate.Table passes, and a Table in memory.
package lakestatetest

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/orrery/orrery/shared/lakestate"
)

// Table is a lakestate.Table in memory.
type Table struct {
	mu    sync.Mutex
	items map[lakestate.Key]lakestate.Item
}

var _ lakestate.Table = (*Table)(nil)

// Get reads an item.
func (t *Table) Get(ctx context.Context, key lakestate.Key) (lakestate.Item, error) {
	if err := ctx.Err(); err != nil {
		return lakestate.Item{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	item := t.items[key]
	item.Key, item.Body = key, slices.Clone(item.Body)
	return item, nil
}

// List reads the items of a partition.
func (t *Table) List(ctx context.Context, partition, prefix string) ([]lakestate.Item, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var items []lakestate.Item
	for key, item := range t.items {
		if key.Partition == partition && strings.HasPrefix(key.Sort, prefix) {
			item.Body = slices.Clone(item.Body)
			items = append(items, item)
		}
	}
	slices.SortFunc(items, func(a, b lakestate.Item) int { return strings.Compare(a.Key.Sort, b.Key.Sort) })
	return items, nil
}

// Between yields the items of a partition that exist when it begins.
func (t *Table) Between(ctx context.Context, partition, from, to string) iter.Seq2[lakestate.Item, error] {
	return func(yield func(lakestate.Item, error) bool) {
		items, err := t.List(ctx, partition, "")
		if err != nil {
			yield(lakestate.Item{}, err)
			return
		}
		for _, item := range items {
			if item.Key.Sort >= from && item.Key.Sort <= to && !yield(item, nil) {
				return
			}
		}
	}
}

// Write makes all changes or none.
func (t *Table) Write(ctx context.Context, changes ...lakestate.Change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range changes {
		if t.items[c.Key].Revision != c.Seen {
			return lakestate.ErrConflict
		}
	}
	if t.items == nil {
		t.items = map[lakestate.Key]lakestate.Item{}
	}
	for _, c := range changes {
		t.items[c.Key] = lakestate.Item{Key: c.Key, Revision: c.Seen + 1, Body: slices.Clone(c.Body)}
	}
	return nil
}
