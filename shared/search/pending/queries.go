package pending

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// Queries answers requests over one engine.
type Queries struct {
	engine  engine.Engine
	runner  runner
	timeout time.Duration
	now     func() time.Time
	newID   func() ID
}

// Options are what a deployment decides.
type Options struct {
	Limiter *Limiter         // bounds the queries in this process; nil: no bound
	Timeout time.Duration    // the longest a caller waits, waiting for the limiter included; 0: no bound
	Now     func() time.Time // the clock

	// Store keeps queries that outlive their requests. With it, an engine that is an engine.Starter runs them; without
	// it, they run in this process.
	Store   Store
	Longest time.Duration // the longest a query may run in this process; 0: 15 minutes
	Keep    time.Duration // how long this process keeps an answer for a caller who has the ID; 0: 10 minutes
	NewID   func() ID     // nil: random ones
}

// New returns the queries of an engine.
func New(e engine.Engine, o Options) (*Queries, error) {
	if e == nil {
		return nil, errors.New("pending: no engine")
	}
	if o.Now == nil {
		return nil, errors.New("pending: no clock")
	}
	if o.Longest == 0 {
		o.Longest = 15 * time.Minute
	}
	if o.Keep == 0 {
		o.Keep = 10 * time.Minute
	}
	if o.NewID == nil {
		o.NewID = newID
	}
	s := &Queries{engine: e, newID: o.NewID, timeout: o.Timeout, now: o.Now}
	if starter, ok := e.(engine.Starter); ok && o.Store != nil {
		s.runner = &remote{starter, o.Store}
	} else {
		s.runner = newLocal(e, o)
	}
	return s, nil
}

// runner starts queries: in this process, or on an engine whose executions outlive it.
type runner interface {
	// version names the data, of which the extent is known: equal versions, equal data.
	version(ctx context.Context, e lake.Extent) (string, error)
	// start starts p, or joins the query with its key. Every start needs a release.
	start(ctx context.Context, p Query, narrowed query.Query) (r Run, joined bool, err error)
	// find returns a query that was started. It needs no release.
	find(ctx context.Context, id ID) (Run, error)
}

// Run is a query that has been started. The queries that its methods take are not narrowed to the data: one that is
// started anew meanwhile may find more.
type Run interface {
	Query() Query
	// Cancel stops the query and forgets it.
	Cancel(ctx context.Context) error

	// wait returns the answer when the query has ended, or an error when ctx has.
	wait(ctx context.Context, q query.Query) (query.Answer, engine.Cost, error)
	// poll returns the answer if the query has ended.
	poll(ctx context.Context, q query.Query) (query.Answer, engine.Cost, bool, error)
	// release ends the part that one caller has in the query.
	release(ctx context.Context, how outcome) error
}

// outcome is how a caller's part in a query ends.
type outcome int

const (
	answered  outcome = iota
	failed            // the query has failed: the same request starts it anew
	deferred          // the caller can ask again by the ID, so the query goes on
	abandoned         // the caller is gone
)

// Start starts the query, or finds the one with the same key running, and does not wait for it.
func (s *Queries) Start(ctx context.Context, r Request) (ID, error) {
	run, _, err := s.start(ctx, r)
	if err != nil {
		return "", err
	}
	return run.Query().ID, run.release(ctx, deferred)
}

// Find returns a query that was started. Errors: ErrNoQuery.
func (s *Queries) Find(ctx context.Context, id ID) (Run, error) { return s.runner.find(ctx, id) }

// Poll returns the answer if the query has ended. Errors: how the query has failed.
func (s *Queries) Poll(ctx context.Context, r Run, q query.Query) (query.Answer, engine.Cost, bool, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	return r.poll(ctx, q)
}

// maxStarts is how often one request starts its query.
const maxStarts = 3

// Answer returns the answer to the request. A query that was joined, or that another caller has stopped, may fail for
// reasons that are not this caller's; then it is started anew.
//
// Errors: *StillRunning when the time is over before the query is, else of the kinds that engine.Engine names.
func (s *Queries) Answer(caller context.Context, r Request) (query.Answer, engine.Cost, error) {
	ctx, cancel := s.bounded(caller)
	defer cancel()
	for started := 1; ; started++ {
		answer, cost, retry, err := s.attempt(caller, ctx, r)
		if err == nil || !retry || started == maxStarts {
			return answer, cost, err
		}
	}
}

// attempt starts or joins the query, and waits for it until ctx ends, or the caller goes away.
func (s *Queries) attempt(
	caller, ctx context.Context, r Request,
) (_ query.Answer, _ engine.Cost, retry bool, err error) {
	run, joined, err := s.start(ctx, r)
	if err != nil {
		return query.Answer{}, engine.Cost{}, false, err
	}
	answer, cost, err := run.wait(ctx, r.Query)
	switch {
	case err == nil:
		return answer, cost, false, run.release(caller, answered)
	case errors.Is(caller.Err(), context.Canceled):
		return query.Answer{}, engine.Cost{}, false, errors.Join(err, run.release(caller, abandoned))
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		running := &StillRunning{ID: run.Query().ID, RetryAfter: s.RetryAfter(run.Query().Began)}
		return query.Answer{}, engine.Cost{}, false, errors.Join(running, run.release(caller, deferred))
	}
	retry = joined || fault.KindOf(err) == fault.Canceled
	return query.Answer{}, engine.Cost{}, retry, errors.Join(err, run.release(caller, failed))
}

// start starts or joins the query over the data there is.
func (s *Queries) start(ctx context.Context, r Request) (Run, bool, error) {
	extent, err := s.engine.Extent(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("read the extent of the data: %w", err)
	}
	version, err := s.runner.version(ctx, extent)
	if err != nil {
		return nil, false, err
	}
	p := Query{ID: s.newID(), Key: keyOf(r.Key, version), Request: r.Text, Began: s.now()}
	return s.runner.start(ctx, p, r.Query.Clamp(extent))
}

func keyOf(key, version string) string {
	hash := sha256.Sum256([]byte(version + " " + key))
	return hex.EncodeToString(hash[:])
}

// bounded ends when the caller has waited long enough.
func (s *Queries) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, s.timeout)
}

// RetryAfter is when to ask again about a query that has not ended: the longer it has run, the longer it may yet.
func (s *Queries) RetryAfter(began time.Time) time.Duration {
	return min(max(s.now().Sub(began)/4, time.Second), 15*time.Second)
}
