package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/answer"
	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/planet"
)

// TestMarksOfPlanets: versions of planets have marks for keys with conf:read, if their configuration is a branch of the
// traffic that the key sees, and if somebody wrote them in the period.
func TestMarksOfPlanets(t *testing.T) {
	var rows []*lake.Row
	hour := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	for i, branch := range []string{"prod", "staging", "prod", "not a configuration"} {
		rows = append(rows, &lake.Row{TsMs: hour.UnixMilli() + int64(i), Source: "s", Line: int64(i) + 1, Branch: &branch})
	}
	s := newServer(t, func(c *Config) {
		service := newSearch(t, &oracle{rows}, 0)
		c.Search, c.Queries, c.Keys, c.Reports = service, service, testKeys, Maker
		for _, v := range []struct {
			config string
			number int
			at     time.Duration
		}{
			{"prod", 1, 5 * time.Minute}, // the default
			{"prod", 2, 20*time.Minute + 500*time.Millisecond},
			{"prod", 3, 70 * time.Minute},
			{"staging", 1, 10 * time.Minute},
			{"other", 1, 15 * time.Minute},
		} {
			version := document.NewVersion(v.number, "{}", "ann", hour.Add(v.at))
			if err := c.Planets.Append(t.Context(), planet.DocumentOf(v.config), version); err != nil {
				t.Fatal(err)
			}
		}
	})
	filters := url.QueryEscape("timestamp between 2026-01-01 10:00 and 2026-01-01 10:59:59.999")
	const prod, staging = "prod 2 at 2026-01-01T10:20:00.5Z by ann", "staging 1 at 2026-01-01T10:10:00Z by ann"
	for key, want := range map[string]string{
		"full-key": staging + ", " + prod, "branch-key": staging, "read-key": "", "guest-key": "",
	} {
		for _, route := range []string{"timeline", "histogram"} {
			got := s.send(t, get("/api/v4.0/data/"+route+"?marks=true&filters="+filters, "X-API-Key: "+key))
			var body, plain struct {
				Data json.RawMessage
				Meta struct{ Marks *[]answer.Mark }
			}
			if err := json.Unmarshal(got.body, &body); err != nil || got.StatusCode != http.StatusOK || body.Meta.Marks == nil {
				t.Fatalf("%s of %s: %s %v %s", route, key, got.Status, err, got.body)
			}
			if text := listed(*body.Meta.Marks); text != want {
				t.Errorf("%s of %s: %s, want %s", route, key, text, want)
			}
			without := s.send(t, get("/api/v4.0/data/"+route+"?filters="+filters, "X-API-Key: "+key))
			if err := json.Unmarshal(without.body, &plain); err != nil || plain.Meta.Marks != nil || string(plain.Data) != string(body.Data) {
				t.Errorf("%s without marks: %v %s", route, err, without.body)
			}
		}
		got := s.send(t, get("/api/v4.0/data/report?format=json&filters="+filters, "X-API-Key: "+key))
		var body struct {
			Report struct{ Marks *[]answer.Mark }
		}
		if err := json.Unmarshal(got.body, &body); err != nil || got.StatusCode != http.StatusOK || body.Report.Marks == nil {
			t.Fatalf("the report of %s: %s %v %.300s", key, got.Status, err, got.body)
		}
		if text := listed(*body.Report.Marks); text != want {
			t.Errorf("the report of %s: %s, want %s", key, text, want)
		}
	}
}

// listed returns marks of planets as a list.
func listed(marks []answer.Mark) string {
	list := make([]string, len(marks))
	for i, m := range marks {
		list[i] = fmt.Sprintf("%s %d at %s by %s", m.Config, m.Version, m.At, m.By)
	}
	return strings.Join(list, ", ")
}
