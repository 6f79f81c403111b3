//go:build !cgo

package local_test

import (
	"testing"

	"github.com/orrery/orrery/shared/engine/local"
)

// needDuckDB skips the test: DuckDB needs a C compiler.
func needDuckDB(t testing.TB) {
	t.Helper()
	t.Skip("DuckDB needs cgo")
}

func openDuckDB(t testing.TB, _ []string) local.DuckDB {
	t.Helper()
	needDuckDB(t)
	return nil
}
