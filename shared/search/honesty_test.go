package search_test

import (
	"testing"

	"github.com/orrery/orrery/shared/search"
)

// exactOf returns whether an answer reports to be exact.
func exactOf(t *testing.T, r search.Result) bool {
	t.Helper()
	if r.Meta.Exact == nil {
		t.Fatal("the answer does not report whether it is exact")
	}
	return *r.Meta.Exact
}

func TestExact(t *testing.T) {
	for _, route := range everyRoute {
		r := search.Request{Route: route, Filters: hour}
		if route == search.Diff {
			r.Against = "previous"
		}
		t.Run(string(route)+" is exact if no object is missing", func(t *testing.T) {
			if !exactOf(t, ask(t, r)) {
				t.Error("it is not")
			}
			skipping, err := service(t, newPriced(t, 1)).Search(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if exactOf(t, skipping) {
				t.Errorf("it is, without %v", skipping.Meta.Skipped)
			}
		})
	}
	for _, route := range []search.Route{search.Stats, search.TopX} {
		t.Run("percentiles of "+string(route)+" are not exact", func(t *testing.T) {
			if exactOf(t, ask(t, search.Request{Route: route, Figures: "percentiles"})) {
				t.Error("they are")
			}
		})
	}
	t.Run("a dry run has no figures", func(t *testing.T) {
		if r := ask(t, search.Request{Route: search.Stats, DryRun: "true"}); r.Meta.Exact != nil {
			t.Error("it reports whether they are exact")
		}
	})
}

// TestLateIsNotKnown: an answer with since reports that the number of late records is not known, and others do not
// mention it.
func TestLateIsNotKnown(t *testing.T) {
	rows := rowsOf(t, traffic)
	first := find(t, rows, search.Request{Filters: hour})
	if first.Meta.Late != nil {
		t.Error("without since, there are no late records")
	}
	later := find(t, rows, search.Request{Filters: hour, Since: first.Meta.Head})
	if later.Meta.Late == nil || *later.Meta.Late != nil {
		t.Errorf("late is %v", later.Meta.Late)
	}
}
