package search_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/testkit/reference"
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
	t.Run("sums of more than 64 bits are saturated, and named", func(t *testing.T) {
		const large = `{"timestamp":"2026-01-01T10:00:07Z","host":"a","url":"/","bytes_sent":9223372036854775807}` + "\n"
		rows := rowsOf(t, large+large)
		for route, want := range map[search.Route][]string{
			search.Stats: {"sum_of_bandwidth"}, search.Timeline: {"sum_of_sent_bytes"},
			search.TopX: {"sum_of_bytes_sent"}, search.Histogram: {"total", "value"}, search.Facets: nil,
		} {
			r := search.Request{Route: route, Filters: hour}
			if route == search.Histogram {
				r.Measure = "bytes_sent"
			}
			found, err := service(t, oracle{rows: rows}).Search(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(found.Meta.Saturated, want) || exactOf(t, found) != (want == nil) {
				t.Errorf("%s: saturated %v, exact %v", route, found.Meta.Saturated, exactOf(t, found))
			}
			for _, s := range found.Stats {
				if s.NumOfRequests > 0 && s.SumOfBandwidth != math.MaxInt64 {
					t.Errorf("the sum is %d", s.SumOfBandwidth)
				}
			}
		}
	})
	t.Run("a dry run has no figures", func(t *testing.T) {
		if r := ask(t, search.Request{Route: search.Stats, DryRun: "true"}); r.Meta.Exact != nil {
			t.Error("it reports whether they are exact")
		}
	})
}

// arriving is an oracle whose records arrive one after the other, each in a change. A count of late records reads
// lateBytes.
type arriving struct {
	exporter
	during int // records that arrive while a query runs
	merged bool
}

const lateBytes = 1_000

func (a *arriving) Sequence(context.Context) (int64, error) { return int64(len(a.rows)), nil }

func (a *arriving) Run(ctx context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	answer, cost, err := a.oracle.Run(ctx, q)
	a.rows = a.rows[:len(a.rows)+a.during]
	a.during = 0
	return answer, cost, err
}

func (a *arriving) Late(_ context.Context, q query.Query, change int64) (engine.Late, error) {
	shape := q.Shape.(query.Logs)
	shape.Limit = len(a.rows)
	q.Shape = shape
	n := int64(len(reference.Evaluate(&q, a.rows[change:]).Logs))
	return engine.Late{Records: n, Known: !a.merged, BytesScanned: lateBytes}, nil
}

func (a *arriving) EstimateLate(context.Context, query.Query, int64) (engine.Bytes, error) {
	return engine.Bytes{Low: lateBytes - 1, High: lateBytes + 1}, nil
}

func (a *arriving) Estimate(context.Context, query.Query) (engine.Estimate, error) {
	return engine.Estimate{Bytes: &engine.Bytes{}}, nil
}

// TestLate: an answer with since counts the matching records that have arrived since the token was made and are older
// than its place, or reports that their number is not known.
func TestLate(t *testing.T) {
	rows := rowsOf(t, traffic)
	slices.SortFunc(rows, func(a, b *lake.Row) int { return lake.Compare(b, a) }) // the newest arrives first
	const first = 2
	late := func(t *testing.T, got search.Result) string {
		t.Helper()
		switch n := got.Meta.Late; {
		case n == nil:
			return "absent"
		case *n == nil:
			return "null"
		default:
			return fmt.Sprint(**n)
		}
	}
	all := int64(len(rows) - first)
	for name, c := range map[string]struct {
		ask  search.Request                 // both times
		then func(*arriving, search.Result) // between the answers
		want string
	}{
		"records that are older than the token are counted": {want: fmt.Sprint(all)},
		"of those that match": {
			ask: search.Request{Filters: hour + ", status=403"}, want: fmt.Sprint(matching(rows[first:], 403)),
		},
		"none have arrived": {then: func(a *arriving, _ search.Result) { a.rows = a.rows[:first] }, want: "0"},
		"records that were merged are not known": {
			then: func(a *arriving, _ search.Result) { a.merged = true }, want: "null",
		},
		"a key of branches has no change": {ask: search.Request{Branches: []string{"x"}}, want: "null"},
	} {
		t.Run(name, func(t *testing.T) {
			e := &arriving{exporter: exporter{oracle{rows: rows[:first:len(rows)]}}}
			r := c.ask
			r.Route, r.Filters = search.Logs, cmp.Or(r.Filters, hour)
			s := service(t, e)
			before, err := s.Search(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if got := late(t, before); got != "absent" {
				t.Errorf("without since, late is %s", got)
			}
			e.rows = rows
			if c.then != nil {
				c.then(e, before)
			}
			r.Since = before.Meta.Head
			after, err := s.Search(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if got := late(t, after); got != c.want {
				t.Errorf("late is %s, want %s", got, c.want)
			}
			if n := after.Logs.Len(); n > 0 {
				t.Errorf("%d late records are in the answer", n)
			}
			counted := c.want != "null" || name == "records that were merged are not known"
			read, expected := after.Meta.BytesScanned-before.Meta.BytesScanned, *after.Meta.Estimate.Bytes
			if counted != (read == lateBytes) || counted != (expected.Low == lateBytes-1 && expected.High == lateBytes+1) {
				t.Errorf("the count reads %d bytes, the estimate is %+v", read, expected)
			}
		})
	}
	t.Run("records that arrive while the query runs may be in the answer, so later ones are not known", func(t *testing.T) {
		e := &arriving{exporter: exporter{oracle{rows: rows[:first:len(rows)]}}, during: 1}
		s := service(t, e)
		before, err := s.Search(t.Context(), search.Request{Route: search.Logs, Filters: hour})
		if err != nil {
			t.Fatal(err)
		}
		after, err := s.Search(t.Context(), search.Request{Route: search.Logs, Filters: hour, Since: before.Meta.Head})
		if err != nil || late(t, after) != "null" {
			t.Errorf("%v: late is %s", err, late(t, after))
		}
	})
	t.Run("an engine that does not know arrivals does not know the number", func(t *testing.T) {
		before := find(t, rows, search.Request{Filters: hour})
		after := find(t, rows, search.Request{Filters: hour, Since: before.Meta.Head})
		if got := late(t, after); got != "null" {
			t.Errorf("late is %s", got)
		}
	})
	// arrived returns a service that has all records, and a request that asks for those since the first ones.
	arrived := func(t *testing.T) (*search.Service, search.Request) {
		e := &arriving{exporter: exporter{oracle{rows: rows[:first:len(rows)]}}}
		s := service(t, e)
		r := search.Request{Route: search.Logs, Filters: hour}
		before, err := s.Search(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		e.rows, r.Since = rows, before.Meta.Head
		return s, r
	}
	t.Run("of an export", func(t *testing.T) {
		s, r := arrived(t)
		var parts []search.Result
		err := s.Export(t.Context(), r, func(part search.Result) error {
			parts = append(parts, part)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, part := range parts {
			want, bytes := "null", int64(0)
			if i == len(parts)-1 {
				want, bytes = fmt.Sprint(all), lateBytes
			}
			if got := late(t, part); got != want || part.Meta.BytesScanned != bytes {
				t.Errorf("part %d of %d: late is %s, want %s; %d bytes", i, len(parts), got, want, part.Meta.BytesScanned)
			}
		}
	})
	t.Run("of a query that outlives its request", func(t *testing.T) {
		s, r := arrived(t)
		id, err := s.Begin(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		for {
			status, err := s.Status(t.Context(), id, search.Asker{})
			if err != nil {
				t.Fatal(err)
			}
			if status.Done {
				if got := late(t, status.Result); got != fmt.Sprint(all) {
					t.Errorf("late is %s, want %d", got, all)
				}
				return
			}
		}
	})
}

// matching returns the number of rows with a status.
func matching(rows []*lake.Row, status int64) (n int) {
	for _, r := range rows {
		if r.Status != nil && *r.Status == status {
			n++
		}
	}
	return n
}
