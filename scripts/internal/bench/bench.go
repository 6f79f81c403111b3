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
//   - Memory is the peak of the process during the part, measured by the kernel. For an answer, it is the difference
//     between that peak and the memory before. It is missing if the system does not report it.
//   - Most queries are about a day of a million records. The long period has a million records in ten days, this day
//     being the last. The full days have a million records each: the timeline in hours is about ten of them, the
//     report about the last week before the newest day.
//   - The year has no records, only the rollups of the last full days but the newest, repeated week after week.
//   - The generated clients are a closed population. The day with a tail has a million records of which one in twenty has
//     an address, a path and a browser that occur once; the hour of the crowd has six million of such records only.
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

// DefaultDays is the number of days of the long period.
const DefaultDays = 10

// Day is the day of the records.
var Day = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

// Options are the options of Run.
type Options struct {
	Dir      string        // folder for the data, which later runs reuse
	Records  int           // 0: FullRecords
	Runs     int           // measured rounds of each query; 0: 7
	Days     int           // days of the long period; 0: DefaultDays
	Week     int           // days of the week, at most Days; 0: 7
	Weeks    int           // of the year of rollups; 0: 57
	Clients  int           // concurrent clients of the load test; 0: 32
	Duration time.Duration // of the load test; 0: a minute
	Filters  int           // large filters that one key sends at once beside another; 0: 200
	Uniform  bool          // clients, paths and browsers are equally frequent, on all days but that with a tail
	Progress io.Writer     // for progress bars if it is a terminal, otherwise for a line about each step; nil: none

	// Open opens the product over a data folder.
	Open func(ctx context.Context, dir string) (Product, error)
}

// Product is the product to measure.
type Product struct {
	// Import imports one log in a format, compressed with gzip, under a name.
	Import func(ctx context.Context, name, format string, r io.Reader) error
	// Compact merges the objects of each hour, and returns the number of their records; nil: no compaction.
	Compact func(ctx context.Context) (records int64, err error)
	// Export prints all records that match a filter as CSV, as orrery query logs --all does.
	Export func(ctx context.Context, filter string, w io.Writer) error
	// Report writes the page of a report about all records that match a filter, as orrery report run does; nil: none is
	// measured. It may be called after Close.
	Report func(ctx context.Context, filter string, w io.Writer) error
	// RollUp writes the figures of days into the folder RollupsFolder of the data, and returns the number of their
	// records; nil: nothing is measured with them.
	RollUp        func(ctx context.Context) (records int64, err error)
	RollupsFolder string

	Index   engine.Index // lists the objects
	Handler http.Handler // the API

	// Forget forgets the figures that are kept for the same question about another period. It is called before each
	// question, except where questions are asked again or beside a neighbour; nil: none are kept.
	Forget func()

	// HandlerFor returns the API as it is for callers with a key, which shares everything else with Handler. nil: no
	// measurement needs keys.
	HandlerFor func(key string) (http.Handler, error)

	Close func() error
}

func (o Options) withDefaults() Options {
	if o.Records == 0 {
		o.Records = FullRecords
	}
	if o.Runs == 0 {
		o.Runs = 7
	}
	if o.Days == 0 {
		o.Days = DefaultDays
	}
	if o.Week == 0 {
		o.Week = 7
	}
	o.Week = min(o.Week, o.Days)
	if o.Weeks == 0 {
		o.Weeks = 57
	}
	if o.Clients == 0 {
		o.Clients = 32
	}
	if o.Duration == 0 {
		o.Duration = time.Minute
	}
	if o.Filters == 0 {
		o.Filters = 200
	}
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	return o
}

// longStart returns the start of the long period, which ends with the day.
func (o Options) longStart() time.Time { return Day.AddDate(0, 0, 1-o.Days) }

// longPeriod returns the condition for the long period.
func (o Options) longPeriod() string {
	return period(o.longStart(), Day.AddDate(0, 0, 1).Sub(o.longStart()))
}

// Run runs the whole benchmark.
func Run(ctx context.Context, o Options) (report Report, err error) {
	o = o.withDefaults()
	imported, err := ensureData(ctx, o)
	if err != nil {
		return Report{}, err
	}
	day, err := open(ctx, o, dataDir(o), Day)
	if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, day.Close()) }()
	neighbour, err := measureNeighbour(ctx, o, day.product)
	if err != nil {
		return Report{}, err
	}
	exported, err := exportAll(ctx, o, day)
	if err != nil {
		return Report{}, err
	}
	long, err := open(ctx, o, longDir(o), o.longStart())
	if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, long.Close()) }()
	compared, err := compareAll(ctx, o, day, long)
	if err != nil {
		return Report{}, err
	}
	announce(o, "trying rules")
	tried, err := measureTried(ctx, o, day.server.client(1))
	if err != nil {
		return Report{}, err
	}
	announce(o, "measuring the full days")
	week, err := measureFullDays(ctx, o)
	if err != nil {
		return Report{}, err
	}
	announce(o, "measuring the day with a tail and the crowd")
	populations, err := measurePopulations(ctx, o)
	if err != nil {
		return Report{}, err
	}
	load, err := runLoad(ctx, o, day.server.client(o.Clients))
	if err != nil {
		return Report{}, err
	}
	return Report{
		Records: day.stored.rows, Objects: len(day.stored.objects), Bytes: day.stored.bytes,
		Cores: runtime.GOMAXPROCS(0), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, Runs: o.Runs,
		Import: imported, Questions: compared, Tried: tried, Export: exported, Week: week, Load: load,
		Neighbour: neighbour, Populations: populations,
	}, nil
}

// opened is the product over a set of data.
type opened struct {
	product Product
	stored  stored
	server  *server
}

// open opens and serves the product over a folder with records from a time until the end of the day.
func open(ctx context.Context, o Options, dir string, from time.Time) (_ opened, err error) {
	product, err := o.Open(ctx, dir)
	if err != nil {
		return opened{}, fmt.Errorf("open the data: %w", err)
	}
	stored, err := storedIn(ctx, product.Index, from)
	if err != nil {
		return opened{}, errors.Join(err, product.Close())
	}
	server, err := serve(product.Handler, product.Forget)
	if err != nil {
		return opened{}, errors.Join(err, product.Close())
	}
	return opened{product, stored, server}, nil
}

func (d opened) Close() error { return errors.Join(d.server.Close(), d.product.Close()) }

func dataDir(o Options) string { return filepath.Join(o.Dir, "data") }

func longDir(o Options) string { return filepath.Join(o.Dir, "long") }
