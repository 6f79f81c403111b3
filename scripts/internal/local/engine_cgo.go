//go:build cgo

package local

import (
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/duckdb"
)

// memoryLimit is DuckDB's; what exceeds it is spilled into the data directory.
const memoryLimit = "2GB"

func openEngine(index engine.Index, lake, spill string) (Engine, error) {
	e, err := duckdb.Open(index, duckdb.Options{MemoryLimit: memoryLimit, TempDir: spill, AllowedDirs: []string{lake}})
	if err != nil {
		return nil, err // not e: a nil *duckdb.Engine is not a nil Engine
	}
	return e, nil
}
