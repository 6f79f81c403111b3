package athena

import (
	"context"
	"errors"
	"slices"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/sqlgen"
)

// Explain returns the statements that Run would send to Athena, and the hours that they read. Most queries for logs need
// only the first of their statements. The plan has no objects
// and bytes, because they are not known before a query has run.
func (e *Engine) Explain(ctx context.Context, q query.Query) (engine.Plan, error) {
	state, err := e.state(ctx)
	if err != nil {
		return engine.Plan{}, err
	}
	q.Scope.Watermark = state.Watermark
	plan := engine.Plan{By: e.Name(), Columns: q.Columns()}
	for i, window := range q.Windows() {
		part := q
		part.Scope.Period = window
		script, err := sqlgen.Athena(part)
		var limit *sqlgen.LimitError
		switch {
		case errors.As(err, &limit):
			return engine.Plan{}, engine.StatementError(limit)
		case err != nil:
			return engine.Plan{}, err
		}
		plan.Warnings = script.Warnings
		for _, s := range script.Statements {
			if i > 0 {
				s.Title += " of earlier hours (run only if later hours have too few)"
			}
			plan.SQL = append(plan.SQL, engine.Statement(s))
		}
	}
	for _, span := range q.Clamp(state.Extent).Spans() {
		if span.Empty() {
			continue
		}
		for p := lake.PartitionOf(span.FromMs); p <= lake.PartitionOf(span.ToMs); p++ {
			plan.Partitions = append(plan.Partitions, p)
		}
	}
	plan.Partitions = slices.Compact(plan.Partitions) // both spans of a diff may be in one hour
	return plan, nil
}
