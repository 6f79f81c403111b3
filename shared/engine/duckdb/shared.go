package duckdb

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// Shared answers the queries of several callers with several engines. DuckDB has one memory limit for all queries, so
// one engine would let a caller take the memory of all others. All queries that a caller runs at the same time run in
// one engine, and other callers use other engines as long as there are enough. An engine is started when it is needed.
// If it cannot start, the first engine answers its queries, and after some queries Shared tries again to start it.
// Shared is safe for concurrent use.
type Shared struct {
	options Options

	mu    sync.Mutex
	parts []*part
}

// part is an engine and its running queries.
type part struct {
	engine  *Engine // nil: not started
	failed  bool    // it could not be started
	skipped int     // queries since then
	running int
	callers map[string]int // their running queries
}

// OpenShared returns a Shared of n engines. Each of them has the memory limit of the options. It starts the first.
func OpenShared(o Options, n int) (*Shared, error) {
	s := &Shared{options: o}
	for range n {
		s.parts = append(s.parts, &part{callers: map[string]int{}})
	}
	return s, s.start(0)
}

// start starts an engine. Two engines must not have the same folder for temporary files. If the folder cannot be made
// because the disk is full, the engine writes no temporary files. The caller holds the lock.
func (s *Shared) start(i int) (err error) {
	o := s.options
	if i > 0 && o.TempDir != "" {
		o.TempDir = filepath.Join(o.TempDir, strconv.Itoa(i))
		if err := os.MkdirAll(o.TempDir, 0o700); err != nil {
			o.TempDir = ""
		}
	}
	s.parts[i].engine, err = Open(o)
	return err
}

// startAgain is the number of queries after which an engine that could not start is tried again. Each try takes time,
// and the queries of all callers wait for it.
const startAgain = 100

// started reports whether an engine is running. It starts an engine that it has never tried to start, or not for the
// last startAgain queries. Only the first failure is passed to Options.StartFailed. The caller holds the lock.
func (s *Shared) started(i int) bool {
	p := s.parts[i]
	if p.engine != nil {
		return true
	}
	if p.failed && p.skipped < startAgain {
		p.skipped++
		return false
	}
	err := s.start(i)
	if err != nil && !p.failed && s.options.StartFailed != nil {
		s.options.StartFailed(err)
	}
	p.failed, p.skipped = err != nil, 0
	return err == nil
}

// take returns the engine for a query of the caller of the context, and a function to be called when the query has
// ended.
func (s *Shared) take(ctx context.Context) (_ *Engine, done func()) {
	caller := engine.CallerOf(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.partFor(caller)
	if !s.started(i) {
		// The system has no memory or no threads for another engine now. The first one answers instead: its memory is
		// shared with other callers then, but the callers of an engine that does not start would get no answers at all.
		i = 0
	}
	p := s.parts[i]
	p.running++
	p.callers[caller]++
	return p.engine, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		p.running--
		if p.callers[caller]--; p.callers[caller] == 0 {
			delete(p.callers, caller)
		}
	}
}

// partFor returns the index of the engine for a query of a caller: the engine that runs the caller's other queries, or
// else the first one with the fewest queries.
func (s *Shared) partFor(caller string) (least int) {
	for i, p := range s.parts {
		if p.callers[caller] > 0 {
			return i
		}
		if p.running < s.parts[least].running {
			least = i
		}
	}
	return least
}

// Answer answers a query like Engine.Answer.
func (s *Shared) Answer(ctx context.Context, q query.Query, objects []lake.Object) (query.Answer, error) {
	e, done := s.take(ctx)
	defer done()
	return e.Answer(ctx, q, objects)
}

// Newest returns places like Engine.Newest.
func (s *Shared) Newest(ctx context.Context, q query.Query, objects []lake.Object) ([]engine.Place, error) {
	e, done := s.take(ctx)
	defer done()
	return e.Newest(ctx, q, objects)
}

// Probe reads columns like Engine.Probe.
func (s *Shared) Probe(ctx context.Context, o lake.Object, columns []string) error {
	e, done := s.take(ctx)
	defer done()
	return e.Probe(ctx, o, columns)
}

// Explain returns statements like Engine.Explain.
func (s *Shared) Explain(q query.Query) (statements []engine.Statement, warnings []string, err error) {
	return s.parts[0].engine.Explain(q)
}

// MayBeObject interprets an error like Engine.MayBeObject.
func (s *Shared) MayBeObject(err error) bool { return s.parts[0].engine.MayBeObject(err) }

// Classify interprets an error like Engine.Classify.
func (s *Shared) Classify(err error) error { return s.parts[0].engine.Classify(err) }

// Close ends the engines.
func (s *Shared) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, p := range s.parts {
		if p.engine != nil {
			errs = append(errs, p.engine.Close())
		}
	}
	return errors.Join(errs...)
}
