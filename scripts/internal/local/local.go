// Package local is the composition root of the product on one machine: a data directory becomes the engine, the
// importer, the planets and the HTTP surface. It is the only place outside functions that builds implementations.
package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/api/page"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/trino"
	"github.com/orrery/orrery/shared/ingest/datadir"
	"github.com/orrery/orrery/shared/ingest/datadir/ledgersqlite"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/planet/sqlite"
	"github.com/orrery/orrery/shared/search"
)

// What one machine gives to queries.
const (
	queryTimeout = 60 * time.Second // the longest an answer may take
	maxWaiting   = 64               // queries that may wait
	retryAfter   = 2 * time.Second  // told to those refused
)

// Product is everything over one data directory. Several processes may have the same directory open.
type Product struct {
	Store  *datadir.Store // nil when a cluster has the records
	Engine Engine
	Search *search.Service

	planets interface {
		planet.Store
		io.Closer
	}
}

// Engine answers queries until it is closed.
type Engine interface {
	engine.Engine
	io.Closer
}

// Open opens a data directory, and makes it if it does not exist; a directory of other things is refused. One that can only be read answers about traffic, not
// about planets.
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
	canWrite := writable(data)
	spill := ""
	if canWrite {
		spill = filepath.Join(data, "spill")
		if err := os.MkdirAll(spill, 0o755); err != nil {
			return p, err
		}
	}
	if p.Engine, err = openEngine(p.Store.Index(), filepath.Join(data, "lake"), spill); err != nil {
		return p, err
	}
	// DuckDB uses every core for one query, so that more than a few at once only slow each other down.
	return p, p.complete(ctx, data, max(2, runtime.NumCPU()), canWrite)
}

// clusterQueries is how many queries a cluster is asked at once; it has a queue of its own.
const clusterQueries = 16

// OpenTrino opens a data directory whose records a Trino cluster has: the directory keeps planets and keys alone.
func OpenTrino(ctx context.Context, data string, client *trino.Client) (p *Product, err error) {
	data, err = filepath.Abs(data)
	if err != nil {
		return nil, err
	}
	if err := makeFolder(data); err != nil {
		return nil, err
	}
	p = &Product{Engine: trino.New(client, nil)}
	if err := p.complete(ctx, data, clusterQueries, writable(data)); err != nil {
		return nil, errors.Join(fmt.Errorf("open data in %s: %w", data, err), p.Close())
	}
	return p, nil
}

// complete makes the rest of a product that has its engine, which runs so many queries at once.
func (p *Product) complete(ctx context.Context, data string, queries int, canWrite bool) (err error) {
	line := search.NewLine(queries, maxWaiting, retryAfter)
	if p.Search, err = search.New(p.Engine, search.Options{Line: line, Timeout: queryTimeout, Now: time.Now}); err != nil {
		return err
	}
	p.planets = noPlanets{}
	if canWrite {
		planets, err := sqlite.Open(ctx, filepath.Join(data, planetsFile), time.Now())
		if err != nil {
			return err
		}
		p.planets = planets
	}
	return nil
}

// Close ends everything that Open began.
func (p *Product) Close() error {
	var errs []error
	if p.planets != nil {
		errs = append(errs, p.planets.Close())
	}
	if p.Engine != nil {
		errs = append(errs, p.Engine.Close())
	}
	if p.Store != nil {
		errs = append(errs, p.Store.Close())
	}
	return errors.Join(errs...)
}

// ServeOptions says to whom the HTTP surface answers.
type ServeOptions struct {
	Access  *Access // nil: to this process, for whoever may read the folder
	Log     *slog.Logger
	Version string
}

// Handler returns the handler of the HTTP API.
func (p *Product) Handler(s ServeOptions) (http.Handler, error) {
	c := api.Config{Search: p.Search, Queries: p.Search, Planets: p.planets, Log: s.Log, Now: time.Now, Page: page.Files, Version: s.Version}
	if s.Access == nil {
		return api.New(c)
	}
	return s.Access.handler(c)
}
