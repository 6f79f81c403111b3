package local_test

import (
	"context"
	"os"
	"testing"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/local"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// open opens an engine with a DuckDB that may read the folders, by default all temporary files.
func open(t testing.TB, index engine.Index, folders ...string) *local.Engine {
	t.Helper()
	if folders == nil {
		folders = []string{os.TempDir()}
	}
	return newEngine(t, index, openDuckDB(t, folders), scan.Options{})
}

// openWithout opens an engine without DuckDB.
func openWithout(t testing.TB, index engine.Index, _ ...string) *local.Engine {
	t.Helper()
	return newEngine(t, index, nil, scan.Options{})
}

func newEngine(t testing.TB, index engine.Index, duckDB local.DuckDB, options scan.Options) *local.Engine {
	t.Helper()
	e, err := local.New(index, duckDB, options)
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

// eachEngine runs a test with and without DuckDB.
func eachEngine(t *testing.T, test func(t *testing.T, open openFunc)) {
	t.Run("with DuckDB", func(t *testing.T) { test(t, open) })
	t.Run("without DuckDB", func(t *testing.T) { test(t, openWithout) })
}

type openFunc func(t testing.TB, index engine.Index, folders ...string) *local.Engine

// TestDifferential compares every answer with the reference. Both the scan and DuckDB answer.
func TestDifferential(t *testing.T) {
	needDuckDB(t)
	var e *twoWays
	enginetest.Differential(t, func(rows []lake.Row) engine.Engine {
		e = bothWays(t, enginetest.NewStore(t, rows))
		return e
	})
	for _, c := range []struct {
		name  string
		count *counter
	}{{"figures", &e.figures}, {"logs", &e.logs}} {
		scanned, all := c.count.scanned.Load(), c.count.all.Load()
		t.Logf("the scan answered %d of %d queries for %s", scanned, all, c.name)
		if scanned < all*3/4 {
			t.Errorf("the scan answered only %d of %d queries for %s", scanned, all, c.name)
		}
	}
}

// TestDifferentialWithoutDuckDB: the scan alone answers every query.
func TestDifferentialWithoutDuckDB(t *testing.T) {
	enginetest.Differential(t, func(rows []lake.Row) engine.Engine {
		return openWithout(t, enginetest.NewStore(t, rows))
	})
}

func TestDifferentialNoticesMutations(t *testing.T) {
	needDuckDB(t)
	enginetest.Mutations(t, func(rows []lake.Row) engine.Engine { return open(t, enginetest.NewStore(t, rows)) })
}

func TestSuite(t *testing.T) {
	needDuckDB(t)
	enginetest.Run(t, func(rows []lake.Row) engine.Engine { return bothWays(t, enginetest.NewStore(t, rows)) })
}

func TestSuiteWithoutDuckDB(t *testing.T) {
	enginetest.Run(t, func(rows []lake.Row) engine.Engine {
		return withoutSQL{Engine: openWithout(t, enginetest.NewStore(t, rows)), t: t}
	})
}

// withoutSQL checks that plans have no SQL, and adds some, because the suite expects it of every engine.
type withoutSQL struct {
	*local.Engine
	t *testing.T
}

func (e withoutSQL) Explain(ctx context.Context, q query.Query) (engine.Plan, error) {
	plan, err := e.Engine.Explain(ctx, q)
	if len(plan.SQL) > 0 {
		e.t.Errorf("%s: the plan of an engine without DuckDB has SQL", q)
	}
	plan.SQL = []engine.Statement{{Title: "none", SQL: "SELECT"}}
	return plan, err
}
