package asking_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/api/answering"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/gen"
	"github.com/orrery/orrery/shared/incident"
	"github.com/orrery/orrery/shared/incident/asking"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
	"github.com/orrery/orrery/shared/search"
)

type source answering.Ask

func (s source) Ask(ctx context.Context, route string, params map[string]string) ([]byte, error) {
	return s(ctx, route, params)
}

func rowsOf(t testing.TB, text []byte) []*lake.Row {
	t.Helper()
	decoder := record.NewDecoder()
	var rows []*lake.Row
	for line := range bytes.Lines(text) {
		row := &lake.Row{}
		if _, err := decoder.Decode(line, row); err != nil {
			t.Fatal(err)
		}
		row.Source, row.Line = "s", int64(len(rows)+1)
		rows = append(rows, row)
	}
	return rows
}

func generated(t testing.TB, o gen.Options) []byte {
	t.Helper()
	text, err := io.ReadAll(gen.New(o))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func sourceOf(t testing.TB, rows []*lake.Row) source {
	t.Helper()
	service, err := search.New(enginetest.Oracle{Rows: rows}, search.Options{Now: func() time.Time { return time.Unix(0, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	return source(answering.AskAs(service, nil, "", nil))
}

// attack is what the generator has put into a day.
type attack struct {
	target, begin, end string
	kind               incident.Kind
}

const january = "timestamp between 2026-01-01 and 2026-01-01 23:59:59.999"

// TestDemoDay: all attacks of a demo are found, with their targets and kinds, and nothing else. They begin and end
// within two minutes.
func TestDemoDay(t *testing.T) {
	for seed, want := range map[uint64][]attack{
		1: {
			{"learn.example/login", "03:23:25", "03:27:25", incident.Guessing},
			{"clinic.example", "07:30:08", "07:34:08", incident.Scraping},
			{"learn.example", "10:50:38", "10:57:38", incident.Injection},
			{"travel.example", "12:45:05", "12:54:05", incident.Flood},
			{"bank.example/login", "19:39:32", "19:47:32", incident.Guessing},
			{"news.example", "21:00:52", "21:05:52", incident.Scraping},
		},
		2: {
			{"clinic.example/login", "00:48:09", "01:02:09", incident.Guessing},
			{"clinic.example", "07:00:13", "07:09:13", incident.Scraping},
			{"games.example", "09:05:28", "09:13:28", incident.Injection},
			{"bank.example", "12:39:50", "12:51:50", incident.Flood},
			{"bank.example/login", "19:40:31", "19:46:31", incident.Guessing},
			{"forum.example", "20:55:34", "21:08:34", incident.Scraping},
		},
	} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			from := sourceOf(t, rowsOf(t, generated(t, gen.Options{Records: 20_000, Seed: seed})))
			got := run(t, from, asking.Request{Filters: january})
			if len(got.Results) != len(want) {
				t.Fatalf("%d incidents: %+v", len(got.Results), got.Results)
			}
			for i, r := range got.Results {
				w := want[i]
				if r.Target != w.target || r.Kind != string(w.kind) || !r.Certain || r.End == nil ||
					apart(t, r.Begin, w.begin) > 2*time.Minute || apart(t, *r.End, w.end) > 2*time.Minute {
					t.Errorf("%+v, want %+v", r, w)
				}
				counted(t, from, r)
			}
		})
	}
}

func run(t *testing.T, from source, r asking.Request) asking.Incidents {
	t.Helper()
	got, err := asking.Run(t.Context(), from, r)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// apart returns the time between an instant and a time of 2026-01-01.
func apart(t *testing.T, instant, clock string) time.Duration {
	t.Helper()
	a, err := time.Parse(time.RFC3339, instant)
	if err != nil {
		t.Fatal(err)
	}
	b, err := time.Parse(time.DateTime, "2026-01-01 "+clock)
	if err != nil {
		t.Fatal(err)
	}
	return a.Sub(b).Abs()
}

// counted checks that the filter of an incident selects the requests that it counts.
func counted(t *testing.T, from source, r answer.IncidentResult) {
	t.Helper()
	body, err := from.Ask(t.Context(), "timeline", map[string]string{"filters": r.Filter, "segment": "4096d", "tz": "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	var found struct {
		Data struct{ Results []answer.TimelineResult }
	}
	if err := json.Unmarshal(body, &found); err != nil {
		t.Fatal(err)
	}
	n := found.Data.Results[0]
	if n.NumOfRequests != r.NumOfRequests || n.NumOfBlockedRequests != r.NumOfBlockedRequests ||
		n.NumOfChallenges != r.NumOfChallenges || n.NumOfIP != r.NumOfIP || n.NumOfRequests == 0 {
		t.Errorf("%s: the filter selects %+v", r.Sentence, n)
	}
}
