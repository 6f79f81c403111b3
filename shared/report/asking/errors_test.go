package asking_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
	"github.com/orrery/orrery/shared/report"
	"github.com/orrery/orrery/shared/report/asking"
	"github.com/orrery/orrery/shared/search"
)

// TestErrorsOfTheOrigin has a record for each case, and the question that counts it as an error of the origin.
func TestErrorsOfTheOrigin(t *testing.T) {
	const none = report.Part("")
	for _, test := range []struct {
		rule, record string
		want         report.Part
	}{
		{"the origin answers", `"status":200,"upstream_status":[200]`, none},
		{"the origin fails", `"status":502,"upstream_status":[502]`, report.OriginErrors},
		{"one of two origins fails", `"status":200,"upstream_status":[502,200]`, report.OriginErrors},
		{"the origin refuses", `"status":404,"upstream_status":[404]`, none},
		{"the service fails after the origin", `"status":500,"upstream_status":[200]`, none},
		{"no status of the origin, and an error", `"status":500`, report.OtherErrors},
		{"an empty list of statuses, and an error", `"status":503,"upstream_status":[]`, report.OtherErrors},
		{"no status of the origin, and none", `"status":404`, none},
		{"no status at all", `"host":"a"`, none},
		{"a block with 503", `"status":503,"blocked":true`, none},
		{"a block after an error of the origin", `"status":502,"upstream_status":[502],"blocked":true`, none},
		{"a challenge with 503", `"status":503,"challenge":true`, none},
		{"an interactive challenge with 503", `"status":503,"ichallenge":true`, none},
		{"false flags", `"status":500,"blocked":false,"challenge":false,"ichallenge":false`, report.OtherErrors},
	} {
		t.Run(test.rule, func(t *testing.T) {
			s := sourceOf(t, `{"timestamp":"2026-01-02T12:00:00Z",`+test.record+`}`)
			setting, err := asking.SettingOf(asking.Request{Filters: secondDay})
			if err != nil {
				t.Fatal(err)
			}
			counted := none
			for _, q := range setting.Questions() {
				if q.Part != report.OriginErrors && q.Part != report.OtherErrors {
					continue
				}
				body, err := s.Ask(t.Context(), q.Route, q.Params)
				if err != nil {
					t.Fatal(err)
				}
				var answer struct {
					Meta struct {
						Requests int `json:"num_of_requests"`
					}
				}
				if err := json.Unmarshal(body, &answer); err != nil {
					t.Fatal(err)
				}
				if answer.Meta.Requests == 1 {
					counted += q.Part
				}
			}
			if counted != test.want {
				t.Errorf("it is counted by %q, want %q", counted, test.want)
			}
		})
	}
}

// sourceOf returns the API over records.
func sourceOf(t testing.TB, records ...string) *apiSource {
	t.Helper()
	var rows []*lake.Row
	decoder := record.NewDecoder()
	for i, text := range records {
		row := &lake.Row{}
		if _, err := decoder.Decode([]byte(text), row); err != nil {
			t.Fatal(err)
		}
		row.Source, row.Line = "s", int64(i+1)
		rows = append(rows, row)
	}
	service, err := search.New(enginetest.Oracle{Rows: rows}, search.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	handler, err := api.New(api.Config{
		Search: service, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now },
		Serves: []string{
			"timeline-post", "topx-post", "facets-post", "histogram-post", "stats-post", "diff-post", "logs-post", "incidents-post",
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &apiSource{t: t, handler: handler}
}

// rounding is a source whose answers have bytes that are rounded up.
type rounding struct{}

func (rounding) Ask(context.Context, string, map[string]string) ([]byte, error) {
	return []byte(`{"data":{"results":[]},"meta":{"bytes_scanned":10000000,"cost_usd":0.00005},` +
		`"unrounded":{"low":600000,"high":600000}}`), nil
}

// TestBytesAreRoundedOnce: what a report has read is rounded up once for a caller who is limited to branches. Its price
// is the sum of its queries. Each is charged for 10 MB at least.
func TestBytesAreRoundedOnce(t *testing.T) {
	r := run(t, rounding{}, asking.Request{Filters: secondDay})
	if n := r.Run.Questions; r.Run.Bytes != 20_000_000 || n != 23 || math.Abs(*r.Run.CostUSD-0.00005*23) > 1e-9 {
		t.Errorf("%d bytes, $%v for %d questions", r.Run.Bytes, *r.Run.CostUSD, n)
	}
}
