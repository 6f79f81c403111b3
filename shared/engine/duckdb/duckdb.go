// Package duckdb answers queries over the lake's Parquet objects with DuckDB. A caller names the objects, and DuckDB
// reads the columns that the query touches; it keeps no data of its own. DuckDB is locked down: no statement can reach
// another file, the network or the settings.
package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/orrery/orrery/shared/sqlgen"
)

// Options configures an engine.
type Options struct {
	Threads     int      // 0: one per processor
	MemoryLimit string   // of DuckDB, as it writes it, such as "768MB"; "": its default, 80 % of the machine's memory
	TempDir     string   // where DuckDB writes what exceeds the memory limit; "": nowhere
	AllowedDirs []string // absolute folders that objects are read from

	StartFailed func(error) // is called when a further engine of a Shared cannot start; may be nil
}

// Engine answers bound queries over given objects. It is safe for concurrent use.
type Engine struct {
	db    *sql.DB
	lists *lists
}

// idleConnections is how many connections are kept open: opening one takes about a millisecond.
const idleConnections = 8

// Open starts a DuckDB of its own in memory. Close ends it.
func Open(o Options) (*Engine, error) {
	connector, err := duckdb.NewConnector("", nil)
	if err != nil {
		return nil, fmt.Errorf("start duckdb: %w", err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxIdleConns(idleConnections)
	e := &Engine{db: db, lists: &lists{}}
	if err := e.lists.register(context.Background(), db); err != nil {
		return nil, errors.Join(fmt.Errorf("set up duckdb: define %s: %w", sqlgen.InListFunction, err), db.Close())
	}
	for _, statement := range settings(o) {
		if _, err := db.ExecContext(context.Background(), statement); err != nil {
			return nil, errors.Join(fmt.Errorf("set up duckdb: %s: %w", statement, err), db.Close())
		}
	}
	return e, nil
}

// settings returns the statements that set DuckDB up. Their order matters: they allow the folders before they close
// everything else outside, and the lock comes last.
func settings(o Options) []string {
	if o.Threads == 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	list := []string{
		"SET GLOBAL TimeZone = 'UTC'",
		fmt.Sprintf("SET GLOBAL threads = %d", o.Threads),
		"SET GLOBAL preserve_insertion_order = false", // every statement orders its own rows
		"SET GLOBAL parquet_metadata_cache = true",    // objects never change, so a footer is read once
		"SET GLOBAL temp_directory = " + quoted(o.TempDir),
		// The threads of DuckDB wait between queries and give nothing back then. Threads of its allocator do.
		"SET GLOBAL allocator_background_threads = true",
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

// quoted returns the text of a setting as an SQL literal. The operator writes settings; sqlgen writes users' values.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// Close ends DuckDB.
func (e *Engine) Close() error { return e.db.Close() }
