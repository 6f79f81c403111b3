// Package engine defines the interfaces of query engines. An engine takes a bound query rather than SQL, because not
// every engine uses SQL.
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
// fault.RegexRefused, fault.EngineLimit, fault.Unavailable, fault.Damaged; anything else is fault.Internal.
type Engine interface {
	// Name returns the engine's name: "duckdb", "scan", "athena", "trino", "lists". An answer carries it unless Cost.By
	// is set.
	Name() string
	// Extent returns the period that the data covers now.
	Extent(ctx context.Context) (lake.Extent, error)
	// Run answers q. Cancelling ctx stops the work. A ValueFinder, not Run, answers a query for values.
	Run(ctx context.Context, q query.Query) (query.Answer, Cost, error)
	// Explain returns what Run would do, without doing it.
	Explain(ctx context.Context, q query.Query) (Plan, error)
}

// Cost is the work that an answer took.
type Cost struct {
	By             string   // the method of an engine that has several: "scan", "duckdb", "rows"; "": see Engine.Name
	Objects        *int     // Parquet objects read; nil: the engine does not know it
	BytesScanned   int64    // compressed bytes of the columns read
	RowsConsidered *int64   // rows of those objects; nil: the engine does not know it
	Reused         int      // further objects, which were not read because figures of earlier queries were reused
	Skipped        []string // names (lake.NameOf) of objects that could not be read; the answer lacks their rows

	// Only engines that run as a service report the following. A zero value means that it is not known.
	Engine time.Duration  // the engine's own time, without the queue
	Queue  time.Duration  // the time in the engine's own queue
	USD    *float64       // the price of the answer; nil: the engine does not charge for queries
	Cached *time.Duration // the greatest possible age of a reused answer; nil: the answer is new
	Split  bool           // the engine ran out of resources for the whole query and answered it in parts
}

// Plan describes what a query would do.
type Plan struct {
	By         string      // the method or engine that would answer; never ""
	SQL        []Statement // the engine's statements, in the order in which they run
	Partitions []lake.Partition
	Objects    int      // 0 if the engine does not know it before it runs the query; then Bytes is 0, too
	Bytes      int64    // compressed bytes of the columns that would be read
	Columns    []string // the columns that would be read
	Warnings   []string
}

// Statement is one SQL statement and its purpose.
type Statement struct{ Title, SQL string }

// String returns the statement below its title.
func (s Statement) String() string {
	return "-- " + s.Title + "\n" + strings.TrimRight(s.SQL, "\n") + "\n"
}

// EarlierHours is the end of the title of a statement that searches a further window of a query for logs.
const EarlierHours = " of earlier hours (run only if later hours have too few)"

// Starter is an engine that keeps running a query after the caller, or even the process, that started it is gone.
// Errors are of the kinds that Engine lists; fault.Canceled before the context ends means that another caller stopped
// the execution, or that its result was removed. Then q can be started again.
type Starter interface {
	Engine
	Versioned
	// Start starts q. Equal queries over equal data may share one execution.
	Start(ctx context.Context, q query.Query) (Execution, error)
	// Poll reports how far an execution of q is. It returns the execution to poll next, which differs from x if the
	// engine had to restart the query. The engine clamps a restarted query to the extent of the data at that time, so q
	// need not be clamped. If the execution has failed and asking again would not help, p is Done and err is the
	// failure.
	Poll(ctx context.Context, x Execution, q query.Query) (next Execution, p Progress, err error)
	// Wait polls until the execution has ended. If ctx ends first, the execution continues and x remains valid.
	Wait(ctx context.Context, x Execution, q query.Query) (Execution, error)
	// Result reads the answer of an execution of q that has succeeded.
	Result(ctx context.Context, x Execution, q query.Query) (query.Answer, Cost, error)
	// Stop stops an execution. Stopping a finished execution is not an error.
	Stop(ctx context.Context, x Execution) error
}

// Direct is a Starter that answers some queries without an execution, in less time than an execution takes.
type Direct interface {
	Starter
	// TryDirect answers q, which need not be clamped to the data. It returns false if q must be started instead, and
	// leaves enough of the time of a request for that.
	TryDirect(ctx context.Context, q query.Query) (query.Answer, Cost, bool)
	// EstimateStarted is Estimate for a query that is started without TryDirect.
	EstimateStarted(ctx context.Context, q query.Query) (Estimate, error)
}

// Progress is how far a query is.
type Progress struct {
	Done  bool          // it has succeeded or, with an error, failed
	Queue time.Duration // how long it has waited in a queue so far, of several parts the present ones; 0 if unknown or done
}

// Completeness is an engine that knows to which time its data is complete.
type Completeness interface {
	// CompleteThrough returns a time such that every log that was handed in before it is completely in the data that a
	// later query reads, or was refused. It returns the zero time if no such time is known.
	CompleteThrough(ctx context.Context) (time.Time, error)
}

// Versioned is an engine that knows the version of its data.
type Versioned interface {
	// Version identifies the data at this moment. If two versions are equal, the data is equal.
	Version(ctx context.Context) (string, error)
}

// Demonstration is an engine that may answer from a demo, as long as there are no other records.
type Demonstration interface {
	// IsDemo reports whether the queries of a request with this context are answered from the demo.
	IsDemo(ctx context.Context) (bool, error)
}

// IfScanFails is the end of the title of a statement that another engine runs only if the scan cannot answer.
const IfScanFails = " (run only if the scan cannot answer)"

// Execution identifies a running query to the engine that started it, in any process. It is opaque, at most 4 kB long
// and contains no secrets.
type Execution string
