//go:build cgo

package local

import (
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/duckdb"
)

// memoryLimit is the memory limit of DuckDB. Beyond it, DuckDB writes temporary files into the data directory.
const memoryLimit = "2GB"

func openEngine(index engine.Index, lake, spill string) (Engine, error) {
	e, err := duckdb.Open(index, duckdb.Options{MemoryLimit: memoryLimit, TempDir: spill, AllowedDirs: []string{lake}})
	if err != nil {
		return nil, err // not e: an Engine with a nil *duckdb.Engine is not nil
	}
	return e, nil
}
