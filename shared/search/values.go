package search

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
)

const (
	// patience is the time after which no further object is looked at.
	patience = 30 * time.Millisecond

	// maxFind is the largest number of characters of prefix and contains.
	maxFind = 200

	// newest is the length of the period if the request has no filter.
	newest = 24 * time.Hour
)

// searchValues answers a request for values. It is a read path of its own: values complete what a person types, so it
// stops looking after a moment, and the answer reports in which part of the data it has looked.
func (s *Service) searchValues(ctx context.Context, r Request) (Result, error) {
	began := s.now()
	r = s.at(r, began)
	data, err := s.freshness(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("run %s query: %w", r.Route, err)
	}
	r = s.withPeriod(r, data)
	r, q, err := s.bind(ctx, r)
	if err != nil {
		return Result{}, err
	}
	by, estimate, err := s.estimateWithin(ctx, r, q, false)
	if err != nil {
		return Result{}, queryError(r, q, err)
	}
	if r.dryRun() {
		return s.dryResult(r, q, by, estimate, data, began), nil
	}
	enough := func() bool { return s.now().Sub(began) >= patience }
	found, cost, err := s.findValues(ctx, r.Caller, q, enough)
	if err != nil {
		return Result{}, queryError(r, q, err)
	}
	result := Result{
		Values: valuesOf(found.ValuesAnswer, q.Shape.(query.Values)),
		Meta:   s.metaOf(r, q, cost, data, estimate),
	}
	meta := &result.Meta
	meta.Exact, meta.Unavailable = &found.Exact, found.Unavailable
	if found.More {
		meta.Truncated = &Truncated{Reason: "limit"}
	}
	if r.Branches == nil && found.Unavailable == "" { // the numbers of objects are of all branches
		meta.Scope = &LookedAt{Objects: found.Looked, Of: found.Of}
	}
	meta.ElapsedMS = milliseconds(s.now().Sub(began))
	return result, nil
}

// findValues finds values within the limits of this process.
func (s *Service) findValues(
	ctx context.Context, caller string, q query.Query, enough func() bool,
) (engine.FoundValues, engine.Cost, error) {
	finder, ok := s.engine.(engine.ValueFinder)
	if !ok {
		return engine.FoundValues{Unavailable: noValueFinder}, engine.Cost{}, nil
	}
	if s.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.timeout)
		defer cancel()
	}
	release, err := s.limiter.Acquire(ctx, caller)
	if err != nil {
		return engine.FoundValues{}, engine.Cost{}, err
	}
	defer release()
	extent, err := s.engine.Extent(ctx)
	if err != nil {
		return engine.FoundValues{}, engine.Cost{}, fmt.Errorf("read the extent of the data: %w", err)
	}
	began := s.now()
	found, cost, err := finder.FindValues(engine.WithCaller(ctx, caller), q.Clamp(extent), enough)
	if cost.Engine == 0 {
		cost.Engine = s.now().Sub(began)
	}
	return found, cost, err
}

const noValueFinder = "this deployment keeps no lists of values; facets counts them"

// withPeriod returns a request for values with a period.
func (s *Service) withPeriod(r Request, data freshness) Request {
	if r.Filters == "" {
		r.Filters, r.Syntax = s.newestPeriod(data, r.Branches != nil), filter.QueryString
	}
	return r
}

// newestPeriod returns a filter for the newest 24 hours of the data. For a caller who is limited to branches, they end
// with the minute of the newest record.
func (s *Service) newestPeriod(data freshness, limited bool) string {
	to := s.now().UnixMilli()
	switch {
	case data.Newest != nil && limited:
		data.hideOthers()
		to = *data.Newest + time.Minute.Milliseconds() - 1
	case data.Newest != nil:
		to = *data.Newest
	}
	return fmt.Sprintf("timestamp between %s and %s", instant(to-newest.Milliseconds()), instant(to))
}

// values returns the shape of a request for values.
func (r Request) values() (query.Shape, error) {
	limit, err := r.limit()
	if err != nil {
		return nil, err
	}
	by, err := query.ParseDimensions(r.Field)
	var wrong *query.DimensionError
	switch {
	case errors.As(err, &wrong):
		return nil, &ParamError{Param: "field", Message: wrong.Message, Suggestion: wrong.Suggestion, Code: wrong.Code}
	case err != nil:
		return nil, err
	case len(by) > 1:
		return nil, &ParamError{
			Param: "field", Message: fmt.Sprintf("values are those of one field, not of %d", len(by)),
			Suggestion: by[0].String(),
		}
	}
	find, err := r.find()
	if err != nil {
		return nil, err
	}
	if r.Counts != "" && r.Counts != "true" && r.Counts != "false" {
		return nil, &ParamError{
			Param: "counts", Message: fmt.Sprintf("%q is not true or false", r.Counts), Suggestion: "true",
		}
	}
	return query.Values{By: by[0], Find: find, Limit: limit, Counts: r.Counts == "true"}, nil
}

// find returns the test of the values.
func (r Request) find() (query.Find, error) {
	if r.Prefix != "" && r.Contains != "" {
		return query.Find{}, &ParamError{
			Param: "contains", Message: "give either prefix or contains; contains finds values that begin with it, too",
		}
	}
	for name, text := range map[string]string{"prefix": r.Prefix, "contains": r.Contains} {
		if n := utf8.RuneCountInString(text); n > maxFind {
			return query.Find{}, &ParamError{
				Param: name, Message: fmt.Sprintf("%d characters are too many; at most %d are allowed", n, maxFind),
			}
		}
	}
	if r.Contains != "" {
		return query.Containing(r.Contains), nil
	}
	return query.Beginning(r.Prefix), nil
}

// onlyPeriod returns an error if a filter for values has conditions besides the period.
func onlyPeriod(q query.Query) error {
	if len(q.Conditions) == 0 {
		return nil
	}
	return &ParamError{
		Param: "filters",
		Code:  "only_period",
		Message: fmt.Sprintf("values are looked up by period only, so the filter has no other condition such as %s; "+
			"facets counts values with any filter", filter.Format(filter.Filter{Conditions: q.Filter.Conditions[1:2]})),
	}
}

// valuesOf returns the results for the engine's answer.
func valuesOf(a query.ValuesAnswer, shape query.Values) []ValueResult {
	results := make([]ValueResult, len(a.Values))
	for i, v := range a.Values {
		r := ValueResult{Value: typedValue(shape.By, v.Value)}
		r.Condition, _, _ = shape.By.Condition(v.Value)
		if shape.Counts {
			r.NumOfRequests, r.NumOfBlockedRequests = &v.Requests, &v.Blocked
			r.NumOfChallenges, r.NumOfMonitoredRequests = &v.Challenges, &v.Monitored
			r.NumOfHumanRequests = &v.Human
		}
		results[i] = r
	}
	return results
}
