package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/report"
	"github.com/orrery/orrery/shared/rollup"
)

// TestConditionsAreRolledUp: rollups have the values and percentiles for which reports ask with conditions.
func TestConditionsAreRolledUp(t *testing.T) {
	period := report.Period{FromMs: 7 * 86_400_000, ToMs: 14*86_400_000 - 1}
	before := report.Period{ToMs: period.FromMs - 1}
	s := report.Setting{Template: report.Traffic, Period: period, Previous: &before, Zone: time.UTC}
	asked := map[string]bool{}
	for _, q := range s.Questions() {
		if q.Route != "facets" && q.Route != "stats" {
			continue
		}
		selection := querytest.Selection(q.Params["filters"])
		subsets, rest, ok := rollup.SubsetsOf(selection.Conditions[1:]) // without the period
		if len(subsets) == 0 && ok {
			continue // about all records
		}
		if !ok || rest != nil || len(subsets) != 1 {
			t.Errorf("%s: no rollup has %s", q.Part, q.Params["filters"])
			continue
		}
		f, found := rollup.FilterOf(subsets[0])
		if !found {
			t.Errorf("%s: no filter of rollups selects %s", q.Part, q.Params["filters"])
		}
		asked[f.Text] = true
		if q.Route == "stats" {
			if !f.Durations {
				t.Errorf("%s: rollups lack the durations of %s", q.Part, f.Text)
			}
			continue
		}
		for _, name := range strings.Split(q.Params["by"], ",") {
			if !strings.Contains(","+f.Values+",", ","+name+",") {
				t.Errorf("%s: rollups lack the values of %s in %s", q.Part, name, f.Text)
			}
		}
	}
	if len(asked) != len(rollup.Filters) {
		t.Errorf("reports ask about %d of %d filters of rollups", len(asked), len(rollup.Filters))
	}
}
