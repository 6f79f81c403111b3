package main

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/lake"
)

// TestNewestDay: the commands to try have only times that a filter may have.
func TestNewestDay(t *testing.T) {
	last := time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli() - 1
	for newest, want := range map[int64]string{
		last:              "timestamp between 9999-12-30 23:59:59 and 9999-12-31 23:59:59",
		last - 1000:       "timestamp between 9999-12-30 23:59:59 and 9999-12-31 23:59:59",
		1000:              "timestamp between 1970-01-01 00:00:00 and 1970-01-01 00:00:02",
		24 * 3_600_000:    "timestamp between 1970-01-01 00:00:01 and 1970-01-02 00:00:01",
		1_779_012_303_999: "timestamp between 2026-05-16 10:05:04 and 2026-05-17 10:05:04",
	} {
		if got := newestDay(lake.Extent{MinTsMs: 0, MaxTsMs: newest, Rows: 2}); got != want {
			t.Errorf("the newest record is of %d: %s, want %s", newest, got, want)
		}
	}
}

var tried = regexp.MustCompile(`# (.*)\n  curl -sG '(.*)' --data-urlencode 'filters=(.*)'`)

// TestTryQuestions: the questions that serve proposes have answers.
func TestTryQuestions(t *testing.T) {
	const line = `192.0.2.1 - - [17/May/2026:10:05:0%d +0000] "GET /%d HTTP/1.1" STATUS 12 "-" "AGENT"` + "\n"
	log := func(status, agent string) string {
		return strings.NewReplacer("%d", "3", "STATUS", status, "AGENT", agent).Replace(strings.Repeat(line, 3))
	}
	for name, c := range map[string]struct {
		log  string
		want []string
	}{
		"a quiet site": {log("200", "Mozilla/5.0 (X11)"), []string{
			"requests over time", "the busiest addresses, paths and hosts", "the newest requests",
		}},
		"a broken site": {log("404", "Googlebot/2.1") + log("502", "Mozilla/5.0 (X11)"), []string{
			"server errors over time", "which paths are not found", "which programs call themselves bots",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			if _, stderr, code := inProcess(t, "import", "--data", data, written(t, "access.log", c.log)); code != 0 {
				t.Fatal(stderr)
			}
			product, server := served(t, data)
			extent, err := product.Engine.Extent(t.Context())
			if err != nil {
				t.Fatal(err)
			}

			var out bytes.Buffer
			tryQuestions(t.Context(), &out, server.URL, product, extent, false)
			var titles []string
			for _, m := range tried.FindAllStringSubmatch(out.String(), -1) {
				titles = append(titles, m[1])
				address := m[2] + "?"
				if strings.Contains(m[2], "?") {
					address = m[2] + "&"
				}
				if body := got(t, address+url.Values{"filters": {m[3]}}.Encode()); !strings.Contains(body, `"results":[{`) {
					t.Errorf("%s: %s", m[1], body)
				}
			}
			if diff := cmp.Diff(c.want, titles); diff != "" {
				t.Errorf("-want +got:\n%s\n%s", diff, out.String())
			}

			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			out.Reset()
			if tryQuestions(ctx, &out, server.URL, product, extent, true); strings.Count(out.String(), "x-api-key: $") != 3 {
				t.Errorf("without time to look: %s", out.String())
			}
		})
	}
}

// got returns the body of a response with the status 200.
func got(t *testing.T, address string) string {
	t.Helper()
	response, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var body bytes.Buffer
	if _, err := body.ReadFrom(response.Body); err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("%s: %d, %v: %s", address, response.StatusCode, err, &body)
	}
	return body.String()
}
