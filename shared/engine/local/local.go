// Package local answers queries on one machine, over Parquet objects on its disk. It composes three packages: scan
// counts figures and finds records in the columns, duckdb does the same for queries that scan does not support, and
// lake/parquet reads single rows. It reads only the objects of the period, asks the index again after compaction has
// replaced an object, and leaves damaged objects out of the answer.
//
// It works without DuckDB, which needs a C compiler. The scan then answers every query, some of them slowly. It refuses
// only queries whose answer exceeds its memory, and those that rank by a sum that exceeds 64 bits.
package local

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// DuckDB has the methods of DuckDB that the engine calls. Package duckdb implements it.
//
// Answer, Newest and Probe return the errors of DuckDB as they are. MayBeObject and Classify interpret them, without
// regard to the caller's context.
type DuckDB interface {
	// Answer answers a query for figures over exactly the given objects.
	Answer(ctx context.Context, q query.Query, objects []lake.Object) (query.Answer, error)
	// Newest returns the places of the records that answer a query for logs over exactly the given objects, newest
	// first.
	Newest(ctx context.Context, q query.Query, objects []lake.Object) ([]engine.Place, error)
	// Explain returns the statements that Answer or Newest run, and warnings about them.
	Explain(q query.Query) (statements []engine.Statement, warnings []string, err error)
	// Probe reads all values of some columns of an object. It returns an error if one of them cannot be read.
	Probe(ctx context.Context, o lake.Object, columns []string) error
	// MayBeObject reports whether an object that is gone or damaged may have caused an error.
	MayBeObject(err error) bool
	// Classify gives an error the kind that engine.Engine documents.
	Classify(err error) error
	io.Closer
}

// Engine answers bound queries. It is safe for concurrent use.
type Engine struct {
	index   engine.Index
	duckDB  DuckDB // nil: the scan answers everything
	records *records
	scan    scan.Options
	sizes   sizes
	onlySQL bool // DuckDB answers everything, as some tests need

	patience time.Duration // how long a query waits for memory that other queries use
}

var _ engine.Engine = (*Engine)(nil)

// New returns an engine over the objects of an index. duckDB is nil in a program built without a C compiler. Close
// closes it, too. options have what scans use besides: partials, which several engines can share, and rollups.
func New(index engine.Index, duckDB DuckDB, options scan.Options) (*Engine, error) {
	if index == nil {
		return nil, errors.New("local engine: no index")
	}
	options.NoFallback = duckDB == nil
	options.Memory = cmp.Or(options.Memory, scanOne)
	options.Shared, options.Pools = engine.NewMemory(scanMemory, scanShare), &scan.WorkerPools{}
	return &Engine{
		index: index, duckDB: duckDB, records: newRecords(), scan: options, sizes: defaultSizes,
		patience: defaultPatience,
	}, nil
}

// The memory that all running scans together, the scans of one caller, and one scan may use for their figures. While
// others use it, DuckDB, which has a limit of its own, answers, or the query waits.
const (
	scanMemory = 1 << 30
	scanShare  = scanMemory / 2
	scanOne    = scanShare / 2
)

// sizes limit the memory of records.
type sizes struct {
	answer int64 // bytes of the records of an answer
	part   int64 // bytes of a part of an export
	rows   int   // records of a part of an export
	places int   // records that an export finds before it reads the first of them
}

// The API sends at most 4 MB of the records of an answer, compressed.
var defaultSizes = sizes{answer: 80 << 20, part: 4 << 20, rows: 2 << 10, places: 1 << 15}

// Close closes DuckDB and the objects that the engine holds open.
func (e *Engine) Close() error {
	err := e.records.close()
	if e.duckDB != nil {
		err = errors.Join(err, e.duckDB.Close())
	}
	return err
}

// Name returns "duckdb", or "scan" if the engine has no DuckDB.
func (e *Engine) Name() string {
	if e.duckDB == nil {
		return byScan
	}
	return byDuckDB
}

// Extent returns the time that the data covers at this moment.
func (e *Engine) Extent(ctx context.Context) (lake.Extent, error) { return e.index.Extent(ctx) }
