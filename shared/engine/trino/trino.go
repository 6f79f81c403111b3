// Package trino answers queries with a Trino cluster over the two tables of the lake, through the cluster's HTTP
// protocol. The SQL is Athena's, which is Trino with limits.
package trino

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

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

var (
	_ engine.Engine       = (*Engine)(nil)
	_ engine.Completeness = (*Engine)(nil)
)

// New returns an engine. The states provide the watermark of compaction and the extent of the data. If states is nil,
// the engine assumes that hours are never compacted and queries the cluster for the extent.
func New(client *Client, states engine.States) *Engine {
	if states == nil {
		states = &probe{client: client}
	}
	return &Engine{client: client, states: states}
}

// Name returns "trino".
func (e *Engine) Name() string { return "trino" }

// Close does nothing.
func (e *Engine) Close() error { return nil }

// Extent returns the period that the data covers now.
func (e *Engine) Extent(ctx context.Context) (lake.Extent, error) {
	state, err := e.state(ctx)
	return state.Extent, err
}

// CompleteThrough returns the time to which the data is complete, or the zero time if the states do not report one.
func (e *Engine) CompleteThrough(ctx context.Context) (time.Time, error) {
	state, err := e.state(ctx)
	return state.CompleteThrough, err
}

func (e *Engine) state(ctx context.Context) (engine.State, error) {
	state, err := e.states.State(ctx)
	if err != nil {
		return engine.State{}, failure(ctx, query.Query{}, fmt.Errorf("read the state of the lake: %w", err))
	}
	return state, nil
}

// Run answers q. If ctx ends, Run cancels the query on the cluster, too.
func (e *Engine) Run(ctx context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	began := e.client.Now()
	state, err := e.state(ctx)
	if err != nil {
		return query.Answer{}, engine.Cost{}, err
	}
	q.Scope.Watermark = state.Watermark
	var (
		answer query.Answer
		cost   engine.Cost
		read   = q
	)
	if shape, ok := q.Shape.(query.Logs); ok {
		answer, cost, read, err = e.answerWindows(ctx, q, shape)
	} else {
		answer, cost, err = e.answer(ctx, q)
	}
	if shape, ok := q.Shape.(query.TopX); ok && shape.Labels == nil && exhausted(err) {
		answer, cost, err = e.answerParts(ctx, q, shape)
	}
	if err != nil {
		return query.Answer{}, engine.Cost{}, e.withRemedy(failure(ctx, q, err))
	}
	cost.Skipped, err = e.skipped(ctx, read, began)
	return answer, cost, err
}

// answerWindows answers a query for logs. It searches the windows of its span, the newest hours first, until it has
// enough records. read is the query for the windows that were searched.
func (e *Engine) answerWindows(
	ctx context.Context, q query.Query, shape query.Logs,
) (whole query.Answer, total engine.Cost, read query.Query, _ error) {
	read = q
	for _, window := range q.Windows() {
		part := q
		part.Scope.Period = window
		one, cost, err := e.answer(ctx, part)
		if err != nil {
			return query.Answer{}, engine.Cost{}, q, err
		}
		rows.AddRecords(&whole, one, shape.Limit)
		total.BytesScanned += cost.BytesScanned
		total.Engine += cost.Engine
		total.Queue += cost.Queue
		read.Scope.FromMs = window.FromMs
		if whole.Truncated || len(whole.Logs) == shape.Limit {
			break
		}
	}
	return whole, total, read, nil
}

// withRemedy adds the remedy for a damaged object to the failure of a query. If no state is provided, no compaction
// sets the object aside.
func (e *Engine) withRemedy(err error) error {
	var damage *engine.DamageError
	if e.probes() && fault.KindOf(err) == fault.Damaged && errors.As(err, &damage) {
		return engine.UnrecordedDamageError(damage)
	}
	return err
}

// probes reports whether no state is provided.
func (e *Engine) probes() bool {
	_, probed := e.states.(*probe)
	return probed
}

// skipped returns the lost objects of the hours that q covers. If no state is provided, the engine does not know any.
func (e *Engine) skipped(ctx context.Context, q query.Query, began time.Time) ([]string, error) {
	if e.probes() {
		return nil, nil
	}
	state, err := e.state(ctx)
	return state.Skipped(q, began), err
}

// answerParts answers a topx query, which is too large for the cluster as a whole, in parts with a few labels each.
func (e *Engine) answerParts(ctx context.Context, q query.Query, shape query.TopX) (query.Answer, engine.Cost, error) {
	var (
		whole query.Answer
		total = engine.Cost{Split: true}
	)
	for _, part := range query.TopXParts {
		shape.Labels = part.Labels
		q.Shape = shape
		one, cost, err := e.answer(ctx, q)
		if err != nil {
			return query.Answer{}, engine.Cost{}, err
		}
		whole.TopX = append(whole.TopX, one.TopX...)
		total.BytesScanned += cost.BytesScanned
		total.Engine += cost.Engine
		total.Queue += cost.Queue
	}
	slices.SortStableFunc(whole.TopX, func(a, b query.TopXRow) int { return strings.Compare(a.Label, b.Label) })
	return whole, total, nil
}

// answer runs the statement of q. It repeats the statement after a temporary failure.
func (e *Engine) answer(ctx context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	script, err := scriptOf(q)
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
	err = e.client.retry(ctx, func() error {
		s, err := e.client.start(ctx, script.Statements[0].SQL, e.settings(q.Shape)...)
		if err != nil {
			return err
		}
		defer s.close(ctx)
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

// settings returns the session settings for queries of a shape. For logs, the cluster waits until it knows the oldest
// time among the newest rows. Without this wait it reads objects that have none of these rows.
func (e *Engine) settings(shape query.Shape) []string {
	if _, ok := shape.(query.Logs); ok {
		return []string{e.client.Catalog + ".dynamic_filtering_wait_timeout=20s"}
	}
	return nil
}

// scriptOf returns the SQL of q for the cluster.
func scriptOf(q query.Query) (sqlgen.Script, error) {
	if tests := q.ListTests(); len(tests) > 0 {
		return sqlgen.Script{}, engine.StatementError(&sqlgen.LimitError{List: tests[0].Name})
	}
	script, err := sqlgen.Athena(q)
	var limit *sqlgen.LimitError
	if errors.As(err, &limit) {
		return sqlgen.Script{}, engine.StatementError(limit)
	}
	return script, err
}
