package lakestate_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/lakestate/lakestatetest"
)

func TestColumnShares(t *testing.T) {
	memory := &lakestatetest.Table{}
	table := &countingTable{Table: memory}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	shares := lakestate.NewColumnShares(table, func() time.Time { return now })
	expect := func(t *testing.T, want map[string]float64, reads int) {
		t.Helper()
		table.reads = 0
		for range 2 {
			got, err := shares.Shares(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		}
		if table.reads != reads {
			t.Errorf("the table was read %d times, want %d", table.reads, reads)
		}
	}
	save := func(t *testing.T, objects int64, columns map[string]int64) {
		t.Helper()
		sizes := lakestate.ColumnSizes{Objects: objects, Columns: columns}
		if err := lakestate.SaveColumnSizes(t.Context(), table, sizes); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("a lake that was not counted has none", func(t *testing.T) { expect(t, nil, 1) })
	t.Run("they are read again after ten minutes", func(t *testing.T) {
		save(t, 1000, map[string]int64{"ip": 250, "host": 500})
		expect(t, nil, 0)
		now = now.Add(10 * time.Minute)
		expect(t, map[string]float64{"ip": 0.25, "host": 0.5}, 1)
	})
	t.Run("later sizes replace earlier ones", func(t *testing.T) {
		save(t, 100, map[string]int64{"ip": 10})
		now = now.Add(10 * time.Minute)
		expect(t, map[string]float64{"ip": 0.1}, 1)
	})
	t.Run("the sizes of another writer stay", func(t *testing.T) {
		table.Table = conflictingTable{memory}
		save(t, 100, map[string]int64{"ip": 90})
		table.Table = memory
		now = now.Add(10 * time.Minute)
		expect(t, map[string]float64{"ip": 0.1}, 1)
	})
	t.Run("a lake without objects has none", func(t *testing.T) {
		save(t, 0, nil)
		now = now.Add(10 * time.Minute)
		expect(t, nil, 1)
	})
	t.Run("a table that fails is an error", func(t *testing.T) {
		table.err = errors.New("no table")
		now = now.Add(10 * time.Minute)
		if _, err := shares.Shares(t.Context()); !errors.Is(err, table.err) {
			t.Error(err)
		}
		if err := lakestate.SaveColumnSizes(t.Context(), table, lakestate.ColumnSizes{}); !errors.Is(err, table.err) {
			t.Error(err)
		}
	})
}

// conflictingTable is a table of which another writer is always first.
type conflictingTable struct{ lakestate.Table }

func (conflictingTable) Write(context.Context, ...lakestate.Change) error {
	return lakestate.ErrConflict
}
