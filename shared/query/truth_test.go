package query_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/record"
)

var update = flag.Bool("update", false, "write golden files anew")

// TestTruthTable runs every cell of the truth table from text to verdict.
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
			t.Errorf("%s: holds for %s: %v, want %v", c, c.Record, got, c.Want)
		}
		seen[c.State]++
	}
	for _, state := range querytest.States {
		if seen[state] < 100 {
			t.Errorf("state %q comes up only %d times", state, seen[state])
		}
	}
}

// TestTruthTableIsPublished holds truth.md to the verdicts that TestTruthTable executes.
func TestTruthTableIsPublished(t *testing.T) {
	var b strings.Builder
	b.WriteString("# What a condition says of a record\n\n" +
		"Every condition is two-valued: it holds or it does not, also where the record has nothing. `not` is the exact\n" +
		"complement. So `status != 403` keeps records without a status, and `blocked is false` does not find a record\n" +
		"without `blocked`, while `not blocked is true` does. A condition on a field with several values holds when any of\n" +
		"them passes; negated, when none does.\n\n" +
		"Tests run this table, for every field, on the reference evaluator and on every engine.\n\n" +
		"| operator |")
	for _, state := range querytest.States {
		fmt.Fprintf(&b, " %s |", state)
	}
	b.WriteString("\n|---|" + strings.Repeat(":-:|", len(querytest.States)) + "\n")
	for _, o := range catalog.Operators {
		for _, negated := range []bool{false, true} {
			name := o.Op.String()
			if negated {
				name = "not " + name
			}
			fmt.Fprintf(&b, "| `%s` |", name)
			for _, state := range querytest.States {
				verdict := querytest.Verdict(state, negated)
				if state == querytest.Absent && verdict != (o.Absent != negated) {
					t.Errorf("the catalogue says %v of an absent value under %s, the truth table %v", o.Absent, o.Op, verdict)
				}
				fmt.Fprintf(&b, " %s |", map[bool]string{true: "holds", false: "–"}[verdict])
			}
			b.WriteByte('\n')
		}
	}
	b.WriteString("\nA field that has one value is never in the last three states. `timestamp` and `time_period` are never absent: a\n" +
		"record without `time_period` has its `timestamp` in whole seconds. `svcid` and `svcsessionid` are the first cookie\n" +
		"of that name.\n")
	golden(t, "truth.md", b.String())
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
