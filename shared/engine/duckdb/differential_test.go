package duckdb_test

import (
	"testing"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/duckdb"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/lake"
)

func TestDifferential(t *testing.T) { enginetest.Differential(t, over(t)) }

func TestDifferentialNoticesMutations(t *testing.T) { enginetest.Mutations(t, over(t)) }

// over opens an engine over rows.
func over(t *testing.T) func(rows []lake.Row) engine.Engine {
	return func(rows []lake.Row) engine.Engine { return open(t, enginetest.NewStore(t, rows)) }
}

func open(t testing.TB, store *enginetest.Store) *duckdb.Engine {
	t.Helper()
	e, err := duckdb.Open(store, duckdb.Options{AllowedDirs: []string{store.Dir}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func TestSuite(t *testing.T) { enginetest.Run(t, over(t)) }
