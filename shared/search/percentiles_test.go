package search_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
)

func TestSearchStatsByField(t *testing.T) {
	value := func(group string) []any {
		var values []any
		for _, r := range ask(t, search.Request{Route: search.Stats, GroupBy: group, Segment: "1h"}).Stats {
			if r.Hostname != nil || r.Percentiles != nil {
				t.Errorf("grouped by %s: %+v has a hostname or percentiles", group, r)
			}
			values = append(values, r.Value)
		}
		return values
	}
	for group, want := range map[string][]any{
		"status":            {int64(200), int64(403)},
		"blocked":           {true, nil},
		`headers["absent"]`: {nil},
	} {
		t.Run(group, func(t *testing.T) {
			if diff := cmp.Diff(want, value(group)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestPercentilesAreAnswersOfTheirOwn checks that other members do not change if percentiles are asked for, and that
// answers without them have no trace of them.
func TestPercentilesAreAnswersOfTheirOwn(t *testing.T) {
	for _, r := range []search.Request{
		{Route: search.Stats},
		{Route: search.Stats, GroupBy: "hostname"},
		{Route: search.Stats, GroupBy: "status"},
		{Route: search.TopX, Limit: "2"},
	} {
		t.Run(string(r.Route)+" "+r.GroupBy, func(t *testing.T) {
			members := func(r search.Request) []map[string]any {
				t.Helper()
				result := ask(t, r)
				if (result.Meta.Percentiles != nil) != (r.Figures != "") {
					t.Errorf("meta.percentiles %+v with figures=%s", result.Meta.Percentiles, r.Figures)
				}
				text, err := json.Marshal(append([]any{result.Stats}, result.TopX))
				if err != nil {
					t.Fatal(err)
				}
				var lists [2][]map[string]any
				if err := json.Unmarshal(text, &lists); err != nil {
					t.Fatal(err)
				}
				return slices.Concat(lists[:]...)
			}
			plain := members(r)
			r.Figures = "percentiles"
			with := members(r)
			for _, result := range with {
				before := len(result)
				maps.DeleteFunc(result, func(name string, _ any) bool {
					return strings.HasPrefix(name, "p50_") || strings.HasPrefix(name, "p90_") ||
						strings.HasPrefix(name, "p99_")
				})
				if before-len(result) != 9 {
					t.Errorf("%d percentiles of %v, want 9", before-len(result), result)
				}
			}
			if diff := cmp.Diff(plain, with); diff != "" {
				t.Errorf("percentiles change other members (-without +with):\n%s", diff)
			}
		})
	}
}

func TestTooManyGroupsAreAnError(t *testing.T) {
	s := service(t, manyGroups{oracle{rows: rowsOf(t, traffic)}})
	r := search.Request{Route: search.Stats, GroupBy: "ip", Filters: "timestamp between 2026-01-01 and 2026-01-02"}
	if _, err := s.Search(t.Context(), r); fault.KindOf(err) != fault.EngineLimit {
		t.Errorf("error %v, want kind EngineLimit", err)
	}
	r.GroupBy = "hostname"
	if _, err := s.Search(t.Context(), r); err != nil {
		t.Errorf("grouped by hostname, whose number is not limited: %v", err)
	}
}

// TestTooManyValuesAreAnError: the limit is the same for every engine, because each counts the different values.
func TestTooManyValuesAreAnError(t *testing.T) {
	const half = query.MaxDistinct / 2
	for name, c := range map[string]struct {
		request search.Request
		answer  func(more int64) query.Answer
	}{
		"facets, all fields together": {search.Request{Route: search.Facets, By: "ip,url"}, func(more int64) query.Answer {
			return query.Answer{Facets: query.FacetsAnswer{Requests: 9, Facets: []query.Facet{
				{Distinct: half}, {Distinct: half + more},
			}}}
		}},
		"a histogram, a value in each of its segments": {
			search.Request{Route: search.Histogram, By: "ip", Limit: "1"}, func(more int64) query.Answer {
				return query.Answer{Histogram: []query.Series{
					{Kind: query.SeriesValue, Value: "a", Points: make([]query.Point, 3)},
					{Kind: query.SeriesOther, Distinct: query.MaxDistinct - 3 + more},
				}}
			},
		},
		"a diff, all fields together": {
			search.Request{Route: search.Diff, By: "ip,url", Select: "blocked is true"}, func(more int64) query.Answer {
				return query.Answer{Diff: query.DiffAnswer{
					Requests: query.Sides{Selected: 1, Baseline: 1},
					Terms:    []query.DiffTerm{{Distinct: half}, {Distinct: half + more}},
				}}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.request.Filters = "timestamp between 2026-01-01 and 2026-01-02"
			for more := range int64(2) {
				_, err := service(t, fixedAnswer{oracle{rows: rowsOf(t, traffic)}, c.answer(more)}).Search(t.Context(), c.request)
				if refused := fault.KindOf(err) == fault.EngineLimit; refused != (more > 0) || more == 0 && err != nil {
					t.Errorf("%d values more than allowed: %v", more, err)
				}
				if more > 0 && err != nil && !strings.Contains(err.Error(), "narrow the period or the filter") {
					t.Errorf("the error has no remedy: %v", err)
				}
			}
		})
	}
}

// fixedAnswer is an engine with the same answer to every query.
type fixedAnswer struct {
	oracle
	answer query.Answer
}

func (f fixedAnswer) Run(context.Context, query.Query) (query.Answer, engine.Cost, error) {
	return f.answer, engine.Cost{}, nil
}

// manyGroups is an engine with one more group than stats by a field may have.
type manyGroups struct{ oracle }

func (manyGroups) Run(context.Context, query.Query) (query.Answer, engine.Cost, error) {
	return query.Answer{Stats: make([]query.StatsRow, query.MaxStatsRows+1)}, engine.Cost{}, nil
}
