// Package search is the read path: text of a filter in, results of a route out. Everything between is done by
// the packages it calls, one line each.
package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
)

// Service answers data requests.
type Service struct {
	engine  engine.Engine
	runs    runs
	timeout time.Duration
	now     func() time.Time
	newID   func() QueryID
}

// Options are what a deployment decides.
type Options struct {
	Line    *Line            // who may use the engine; nil: everybody at once
	Timeout time.Duration    // the longest a caller waits, waiting in line included; 0: no bound
	Now     func() time.Time // the clock

	// Queries remembers queries that outlive their requests. With it, an engine that is an engine.Starter runs them;
	// without, they run in this process.
	Queries Queries
	Longest time.Duration  // the longest a query may run in this process; 0: 15 minutes
	Keep    time.Duration  // how long an answer waits in this process for who was told its id; 0: 10 minutes
	NewID   func() QueryID // nil: random ones, which nobody guesses
}

// New makes the service over an engine.
func New(e engine.Engine, o Options) (*Service, error) {
	if e == nil {
		return nil, errors.New("search: no engine")
	}
	if o.Now == nil {
		return nil, errors.New("search: no clock")
	}
	if o.Longest == 0 {
		o.Longest = 15 * time.Minute
	}
	if o.Keep == 0 {
		o.Keep = 10 * time.Minute
	}
	if o.NewID == nil {
		o.NewID = newQueryID
	}
	s := &Service{engine: e, newID: o.NewID, timeout: o.Timeout, now: o.Now, runs: newHere(e, o)}
	if starter, ok := e.(engine.Starter); ok && o.Queries != nil {
		s.runs = started{starter, o.Queries}
	}
	return s, nil
}

// Search answers one request. It is the whole read path; every step is a line.
//
// Errors: *query.FilterError for the filter, *ParamError for a parameter, *StillRunning when the time is over before
// the query is, else of the kinds that engine.Engine names.
func (s *Service) Search(ctx context.Context, r Request) (Result, error) {
	began := s.now()
	q, err := bind(r)
	if err != nil {
		return Result{}, err
	}
	answer, cost, err := s.answer(ctx, r, q)
	if err != nil {
		return Result{}, failed(r, q, err)
	}
	meta := metaOf(q, cmp.Or(cost.By, s.engine.Name()), cost)
	result := resultOf(q, answer, meta)
	result.Meta.ElapsedMS = milliseconds(s.now().Sub(began))
	return result, nil
}

func failed(r Request, q query.Query, err error) error {
	return fmt.Errorf("run %s query %s: %w", r.Route, q.Fingerprint(), err)
}

// bounded ends when the caller has waited long enough.
func (s *Service) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, s.timeout)
}

// Explain tells what Search would do with the same request, without running it.
func (s *Service) Explain(ctx context.Context, r Request) (query.Query, engine.Plan, error) {
	q, err := bind(r)
	if err != nil {
		return query.Query{}, engine.Plan{}, err
	}
	extent, err := s.engine.Extent(ctx)
	if err != nil {
		return query.Query{}, engine.Plan{}, fmt.Errorf("read the extent of the data: %w", err)
	}
	q = q.Clamp(extent)
	plan, err := s.engine.Explain(ctx, q)
	return q, plan, err
}

// bind turns the request into a bound query. Past the filter, only a segment that does not fit the period
// can be wrong.
func bind(r Request) (query.Query, error) {
	shape, err := r.shape()
	if err != nil {
		return query.Query{}, err
	}
	q, err := query.Bind(parse(r.Filters, r.Form), shape, query.WithBranches(r.Branches))
	var wrong *query.FilterError
	if err != nil && !errors.As(err, &wrong) {
		return query.Query{}, &ParamError{Param: "segment", Message: err.Error()}
	}
	return q, err
}

func parse(text string, form filter.Form) filter.Filter {
	switch form {
	case filter.QueryString:
		return filter.ParseQueryString(text)
	case filter.JSON:
		return filter.ParseJSON(text)
	}
	return filter.Parse(text)
}

// oneMore asks for one record more than was asked for, so that the answer can tell whether there are more.
func oneMore(q query.Query) query.Query {
	if logs, ok := q.Shape.(query.Logs); ok {
		logs.Limit++
		q.Shape = logs
	}
	return q
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Microseconds()) / 1000
}

// ParamError is a parameter that cannot be meant.
type ParamError struct {
	Param      string // "limit"
	Message    string
	Suggestion string // a value that would do, or ""
}

func (e *ParamError) Error() string { return e.Param + ": " + e.Message }

// errBusy is what a caller hears when the line is long.
func errBusy(after time.Duration) error {
	return &fault.Error{Kind: fault.Unavailable, Message: "too many queries are running; try again shortly", RetryAfter: after}
}
