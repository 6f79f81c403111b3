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

// Queries answers requests with one engine.
type Queries struct {
	engine  engine.Engine
	direct  engine.Direct // answers some queries at once; nil: none
	runner  runner
	timeout time.Duration
	now     func() time.Time
	newID   func() ID
}

// Options are the settings of a Queries.
type Options struct {
	Limiter *Limiter         // limits the queries in this process; nil: no limit
	Timeout time.Duration    // the longest time that a caller waits, including for the limiter; 0: no limit
	Now     func() time.Time // the clock

	// Store stores the queries of an engine.Starter, so that they can continue in another process. If it is nil or the
	// engine is not an engine.Starter, queries run in this process.
	Store   Store
	Longest time.Duration // the longest time that a query may run in this process; 0: 15 minutes
	Keep    time.Duration // the time for which this process keeps an answer for a caller with the ID; 0: 10 minutes
	NewID   func() ID     // nil: returns random IDs
}

// New returns a Queries for an engine.
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
		s.direct, _ = e.(engine.Direct)
	} else {
		s.runner = newLocal(e, o)
	}
	return s, nil
}

// runner starts queries, either in this process or on an engine that continues them without this process.
type runner interface {
	// version identifies the data with the given extent. If two versions are equal, the data is equal.
	version(ctx context.Context, e lake.Extent) (string, error)
	// start starts p for a caller, or joins the running query with the same key. The caller must release the run. The
	// query is clamped to the extent of the data.
	start(ctx context.Context, caller string, p Query, clamped query.Query) (r Run, joined bool, err error)
	// find returns a query that was started. The caller need not release it.
	find(ctx context.Context, id ID) (Run, error)
}

// Run is a query that has been started. The queries that its methods take are not clamped to the extent of the data,
// because a query that is restarted may find newer data.
type Run interface {
	Query() Query
	// Cancel stops the query and removes it.
	Cancel(ctx context.Context) error

	// wait waits until the query has ended and returns the answer. It returns an error if ctx ends first.
	wait(ctx context.Context, q query.Query) (query.Answer, engine.Cost, error)
	// poll reports how far the query is, and returns the answer if it has succeeded.
	poll(ctx context.Context, q query.Query) (query.Answer, engine.Cost, engine.Progress, error)
	// release records that a caller no longer waits for the query. If it returns an error, the caller does not get the
	// ID.
	release(ctx context.Context, reason outcome) error
}

// outcome is the reason why a caller no longer waits for a query.
type outcome int

const (
	answered  outcome = iota
	failed            // the query failed; the next equal request starts a new one
	deferred          // the caller has the ID and can ask again, so the query continues
	abandoned         // the caller is gone
)

// Start starts the query, or joins the running query with the same key. It does not wait for the answer.
func (s *Queries) Start(ctx context.Context, r Request) (ID, error) {
	run, _, err := s.start(ctx, r)
	if err != nil {
		return "", err
	}
	if err := run.release(ctx, deferred); err != nil {
		return "", err
	}
	return run.Query().ID, nil
}

// Find returns a query that was started. Errors: ErrNoQuery.
func (s *Queries) Find(ctx context.Context, id ID) (Run, error) { return s.runner.find(ctx, id) }

// Poll reports how far the query is, and returns the answer if it has succeeded. If the query has failed, Poll returns
// its error, and the progress is Done.
func (s *Queries) Poll(ctx context.Context, r Run, q query.Query) (query.Answer, engine.Cost, engine.Progress, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	return r.poll(ctx, q)
}

// maxStarts is the number of times that one request starts its query.
const maxStarts = 3

// Answer returns the answer to the request. If the query was joined, or was stopped by another caller, its failure may
// have nothing to do with this request. Answer then starts the query again.
//
// Errors: *TimeoutError if the query takes longer than a caller waits, fault.TooMany if the caller has too many
// queries, that of Request.Affordable, and otherwise an error of a kind that engine.Engine lists.
func (s *Queries) Answer(caller context.Context, r Request) (query.Answer, engine.Cost, error) {
	ctx, cancel := s.withTimeout(caller)
	defer cancel()
	if s.direct != nil {
		if answer, cost, ok := s.direct.TryDirect(ctx, r.Query); ok {
			return answer, cost, nil
		}
		if r.Affordable != nil {
			if err := r.Affordable(ctx); err != nil {
				return query.Answer{}, engine.Cost{}, err
			}
		}
	}
	for started := 1; ; started++ {
		answer, cost, retry, err := s.attempt(caller, ctx, r)
		if err == nil || !retry || started == maxStarts {
			return answer, cost, err
		}
	}
}

// attempt starts or joins the query and waits until it ends, ctx ends or the caller is gone.
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
		err := run.release(caller, deferred)
		if err == nil {
			err = &TimeoutError{ID: run.Query().ID, RetryAfter: s.RetryAfter(run.Query().Began)}
		}
		return query.Answer{}, engine.Cost{}, false, err
	}
	retry = joined || fault.KindOf(err) == fault.Canceled
	return query.Answer{}, engine.Cost{}, retry, errors.Join(err, run.release(caller, failed))
}

// start starts or joins the query over the current data.
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
	return s.runner.start(ctx, r.Caller, p, r.Query.Clamp(extent))
}

func keyOf(key, version string) string {
	hash := sha256.Sum256([]byte(version + " " + key))
	return hex.EncodeToString(hash[:])
}

// withTimeout returns a context that ends when the caller has waited for the configured timeout.
func (s *Queries) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, s.timeout)
}

// RetryAfter returns the time after which to ask again about a query that has not ended. It increases with the running
// time of the query.
func (s *Queries) RetryAfter(began time.Time) time.Duration {
	return min(max(s.now().Sub(began)/4, time.Second), 15*time.Second)
}
