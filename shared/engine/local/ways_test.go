package local_test

import (
	"testing"

	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/local"
	"github.com/orrery/orrery/shared/query"
)

// wayCase is a query and the way it is answered.
type wayCase struct {
	name, filter string
	shape        query.Shape
	want         string
}

// TestCostAndPlanNameTheWay: the cost of an answer names the way it was made, and so does the plan.
func TestCostAndPlanNameTheWay(t *testing.T) {
	store := enginetest.NewStore(t, enginetest.Records(t, 100, 5))
	timeline, logs := query.Timeline{SegmentSeconds: 60}, query.Logs{Limit: 3}
	const noData = "timestamp between 1999-01-01 and 1999-01-02"

	t.Run("with DuckDB", func(t *testing.T) {
		checkWays(t, open(t, store), "duckdb", []wayCase{
			{"figures", hours, timeline, "scan"},
			{"figures of one address", hours + oneAddress, timeline, "duckdb"},
			{"records", hours, logs, "rows"},
			{"records of one address", hours + oneAddress, logs, "rows"},
			{"records without objects", noData, logs, "rows"},
		})
	})
	t.Run("without the scan", func(t *testing.T) {
		e := open(t, store)
		e.OnlySQL()
		checkWays(t, e, "duckdb", []wayCase{{"figures", hours, timeline, "duckdb"}, {"records", hours, logs, "rows"}})
	})
	t.Run("without DuckDB", func(t *testing.T) {
		checkWays(t, openWithout(t, store), "scan", []wayCase{
			{"figures", hours, timeline, "scan"},
			{"figures of one address", hours + oneAddress, timeline, "scan"},
			{"records", hours, logs, "rows"},
			{"records of one address", hours + oneAddress, logs, "rows"},
			{"records without objects", noData, logs, "rows"},
		})
	})
}

func checkWays(t *testing.T, e *local.Engine, name string, cases []wayCase) {
	t.Helper()
	if e.Name() != name {
		t.Errorf("the engine's name is %q, want %q", e.Name(), name)
	}
	for _, c := range cases {
		q := bind(t, c.filter, c.shape)
		_, cost, err := e.Run(t.Context(), q)
		if err != nil || cost.By != c.want {
			t.Errorf("%s: answered by %q, %v; want %q", c.name, cost.By, err, c.want)
		}
		plan, err := e.Explain(t.Context(), q)
		if err != nil || plan.By != c.want {
			t.Errorf("%s: planned for %q, %v; want %q", c.name, plan.By, err, c.want)
		}
	}
}
