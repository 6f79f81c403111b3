// Package engine is the port to whatever answers bound queries. An engine takes the query, not SQL: SQL is how
// two of them answer it.
package engine

import (
	"context"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// Engine answers bound queries over the lake.
//
// Errors are of these kinds: fault.Timeout (the context's deadline passed), fault.Canceled,
// fault.RegexRefused, fault.EngineLimit, fault.Unavailable; anything else is fault.Internal.
type Engine interface {
	// Name is how answers and explanations call the engine: "duckdb", "athena", "trino".
	Name() string
	// Extent is the time the data covers at this moment.
	Extent(ctx context.Context) (lake.Extent, error)
	// Run answers q. Cancelling ctx stops the work.
	Run(ctx context.Context, q query.Query) (query.Answer, Cost, error)
	// Explain tells what Run would do, without doing it.
	Explain(ctx context.Context, q query.Query) (Plan, error)
}

// Cost is what an answer took.
type Cost struct {
	Objects        int      // Parquet objects read
	BytesScanned   int64    // compressed bytes of the columns touched
	RowsConsidered int64    // rows of those objects
	Skipped        []string // objects that could not be read, by lake.NameOf: the answer lacks them
}

// Plan is what a query would do.
type Plan struct {
	SQL        []Statement // in the order run
	Partitions []lake.Partition
	Objects    int
	Bytes      int64    // compressed bytes of the columns it would touch
	Columns    []string // columns it would touch
	Warnings   []string
}

// Statement is one SQL text and what it is for.
type Statement struct{ Title, SQL string }
