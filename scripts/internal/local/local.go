// Package local is the composition root of the product on one machine. It builds the engine, the importer, the stores
// of documents and the HTTP API over a data directory. Outside functions, no other package chooses implementations.
package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"path/filepath"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/orrery/orrery/scripts/internal/metrics"
	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/api/page"
	"github.com/orrery/orrery/shared/api/reportapi"
	"github.com/orrery/orrery/shared/console"
	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/engine/trino"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filelock"
	"github.com/orrery/orrery/shared/ingest/datadir"
	"github.com/orrery/orrery/shared/ingest/datadir/ledgersqlite"
	"github.com/orrery/orrery/shared/inquiry"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/rollup/rollupfile"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/search/pending"
	"github.com/orrery/orrery/shared/table"
	"github.com/orrery/orrery/shared/table/tablesqlite"
	"github.com/orrery/orrery/shared/valuelist"
	"github.com/orrery/orrery/shared/valuelist/listfile"
)

// Limits of queries on one machine.
const (
	queryTimeout = 60 * time.Second // of an answer
	fewQueries   = 4                // of one caller at the same time, or more on a machine with more cores
	maxWaiting   = 64               // queries in the queue
	maxUnread    = 512              // requests that wait to be parsed
	retryAfter   = 2 * time.Second  // for requests refused because the queue is full
	keptFigures  = 256 << 20        // bytes of figures that are kept for further queries
)

// Product is the product over one data directory. Several processes may open the same directory.
type Product struct {
	Store  *datadir.Store // nil if a cluster holds the records
	Engine Engine
	Search *search.Service

	limiter  *pending.Limiter
	demo     *demoEngine       // nil if a cluster holds the records
	partials *scan.Partials    // nil if a cluster holds the records
	rollups  rollupfile.Folder // "" if a cluster holds the records

	folder    string // the data directory
	reports   reports
	planets   document.Store
	documents *document.Items
	lists     listfile.Folder
	files     []io.Closer      // of planets and documents
	spill     *filelock.Folder // temporary files of queries; nil: none can be written

	log atomic.Pointer[slog.Logger] // that of the handler; nil before Handler is called
}

// Engine is an engine that must be closed.
type Engine interface {
	engine.Engine
	io.Closer
}

// Open opens a data directory, and creates it if it does not exist. It refuses a directory with other contents. A
// read-only directory can be read. One on a full disk answers queries of traffic, and others when there is space.
func Open(ctx context.Context, data string) (p *Product, err error) {
	data, err = filepath.Abs(data)
	if err != nil {
		return nil, err
	}
	p = &Product{}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("open data in %s: %w", data, err), p.Close())
			p = nil
		}
	}()
	if err := makeFolder(data); err != nil {
		return p, err
	}
	if p.Store, err = datadir.Open(ctx, data, ledgersqlite.Open, time.Now); err != nil {
		return p, err
	}
	if p.spill, err = makeSpill(data); err != nil {
		return p, err
	}
	spill := ""
	if p.spill != nil {
		spill = p.spill.Path
	}
	p.partials = scan.NewPartials(keptFigures)
	p.rollups = rollupfile.Folder(filepath.Join(data, RollupsFolder))
	options := scan.Options{Partials: p.partials, Rollups: scan.NewRollups(p.rollups)}
	e, err := openEngine(p.Store.Index(), options, filepath.Join(data, "lake"), spill, p.startFailed)
	if err != nil {
		return p, err
	}
	p.demo = &demoEngine{
		own: storeEngine{e, p.Store}, folder: p.Store.DemoDir(), partials: p.partials, startFailed: p.startFailed,
	}
	p.Engine = p.demo
	// One query uses every core, so more than a few concurrent queries only slow each other down. Those of one caller
	// share what they read.
	return p, p.complete(ctx, data, p.demo, max(fewQueries, runtime.NumCPU()))
}

// dataEngine is the engine over the objects of a data directory.
type dataEngine interface {
	engine.Arrivals
	engine.Estimator
	engine.Exporter
	engine.ValueFinder
	io.Closer
}

// storeEngine is an engine over a data directory, which knows of the logs that are not completely in its data.
type storeEngine struct {
	dataEngine
	store *datadir.Store
}

var (
	_ engine.Arrivals     = storeEngine{}
	_ engine.Completeness = storeEngine{}
	_ engine.Estimator    = storeEngine{}
	_ engine.Exporter     = storeEngine{}
	_ engine.ValueFinder  = storeEngine{}
)

// CompleteThrough implements engine.Completeness.
func (e storeEngine) CompleteThrough(ctx context.Context) (time.Time, error) {
	return e.store.CompleteThrough(ctx)
}

// Version implements engine.Versioned.
func (e storeEngine) Version(ctx context.Context) (string, error) {
	sequence, err := e.store.Index().Sequence(ctx)
	return strconv.FormatInt(sequence, 10), err
}

// clusterQueries is the maximum number of concurrent queries of a cluster, which has its own queue.
const clusterQueries = 16

// OpenTrino opens a data directory that holds only planets, saved filters and keys. A Trino cluster holds the records.
func OpenTrino(ctx context.Context, data string, client *trino.Client) (p *Product, err error) {
	data, err = filepath.Abs(data)
	if err != nil {
		return nil, err
	}
	if err := makeFolder(data); err != nil {
		return nil, err
	}
	p = &Product{Engine: trino.New(client, nil)}
	if err := p.complete(ctx, data, p.Engine, clusterQueries); err != nil {
		return nil, errors.Join(fmt.Errorf("open data in %s: %w", data, err), p.Close())
	}
	return p, nil
}

// complete builds the parts of a product other than its engine. queries is the maximum number of concurrent queries of
// one caller; one more can run for another caller.
func (p *Product) complete(ctx context.Context, data string, e engine.Engine, queries int) (err error) {
	p.folder = data
	p.limiter = pending.NewLimiter(pending.Limits{
		AtOnce: queries + 1, PerCaller: queries, Waiting: maxWaiting, RetryAfter: retryAfter,
		Preparing: max(1, runtime.NumCPU()-1), MorePreparing: maxUnread,
	})
	options := search.Options{Limiter: p.limiter, Timeout: queryTimeout, Now: time.Now}
	if p.Search, err = search.New(e, options); err != nil {
		return err
	}
	planets := &tableFile{
		folder: data, name: planetsFile, layout: tablesqlite.Planets,
		opened: func(ctx context.Context, in table.Table) error {
			return planet.AddFirst(ctx, document.Over(in), time.Now())
		},
	}
	documents := &tableFile{folder: data, name: documentsFile, layout: tablesqlite.Documents}
	for _, file := range []*tableFile{planets, documents} {
		p.files = append(p.files, file)
		if _, err := file.open(ctx); err != nil && !fault.IsFull(err) && fault.KindOf(err) != fault.ReadOnly {
			return err
		}
	}
	p.planets, p.documents = document.Over(planets), document.Over(documents)
	p.lists = listfile.Folder(filepath.Join(data, listsFolder))
	p.Search.UseLists(valuelist.NewFinder(p.documents, p.lists))
	return p.openReports(ctx, data)
}

// Close closes the engine and the stores, and removes temporary files.
func (p *Product) Close() error {
	var errs []error
	for _, file := range p.files {
		errs = append(errs, file.Close())
	}
	if p.Engine != nil {
		errs = append(errs, p.Engine.Close())
	}
	if p.spill != nil {
		errs = append(errs, p.spill.Remove())
	}
	if p.Store != nil {
		errs = append(errs, p.Store.Close())
	}
	return errors.Join(errs...)
}

// Export passes all records of a request for logs to visit, as search.Service.Export does.
func (p *Product) Export(ctx context.Context, r search.Request, visit func(part search.Result) error) error {
	if p.demo != nil {
		ctx = p.demo.pin(ctx)
	}
	return p.Search.Export(ctx, r, visit)
}

// ServeOptions configures the HTTP API.
type ServeOptions struct {
	Access  *Access        // nil: requests come from this process only and need no key
	Proxies []netip.Prefix // whose X-Forwarded-For names the clients
	Log     *slog.Logger
	Version string
	Metrics *metrics.Metrics // nil: none
	Address string           // of console and API, for reports; "": they have links only for clients on this machine
}

// startFailed logs that another DuckDB cannot start.
func (p *Product) startFailed(err error) {
	log := cmp.Or(p.log.Load(), slog.Default())
	log.Warn("another DuckDB cannot start, so callers share the memory of the first one", "error", err)
}

// Handler returns the handler of the HTTP API. Queries log to its log, too.
func (p *Product) Handler(s ServeOptions) (http.Handler, error) {
	p.log.Store(s.Log)
	c := api.Config{
		Search:    p.Search,
		Queries:   p.Search,
		Prepare:   p.limiter.Prepare,
		Planets:   p.planets,
		Documents: p.documents,
		Lists:     p.lists,
		Status:    p,
		Proxies:   s.Proxies,
		Log:       s.Log,
		Now:       time.Now,
		Console:   console.Files,
		Page:      page.Files,
		Reports:   reportapi.Maker{AtOnce: inquiry.Few},
		AtOnce:    inquiry.Few,
		Address:   s.Address,
		Version:   s.Version,
	}
	allowed, err := p.reportSettings(s)
	if err != nil {
		return nil, err
	}
	rules := allowed.Rules()
	c.Definitions, c.Runs = &rules, p.reports.runs
	if p.Store != nil {
		c.Importer = importer{p, freeBytes, make(chan struct{}, 1)}
	}
	if s.Metrics != nil {
		c.Observe, c.Metrics = s.Metrics.Observe, s.Metrics
	}
	handler, err := p.handler(s, c)
	if err == nil && p.demo != nil {
		handler = p.demo.pinned(handler)
	}
	return handler, err
}

func (p *Product) handler(s ServeOptions, c api.Config) (http.Handler, error) {
	if s.Access == nil {
		return api.New(c)
	}
	return s.Access.handler(c)
}

// Forget forgets the figures that are kept for further questions.
func (p *Product) Forget() { p.partials.Forget() }

// Metrics returns the metrics of the product.
func (p *Product) Metrics() *metrics.Metrics {
	return metrics.New(metrics.Source{
		Load: p.limiter.Load, Freshness: p.freshness, Demo: p.isDemo, Partials: p.partials.Counts, Now: time.Now,
	})
}

// isDemo reports whether queries are answered from the demo.
func (p *Product) isDemo(ctx context.Context) (bool, error) {
	if p.demo == nil {
		return false, nil
	}
	return p.demo.IsDemo(ctx)
}

// freshness returns the time of the newest record and that through which the data is complete. A time that is not known
// is zero.
func (p *Product) freshness(ctx context.Context) (newest, complete time.Time, err error) {
	extent, err := p.Engine.Extent(ctx)
	if err != nil {
		return newest, complete, err
	}
	if extent.Rows > 0 {
		newest = time.UnixMilli(extent.MaxTsMs)
	}
	if p.Store != nil {
		complete, err = p.Store.CompleteThrough(ctx)
	} else if e, ok := p.Engine.(engine.Completeness); ok {
		complete, err = e.CompleteThrough(ctx)
	}
	return newest, complete, err
}
