package query_test

import (
	"flag"
	"os"
	"testing"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/record"
)

var update = flag.Bool("update", false, "write golden files anew")

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

// golden compares with a file, or writes it under -update.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is out of date; read the difference that -update makes\ngot:\n%s", path, got)
	}
}
