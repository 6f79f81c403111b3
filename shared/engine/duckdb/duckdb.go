// Package duckdb answers queries over the lake's Parquet objects on a local disk: with DuckDB, but for the figures that
// package scan counts faster. It reads exactly the objects of the period and the columns touched, and keeps no data of
// its own. DuckDB is locked down: no statement can reach another file, the network or the settings.
package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/lake"
)

// Options are what a deployment decides.
type Options struct {
	Threads     int      // 0: one per processor
	MemoryLimit string   // of DuckDB, as it writes it, "768MB"; "": its default, 80 % of the machine. Scans have their own
	TempDir     string   // where what exceeds memory is spilled; "": nothing is
	AllowedDirs []string // absolute folders that objects are read from
}

// Engine answers bound queries. It may be used by several goroutines at once.
type Engine struct {
	index   engine.Index
	db      *sql.DB
	records *records
	scan    scan.Options
	onlySQL bool // nothing is left to the scan
}

var _ engine.Engine = (*Engine)(nil)

// idleConnections are kept open: a connection costs about a millisecond to open.
const idleConnections = 8

// Open starts a DuckDB of its own in memory. Close ends it.
func Open(index engine.Index, o Options) (*Engine, error) {
	if index == nil {
		return nil, errors.New("duckdb: no index")
	}
	connector, err := duckdb.NewConnector("", nil)
	if err != nil {
		return nil, fmt.Errorf("start duckdb: %w", err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxIdleConns(idleConnections)
	for _, statement := range settings(o) {
		if _, err := db.ExecContext(context.Background(), statement); err != nil {
			return nil, errors.Join(fmt.Errorf("set up duckdb: %s: %w", statement, err), db.Close())
		}
	}
	return &Engine{index: index, db: db, records: newRecords(), scan: scan.Options{Workers: o.Threads}}, nil
}

// settings are the statements that set the engine up, in an order that matters: what may be read is named before
// everything else outside is closed, and the lock comes last.
func settings(o Options) []string {
	if o.Threads == 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	list := []string{
		"SET GLOBAL TimeZone = 'UTC'",
		fmt.Sprintf("SET GLOBAL threads = %d", o.Threads),
		"SET GLOBAL preserve_insertion_order = false", // every statement orders its own rows
		"SET GLOBAL parquet_metadata_cache = true",    // objects never change: a footer is read once
		"SET GLOBAL temp_directory = " + quoted(o.TempDir),
	}
	if o.MemoryLimit != "" {
		list = append(list, "SET GLOBAL memory_limit = "+quoted(o.MemoryLimit))
	}
	folders := make([]string, len(o.AllowedDirs))
	for i, dir := range o.AllowedDirs {
		folders[i] = quoted(dir)
	}
	return append(list,
		"SET GLOBAL autoinstall_known_extensions = false",
		"SET GLOBAL autoload_known_extensions = false",
		"SET GLOBAL allow_community_extensions = false",
		"SET GLOBAL allowed_directories = ["+strings.Join(folders, ", ")+"]",
		"SET GLOBAL enable_external_access = false",
		"SET GLOBAL lock_configuration = true",
	)
}

// quoted is a setting's text; settings come from whoever runs the program, users' values go through sqlgen.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// Close ends the engine and closes the objects it holds open.
func (e *Engine) Close() error { return errors.Join(e.records.close(), e.db.Close()) }

// Name is "duckdb".
func (e *Engine) Name() string { return "duckdb" }

// Extent is the time the data covers at this moment.
func (e *Engine) Extent(ctx context.Context) (lake.Extent, error) { return e.index.Extent(ctx) }
