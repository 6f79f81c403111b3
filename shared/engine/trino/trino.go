// Package trino answers queries with a Trino cluster over the two tables of the lake, through the cluster's HTTP
// protocol. The SQL is Athena's, which is Trino with limits.
package trino

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/rows"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/sqlgen"
)

// Engine answers bound queries. It may be used by several goroutines at once.
type Engine struct {
	client *Client
	states engine.States
}

var _ engine.Engine = (*Engine)(nil)

// New makes the engine. states returns how far compaction has come and what time the data covers; nil: nothing is ever
// compacted, and the cluster is asked for the time.
func New(client *Client, states engine.States) *Engine {
	if states == nil {
		states = &probe{client: client}
	}
	return &Engine{client: client, states: states}
}

// Name is "trino".
func (e *Engine) Name() string { return "trino" }

// Close ends nothing: the cluster goes on.
func (e *Engine) Close() error { return nil }

// Extent is the time the data covers at this moment.
func (e *Engine) Extent(ctx context.Context) (lake.Extent, error) {
	state, err := e.state(ctx)
	return state.Extent, err
}

func (e *Engine) state(ctx context.Context) (engine.State, error) {
	state, err := e.states.State(ctx)
	if err != nil {
		return engine.State{}, failure(ctx, fmt.Errorf("read the state of the lake: %w", err))
	}
	return state, nil
}

// Run answers q. When ctx ends, the query is cancelled on the cluster too.
func (e *Engine) Run(ctx context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	state, err := e.state(ctx)
	if err != nil {
		return query.Answer{}, engine.Cost{}, err
	}
	q.Scope.Watermark = state.Watermark
	answer, cost, err := e.answer(ctx, q)
	if shape, ok := q.Shape.(query.TopX); ok && shape.Labels == nil && exhausted(err) {
		answer, cost, err = e.byParts(ctx, q, shape)
	}
	if err != nil {
		return query.Answer{}, engine.Cost{}, failure(ctx, err)
	}
	return answer, cost, nil
}

// byParts answers a topx that is too much for the cluster at once, a few labels after the other.
func (e *Engine) byParts(ctx context.Context, q query.Query, shape query.TopX) (query.Answer, engine.Cost, error) {
	var (
		whole query.Answer
		total = engine.Cost{Split: true}
	)
	for _, part := range query.TopXParts {
		q.Shape = query.TopX{Limit: shape.Limit, Labels: part.Labels}
		one, cost, err := e.answer(ctx, q)
		if err != nil {
			return query.Answer{}, engine.Cost{}, err
		}
		whole.TopX = append(whole.TopX, one.TopX...)
		total.BytesScanned += cost.BytesScanned
		total.RowsConsidered += cost.RowsConsidered
		total.Engine += cost.Engine
		total.Queue += cost.Queue
	}
	slices.SortStableFunc(whole.TopX, func(a, b query.TopXRow) int { return strings.Compare(a.Label, b.Label) })
	return whole, total, nil
}

// answer runs the one statement of q, again where the failure was the cluster's state of the moment.
func (e *Engine) answer(ctx context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	script, err := printed(q)
	if err != nil {
		return query.Answer{}, engine.Cost{}, err
	}
	if len(script.Warnings) > 0 {
		return query.Answer{}, engine.Cost{}, fault.New(fault.RegexRefused, "%s", strings.Join(script.Warnings, "; "))
	}
	var (
		answer query.Answer
		cost   engine.Cost
	)
	err = e.client.again(ctx, func() error {
		s, err := e.client.begin(ctx, script.Statements[0].SQL, e.settings(q.Shape)...)
		if err != nil {
			return err
		}
		defer s.end(ctx)
		columns, err := s.columns(ctx)
		if err != nil {
			return err
		}
		if answer, err = rows.Answer(q, columns, func() ([]*string, error) { return s.row(ctx) }); err != nil {
			return fmt.Errorf("query %s: %w", s.id, err)
		}
		cost = s.cost()
		return nil
	})
	return answer, cost, err
}

// settings of a session that answers a shape. The rows of logs are worth waiting for their cut-off: until it is known,
// whole objects are read that hold none.
func (e *Engine) settings(shape query.Shape) []string {
	if _, ok := shape.(query.Logs); ok {
		return []string{e.client.Catalog + ".dynamic_filtering_wait_timeout=20s"}
	}
	return nil
}

// printed is q in the cluster's SQL.
func printed(q query.Query) (sqlgen.Script, error) {
	script, err := sqlgen.Athena(q)
	var limit *sqlgen.LimitError
	if errors.As(err, &limit) {
		return sqlgen.Script{}, engine.StatementError(limit)
	}
	return script, err
}
