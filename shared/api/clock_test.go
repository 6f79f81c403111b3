package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/examples"
	"github.com/orrery/orrery/shared/search"
)

func TestPresent(t *testing.T) {
	parse := func(t *testing.T, s *testServer, contentType, body string) reply {
		t.Helper()
		m := post("/api/v4.0/data/timeline/parse", contentType, body)
		m.Head += "\nAccept: text/plain"
		r := s.send(t, m)
		if r.StatusCode != http.StatusOK {
			t.Fatalf("%s\n%s", r.Status, r.body)
		}
		return r
	}
	now := time.Date(2026, 1, 2, 20, 4, 55, 0, time.UTC)
	h := &searchSpy{}
	of := func(step time.Duration) *testServer {
		return newServer(t, func(c *Config) {
			c.Search, c.PresentStep, c.Now = h, step, func() time.Time { return now }
		})
	}
	for step, want := range map[time.Duration]string{
		0:                      "2026-01-02 20:04:50",
		search.PaidPresentStep: "2026-01-02 20:04:00",
	} {
		t.Run(fmt.Sprintf("is the same on all routes in steps of %s", step), func(t *testing.T) {
			s := of(step)
			canonical := string(parse(t, s, content.Text, "timestamp between now and now").body)
			if !strings.Contains(canonical, want) {
				t.Errorf("parse returns %s, want %s", canonical, want)
			}
			for _, path := range []string{
				"topx?", "stats?", "timeline?", "facets?", "histogram?", "diff?select=x&", "logs?", "values?field=host&",
			} {
				r := s.send(t, examples.Message{Head: "GET /api/v4.0/data/" + path + "filters=x HTTP/1.1\nHost: localhost"})
				if got := h.request.Now.Format(time.DateTime); r.StatusCode != http.StatusOK || got != want {
					t.Errorf("%s: %s, the present is %s, want %s", path, r.Status, got, want)
				}
			}
		})
	}
	t.Run("has the days of tz on all routes", func(t *testing.T) {
		s := of(0)
		const want = "2026-01-02 18:30:00" // the midnight of 3 January
		for contentType, body := range map[string]string{
			content.JSON: `{"filters":"timestamp between today and now","tz":"Asia/Kolkata"}`,
			content.Form: "filters=timestamp+between+today+and+now&tz=Asia/Kolkata",
		} {
			if got := string(parse(t, s, contentType, body).body); !strings.Contains(got, want) {
				t.Errorf("%s: parse returns %s, want %s", contentType, got, want)
			}
		}
		for _, path := range []string{
			"topx?", "stats?", "timeline?", "facets?", "histogram?", "diff?select=x&", "logs?", "values?field=host&",
		} {
			r := s.send(t, examples.Message{
				Head: "GET /api/v4.0/data/" + path + "filters=x&tz=Asia/Kolkata HTTP/1.1\nHost: localhost",
			})
			if r.StatusCode != http.StatusOK || h.request.TZ != "Asia/Kolkata" {
				t.Errorf("%s: %s, tz %q", path, r.Status, h.request.TZ)
			}
		}
	})
	t.Run("fills a header of limited length", func(t *testing.T) {
		var filters strings.Builder
		filters.WriteString("timestamp between now-" + strings.Repeat("0", 10_000) + "9m and now")
		for i := range 500 {
			fmt.Fprintf(&filters, ", timestamp between now-%dm and now", 10+i)
		}
		header := parse(t, of(0), content.Text, filters.String()).Header.Get("X-Orrery-Relative-Times")
		if len(header) > 1000 || !strings.HasPrefix(header, "now-9m=2026-01-02T19:55:50Z, now=") ||
			!strings.HasSuffix(header, ", and 482 more") {
			t.Errorf("%d bytes: %.80s … %s", len(header), header, header[max(0, len(header)-80):])
		}
	})
}
