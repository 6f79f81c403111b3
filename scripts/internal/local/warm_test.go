package local_test

import (
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/gen"
	"github.com/orrery/orrery/shared/query"
)

// TestWarm: a dashboard reads no object for the questions that were asked before it.
func TestWarm(t *testing.T) {
	product := openProduct(t, t.TempDir())
	to := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	from := to.AddDate(0, 0, -40)
	text, err := io.ReadAll(gen.New(gen.Options{Records: 300, Seed: 1, From: from, To: to}))
	if err != nil {
		t.Fatal(err)
	}
	importLog(t, product, "log", string(text))
	extent, err := product.Engine.Extent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	handler := handlerOf(t, product)
	toRead := func(q local.DashboardQuestion, period query.Period) (estimate struct{ Objects int }) {
		t.Helper()
		params := url.Values{"dry_run": {"true"}}
		for name, value := range q.Params {
			params.Set(name, value)
		}
		params.Set("filters", filter.Joined(filter.During(period.FromMs, period.ToMs), q.Condition))
		w := send(t, handler, http.MethodGet, "/data/"+string(q.Route)+"?"+params.Encode(), "")
		if w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		if err := json.Unmarshal(metaOf(t, w.Body.Bytes())["estimate"], &estimate); err != nil {
			t.Fatal(err)
		}
		return estimate
	}
	for _, limits := range [][2]int64{{math.MaxInt64, math.MaxInt64}, {0, 1}} {
		if done, err := product.WarmBetween(t.Context(), limits[0], limits[1]); err != nil || done.Questions > 0 {
			t.Errorf("limits %v: %+v, %v", limits, done, err)
		}
	}
	for _, warmed := range []bool{false, true} {
		if warmed {
			if done, err := product.WarmBetween(t.Context(), 0, math.MaxInt64); err != nil || done.Bytes == 0 {
				t.Fatalf("%+v, %v", done, err)
			}
		}
		for _, q := range local.DashboardQuestions {
			for _, period := range local.WarmedPeriods(extent, q.Before) {
				if n := toRead(q, period).Objects; (n == 0) != warmed {
					t.Errorf("%s %s of %v, asked before: %t: %d objects are to be read", q.Route, q.Condition, period, warmed, n)
				}
			}
		}
	}
}
