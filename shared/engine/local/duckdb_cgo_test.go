//go:build cgo

package local_test

import (
	"testing"

	"github.com/orrery/orrery/shared/engine/duckdb"
	"github.com/orrery/orrery/shared/engine/local"
)

// needDuckDB skips the test in a build without DuckDB, which this is not.
func needDuckDB(testing.TB) {}

// openDuckDB starts a DuckDB that may read the folders.
func openDuckDB(t testing.TB, folders []string) local.DuckDB {
	t.Helper()
	db, err := duckdb.Open(duckdb.Options{AllowedDirs: folders})
	if err != nil {
		t.Fatal(err)
	}
	return db
}
