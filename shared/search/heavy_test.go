package search_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/search/pending/pendingtest"
)

// byTheMinute is an engine whose queries read a megabyte for each minute of the period that has begun.
type byTheMinute struct{ *priced }

func (b byTheMinute) Estimate(ctx context.Context, q query.Query) (engine.Estimate, error) {
	b.bytes = 0
	if !q.Scope.Empty() {
		b.bytes = (q.Scope.ToMs-q.Scope.FromMs)/60_000*1_000_000 + 1_000_000
	}
	return b.priced.Estimate(ctx, q)
}

// anHour is the records of an hour.
func anHour(t *testing.T) []*lake.Row {
	t.Helper()
	var lines strings.Builder
	for minute := range 60 {
		fmt.Fprintf(&lines, `{"timestamp":"2026-01-01T10:%02d:30Z","host":"a.example"}`+"\n", minute)
	}
	return rowsOf(t, lines.String())
}

// trying is a starter that fails to answer at once, without reading anything. Started queries read a gigabyte.
type trying struct{ *starter }

func (a trying) TryDirect(context.Context, query.Query) (_ query.Answer, _ engine.Cost, ok bool) {
	return
}

func (a trying) Estimate(ctx context.Context, q query.Query) (engine.Estimate, error) {
	return (&priced{}).Estimate(ctx, q)
}

func (a trying) EstimateStarted(ctx context.Context, q query.Query) (engine.Estimate, error) {
	return (&priced{bytes: 1_000_000_000}).Estimate(ctx, q)
}

// TestMaxBytesOfStartedQuery: a query that would read nothing if it were answered at once is not started if that may
// read more than max_bytes.
func TestMaxBytesOfStartedQuery(t *testing.T) {
	for most, starts := range map[string]int{"999999999": 0, "1000000000": 1, "": 1} {
		a := trying{newStarter(t)}
		close(a.open)
		r := request
		r.MaxBytes = most
		_, err := newService(t, a, search.Options{Store: pendingtest.NewMemory()}).Search(t.Context(), r)
		var heavy *search.HeavyError
		if a.started != starts || errors.As(err, &heavy) != (starts == 0) || starts > 0 && err != nil {
			t.Errorf("with max_bytes=%s, %d queries were started: %v", most, a.started, err)
		}
		if heavy != nil && heavy.Estimate.Bytes.High != 1_000_000_000 {
			t.Errorf("the error has the estimate %+v", heavy.Estimate.Bytes)
		}
	}
}

// TestMaxBytes: a query that may read more than max_bytes does not run, and the error has the newest part of the period for
// which it runs.
func TestMaxBytes(t *testing.T) {
	e := byTheMinute{&priced{oracle: oracle{rows: anHour(t)}}}
	s := service(t, e)
	day := search.Request{Route: search.TopX, Filters: "timestamp between 2026-01-01 and 2026-01-02"}
	day.MaxBytes = "60000000"
	if _, err := s.Search(t.Context(), day); err != nil || e.runs != 1 {
		t.Fatalf("%d runs: %v", e.runs, err)
	}
	for _, route := range everyRoute[:6] {
		for _, most := range []int64{1_000_000, 7_500_000, 30_000_000, 59_999_999} {
			e.runs = 0
			r := day
			r.Route, r.MaxBytes = route, fmt.Sprint(most)
			_, err := s.Search(t.Context(), r)
			var heavy *search.HeavyError
			if !errors.As(err, &heavy) || e.runs > 0 {
				t.Fatalf("%s with %d bytes: %d runs, %v", route, most, e.runs, err)
			}
			if heavy.MaxBytes != most || heavy.Estimate.Bytes.High != 60_000_000 || heavy.Fits == nil || heavy.Fits.To != "2026-01-02T00:00:00Z" {
				t.Fatalf("%s with %d bytes: %v", route, most, err)
			}
			if _, begun := s.Begin(t.Context(), r); !errors.As(begun, new(*search.HeavyError)) {
				t.Errorf("%s with %d bytes, begun: %v", route, most, begun)
			}
			r.Filters = "timestamp between " + heavy.Fits.From + " and " + heavy.Fits.To
			got, err := s.Search(t.Context(), r)
			if err != nil {
				t.Fatalf("%s with %d bytes, the part that fits: %v", route, most, err)
			}
			if read := got.Meta.Estimate.Bytes.High; read > most || read < most-2_000_000 {
				t.Errorf("%s with %d bytes: the part that fits reads %d", route, most, read)
			}
			r.DryRun, r.Filters = "true", day.Filters
			if _, err := s.Search(t.Context(), r); err != nil {
				t.Errorf("%s with %d bytes, a dry run: %v", route, most, err)
			}
		}
	}
}

func TestMaxBytesWithoutAPart(t *testing.T) {
	minute := byTheMinute{&priced{oracle: oracle{rows: anHour(t)}}}
	r := search.Request{Route: search.Stats, Filters: "timestamp between 2026-01-01 and 2026-01-02", MaxBytes: "999999"}
	against := r
	against.Route, against.Against, against.MaxBytes = search.Diff, "previous", "30000000"
	for name, test := range map[string]struct {
		engine engine.Engine
		r      search.Request
		want   string
	}{
		"a minute is too much": {minute, r, "max_bytes: the query may read 60000000 bytes, more than 999999; " +
			"no part of the period of at least a minute fits: allow more bytes"},
		"the other period would change, too": {minute, against, "max_bytes: the query may read 60000000 bytes, more than 30000000; ask for a shorter period, or allow more bytes"},
		"an engine without estimates": {oracle{rows: anHour(t)}, r, "max_bytes: the engine does not know what a query reads before it runs: " +
			"ask without max_bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := service(t, test.engine).Search(t.Context(), test.r)
			var heavy *search.HeavyError
			if !errors.As(err, &heavy) || heavy.Fits != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, heavy.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
	for _, text := range []string{"0", "-1", "1e6", "1 MB", "9223372036854775808"} {
		r.MaxBytes = text
		var wrong *search.ParamError
		if _, err := service(t, minute).Search(t.Context(), r); !errors.As(err, &wrong) || wrong.Param != "max_bytes" {
			t.Errorf("%q: %v", text, err)
		}
	}
}
