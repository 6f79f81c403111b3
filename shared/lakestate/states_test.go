package lakestate_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/table/tabletest"
)

// countingTable counts the reads of a table. If err is set, reads fail.
type countingTable struct {
	lakestate.Table
	reads int
	err   error
}

func (c *countingTable) Get(ctx context.Context, key lakestate.Key) (lakestate.Item, error) {
	c.reads++
	if c.err != nil {
		return lakestate.Item{}, c.err
	}
	return c.Table.Get(ctx, key)
}

// publish writes the state of a lake.
func publish(t *testing.T, table lakestate.Table, s lakestate.State) {
	t.Helper()
	_, item, err := lakestate.Load(t.Context(), table)
	if err == nil {
		err = lakestate.Replace(t.Context(), table, item, s)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestStatesReadsAgainAfterFiveSeconds(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	table := &countingTable{Table: lakestate.Over(&tabletest.Memory{})}
	states := lakestate.NewStates(table, func() time.Time { return now })
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
	publish(t, table.Table, lakestate.State{Version: 1})
	now = now.Add(4999 * time.Millisecond)
	if v := version(); v != 0 || table.reads != 1 {
		t.Errorf("within five seconds: version %d, %d reads", v, table.reads)
	}
	now = now.Add(time.Millisecond)
	if v := version(); v != 1 || table.reads != 2 {
		t.Errorf("after five seconds: version %d, %d reads", v, table.reads)
	}
	now = now.Add(-time.Hour)
	if version(); table.reads != 3 {
		t.Error("a state read before the clock was set back is still in use")
	}
}

func TestStatesReturnsErrorsOfTheTable(t *testing.T) {
	table := &countingTable{Table: lakestate.Over(&tabletest.Memory{}), err: errors.New("no table")}
	states := lakestate.NewStates(table, time.Now)
	if _, err := states.State(t.Context()); !errors.Is(err, table.err) {
		t.Error(err)
	}
	table.err = nil
	if _, err := states.State(t.Context()); err != nil {
		t.Errorf("after the table has recovered: %v", err)
	}
}
