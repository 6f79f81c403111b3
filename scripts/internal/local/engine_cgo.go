//go:build cgo

package local

import (
	"errors"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/duckdb"
	"github.com/orrery/orrery/shared/engine/local"
)

// memoryLimit is the memory limit of DuckDB. Beyond it, DuckDB writes temporary files into the data directory.
const memoryLimit = "2GB"

// openEngine opens the engine over the objects of an index. Objects are in the folder lake, temporary files in spill.
func openEngine(index engine.Index, lake, spill string) (dataEngine, error) {
	db, err := duckdb.Open(duckdb.Options{MemoryLimit: memoryLimit, TempDir: spill, AllowedDirs: []string{lake}})
	if err != nil {
		return nil, err
	}
	e, err := local.New(index, db)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return e, nil
}
