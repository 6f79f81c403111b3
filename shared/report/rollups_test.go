package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/report"
	"github.com/orrery/orrery/shared/rollup"
)

// TestFacetsAreRolledUp: rollups have the values for which reports ask.
func TestFacetsAreRolledUp(t *testing.T) {
	period := report.Period{FromMs: 7 * 86_400_000, ToMs: 14*86_400_000 - 1}
	before := report.Period{ToMs: period.FromMs - 1}
	s := report.Setting{Template: report.Traffic, Period: period, Previous: &before, Zone: time.UTC}
	asked := map[string]bool{}
	for _, q := range s.Questions() {
		if q.Route != "facets" {
			continue
		}
		selection := querytest.Selection(q.Params["filters"])
		subsets, rest, ok := rollup.SubsetsOf(selection.Conditions[1:]) // without the period
		if len(subsets) == 0 && ok {
			continue // a test of rollups has the values of all records
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
		for _, name := range strings.Split(q.Params["by"], ",") {
			if !strings.Contains(","+f.Values+",", ","+name+",") {
				t.Errorf("%s: rollups lack the values of %s in %s", q.Part, name, f.Text)
			}
		}
	}
	if len(asked) != len(rollup.Filters) {
		t.Errorf("reports ask about %d of %d filters of rollups", len(asked), len(rollup.Filters))
	}
	for _, f := range rollup.Filters {
		if _, err := query.ParseDimensions(f.Values); err != nil {
			t.Error(err)
		}
	}
}
