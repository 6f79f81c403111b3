// Package pendingtest has a store of pending queries in memory.
package pendingtest

import (
	"context"
	"iter"
	"time"

	"github.com/orrery/orrery/shared/search/pending"
	"github.com/orrery/orrery/shared/table"
	"github.com/orrery/orrery/shared/table/tabletest"
)

// NewMemory returns a store in memory, whose queries do not expire. It answers so fast that it does so even after the
// context of a call has ended: queries of tests have a nanosecond.
func NewMemory() pending.Store {
	const century = 100 * 365 * 24 * time.Hour
	return pending.Over(fast{&tabletest.Memory{}}, century, func() time.Time { return time.Time{} })
}

type fast struct{ memory *tabletest.Memory }

func (f fast) Get(ctx context.Context, key table.Key) (table.Item, error) {
	return f.memory.Get(context.WithoutCancel(ctx), key)
}

func (f fast) Range(ctx context.Context, r table.Range) iter.Seq2[table.Item, error] {
	return f.memory.Range(context.WithoutCancel(ctx), r)
}

func (f fast) Write(ctx context.Context, changes ...table.Change) error {
	return f.memory.Write(context.WithoutCancel(ctx), changes...)
}
