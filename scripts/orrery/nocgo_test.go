package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orrery/orrery/scripts/orrery/internal/exit"
)

// buildWithoutCgo builds the command as on a machine without a C compiler, with the paths of a release: the functions of
// other tests are compiled from the same packages.
func buildWithoutCgo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "orrery")
	build := exec.Command("go", "build", "-trimpath", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, output)
	}
	return path
}

// TestBuildWithoutCgo: a command built without a C compiler has no DuckDB. It imports, serves and explains, and its
// answers are those of the command with DuckDB.
func TestBuildWithoutCgo(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and starts the real command")
	}
	program, data := buildWithoutCgo(t), tourData(t)
	without := func(t *testing.T, args ...string) string {
		t.Helper()
		var stderr bytes.Buffer
		command := exec.Command(program, args...)
		command.Env, command.Stderr = environment(), &stderr
		stdout, err := command.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, &stderr)
		}
		return string(stdout)
	}

	newest, _, _ := orrery(t, "", "query", "logs", tourDay, "--data", data,
		"--limit", "1", "--format", "ndjson", "--fields", "ip,session")
	var of struct{ IP, Session string }
	if err := json.Unmarshal([]byte(newest), &of); err != nil || of.IP == "" || of.Session == "" {
		t.Fatalf("the newest record is %s: %v", newest, err)
	}
	for _, c := range []struct{ name, route, condition string }{
		{"logs", "logs", ""},
		{"logs of a range", "logs", ", status>=500"},
		{"logs of one address", "logs", fmt.Sprintf(", ip=%q", of.IP)},
		{"logs of a pattern on many texts", "logs", `, url~"(?i)login"`},
		{"stats", "stats", ""},
		{"stats of one host", "stats", `, host="shop.example"`},
		{"timeline", "timeline", ""},
		{"topx", "topx", ""},
		{"topx of one session", "topx", fmt.Sprintf(", session=%q", of.Session)},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := []string{"query", c.route, tourDay + c.condition, "--data", data, "--format", "ndjson"}
			want, stderr, code := orrery(t, "", args...)
			if code != exit.Done || want == "" {
				t.Fatalf("with DuckDB: exit code %d, %s; answer %q", code, stderr, want)
			}
			if got := without(t, args...); got != want {
				t.Errorf("%d bytes of answer without DuckDB, %d with it:\n%.500s\n%.500s",
					len(got), len(want), got, want)
			}
		})
	}
	t.Run("explain prints what a scan reads, and no SQL", func(t *testing.T) {
		plan := without(t, "explain", "stats", tourDay, "--data", data)
		const reads = "by         scan\npartitions 24, from 2026/01/01/00"
		if !strings.Contains(plan, reads) || strings.Contains(plan, "SELECT") {
			t.Errorf("explain printed\n%s", plan)
		}
		sql := without(t, "explain", "logs", tourDay, "--data", data, "--engine", "duckdb")
		if !strings.Contains(sql, "read_parquet") {
			t.Errorf("explain --engine duckdb printed\n%s", sql)
		}
	})
	t.Run("generate imports records", func(t *testing.T) {
		fresh := filepath.Join(t.TempDir(), "data")
		without(t, "generate", "--records", "50", "--from", "2026-01-01", "--to", "2026-01-02", "--data", fresh)
		records := without(t, "query", "logs", tourDay, "--data", fresh, "--format", "ndjson")
		if lines := strings.Count(records, "\n"); lines != 50 {
			t.Errorf("%d records, want 50", lines)
		}
	})
	t.Run("serve answers", func(t *testing.T) {
		s := startProgram(t, program, data, "--no-demo")
		if records := s.results("logs", tourDay, "limit", "50"); len(records) != 50 {
			t.Errorf("%d records, want 50", len(records))
		}
		if err := s.interrupt(); err != nil {
			t.Errorf("serve ended with %v\n%s", err, s.log.String())
		}
	})
}
