package search_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
)

// priced is an oracle that estimates, charges and skips objects.
type priced struct {
	oracle
	runs     int
	bytes    int64
	estimate error
}

func (p *priced) Run(ctx context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	p.runs++
	answer, cost, err := p.oracle.Run(ctx, q)
	price := p.price(p.bytes)
	cost.By, cost.BytesScanned, cost.USD = "athena", p.bytes, &price
	cost.Skipped = []string{"fresh/2026/01/01/10/secret.parquet"}
	return answer, cost, err
}

func (p *priced) price(bytes int64) float64 { return float64(max(bytes, 10_000_000)) / 1e12 * 5 }

func (p *priced) Estimate(_ context.Context, q query.Query) (engine.Estimate, error) {
	objects, rows, bytes := 3, int64(4), p.bytes
	return engine.Estimate{
		By: "athena", Partitions: []lake.Partition{1, 2}, Objects: &objects, Rows: &rows,
		Bytes:   &engine.Bytes{Low: 0, High: bytes},
		Columns: []engine.ColumnSize{{Name: q.Columns()[0], Bytes: &bytes}},
		USD:     &engine.USD{Low: p.price(0), High: p.price(bytes)},
		Lacking: []engine.LackingColumn{{Name: "log_rest", Objects: 2}},
	}, p.estimate
}

// pricedFinder is a finder that estimates.
type pricedFinder struct {
	finder
	priced *priced
}

func (p pricedFinder) Estimate(ctx context.Context, q query.Query) (engine.Estimate, error) {
	return p.priced.Estimate(ctx, q)
}

func newPriced(t *testing.T, bytes int64) *priced {
	return &priced{oracle: oracle{rows: rowsOf(t, traffic)}, bytes: bytes}
}

var everyRoute = []search.Route{
	search.Logs, search.Stats, search.Timeline, search.TopX, search.Facets, search.Histogram,
	search.Diff,
}

func TestDryRun(t *testing.T) {
	for _, route := range everyRoute {
		t.Run(string(route)+" does not run and has no results", func(t *testing.T) {
			e := newPriced(t, 12_000_000)
			r := request
			r.Route, r.DryRun, r.Branches = route, "true", nil
			if route == search.Diff {
				r.Against = "previous"
			}
			got, err := service(t, e).Search(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			results := got.Logs.Len() + len(got.Stats) + len(got.Timeline) + len(got.TopX) + len(got.Facets) +
				len(got.Histogram) + len(got.Diff)
			if e.runs != 0 || results != 0 {
				t.Errorf("%d runs, %d results", e.runs, results)
			}
			m := got.Meta
			if !m.DryRun || m.BytesScanned != 0 || m.CostUSD != nil || m.Engine != "athena" || *m.Estimate.Rows != 4 {
				t.Errorf("%+v", m)
			}
		})
	}
	t.Run("a request has the errors of its run", func(t *testing.T) {
		for _, r := range []search.Request{
			{Route: search.Stats, Filters: "hots=1"},
			{Route: search.Stats, Filters: request.Filters, Segment: "7"},
			{Route: search.Logs, Filters: request.Filters, Limit: "0"},
			{Route: search.Facets, Filters: request.Filters, By: "timestamp"},
			{Route: search.Diff, Filters: request.Filters, Select: "hots=1"},
		} {
			_, want := service(t, newPriced(t, 1)).Search(t.Context(), r)
			r.DryRun = "true"
			_, got := service(t, newPriced(t, 1)).Search(t.Context(), r)
			if want == nil || got == nil || got.Error() != want.Error() {
				t.Errorf("%+v: %v, want %v", r, got, want)
			}
		}
	})
	t.Run("an engine that cannot run the query refuses it", func(t *testing.T) {
		e := newPriced(t, 1)
		e.estimate = errors.New("too many conditions")
		r := request
		r.DryRun = "true"
		if _, err := service(t, e).Search(t.Context(), r); !errors.Is(err, e.estimate) {
			t.Error(err)
		}
	})
	t.Run("values do not run and have no results", func(t *testing.T) {
		e := finder{oracle: oracle{rows: rowsOf(t, traffic), fail: errors.New("asked")}}
		got, err := service(t, pricedFinder{finder: e, priced: newPriced(t, 7)}).Search(t.Context(), search.Request{
			Route: search.Values, Field: "country", DryRun: "true",
		})
		if err != nil {
			t.Fatal(err)
		}
		m := got.Meta
		if !m.DryRun || len(got.Values) > 0 || m.Estimate.Bytes.High != 7 || *m.Estimate.Objects != 3 || m.Exact != nil {
			t.Errorf("%+v", m)
		}
	})
	t.Run("an engine without values reads nothing", func(t *testing.T) {
		got, err := service(t, newPriced(t, 7)).Search(t.Context(), search.Request{
			Route: search.Values, Field: "country", DryRun: "true",
		})
		if err != nil {
			t.Fatal(err)
		}
		if e := got.Meta.Estimate; *e.Bytes != (search.BytesEstimate{}) || len(e.Warnings) != 1 || len(e.Columns) != 0 {
			t.Errorf("%+v", e)
		}
	})
	t.Run("other values than true and false are refused", func(t *testing.T) {
		r := request
		r.DryRun = "1"
		var wrong *search.ParamError
		_, err := service(t, newPriced(t, 1)).Search(t.Context(), r)
		if !errors.As(err, &wrong) || wrong.Param != "dry_run" {
			t.Error(err)
		}
	})
}

func TestAnswersHaveTheEstimate(t *testing.T) {
	e := newPriced(t, 12_000_000)
	s := service(t, e)
	r := request
	r.Branches = nil
	want := &search.Estimate{
		Partitions: ptr(2), Objects: ptr(3), Rows: ptr(int64(4)),
		Bytes:   &search.BytesEstimate{Low: 0, High: 12_000_000},
		Columns: []search.ColumnSize{{Name: "ts_ms", Bytes: ptr(int64(12_000_000))}},
		CostUSD: &search.PriceEstimate{Low: 0.00005, High: 0.00006},
		Lacking: []search.LackingColumn{{Name: "log_rest", Objects: 2}},
		Warnings: []string{
			"an earlier version wrote 2 objects of the period without log_rest, which is absent in all of their records; " +
				"to have it, forget these imports and import the logs again",
		},
	}
	check := func(t *testing.T, got search.Meta) {
		t.Helper()
		if diff := cmp.Diff(want, got.Estimate); diff != "" {
			t.Error(diff)
		}
		if got.BytesScanned != 12_000_000 || got.DryRun {
			t.Errorf("%+v", got)
		}
	}
	t.Run("of the same request", func(t *testing.T) {
		got, err := s.Search(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		check(t, got.Meta)
	})
	t.Run("of the moment when a long query began", func(t *testing.T) {
		id, err := s.Begin(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		for {
			status, err := s.Status(t.Context(), id, search.Asker{Caller: r.Caller})
			if err != nil {
				t.Fatal(err)
			}
			if status.Done {
				check(t, status.Result.Meta)
				return
			}
		}
	})
	t.Run("of values", func(t *testing.T) {
		e := finder{oracle: oracle{rows: rowsOf(t, traffic)}}
		for counts, wait := range map[string]bool{"false": false, "true": true} {
			s := service(t, pricedFinder{finder: e, priced: newPriced(t, 12_000_000)})
			if _, err := s.Search(t.Context(), r); err != nil { // so that the speed is known
				t.Fatal(err)
			}
			got, err := s.Search(t.Context(), search.Request{Route: search.Values, Field: "country", Counts: counts})
			if err != nil {
				t.Fatal(err)
			}
			if e := got.Meta.Estimate; e == nil || e.Bytes.High != 12_000_000 || e.WaitMS != nil && !wait {
				t.Errorf("counts %s: %+v", counts, e)
			}
		}
	})
	t.Run("without figures if the engine does not estimate", func(t *testing.T) {
		got, err := service(t, oracle{rows: rowsOf(t, traffic)}).Search(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if e := got.Meta.Estimate; e.Bytes != nil || e.Partitions != nil || len(e.Warnings) != 1 || len(e.Columns) == 0 {
			t.Errorf("%+v", e)
		}
	})
}

func ptr[T any](v T) *T { return &v }

// TestKeysOfBranchesSeeTheirBillOnly: neither an answer nor a dry run has numbers or names of others.
func TestKeysOfBranchesSeeTheirBillOnly(t *testing.T) {
	for _, c := range []struct {
		name         string
		bytes, shown int64
		price        float64
		dryRun       bool
	}{
		{name: "answer", bytes: 12_000_001, shown: 20_000_000, price: 0.0001},
		{name: "answer that read nothing", bytes: 0, shown: 10_000_000, price: 0.00005},
		{name: "answer that read little", bytes: 1, shown: 10_000_000, price: 0.00005},
		{name: "dry run", bytes: 12_000_001, shown: 20_000_000, price: 0.0001, dryRun: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := request
			if c.dryRun {
				r.DryRun = "true"
			}
			got, err := service(t, newPriced(t, c.bytes)).Search(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			m := got.Meta
			want := &search.Estimate{
				Bytes:    &search.BytesEstimate{Low: 10_000_000, High: c.shown},
				Columns:  []search.ColumnSize{{Name: "ts_ms"}},
				CostUSD:  &search.PriceEstimate{Low: 0.00005, High: c.price},
				Warnings: []string{},

				Unrounded: &search.BytesEstimate{High: c.bytes},
			}
			near := cmp.Comparer(func(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 })
			if diff := cmp.Diff(want, m.Estimate, near); diff != "" {
				t.Error(diff)
			}
			if m.Objects != nil || m.RowsConsidered != nil {
				t.Errorf("the answer has objects or rows: %+v", m)
			}
			if text, err := json.Marshal(m); err != nil || strings.Contains(string(text), "nrounded") {
				t.Errorf("the answer has bytes that are not rounded: %s, %v", text, err)
			}
			unrounded := &search.BytesEstimate{Low: c.bytes, High: c.bytes}
			if c.dryRun {
				unrounded.Low = 0
			}
			if diff := cmp.Diff(unrounded, got.Unrounded()); diff != "" {
				t.Error(diff)
			}
			if c.dryRun {
				return
			}
			hidden := []string{"(objects with records of the period)"}
			if diff := cmp.Diff(hidden, m.Skipped); diff != "" || m.BytesScanned != c.shown {
				t.Errorf("%d bytes, %s", m.BytesScanned, diff)
			}
			if diff := cmp.Diff(c.price, *m.CostUSD, near); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestEstimateOfTheWait: the median of the answers decides, so that a slow or a fast one does not.
func TestEstimateOfTheWait(t *testing.T) {
	e := newPriced(t, 0)
	now := time.Unix(0, 0)
	var took time.Duration
	calls := 0
	s, err := search.New(e, search.Options{Now: func() time.Time {
		calls++
		now = now.Add(took)
		return now
	}})
	if err != nil {
		t.Fatal(err)
	}
	r := request
	r.Branches = nil
	wait := func() *search.MillisEstimate {
		t.Helper()
		e.bytes = 6000
		estimate, err := s.Estimate(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		return estimate.WaitMS
	}
	if got := wait(); got != nil {
		t.Errorf("before the first answer: %+v", got)
	}
	for _, bytes := range []int64{1000, 600, 100_000} {
		calls, took, e.bytes = 0, 0, bytes
		if _, err := s.Search(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		asked := calls
		// The next search has all its time between two readings of the clock.
		calls, took = 0, time.Second/time.Duration(asked-1)
		if _, err := s.Search(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(&search.MillisEstimate{Low: 0, High: 6000}, wait()); diff != "" {
		t.Error(diff)
	}
}

// requesting is an engine that charges for requests, not for bytes.
type requesting struct{ *priced }

func (e requesting) Run(ctx context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	answer, cost, err := e.priced.Run(ctx, q)
	cost.USD = ptr(0.0000288)
	return answer, cost, err
}

// TestPriceOfRequests: a caller who is limited to branches cannot learn the number of requests, which depends on the
// objects of others.
func TestPriceOfRequests(t *testing.T) {
	for _, bytes := range []int64{1000, 25_000_000} {
		got, err := service(t, requesting{newPriced(t, bytes)}).Search(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		if *got.Meta.CostUSD != 0.00005 {
			t.Errorf("%d bytes: $%g", bytes, *got.Meta.CostUSD)
		}
	}
}
