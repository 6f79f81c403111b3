// Package bench measures the product on the machine it runs on: a generated day of records goes through the real
// importer and the real compaction, questions about it through the real HTTP API, and each answer is compared, for
// time and for content, with the same question in hand-written SQL on bare DuckDB over the same files.
//
// Absolute figures are the machine's; the ratios are ours. Therefore the two sides of a ratio are measured in
// turn, in one process, with the same number of threads, so that whatever slows the machine slows both.
//
// What the figures mean:
//
//   - Times of our side are from sending a request to having read the last byte of its answer over loopback, JSON
//     included, uncompressed. Times of bare DuckDB are from handing over the SQL to having fetched the last value.
//   - Both are warm: the first round is not counted.
//   - The overhead around the engine is our time less meta.engine_ms of the same answer: HTTP, parsing, binding,
//     making results, JSON, loopback.
//   - Bytes are meta.bytes_scanned: compressed bytes of the columns that the question touches.
//   - Memory is the peak of the process while the part ran, measured by the kernel; it is left out where the
//     system does not tell.
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

// FullRecords is the size of data that the goals are for.
const FullRecords = 1_000_000

// Day is the day that the records lie in.
var Day = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

// Options says what to measure, and with what.
type Options struct {
	Dir      string        // folder for the data, made if it is missing and used again if it is there
	Records  int           // 0: FullRecords
	Runs     int           // counted rounds of each question; 0: 7
	Clients  int           // concurrent clients of the load; 0: 32
	Duration time.Duration // how long the load lasts; 0: a minute
	Progress io.Writer     // where a bar is drawn if it is a terminal; nil: nowhere

	// Open opens the product over a data folder.
	Open func(ctx context.Context, dir string) (Product, error)
}

// Product is what is measured.
type Product struct {
	// Import imports one log, gzip-compressed NDJSON of records, under a name.
	Import  func(ctx context.Context, name string, r io.Reader) error
	Compact func(ctx context.Context) error // merges the objects of each hour; nil: they stay as imported
	Index   engine.Index                    // which objects hold the data
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

// Run measures everything. It is the whole benchmark; every step is a line.
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
