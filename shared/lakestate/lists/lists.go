// Package lists finds values of fields for completion in the lists that imports and compactions keep beside the objects
// of a lake in the cloud, see package completionindex. It runs no query and reads no record, so it answers in some tens
// of milliseconds and costs next to nothing.
package lists

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/completionindex"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

const (
	// maxLists is the maximum number of lists that are read for an answer.
	maxLists = 64
	// firstLists is the number of lists that are read at first, at the same time. Later steps read twice as many.
	firstLists = 16
)

// Engine finds values. It answers no other query.
type Engine struct {
	states engine.States
	bucket blob.Store
	now    func() time.Time

	mu       sync.Mutex
	listings map[span]listing   // by their hours
	contents map[string]content // of lists, by the names of their objects in the bucket
}

var (
	_ engine.Engine       = (*Engine)(nil)
	_ engine.ValueFinder  = (*Engine)(nil)
	_ engine.Completeness = (*Engine)(nil)
)

// New returns an engine over the lists in the bucket of a lake.
func New(bucket blob.Store, states engine.States, now func() time.Time) *Engine {
	return &Engine{
		states: states, bucket: bucket, now: now,
		listings: map[span]listing{}, contents: map[string]content{},
	}
}

// Name returns "lists".
func (e *Engine) Name() string { return "lists" }

// Extent returns the period that the data covers now.
func (e *Engine) Extent(ctx context.Context) (lake.Extent, error) {
	state, err := e.state(ctx)
	return state.Extent, err
}

// CompleteThrough returns the time to which the data is complete, or the zero time if the state does not have one.
func (e *Engine) CompleteThrough(ctx context.Context) (time.Time, error) {
	state, err := e.state(ctx)
	return state.CompleteThrough, err
}

func (e *Engine) state(ctx context.Context) (engine.State, error) {
	state, err := e.states.State(ctx)
	if err != nil {
		return engine.State{}, failure(ctx, fmt.Errorf("read the state of the lake: %w", err))
	}
	return state, nil
}

// Run returns an error: lists answer queries for values only.
func (e *Engine) Run(context.Context, query.Query) (query.Answer, engine.Cost, error) {
	return query.Answer{}, engine.Cost{}, errOnlyValues
}

// Explain returns an error, like Run.
func (e *Engine) Explain(context.Context, query.Query) (engine.Plan, error) {
	return engine.Plan{}, errOnlyValues
}

// FindValues finds values in the lists of the newest objects first. It stops when it has as many values as asked for,
// after 64 objects, or when enough returns true, but not before it has read the first 16 lists. The values are those of
// whole objects, so they may be of records shortly before or after the period.
//
// A query that is limited to branches finds the values of these branches and no others.
func (e *Engine) FindValues(
	ctx context.Context, q query.Query, enough func() bool,
) (engine.FoundValues, engine.Cost, error) {
	shape, ok := q.Shape.(query.Values)
	if !ok {
		panic(fmt.Sprintf("lists: a query for %T has no values", q.Shape))
	}
	if reason := noListsOf(shape); reason != "" {
		return engine.FoundValues{Unavailable: reason}, engine.Cost{}, nil
	}
	sees, err := branchesOf(q)
	if err != nil {
		return engine.FoundValues{}, engine.Cost{}, err
	}
	began := e.now()
	state, err := e.state(ctx)
	if err != nil {
		return engine.FoundValues{}, engine.Cost{}, err
	}
	l, err := e.objects(ctx, state.Watermark, q.Span())
	if err != nil {
		return engine.FoundValues{}, engine.Cost{}, failure(ctx, err)
	}
	s := search{engine: e, field: shape.By.String(), sees: sees, first: query.NewFirstValues(shape), exact: l.whole}
	if err := s.run(ctx, l.newest, enough); err != nil {
		return engine.FoundValues{}, engine.Cost{}, failure(ctx, err)
	}
	skipped := state.Skipped(q, began)
	found := engine.FoundValues{
		ValuesAnswer: s.first.Answer(),
		Exact:        s.exact && s.looked == len(l.newest) && len(skipped) == 0,
		Looked:       s.looked,
		Of:           len(l.newest),
	}
	if s.looked == 0 && found.Of > 0 {
		found.Unavailable = noLists
	}
	return found, engine.Cost{BytesScanned: s.bytes, Skipped: skipped}, nil
}

// branchesOf returns the function that reports whether the caller of a query sees the values of a branch; nil stands
// for the records without a branch.
func branchesOf(q query.Query) (sees func(branch *string) bool, err error) {
	for _, c := range q.Conditions {
		if c.Field.Name != "branch" {
			return nil, fmt.Errorf("lists: a query for values has a condition on %s", c.Field.Name)
		}
	}
	q.Scope.Period = query.Period{} // the row below has no time
	return func(branch *string) bool { return query.Match(&q, &lake.Row{Branch: branch}) }, nil
}

// search is one search for values.
type search struct {
	engine *Engine
	field  string
	sees   func(branch *string) bool
	first  *query.FirstValues

	looked int
	bytes  int64
	exact  bool // all lists so far have all values
}

// run looks in the lists of objects until it has enough.
func (s *search) run(ctx context.Context, newest []blob.Info, enough func() bool) error {
	left := newest[:min(len(newest), maxLists)]
	for step := firstLists; len(left) > 0; step *= 2 {
		part := left[:min(step, len(left))]
		left = left[len(part):]
		if step > firstLists && (s.first.Full() || !s.engine.keeps(part) && enough()) {
			return nil
		}
		contents, err := s.engine.read(ctx, part)
		if err != nil {
			return err
		}
		for _, c := range contents {
			if s.looked > 0 && s.first.Full() {
				return nil
			}
			s.look(c)
		}
	}
	return nil
}

// look adds the values of an object.
func (s *search) look(c content) {
	if c.lists == nil {
		s.exact = false
		return
	}
	s.looked++
	s.bytes += c.bytes
	if !c.lists.Each(s.field, s.sees, s.first.Add) {
		s.exact = false
	}
}

// Coverage returns how many of the newest objects of the lake have lists. It looks at the objects of the last day that
// an answer looks at first.
func (e *Engine) Coverage(ctx context.Context) (listed, of int, err error) {
	state, err := e.state(ctx)
	if err != nil || state.Extent.Rows == 0 {
		return 0, 0, err
	}
	to := state.Extent.MaxTsMs
	l, err := e.objects(ctx, state.Watermark, query.Period{FromMs: to - (24 * time.Hour).Milliseconds(), ToMs: to})
	if err != nil {
		return 0, 0, err
	}
	part := l.newest[:min(len(l.newest), firstLists)]
	contents, err := e.read(ctx, part)
	for _, c := range contents {
		if c.lists != nil {
			listed++
		}
	}
	return listed, len(part), err
}

// noListsOf returns the reason why the lists cannot answer a query, or "".
func noListsOf(shape query.Values) string {
	field := shape.By.String()
	listed := func(d query.Dimension) bool { return d.String() == field }
	switch {
	case shape.Counts:
		return notCounted
	case !slices.ContainsFunc(completionindex.Dimensions(), listed):
		return fmt.Sprintf("this deployment keeps no lists of values of %s; facets counts them", field)
	}
	return ""
}

const (
	notCounted = "this deployment does not count the values in its lists; facets counts them"
	noLists    = "the objects of the period have no lists of values; facets counts them"
)

var errOnlyValues = errors.New("lists: the query is not one for values")

// failure returns the error for what cannot be read.
func failure(ctx context.Context, err error) error {
	if ended := engine.ContextError(ctx, err); ended != nil {
		return ended
	}
	return fault.Wrap(fault.Unavailable, err, "the lists of values cannot be read")
}
