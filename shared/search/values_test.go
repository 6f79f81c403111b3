package search_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/search/pending"
	"github.com/orrery/orrery/shared/testkit/reference"
)

// finder is an oracle that also finds values. It reports that it has looked at all of 2 objects.
type finder struct {
	oracle
	asked  *query.Query
	enough *func() bool
}

func (f finder) FindValues(
	_ context.Context, q query.Query, enough func() bool,
) (engine.FoundValues, engine.Cost, error) {
	if f.asked != nil {
		*f.asked, *f.enough = q, enough
	}
	objects, rows := 2, int64(len(f.rows))
	found := engine.FoundValues{ValuesAnswer: reference.Evaluate(&q, f.rows).Values, Exact: true, Looked: 2, Of: 2}
	return found, engine.Cost{By: "scan", Objects: &objects, RowsConsidered: &rows}, f.fail
}

func findValues(t *testing.T, r search.Request) (search.Result, error) {
	t.Helper()
	r.Route = search.Values
	return service(t, finder{oracle: oracle{rows: rowsOf(t, traffic)}}).Search(t.Context(), r)
}

func TestValues(t *testing.T) {
	two, none := int64(2), int64(0)
	for _, c := range []struct {
		name string
		ask  search.Request
		want []search.ValueResult
	}{
		{
			"integers in the order of their texts", search.Request{Field: "status"},
			[]search.ValueResult{
				{Value: int64(200), Condition: "status=200"}, {Value: int64(403), Condition: "status=403"},
			},
		},
		{
			"of a prefix in another case", search.Request{Field: "host", Prefix: "B."},
			[]search.ValueResult{{Value: "b.example", Condition: `host="b.example"`}},
		},
		{
			"of elements of a list", search.Request{Field: "upstream_status", Contains: "02"},
			[]search.ValueResult{{Value: int64(502), Condition: "upstream_status=502"}},
		},
		{
			"with counts, of the period", search.Request{
				Field: "ip", Counts: "true", Limit: "1",
				Filters: "timestamp between 2026-01-01 10:00 and 2026-01-01 10:00:30",
			},
			[]search.ValueResult{{
				Value: "192.0.2.2", Condition: `ip="192.0.2.2"`, NumOfRequests: &two, NumOfBlockedRequests: &two,
				NumOfChallenges: &none, NumOfMonitoredRequests: &none, NumOfHumanRequests: &none,
			}},
		},
		{"if there are none", search.Request{Field: "host", Prefix: "c"}, []search.ValueResult{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := findValues(t, c.ask)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got.Values); diff != "" {
				t.Error(diff)
			}
			if truncated := got.Meta.Truncated != nil; truncated != (c.ask.Limit != "") {
				t.Errorf("truncated: %v", got.Meta.Truncated)
			}
		})
	}
}

func TestValuesRefuse(t *testing.T) {
	const period = "timestamp between 2026-01-01 10:00 and 2026-01-01 10:02"
	for _, c := range []struct {
		name  string
		ask   search.Request
		param string
	}{
		{"a condition", search.Request{Field: "host", Filters: period + ", status=200"}, "filters"},
		{
			"a condition on the time",
			search.Request{Field: "host", Filters: period + ", not timestamp between 2025-01-01 and 2025-01-02"},
			"filters",
		},
		{
			"a condition on a branch of the caller",
			search.Request{Field: "host", Filters: period + ", branch=b", Branches: []string{"b"}}, "filters",
		},
		{"a field that is not groupable", search.Request{Field: "timestamp"}, "field"},
		{"several fields", search.Request{Field: "host,ip"}, "field"},
		{"a name/value field without a key", search.Request{Field: "headers"}, "field"},
		{"no field", search.Request{}, "field"},
		{"two texts", search.Request{Field: "host", Prefix: "a", Contains: "b"}, "contains"},
		{"a long prefix", search.Request{Field: "host", Prefix: strings.Repeat("ä", 201)}, "prefix"},
		{"a long text", search.Request{Field: "host", Contains: strings.Repeat("ä", 201)}, "contains"},
		{"too many values", search.Request{Field: "host", Limit: "51"}, "limit"},
		{"counts that are not a boolean", search.Request{Field: "host", Counts: "yes"}, "counts"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := findValues(t, c.ask)
			var wrong *search.ParamError
			if !errors.As(err, &wrong) || wrong.Param != c.param {
				t.Errorf("the error is %v", err)
			}
		})
	}
	t.Run("a mistaken filter as elsewhere", func(t *testing.T) {
		_, err := findValues(t, search.Request{Field: "host", Filters: "status=200"})
		var wrong *query.FilterError
		if !errors.As(err, &wrong) {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("no prefix of 200 characters", func(t *testing.T) {
		if _, err := findValues(t, search.Request{Field: "host", Prefix: strings.Repeat("ä", 200)}); err != nil {
			t.Error(err)
		}
	})
}

func TestValuesMeta(t *testing.T) {
	t.Run("the default period is the newest 24 hours of the data", func(t *testing.T) {
		got, err := findValues(t, search.Request{Field: "host"})
		want := search.MetaPeriod{From: "2025-12-31T10:02:00Z", To: "2026-01-01T10:02:00Z"}
		if err != nil || got.Meta.Period != want {
			t.Errorf("%v: %+v", err, got.Meta.Period)
		}
	})
	t.Run("without data it is the last 24 hours", func(t *testing.T) {
		got, err := service(t, finder{}).Search(t.Context(), search.Request{Route: search.Values, Field: "host"})
		want := search.MetaPeriod{From: "1969-12-31T00:00:00Z", To: "1970-01-01T00:00:00Z"}
		if err != nil || got.Meta.Period != want || len(got.Values) > 0 {
			t.Errorf("%v: %+v", err, got.Meta.Period)
		}
	})
	t.Run("it has what was looked at", func(t *testing.T) {
		got, err := findValues(t, search.Request{Field: "host"})
		if err != nil {
			t.Fatal(err)
		}
		m := got.Meta
		if m.Scope == nil || *m.Scope != (search.LookedAt{Objects: 2, Of: 2}) || m.Objects == nil || !*m.Exact {
			t.Errorf("%+v, exact %t", m.Scope, *m.Exact)
		}
	})
	t.Run("but not how many objects and records there are, for a key limited to branches", func(t *testing.T) {
		got, err := findValues(t, search.Request{Field: "host", Branches: []string{"b"}})
		if err != nil {
			t.Fatal(err)
		}
		m := got.Meta
		if m.Scope != nil || m.Objects != nil || m.RowsConsidered != nil || len(got.Values) > 0 {
			t.Errorf("%+v, %v", m, got.Values)
		}
	})
	t.Run("an engine that cannot find values gives the reason", func(t *testing.T) {
		e := oracle{rows: rowsOf(t, traffic)}
		got, err := service(t, e).Search(t.Context(), search.Request{Route: search.Values, Field: "host"})
		if err != nil || got.Meta.Unavailable == "" || *got.Meta.Exact || got.Meta.Scope != nil || len(got.Values) > 0 {
			t.Errorf("%v: %+v", err, got)
		}
	})
}

func TestValuesLimits(t *testing.T) {
	begin := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	ask := search.Request{Route: search.Values, Field: "host", Branches: []string{"b"}}
	t.Run("it has looked long enough after 30 ms", func(t *testing.T) {
		now := begin
		var q query.Query
		var enough func() bool
		s, err := search.New(finder{asked: &q, enough: &enough}, search.Options{Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Search(t.Context(), ask); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			after time.Duration
			want  bool
		}{{29 * time.Millisecond, false}, {30 * time.Millisecond, true}} {
			if now = begin.Add(c.after); enough() != c.want {
				t.Errorf("after %s: %t", c.after, !c.want)
			}
		}
		if len(q.Conditions) != 1 || q.Conditions[0].Field.Name != "branch" {
			t.Errorf("the query has the conditions %v", q.Conditions)
		}
	})
	t.Run("it waits for its turn like other queries", func(t *testing.T) {
		limiter := pending.NewLimiter(pending.Limits{AtOnce: 1, RetryAfter: time.Second})
		release, err := limiter.Acquire(t.Context(), "another caller")
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		s, err := search.New(finder{}, search.Options{Limiter: limiter, Now: func() time.Time { return begin }})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Search(t.Context(), ask); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("errors of the engine keep their kinds", func(t *testing.T) {
		e := finder{oracle: oracle{fail: fault.New(fault.EngineLimit, "too many")}}
		if _, err := service(t, e).Search(t.Context(), ask); fault.KindOf(err) != fault.EngineLimit {
			t.Errorf("the error is %v", err)
		}
	})
}

// TestExplainValuesWithoutLists: the plan of an engine that cannot find values reads nothing.
func TestExplainValuesWithoutLists(t *testing.T) {
	_, plan, err := service(t, explained{}).Explain(t.Context(), search.Request{
		Route: search.Values, Field: "country", Filters: "timestamp between 2026-01-01 and 2026-01-02",
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(engine.Plan{By: explained{}.Name()}, plan); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

// explained is an oracle that explains the queries of other shapes only.
type explained struct{ oracle }

func (explained) Explain(context.Context, query.Query) (engine.Plan, error) {
	return engine.Plan{}, errors.New("no plan for values")
}
