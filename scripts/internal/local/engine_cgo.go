//go:build cgo

package local

import (
	"errors"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/duckdb"
	"github.com/orrery/orrery/shared/engine/local"
	"github.com/orrery/orrery/shared/engine/scan"
)

// The memory of DuckDB is 2 GB, of which the queries of one caller get a half. Beyond it, DuckDB writes temporary files
// into the data directory.
const (
	duckDBs     = 2
	memoryLimit = "1GB" // of each
)

// openEngine opens the engine over the objects of an index. Objects are in the folder lake, temporary files in spill.
// startFailed is called if only one DuckDB can start.
func openEngine(
	index engine.Index, options scan.Options, lake, spill string, startFailed func(error),
) (dataEngine, error) {
	db, err := duckdb.OpenShared(duckdb.Options{
		MemoryLimit: memoryLimit, TempDir: spill, AllowedDirs: []string{lake}, StartFailed: startFailed,
	}, duckDBs)
	if err != nil {
		return nil, err
	}
	e, err := local.New(index, db, options)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return e, nil
}
