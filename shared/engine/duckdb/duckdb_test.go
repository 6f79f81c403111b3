package duckdb_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine/duckdb"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
)

// The answers of DuckDB are compared with the reference and with the scan by the tests of package local.

func open(t *testing.T, o duckdb.Options) *duckdb.Engine {
	t.Helper()
	e, err := duckdb.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// TestStatementsReachOnlyObjects runs statements that read or write something other than objects, or change a setting.
func TestStatementsReachOnlyObjects(t *testing.T) {
	store := enginetest.NewStore(t, enginetest.Records(t, 20, 4))
	e := open(t, duckdb.Options{AllowedDirs: []string{store.Dir}})
	outside := filepath.Join(t.TempDir(), "secret.csv")
	if err := os.WriteFile(outside, []byte("a\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"SELECT * FROM read_csv('" + outside + "')",
		"SELECT * FROM '/etc/passwd'",
		"SELECT * FROM read_text('/etc/passwd')",
		"SELECT * FROM glob('/*')",
		"COPY (SELECT 1) TO '" + outside + ".out'",
		"ATTACH '" + outside + ".db'",
		"INSTALL httpfs",
		"LOAD httpfs",
		"SELECT * FROM read_parquet('https://example.com/x.parquet')",
		"SET enable_external_access = true",
		"SET lock_configuration = false",
		"SET memory_limit = '100GB'",
		"SET GLOBAL TimeZone = 'Asia/Tokyo'",
		"SELECT * FROM read_parquet('" + store.Dir + "/../../../../../../etc/passwd')",
	} {
		if err := e.Exec(t.Context(), statement); err == nil {
			t.Errorf("%s: no error", statement)
		}
	}
	if err := e.Exec(t.Context(), "SELECT 1"); err != nil {
		t.Errorf("SELECT 1: %v", err)
	}
}

// TestDeadlineStopsStatement: a statement that runs is interrupted; the caller does not wait for its end.
func TestDeadlineStopsStatement(t *testing.T) {
	e := open(t, duckdb.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	const endless = "SELECT count(*) FROM range(100000000) a, range(1000000) b WHERE (a.range * b.range) % 7 = 1"
	if err := e.Exec(ctx, endless); err == nil || time.Since(began) > 20*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
}

// TestMemoryLimit: a query over the limit fails, and the engine can still be used.
func TestMemoryLimit(t *testing.T) {
	store := enginetest.NewStore(t, enginetest.Records(t, 2_000, 9))
	e := open(t, duckdb.Options{MemoryLimit: "2MB", Threads: 1, AllowedDirs: []string{store.Dir}})
	objects, err := store.Objects(t.Context(), -1<<40, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	hours := filter.Parse("timestamp between 2026-01-01 21:00 and 2026-01-02 03:00")
	q, err := query.Bind(hours, query.TopX{Limit: 80})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := e.Answer(t.Context(), q, objects)
		if fault.KindOf(e.Classify(err)) != fault.EngineLimit || e.MayBeObject(err) {
			t.Errorf("error %v, want kind EngineLimit and no object to blame", e.Classify(err))
		}
	}
}

func TestOpenRefusesUnknownMemoryLimit(t *testing.T) {
	_, err := duckdb.Open(duckdb.Options{MemoryLimit: "lots"})
	if err == nil || !strings.Contains(err.Error(), "memory_limit") {
		t.Errorf("error %v, want one that names memory_limit", err)
	}
}
