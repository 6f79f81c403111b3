package query_test

import (
	"testing"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/record"
)

// TestTruthTable parses, binds and matches every cell of the truth table.
func TestTruthTable(t *testing.T) {
	decoder := record.NewDecoder()
	seen := map[querytest.State]int{}
	for _, c := range querytest.Cases() {
		q, err := query.Bind(filter.Parse(c.Filter), query.Logs{})
		if err != nil {
			t.Fatalf("%s: %s", c, querytest.Explain(err))
		}
		var row lake.Row
		if _, err := decoder.Decode([]byte(c.Record), &row); err != nil {
			t.Fatalf("%s: decode %s: %v", c, c.Record, err)
		}
		querytest.SetPlace(&row, c.Record)
		if got := query.Match(&q, &row); got != c.Want {
			t.Errorf("%s: matches %s: %v, want %v", c, c.Record, got, c.Want)
		}
		seen[c.State]++
	}
	for _, state := range querytest.States {
		if seen[state] < 100 {
			t.Errorf("only %d cases have state %q", seen[state], state)
		}
	}
}
