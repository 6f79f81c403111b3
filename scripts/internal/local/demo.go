package local

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/ingest/datadir"
	"github.com/orrery/orrery/shared/ingest/datadir/ledgersqlite"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// demoEngine answers from the demo as long as the data folder has no records of its own. The demo is in a data
// folder of its own below it, which the first import removes, in any process.
//
// The demo and the records of a folder must not be mixed in one answer, but a request reads the extent of the data
// before its records. So the choice is made once for each request, and its context has it.
type demoEngine struct {
	own    storeEngine
	folder string // of the demo

	partials    *scan.Partials
	startFailed func(error) // as of openEngine

	mu   sync.Mutex
	off  bool
	demo *storeEngine // nil until the demo is needed and there is one
}

var (
	_ engine.Arrivals      = (*demoEngine)(nil)
	_ engine.Completeness  = (*demoEngine)(nil)
	_ engine.Estimator     = (*demoEngine)(nil)
	_ engine.Exporter      = (*demoEngine)(nil)
	_ engine.ValueFinder   = (*demoEngine)(nil)
	_ engine.Demonstration = (*demoEngine)(nil)
	_ engine.Versioned     = (*demoEngine)(nil)
)

// chosen is the key of the storeEngine in the context of a request.
type chosen struct{}

// pinned returns a handler that chooses the records of each request once.
func (e *demoEngine) pinned(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(e.pin(r.Context())))
	})
}

// pin returns the context of a request, with the records that are chosen for it.
func (e *demoEngine) pin(ctx context.Context) context.Context {
	engine, _, err := e.choose(ctx)
	if err != nil {
		return ctx // the request fails for the same reason
	}
	return context.WithValue(ctx, chosen{}, engine)
}

// choose returns the engine that answers a request, and reports whether it answers from the demo.
func (e *demoEngine) choose(ctx context.Context) (chosenEngine storeEngine, isDemo bool, err error) {
	if engine, ok := ctx.Value(chosen{}).(storeEngine); ok {
		return engine, engine.store != e.own.store, nil
	}
	extent, err := e.own.Extent(ctx)
	if err != nil || extent.Rows > 0 {
		return e.own, false, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.off {
		return e.own, false, nil
	}
	if e.demo == nil {
		if err := HoldsData(e.folder); err != nil {
			return e.own, false, nil //nolint:nilerr // there is no demo
		}
		if err := e.open(ctx); err != nil {
			return e.own, false, err
		}
	}
	if extent, err = e.demo.Extent(ctx); err != nil || extent.Rows == 0 {
		return e.own, false, err
	}
	return *e.demo, true, nil
}

// open opens the demo. The caller holds the mutex.
func (e *demoEngine) open(ctx context.Context) error {
	store, err := datadir.Open(ctx, e.folder, ledgersqlite.Open, time.Now)
	if err != nil {
		return err
	}
	options := scan.Options{Partials: e.partials}
	opened, err := openEngine(store.Index(), options, filepath.Join(e.folder, "lake"), "", e.startFailed)
	if err != nil {
		return errors.Join(err, store.Close())
	}
	e.demo = &storeEngine{opened, store}
	return nil
}

// MakeDemo calls fill with the store of the demo. It must only be called if the folder has no records.
func (p *Product) MakeDemo(ctx context.Context, fill func(*datadir.Store) error) error {
	p.demo.mu.Lock()
	defer p.demo.mu.Unlock()
	if err := makeFolder(p.demo.folder); err != nil {
		return err
	}
	if p.demo.demo == nil {
		if err := p.demo.open(ctx); err != nil {
			return err
		}
	}
	return fill(p.demo.demo.store)
}

// WithoutDemo makes the product answer without the demo.
func (p *Product) WithoutDemo() {
	if p.demo == nil {
		return
	}
	p.demo.mu.Lock()
	defer p.demo.mu.Unlock()
	p.demo.off = true
}

// IsDemo implements engine.Demonstration.
func (e *demoEngine) IsDemo(ctx context.Context) (bool, error) {
	_, isDemo, err := e.choose(ctx)
	return isDemo, err
}

// Name implements engine.Engine.
func (e *demoEngine) Name() string { return e.own.Name() }

// Extent implements engine.Engine.
func (e *demoEngine) Extent(ctx context.Context) (lake.Extent, error) {
	engine, _, err := e.choose(ctx)
	if err != nil {
		return lake.Extent{}, err
	}
	return engine.Extent(ctx)
}

// Run implements engine.Engine.
func (e *demoEngine) Run(ctx context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	chosen, _, err := e.choose(ctx)
	if err != nil {
		return query.Answer{}, engine.Cost{}, err
	}
	return chosen.Run(ctx, q)
}

// Explain implements engine.Engine.
func (e *demoEngine) Explain(ctx context.Context, q query.Query) (engine.Plan, error) {
	chosen, _, err := e.choose(ctx)
	if err != nil {
		return engine.Plan{}, err
	}
	return chosen.Explain(ctx, q)
}

// Estimate implements engine.Estimator.
func (e *demoEngine) Estimate(ctx context.Context, q query.Query) (engine.Estimate, error) {
	chosen, _, err := e.choose(ctx)
	if err != nil {
		return engine.Estimate{}, err
	}
	return chosen.Estimate(ctx, q)
}

// Export implements engine.Exporter.
func (e *demoEngine) Export(ctx context.Context, q query.Query, visit func(engine.ExportPart) error) error {
	chosen, _, err := e.choose(ctx)
	if err != nil {
		return err
	}
	return chosen.Export(ctx, q, visit)
}

// FindValues implements engine.ValueFinder.
func (e *demoEngine) FindValues(
	ctx context.Context, q query.Query, enough func() bool,
) (engine.FoundValues, engine.Cost, error) {
	chosen, _, err := e.choose(ctx)
	if err != nil {
		return engine.FoundValues{}, engine.Cost{}, err
	}
	return chosen.FindValues(ctx, q, enough)
}

// CompleteThrough implements engine.Completeness.
func (e *demoEngine) CompleteThrough(ctx context.Context) (time.Time, error) {
	return e.own.CompleteThrough(ctx)
}

// Sequence implements engine.Arrivals. The demo has no sequence, because the first import replaces it by other records.
func (e *demoEngine) Sequence(ctx context.Context) (int64, error) {
	chosen, isDemo, err := e.choose(ctx)
	if err != nil || isDemo {
		return 0, err
	}
	return chosen.Sequence(ctx)
}

// Late implements engine.Arrivals.
func (e *demoEngine) Late(ctx context.Context, q query.Query, change int64) (engine.Late, error) {
	chosen, isDemo, err := e.choose(ctx)
	if err != nil || isDemo {
		return engine.Late{}, err
	}
	return chosen.Late(ctx, q, change)
}

// EstimateLate implements engine.Arrivals.
func (e *demoEngine) EstimateLate(ctx context.Context, q query.Query, change int64) (engine.Bytes, error) {
	chosen, isDemo, err := e.choose(ctx)
	if err != nil || isDemo {
		return engine.Bytes{}, err
	}
	return chosen.EstimateLate(ctx, q, change)
}

// Version implements engine.Versioned.
func (e *demoEngine) Version(ctx context.Context) (string, error) {
	chosen, isDemo, err := e.choose(ctx)
	if err != nil {
		return "", err
	}
	version, err := chosen.Version(ctx)
	return fmt.Sprint(isDemo, " ", version), err
}

// Close closes the engines, and the store of the demo.
func (e *demoEngine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	err := e.own.Close()
	if e.demo != nil {
		err = errors.Join(err, e.demo.Close(), e.demo.store.Close())
	}
	return err
}
