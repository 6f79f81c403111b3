package tabletest

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/orrery/orrery/shared/table"
)

// Memory is a table.Table in memory. The zero value is empty and ready to use. Its items do not expire.
type Memory struct {
	mu    sync.Mutex
	items map[table.Key]table.Attributes
}

var _ table.Table = (*Memory)(nil)

// Get reads an item.
func (m *Memory) Get(ctx context.Context, key table.Key) (table.Item, error) {
	if err := ctx.Err(); err != nil {
		return table.Item{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return table.Item{Key: key, Attributes: copyOf(m.items[key])}, nil
}

// Range yields the items that exist when it begins.
func (m *Memory) Range(ctx context.Context, r table.Range) iter.Seq2[table.Item, error] {
	return func(yield func(table.Item, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(table.Item{}, err)
			return
		}
		for _, item := range m.within(r) {
			if !yield(item, nil) {
				return
			}
		}
	}
}

func (m *Memory) within(r table.Range) []table.Item {
	items := m.all(func(key table.Key) bool {
		return key.Partition == r.Partition && strings.HasPrefix(key.Sort, r.Prefix) &&
			key.Sort >= r.From && (r.To == "" || key.Sort <= r.To)
	})
	if r.Backwards {
		slices.Reverse(items)
	}
	if r.Limit > 0 {
		items = items[:min(r.Limit, len(items))]
	}
	return items
}

// all returns copies of the items with certain keys, in the order of their keys.
func (m *Memory) all(with func(table.Key) bool) []table.Item {
	m.mu.Lock()
	defer m.mu.Unlock()
	var items []table.Item
	for key, attributes := range m.items {
		if with(key) {
			items = append(items, table.Item{Key: key, Attributes: copyOf(attributes)})
		}
	}
	slices.SortFunc(items, func(a, b table.Item) int {
		if byPartition := strings.Compare(a.Key.Partition, b.Key.Partition); byPartition != 0 {
			return byPartition
		}
		return strings.Compare(a.Key.Sort, b.Key.Sort)
	})
	return items
}

// Write makes all changes or none.
func (m *Memory) Write(ctx context.Context, changes ...table.Change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range changes {
		if !c.When.Holds(table.Item{Key: c.Key, Attributes: m.items[c.Key]}) {
			return table.ErrConflict
		}
	}
	if m.items == nil {
		m.items = map[table.Key]table.Attributes{}
	}
	for _, c := range changes {
		if c.Attributes == nil {
			delete(m.items, c.Key)
		} else {
			m.items[c.Key] = copyOf(c.Attributes)
		}
	}
	return nil
}

func copyOf(attributes table.Attributes) table.Attributes {
	attributes = maps.Clone(attributes)
	for name, value := range attributes {
		switch value := value.(type) {
		case []byte:
			attributes[name] = slices.Clone(value)
		case []string:
			attributes[name] = slices.Clone(value)
		}
	}
	return attributes
}
