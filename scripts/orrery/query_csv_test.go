package main

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
)

// TestQueryPrintsTheCSVOfTheAPI compares the output of the command with the answers of the API, byte by byte.
func TestQueryPrintsTheCSVOfTheAPI(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	_, stderr, code := orrery(t, "", "generate", "--records", "300", "--data", data,
		"--from", "2026-01-01", "--to", "2026-01-02")
	if code != exit.Done {
		t.Fatal(stderr)
	}
	_, server := served(t, data)
	for name, c := range map[string]struct {
		route, parameters string
		flags             []string
	}{
		"whole records":   {"logs", "", nil},
		"fields":          {"logs", "&fields=timestamp,+ip,tags", []string{"--fields", "timestamp, ip,tags"}},
		"raw cells":       {"logs", "&fields=query&csv=raw", []string{"--fields", "query", "--raw"}},
		"stats":           {"stats", "&group_by=hostname", []string{"--group-by", "hostname"}},
		"timeline":        {"timeline", "&segment=6h", []string{"--segment", "6h"}},
		"topx":            {"topx", "&limit=3", []string{"--limit", "3"}},
		"facets":          {"facets", "&by=country,tags", []string{"--by", "country,tags"}},
		"histogram":       {"histogram", "&by=status", []string{"--by", "status"}},
		"histogram whole": {"histogram", "", nil},
		"diff": {"diff", "&select=blocked+is+true&by=result,tags", []string{
			"--select", "blocked is true", "--by", "result,tags",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"query", c.route, tourDay, "--url", server.URL, "--format", "csv"}, c.flags...)
			query := "?format=csv&filters=" + url.QueryEscape(tourDay) + c.parameters
			stdout, stderr, code := orrery(t, "", args...)
			if code != exit.Done {
				t.Fatal(stderr)
			}
			response, err := http.Get(server.URL + "/api/v4.0/data/" + c.route + query)
			if err != nil {
				t.Fatal(err)
			}
			want, err := io.ReadAll(response.Body)
			if err := errors.Join(err, response.Body.Close()); err != nil || response.StatusCode != http.StatusOK {
				t.Fatalf("%s %v %s", response.Status, err, want)
			}
			if diff := cmp.Diff(string(want), stdout); diff != "" {
				t.Errorf("CSV (-API +command):\n%s", diff)
			}
		})
	}
}
