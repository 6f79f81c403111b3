package reportapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/api/answering"
	"github.com/orrery/orrery/shared/api/reportapi"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/search"
)

// estimating answers dry runs with an estimate, and counts the questions that are not dry runs.
type estimating struct {
	searcher
	unrounded *search.BytesEstimate // of each
}

func (e *estimating) Search(ctx context.Context, r search.Request) (search.Result, error) {
	result, err := e.searcher.Search(ctx, r)
	if r.DryRun == "true" {
		result = search.Result{Meta: search.Meta{DryRun: true, Filter: r.Filters, Estimate: &search.Estimate{
			Bytes: &search.BytesEstimate{Low: 10, High: 20}, Columns: []search.ColumnSize{}, Warnings: []string{},
			Unrounded: e.unrounded,
		}}}
	}
	return result, err
}

// post sends a request with a JSON body to the API over a searcher.
func post(t *testing.T, s answering.Searcher, accept, body string) *httptest.ResponseRecorder {
	t.Helper()
	handler, err := api.New(api.Config{
		Search: s, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return time.Unix(0, 0) },
		Reports: reportapi.Maker{}, Serves: []string{"report-post"},
		Keys: keys.Static{keys.HashOf("k"): {Name: "n", Scopes: []keys.Scope{keys.DataRead}, Branches: []string{"b"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v4.0/data/report", strings.NewReader(body))
	r.Header.Set("X-Api-Key", "k")
	r.Header.Set("Content-Type", "application/json")
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

// TestParametersInTheBody: the filter of a report need not be in an address, which proxies may log.
func TestParametersInTheBody(t *testing.T) {
	for _, test := range []struct {
		rule, body string
		status     int
		contains   string
	}{
		{"text", `{"filters":"` + filters + `","format":"text","title":"The shop"}`, 200, "The shop"},
		{"html by default", `{"filters":"` + filters + `"}`, 200, "<!doctype html>"},
		{"an unknown member", `{"filters":"` + filters + `","last":"week"}`, 422, "last"},
		{"no filter", `{}`, 422, "filters"},
		{"a mistake in the filter", `{"filters":"` + filters + `, hots=a"}`, 400, "host"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			w := post(t, &searcher{}, "", test.body)
			if w.Code != test.status || !strings.Contains(w.Body.String(), test.contains) {
				t.Errorf("%d %.300s", w.Code, w.Body)
			}
		})
	}
}

// TestDryRun: a dry run has the estimate of all questions together, and none of them runs.
func TestDryRun(t *testing.T) {
	dry := func(more string) string { return `{"filters":"` + filters + `","dry_run":true` + more + `}` }
	t.Run("the estimates of the questions are added", func(t *testing.T) {
		s := &estimating{}
		w := post(t, s, "", dry(`,"compare":"none"`))
		var answer answering.Estimated
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		const canonical = "timestamp between 2026-01-01 00:00:00 and 2026-01-01 23:59:59.999"
		n := int64(len(s.asked))
		if m := answer.Meta; !m.DryRun || n == 0 || m.Estimate.Bytes.Low != 10*n || m.Estimate.Bytes.High != 20*n || m.Filter != canonical {
			t.Errorf("%d questions, and the answer is %s", n, w.Body)
		}
		for _, r := range s.asked {
			if r.DryRun != "true" || r.Branches[0] != "b" {
				t.Errorf("%s runs, or has other branches: %+v", r.Route, r)
			}
		}
	})
	t.Run("what is rounded up is rounded once", func(t *testing.T) {
		w := post(t, &estimating{unrounded: &search.BytesEstimate{Low: 1, High: 500_000}}, "", dry(""))
		var answer answering.Estimated
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		want := search.BytesEstimate{Low: 10_000_000, High: 20_000_000} // of 23 questions
		if got := *answer.Meta.Estimate.Bytes; got != want || strings.Contains(w.Body.String(), "nrounded") {
			t.Errorf("%+v, want %+v: %s", got, want, w.Body)
		}
	})
	t.Run("a question that fails is named, and the others are estimated", func(t *testing.T) {
		s := &estimating{searcher: searcher{fail: map[search.Route]error{
			search.Timeline: fault.New(fault.EngineLimit, "the query has too many conditions"),
			search.Diff:     errors.New("10.0.0.7 is down"),
		}}}
		w := post(t, s, "", dry(""))
		var answer answering.Estimated
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		want := []string{
			`the part "timeline" would be missing: the query has too many conditions`,
			`the part "timeline before" would be missing: the query has too many conditions`,
			`the part "changes" would be missing: the query failed; the log of the server has the cause`,
			"the questions about the hours that stand out, and about the incidents in them, follow from the first answers and " +
				"are not estimated",
		}
		e := answer.Meta.Estimate
		if n := int64(len(s.asked) - 3); n < 10 || e.Bytes.High != 20*n || !slices.Equal(e.Warnings, want) ||
			answer.Meta.Filter != "timestamp between 2026-01-01 00:00:00 and 2026-01-01 23:59:59.999" {
			t.Errorf("%d questions, and the answer is %s", n, w.Body)
		}
	})
	t.Run("if all questions fail, the report does", func(t *testing.T) {
		fail := map[search.Route]error{}
		for _, r := range []search.Route{
			search.Timeline, search.Facets, search.Histogram, search.Stats, search.TopX, search.Logs, search.Diff,
			search.Counts,
		} {
			fail[r] = fault.New(fault.EngineLimit, "the query has too many conditions")
		}
		if w := post(t, &estimating{searcher: searcher{fail: fail}}, "", dry("")); w.Code != 422 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
	for _, test := range []struct {
		rule, accept, body string
		status             int
	}{
		{"json can be asked for", "", dry(`,"format":"json"`), 200},
		{"there is no estimate as a page", "", dry(`,"format":"html"`), 422},
		{"there is no estimate for clients that take only pages", "text/html", dry(""), 406},
		{"a mistake in the filter", "", `{"filters":"hots=a","dry_run":true}`, 400},
		{"an unknown zone", "", dry(`,"tz":"Mars"`), 422},
		{"neither true nor false", "", `{"filters":"` + filters + `","dry_run":"1"}`, 422},
	} {
		t.Run(test.rule, func(t *testing.T) {
			if w := post(t, &estimating{}, test.accept, test.body); w.Code != test.status {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
}
