// Package search is the read path: it turns the text of a filter into the results of a route. Each step is done by
// another package.
package search

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search/pending"
)

// Service answers data requests.
type Service struct {
	engine  engine.Engine
	queries *pending.Queries
	lists   Lists // nil: there are none
	now     func() time.Time
	speed   speed

	// The limits of queries that are not in queries.
	limiter *pending.Limiter
	timeout time.Duration
}

// Options are the settings of a service.
type Options = pending.Options

// New returns a service over an engine.
func New(e engine.Engine, o Options) (*Service, error) {
	queries, err := pending.New(e, o)
	if err != nil {
		return nil, err
	}
	return &Service{engine: e, queries: queries, now: o.Now, limiter: o.Limiter, timeout: o.Timeout}, nil
}

// Search answers one request. It is the whole read path, with one line for each step. A dry run ends before the query.
//
// Errors: *query.FilterError for the filter or the selection, *ParamError for a parameter, *HeavyError for a query that may
// read more than max_bytes, *TimeoutError if the query takes longer than a caller waits, and otherwise an error of a kind
// that engine.Engine lists.
func (s *Service) Search(ctx context.Context, r Request) (Result, error) {
	if r.Route == Values {
		return s.searchValues(ctx, r)
	}
	began := s.now()
	r, q, err := s.bind(ctx, s.at(r, began))
	if err != nil {
		return Result{}, err
	}
	data, err := s.freshness(ctx)
	if err != nil {
		return Result{}, queryError(r, q, err)
	}
	by, estimate, err := s.estimateWithin(ctx, r, q, false)
	if err != nil {
		return Result{}, queryError(r, q, err)
	}
	if r.dryRun() {
		return s.dryResult(r, q, by, estimate, data, began), nil
	}
	asked := pendingRequest(r, q, data, estimate)
	if r.MaxBytes != "" && by != s.engine.Name() { // the estimate is that of an answer at once
		asked.Affordable = func(ctx context.Context) error {
			_, _, err := s.estimateWithin(ctx, r, q, true)
			return err
		}
	}
	answer, cost, err := s.queries.Answer(ctx, asked)
	if err == nil {
		err = checkSize(q, answer)
	}
	if err != nil {
		return Result{}, queryError(r, q, err)
	}
	result := resultOf(r, q, answer, s.metaOf(r, q, cost, data, estimate))
	ofLate, err := s.addArrivals(ctx, r, q, data, &result)
	if err != nil {
		return Result{}, queryError(r, q, err)
	}
	cost.BytesScanned += ofLate
	result.Meta.ElapsedMS = milliseconds(s.now().Sub(began))
	s.speed.add(result.Meta.Engine, cost, result.Meta.ElapsedMS)
	return result, nil
}

func queryError(r Request, q query.Query, err error) error {
	return fmt.Errorf("run %s query %s: %w", r.Route, q.Fingerprint(), err)
}

// Explain returns what Search would do with the same request, without running it.
func (s *Service) Explain(ctx context.Context, r Request) (query.Query, engine.Plan, error) {
	r, q, err := s.bind(ctx, s.at(r, s.now()))
	if err != nil {
		return query.Query{}, engine.Plan{}, err
	}
	if _, finds := s.engine.(engine.ValueFinder); r.Route == Values && !finds {
		return q, engine.Plan{By: s.engine.Name()}, nil
	}
	extent, err := s.engine.Extent(ctx)
	if err != nil {
		return query.Query{}, engine.Plan{}, fmt.Errorf("read the extent of the data: %w", err)
	}
	q = q.Clamp(extent)
	plan, err := s.engine.Explain(ctx, q)
	return q, plan, err
}

// bind turns the request into a bound query in the caller's share of this process. It returns the request with the
// versions of its lists of values.
func (s *Service) bind(ctx context.Context, r Request) (Request, query.Query, error) {
	release, err := s.limiter.Prepare(ctx, r.Caller)
	if err != nil {
		return r, query.Query{}, err
	}
	defer release()
	f := r.Syntax.Parse(r.Filters)
	if r, err = s.withLists(ctx, r, f); err != nil {
		return r, query.Query{}, err
	}
	q, err := bindFilter(ctx, r, f)
	return r, q, err
}

// bind turns the request into a bound query.
func bind(ctx context.Context, r Request) (query.Query, error) {
	return bindFilter(ctx, r, r.Syntax.Parse(r.Filters))
}

// bindFilter turns the request, whose filter is f, into a bound query. It ends between two steps if ctx has ended, because
// each takes time for a large filter. An error of query.Bind that is not about the filter is about a segment that does
// not fit the period, or about the other period of a diff.
func bindFilter(ctx context.Context, r Request, f filter.Filter) (query.Query, error) {
	shape, err := r.shape()
	if err != nil {
		return query.Query{}, err
	}
	clock, err := r.clock()
	if err != nil {
		return query.Query{}, err
	}
	if err := engine.ContextError(ctx, ctx.Err()); err != nil {
		return query.Query{}, err
	}
	if r.Route == Values {
		all, err := query.Bind(f, shape, append(r.listOptions(), clock)...)
		if err == nil {
			err = onlyPeriod(all)
		}
		if err != nil {
			return query.Query{}, err
		}
	}
	q, err := query.Bind(f, shape, append(r.listOptions(), query.WithBranches(r.Branches), clock)...)
	var wrong *query.FilterError
	switch {
	case errors.As(err, &wrong):
		return q, err
	case err != nil && r.Route == Diff:
		return query.Query{}, againstError(err)
	case err != nil:
		return query.Query{}, &ParamError{Param: "segment", Message: err.Error()}
	}
	alternatives, err := BindAnyOf(r.AnyOf, r.listOptions()...)
	if err != nil {
		return query.Query{}, err
	}
	q.Conditions = append(q.Conditions, alternatives...)
	return paged(r, q)
}

// oneMore increases the limit of a logs query by one, so that the answer shows whether more records match.
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

// ParamError reports a parameter with an invalid value.
type ParamError struct {
	Param      string // "limit"
	Message    string
	Suggestion string // a valid value, or ""
	Code       string // stable name of the mistake, or ""
}

func (e *ParamError) Error() string { return e.Param + ": " + e.Message }
