package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
)

func TestQueryValues(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	_, stderr, code := orrery(t, "", "generate", "--records", "500", "--data", data,
		"--from", "2026-01-01", "--to", "2026-01-03")
	if code != exit.Done {
		t.Fatal(stderr)
	}
	const hour = "timestamp between 2026-01-01 20:00 and 2026-01-01 20:59:59"
	ask := func(t *testing.T, args ...string) (stdout, stderr string) {
		t.Helper()
		stdout, stderr, code := orrery(t, "", append([]string{"query", "values", "--data", data}, args...)...)
		if code != exit.Done {
			t.Fatalf("exit code %d, %s", code, stderr)
		}
		return stdout, stderr
	}
	t.Run("a table has the values and their conditions", func(t *testing.T) {
		out, stderr := ask(t, "method", "--prefix", "ge", "--period", hour, "--format", "table")
		if out != "value  condition\nGET    method=\"GET\"\n" || stderr != "" {
			t.Errorf("%q, %q", out, stderr)
		}
	})
	t.Run("with counts it has the requests", func(t *testing.T) {
		out, _ := ask(t, "method", "--contains", "ET", "--counts", "--period", hour, "--format", "table")
		if !strings.HasPrefix(out, "value  requests  blocked_requests  condition\nGET    ") {
			t.Errorf("%q", out)
		}
	})
	t.Run("values of the newest day are the default", func(t *testing.T) {
		out, _ := ask(t, "host", "--limit", "1", "--format", "json")
		var a struct {
			Meta struct {
				Period struct{ From string } `json:"period"`
			} `json:"meta"`
		}
		err := json.Unmarshal([]byte(out), &a)
		if err != nil || !strings.HasPrefix(a.Meta.Period.From, "2026-01-01T23:") {
			t.Errorf("%v: %s", err, out)
		}
	})
	t.Run("standard error reports that not all objects were looked at", func(t *testing.T) {
		out, stderr := ask(t, "method", "--limit", "1", "--format", "ndjson",
			"--period", "timestamp between 2026-01-01 and 2026-01-03")
		if strings.Count(out, "\n") != 1 || !strings.Contains(stderr, "looked at, the newest first") {
			t.Errorf("%q, %q", out, stderr)
		}
	})
	t.Run("standard error reports that more values match", func(t *testing.T) {
		_, stderr := ask(t, "host", "--limit", "1", "--period", hour)
		if !strings.Contains(stderr, "more values match than the 1 printed") {
			t.Errorf("%q", stderr)
		}
	})
	t.Run("other queries take no period", func(t *testing.T) {
		_, stderr, code := orrery(t, "", "query", "logs", hour, "--data", data, "--period", hour)
		if code != exit.Usage || !strings.Contains(stderr, "--period is for values") {
			t.Errorf("exit code %d, %q", code, stderr)
		}
	})
}
