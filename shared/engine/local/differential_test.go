package local_test

import (
	"os"
	"testing"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/duckdb"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/local"
	"github.com/orrery/orrery/shared/lake"
)

// TestDifferential compares every answer with the reference; figures are asked both of the scan and of DuckDB.
func TestDifferential(t *testing.T) {
	var e *twoWays
	enginetest.Differential(t, func(rows []lake.Row) engine.Engine {
		e = bothWays(t, enginetest.NewStore(t, rows))
		return e
	})
	scanned, figures := e.scanned.Load(), e.figures.Load()
	t.Logf("the scan has answered %d of %d queries for figures", scanned, figures)
	if scanned < figures*3/4 {
		t.Errorf("the scan has answered only %d of %d queries for figures", scanned, figures)
	}
}

func TestDifferentialNoticesMutations(t *testing.T) { enginetest.Mutations(t, over(t)) }

// over opens an engine over rows.
func over(t *testing.T) func(rows []lake.Row) engine.Engine {
	return func(rows []lake.Row) engine.Engine { return open(t, enginetest.NewStore(t, rows)) }
}

// open opens an engine that may read the folders, else all temporary files.
func open(t testing.TB, index engine.Index, folders ...string) *local.Engine {
	t.Helper()
	if folders == nil {
		folders = []string{os.TempDir()}
	}
	db, err := duckdb.Open(duckdb.Options{AllowedDirs: folders})
	if err != nil {
		t.Fatal(err)
	}
	e, err := local.New(index, db)
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

func TestSuite(t *testing.T) {
	enginetest.Run(t, func(rows []lake.Row) engine.Engine { return bothWays(t, enginetest.NewStore(t, rows)) })
}
