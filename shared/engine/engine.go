// Package engine is the port to whatever answers bound queries. An engine takes the query, not SQL: SQL is how
// two of them answer it.
package engine

import (
	"context"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// Engine answers bound queries over the lake.
//
// Errors are of these kinds: fault.Timeout (the context's deadline passed), fault.Canceled,
// fault.RegexRefused, fault.EngineLimit, fault.Unavailable; anything else is fault.Internal.
type Engine interface {
	// Name is the engine's name: "duckdb", "athena", "trino". An answer names it unless Cost.By does better.
	Name() string
	// Extent is the time the data covers at this moment.
	Extent(ctx context.Context) (lake.Extent, error)
	// Run answers q. Cancelling ctx stops the work.
	Run(ctx context.Context, q query.Query) (query.Answer, Cost, error)
	// Explain returns what Run would do, without doing it.
	Explain(ctx context.Context, q query.Query) (Plan, error)
}

// Cost is what an answer took.
type Cost struct {
	By             string   // what answered, for an engine with several ways: "scan", "duckdb", "rows"; "": Engine.Name
	Objects        int      // Parquet objects read
	BytesScanned   int64    // compressed bytes of the columns touched
	RowsConsidered int64    // rows of those objects
	Skipped        []string // objects that could not be read, by lake.NameOf: the answer lacks them

	// Known only of engines that run as a service. Zero values: not known.
	Engine time.Duration  // the engine's own time, queue not included
	Queue  time.Duration  // the time in the engine's own queue
	USD    *float64       // what the answer cost; nil: this engine does not bill queries
	Cached *time.Duration // the answer is an earlier equal query's, at most this old; nil: made for this one
	Split  bool           // the engine ran out of resources for the whole, and was asked part by part
}

// Plan is what a query would do.
type Plan struct {
	By         string      // what would answer; never ""
	SQL        []Statement // the engine's own, in the order run
	Partitions []lake.Partition
	Objects    int      // 0 where the engine does not know before it runs; then Bytes is 0, too
	Bytes      int64    // compressed bytes of the columns it would touch
	Columns    []string // columns it would touch
	Warnings   []string
}

// Statement is one SQL text and what it is for.
type Statement struct{ Title, SQL string }

// String is the statement below its title.
func (s Statement) String() string {
	return "-- " + s.Title + "\n" + strings.TrimRight(s.SQL, "\n") + "\n"
}

// Starter is an engine whose work goes on without the caller, or even the process, that began it. Errors are of the
// kinds that Engine names; fault.Canceled before the context ends means that another caller stopped the execution.
type Starter interface {
	Engine
	// Version names the data at this moment: equal versions, equal data.
	Version(ctx context.Context) (string, error)
	// Start begins q. Equal queries begun over equal data may be given the same execution.
	Start(ctx context.Context, q query.Query) (Execution, error)
	// Poll reports whether an execution of q has succeeded. It returns the execution to ask about from now on, which
	// is another one when the engine had to begin anew. What it begins anew it narrows to the data there is then, so
	// q need not be narrowed.
	Poll(ctx context.Context, x Execution, q query.Query) (next Execution, done bool, err error)
	// Wait polls until the execution has ended. When ctx ends first, the execution goes on; x stays good to ask about.
	Wait(ctx context.Context, x Execution, q query.Query) (Execution, error)
	// Result reads the answer of an execution of q that has ended well.
	Result(ctx context.Context, x Execution, q query.Query) (query.Answer, Cost, error)
	// Stop stops an execution. Stopping a finished execution is not an error.
	Stop(ctx context.Context, x Execution) error
}

// Execution names work in progress, for the engine that began it, in any process. It is opaque, at most 4 kB long
// and holds no secrets.
type Execution string
