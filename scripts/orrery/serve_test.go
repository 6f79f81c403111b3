package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/orrery/internal/answers"
	"github.com/orrery/orrery/scripts/orrery/internal/exit"
)

const tourDay = "timestamp between 2026-01-01 and 2026-01-02"

// tourData returns a folder with a small generated day.
func tourData(t *testing.T) string {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	_, stderr, code := orrery(t, "", "generate", "--records", "3000", "--seed", "3",
		"--from", "2026-01-01", "--to", "2026-01-02", "--data", data)
	if code != exit.Done {
		t.Fatalf("generate exited %d: %s", code, stderr)
	}
	return data
}

// TestServe starts the real server and sends requests to the routes of the specification over HTTP.
func TestServe(t *testing.T) {
	s := startServer(t, tourData(t), "--no-demo")

	t.Run("logs returns the newest records up to the limit", func(t *testing.T) {
		records := s.results("logs", tourDay, "limit", "50")
		if len(records) != 50 {
			t.Fatalf("%d records, want 50", len(records))
		}
		for i := 1; i < len(records); i++ {
			if records[i-1]["timestamp"].(string) < records[i]["timestamp"].(string) {
				t.Errorf("record %d is newer than the one before it", i)
			}
		}
	})
	t.Run("stats and timeline count every record once", func(t *testing.T) {
		for _, route := range []string{"stats", "timeline"} {
			total := 0.0
			segments := s.results(route, tourDay, "segment", "1h")
			for _, segment := range segments {
				total += segment["num_of_requests"].(float64)
			}
			if total != 3000 || len(segments) != 24 {
				t.Errorf("%s: %v records in %d segments, want 3000 in 24", route, total, len(segments))
			}
		}
	})
	t.Run("topx sorts its labels", func(t *testing.T) {
		last := ""
		labels := map[string]bool{}
		for _, result := range s.results("topx", tourDay, "limit", "3") {
			label := result["label"].(string)
			if label < last {
				t.Errorf("label %s after %s", label, last)
			}
			last, labels[label] = label, true
		}
		if len(labels) != 12 {
			t.Errorf("%d labels, want 12", len(labels))
		}
	})
	t.Run("every base path and both filter forms give the same answer", func(t *testing.T) {
		textForm := tourDay + ", blocked is true"
		jsonForm := `{"AND":[{"field":"timestamp","op":"between","value":["2026-01-01","2026-01-02"]},` +
			`{"field":"blocked","op":"is","value":true}]}`
		var given []string
		for _, request := range []struct{ base, filters string }{
			{"/api/v4.0", textForm}, {"/api/v4", textForm}, {"/api/v4.3", textForm}, {"/api/v4.0", jsonForm},
		} {
			status, body := s.get(request.base+"/data/topx", url.Values{"filters": {request.filters}})
			if status != http.StatusOK {
				t.Fatalf("%s answered %d: %s", request.base, status, body)
			}
			var a answers.Answer
			if err := json.Unmarshal(body, &a); err != nil {
				t.Fatal(err)
			}
			results, err := json.Marshal(a.Data.Results)
			if err != nil {
				t.Fatal(err)
			}
			given = append(given, string(results))
		}
		if len(given[0]) < 100 || len(slices.Compact(given)) != 1 {
			t.Errorf("answers differ or are empty: %.300q", given)
		}
	})
	t.Run("the command puts and gets a planet through the server", func(t *testing.T) {
		settings := `{"name":"prod planet","trusted_nets":[{"address":"192.0.2.0/24","comment":"office"}],` +
			`"ichallenge":{"attrs":{},"lang":{},"palette":["#fff"],"position":{}}}`
		out, stderr, code := orrery(t, settings, "planet", "put", "prod", "--url", s.base)
		if code != exit.Done || out != "Successfully updated entry\n" {
			t.Fatalf("put exited %d: %s%s", code, out, stderr)
		}
		out, _, _ = orrery(t, "", "planet", "get", "prod", "--url", s.base)
		if !strings.Contains(out, `"prod planet"`) {
			t.Errorf("got %s", out)
		}
	})
	t.Run("an address other than loopback requires a key", func(t *testing.T) {
		_, stderr, code := orrery(t, "", "serve", "--listen", "0.0.0.0:0", "--data", t.TempDir())
		if code != exit.Usage || !strings.Contains(stderr, "ORRERY_API_KEY") {
			t.Errorf("exit %d: %s", code, stderr)
		}
	})
	t.Run("Ctrl-C stops the server", func(t *testing.T) {
		if err := s.interrupt(); err != nil {
			t.Errorf("serve ended with %v\n%s", err, s.log.String())
		}
	})
}
