package search_test

import (
	"encoding/base64"
	"errors"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/search"
)

// clocked returns a service over the traffic of the tests, whose clock the test moves.
func clocked(t *testing.T, now *time.Time) *search.Service {
	t.Helper()
	s, err := search.New(oracle{rows: rowsOf(t, traffic)}, search.Options{Now: func() time.Time { return *now }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRelativeTimesOfARequest(t *testing.T) {
	now := time.Date(2026, 1, 1, 10, 2, 9, 999, time.UTC)
	s := clocked(t, &now)
	meta := func(t *testing.T, r search.Request) search.Meta {
		t.Helper()
		result, err := s.Search(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		return result.Meta
	}
	for _, r := range []search.Request{
		{Route: search.Logs}, {Route: search.Stats}, {Route: search.Timeline}, {Route: search.TopX},
		{Route: search.Facets}, {Route: search.Histogram}, {Route: search.Diff, Select: "timestamp between now-1m and now"},
		{Route: search.Values, Field: "host"},
	} {
		t.Run("are absolute in the meta of "+string(r.Route), func(t *testing.T) {
			r.Filters = "timestamp between now-2m and now"
			const want = "timestamp between 2026-01-01 10:00:00 and 2026-01-01 10:02:00"
			if got := meta(t, r).Filter; got != want {
				t.Errorf("filter %s, want %s", got, want)
			}
		})
	}
	t.Run("are absolute in the other period of a diff", func(t *testing.T) {
		r := search.Request{
			Route: search.Diff, Filters: "timestamp between now-1m and now", Against: "now-2m..now-1m", By: "host",
		}
		want := search.MetaPeriod{From: "2026-01-01T10:00:00Z", To: "2026-01-01T10:00:59.999Z"}
		for _, second := range []int{0, 9} {
			now = time.Date(2026, 1, 1, 10, 2, second, 0, time.UTC)
			if got := meta(t, r).Diff.Baseline.Period; got != want {
				t.Errorf("at second %d it is %+v", second, got)
			}
		}
	})
	t.Run("are the same within ten seconds", func(t *testing.T) {
		r := search.Request{Route: search.TopX, Filters: "timestamp between now-2m and now"}
		first := meta(t, r).Fingerprint
		for _, c := range []struct {
			at   int
			same bool
		}{{0, true}, {9, true}, {10, false}} {
			now = time.Date(2026, 1, 1, 10, 2, c.at, 0, time.UTC)
			if got := meta(t, r).Fingerprint; (got == first) != c.same {
				t.Errorf("at second %d the fingerprint is the same: %v", c.at, got == first)
			}
		}
	})
	t.Run("are days of the zone with tz", func(t *testing.T) {
		now = time.Date(2026, 1, 1, 10, 2, 0, 0, time.UTC)
		r := search.Request{Route: search.Stats, Filters: "timestamp between today and now", TZ: "Asia/Kolkata"}
		if got := meta(t, r).Period.From; got != "2025-12-31T18:30:00Z" {
			t.Errorf("today begins at %s", got)
		}
		r.TZ = ""
		if got := meta(t, r).Period.From; got != "2026-01-01T00:00:00Z" {
			t.Errorf("without a zone today begins at %s", got)
		}
	})
}

func TestPagesOfRelativeTimes(t *testing.T) {
	now := time.Date(2026, 1, 1, 10, 2, 0, 0, time.UTC)
	s := clocked(t, &now)
	r := search.Request{
		Route: search.Logs, Limit: "2",
		Filters: "timestamp between now-2m and now, not timestamp between now-20s and now-10s",
	}
	first, err := s.Search(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	cursor := **first.Meta.Next
	now = now.Add(time.Hour)

	t.Run("the next page has the period of the first", func(t *testing.T) {
		second := r
		second.Cursor = cursor
		page, err := s.Search(t.Context(), second)
		if err != nil {
			t.Fatal(err)
		}
		if page.Meta.Filter != first.Meta.Filter || first.Logs.Len()+page.Logs.Len() != 4 {
			t.Errorf("page of %d records for %s, want the rest of 4 for %s",
				page.Logs.Len(), page.Meta.Filter, first.Meta.Filter)
		}
	})
	t.Run("also for the filter with absolute times", func(t *testing.T) {
		page, err := s.Search(t.Context(), search.Request{
			Route: search.Logs, Limit: "2", Filters: first.Meta.Filter, Cursor: cursor,
		})
		if err != nil || first.Logs.Len()+page.Logs.Len() != 4 {
			t.Errorf("page of %d records, %v", page.Logs.Len(), err)
		}
	})
	t.Run("another relative filter is another query", func(t *testing.T) {
		_, err := s.Search(t.Context(), search.Request{
			Route: search.Logs, Filters: "timestamp between now-3m and now", Cursor: cursor,
		})
		var wrong *search.ParamError
		if !errors.As(err, &wrong) || wrong.Code != search.CursorOfOtherQuery {
			t.Errorf("error %v", err)
		}
	})
	t.Run("a cursor that was cut is refused", func(t *testing.T) {
		raw, err := base64.RawURLEncoding.DecodeString(cursor)
		if err != nil {
			t.Fatal(err)
		}
		second := r
		second.Cursor = base64.RawURLEncoding.EncodeToString(raw[:len(raw)-9])
		var wrong *search.ParamError
		if _, err := s.Search(t.Context(), second); !errors.As(err, &wrong) || wrong.Param != "cursor" {
			t.Errorf("error %v", err)
		}
	})
}
