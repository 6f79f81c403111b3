package lakestate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/orrery/orrery/shared/engine"
)

// ColumnSizes are the sizes of the columns of all objects of the lake together, when they were counted last.
type ColumnSizes struct {
	Objects int64            `json:"objects"` // bytes of the whole objects
	Columns map[string]int64 `json:"columns"` // compressed bytes of each column, by name
}

// columnSizesKey is the key of the item with the ColumnSizes.
var columnSizesKey = Key{Partition: "lake", Sort: "columns"}

// SaveColumnSizes replaces the sizes in the table. If another writer is first, its sizes stay.
func SaveColumnSizes(ctx context.Context, table Table, sizes ColumnSizes) error {
	item, err := table.Get(ctx, columnSizesKey)
	if err == nil {
		var change Change
		if change, err = ChangeOf(item, sizes); err == nil {
			err = table.Write(ctx, change)
		}
	}
	if err != nil && !errors.Is(err, ErrConflict) {
		return fmt.Errorf("save the sizes of the columns: %w", err)
	}
	return nil
}

// columnsAge is how long ColumnShares keeps what it has read. The sizes change once a day.
const columnsAge = 10 * time.Minute

// ColumnShares knows the share of each column in the objects of a lake.
type ColumnShares struct {
	table Table
	now   func() time.Time

	mu   sync.Mutex
	last map[string]float64
	read time.Time // zero before the first read
}

var _ engine.ColumnShares = (*ColumnShares)(nil)

// NewColumnShares returns ColumnShares from the sizes in a table. now is the clock by which they age.
func NewColumnShares(table Table, now func() time.Time) *ColumnShares {
	return &ColumnShares{table: table, now: now}
}

// Shares returns the bytes of each column per byte of the objects, or nil if they have not been counted.
func (s *ColumnShares) Shares(ctx context.Context) (map[string]float64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if age := now.Sub(s.read); !s.read.IsZero() && age >= 0 && age < columnsAge {
		return s.last, nil
	}
	var sizes ColumnSizes
	item, err := s.table.Get(ctx, columnSizesKey)
	if err == nil {
		err = item.Read(&sizes)
	}
	if err != nil {
		return nil, fmt.Errorf("read the sizes of the columns: %w", err)
	}
	s.read, s.last = now, nil
	if sizes.Objects > 0 {
		s.last = make(map[string]float64, len(sizes.Columns))
		for name, bytes := range sizes.Columns {
			s.last[name] = float64(bytes) / float64(sizes.Objects)
		}
	}
	return s.last, nil
}
