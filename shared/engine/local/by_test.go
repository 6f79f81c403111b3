package local_test

import (
	"testing"

	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/query"
)

// TestAnswersNameWhatAnswered: the cost of an answer names the way it was made, and the plan foretells it.
func TestAnswersNameWhatAnswered(t *testing.T) {
	rows := enginetest.Records(t, 100, 5)
	e, sql := open(t, enginetest.NewStore(t, rows)), open(t, enginetest.NewStore(t, rows))
	sql.OnlySQL()
	timeline := query.Timeline{SegmentSeconds: 60}
	for _, c := range []struct {
		name string
		q    query.Query
		want string
	}{
		{"figures", bind(t, hours, timeline), "scan"},
		{"figures of one address", bind(t, hours+`, ip="192.0.2.1"`, timeline), "duckdb"},
		{"records", bind(t, hours, query.Logs{Limit: 3}), "rows"},
		{"records without objects", bind(t, "timestamp between 1999-01-01 and 1999-01-02", query.Logs{Limit: 3}), "rows"},
	} {
		_, cost, err := e.Run(t.Context(), c.q)
		if err != nil || cost.By != c.want {
			t.Errorf("%s: answered by %q, %v; want %q", c.name, cost.By, err, c.want)
		}
		if plan, err := e.Explain(t.Context(), c.q); err != nil || plan.By != c.want {
			t.Errorf("%s: planned for %q, %v; want %q", c.name, plan.By, err, c.want)
		}
	}
	if _, cost, err := sql.Run(t.Context(), bind(t, hours, timeline)); err != nil || cost.By != "duckdb" {
		t.Errorf("without the scan: answered by %q, %v", cost.By, err)
	}
}
