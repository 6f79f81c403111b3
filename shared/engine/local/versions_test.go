package local_test

import (
	"testing"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/lake"
)

// TestVersions compares the scan, DuckDB and the reading of single rows with the reference.
func TestVersions(t *testing.T) {
	needDuckDB(t)
	enginetest.Versions(t, func(rows []lake.Row) (engine.Engine, *enginetest.Store) {
		store := enginetest.NewStore(t, rows)
		return bothWays(t, store), store
	})
}

func TestVersionsWithoutDuckDB(t *testing.T) {
	enginetest.Versions(t, func(rows []lake.Row) (engine.Engine, *enginetest.Store) {
		store := enginetest.NewStore(t, rows)
		return openWithout(t, store), store
	})
}
