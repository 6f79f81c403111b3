package cloud_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/ingest/cloud"
)

// counted counts reads of a table, and may fail them.
type counted struct {
	cloud.Table
	reads int
	err   error
}

func (c *counted) Get(ctx context.Context, key cloud.Key) (cloud.Item, error) {
	c.reads++
	if c.err != nil {
		return cloud.Item{}, c.err
	}
	return c.Table.Get(ctx, key)
}

func TestAStateIsAtMostFiveSecondsOld(t *testing.T) {
	w := newWorld(t)
	table := &counted{Table: w.table}
	states := cloud.NewStates(table, w.now)
	version := func() int64 {
		t.Helper()
		s, err := states.State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s.Version
	}
	if v := version(); v != 0 {
		t.Errorf("an empty lake has version %d", v)
	}
	w.importLog("raw/a", records(0, 1, 0))
	w.time = w.time.Add(4999 * time.Millisecond)
	if v := version(); v != 0 || table.reads != 1 {
		t.Errorf("within five seconds: version %d, %d reads", v, table.reads)
	}
	w.time = w.time.Add(time.Millisecond)
	if v := version(); v != 1 || table.reads != 2 {
		t.Errorf("after five seconds: version %d, %d reads", v, table.reads)
	}
	w.time = w.time.Add(-time.Hour)
	if version(); table.reads != 3 {
		t.Error("a clock that was set back keeps an answer for an hour")
	}
}

func TestAStateThatCannotBeReadIsAnError(t *testing.T) {
	w := newWorld(t)
	table := &counted{Table: w.table, err: errors.New("no table")}
	states := cloud.NewStates(table, w.now)
	if _, err := states.State(t.Context()); !errors.Is(err, table.err) {
		t.Error(err)
	}
	table.err = nil
	if _, err := states.State(t.Context()); err != nil {
		t.Errorf("once it can be read again: %v", err)
	}
}
