// Package bench measures the product on the machine it runs on. It imports and compacts a generated day of records,
// sends queries through the HTTP API, and compares the time and the content of each answer with hand-written SQL for
// the same query on plain DuckDB over the same files.
//
// Absolute figures depend on the machine; the ratios depend on the product. The two sides of a ratio are therefore
// measured alternately, in one process, with the same number of threads, so that a slower machine slows both.
//
// The figures:
//
//   - The times of the product are from sending a request until the last byte of its answer is read over loopback,
//     including JSON, uncompressed. The times of DuckDB are from sending the SQL until the last value is fetched.
//   - Both are warm: the first round does not count.
//   - The overhead around the engine is the product's time minus meta.engine_ms of the same answer: HTTP, parsing,
//     binding, building results, JSON, loopback.
//   - Bytes are meta.bytes_scanned: compressed bytes of the columns that the query reads.
//   - Memory is the peak of the process during the part, measured by the kernel. It is missing if the system does not
//     report it.
package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"runtime"
	"time"

	"github.com/orrery/orrery/shared/engine"
)

// FullRecords is the number of records that the goals are for.
const FullRecords = 1_000_000

// Day is the day of the records.
var Day = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

// Options are the options of Run.
type Options struct {
	Dir      string        // folder for the data, which later runs reuse
	Records  int           // 0: FullRecords
	Runs     int           // measured rounds of each query; 0: 7
	Clients  int           // concurrent clients of the load test; 0: 32
	Duration time.Duration // of the load test; 0: a minute
	Progress io.Writer     // for a progress bar if it is a terminal; nil: none

	// Open opens the product over a data folder.
	Open func(ctx context.Context, dir string) (Product, error)
}

// Product is the product to measure.
type Product struct {
	// Import imports one log, gzip-compressed NDJSON of records, under a name.
	Import  func(ctx context.Context, name string, r io.Reader) error
	Compact func(ctx context.Context) error // merges the objects of each hour; nil: no compaction
	Index   engine.Index                    // lists the objects
	Handler http.Handler                    // the API
	Close   func() error
}

func (o Options) withDefaults() Options {
	if o.Records == 0 {
		o.Records = FullRecords
	}
	if o.Runs == 0 {
		o.Runs = 7
	}
	if o.Clients == 0 {
		o.Clients = 32
	}
	if o.Duration == 0 {
		o.Duration = time.Minute
	}
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	return o
}

// Run runs the whole benchmark.
func Run(ctx context.Context, o Options) (report Report, err error) {
	o = o.withDefaults()
	imported, err := ensureData(ctx, o)
	if err != nil {
		return Report{}, err
	}
	product, err := o.Open(ctx, dataDir(o))
	if err != nil {
		return Report{}, fmt.Errorf("open the data: %w", err)
	}
	defer func() { err = errors.Join(err, product.Close()) }()

	stored, err := storedIn(ctx, product.Index)
	if err != nil {
		return Report{}, err
	}
	server, err := serve(product.Handler)
	if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()

	compared, err := compareAll(ctx, o, stored, server.client(1))
	if err != nil {
		return Report{}, err
	}
	load, err := runLoad(ctx, o, server.client(o.Clients))
	if err != nil {
		return Report{}, err
	}
	return Report{
		Records: stored.rows, Objects: len(stored.objects), Bytes: stored.bytes,
		Cores: runtime.GOMAXPROCS(0), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, Runs: o.Runs,
		Import: imported, Questions: compared, Load: load,
	}, nil
}

func dataDir(o Options) string { return filepath.Join(o.Dir, "data") }
