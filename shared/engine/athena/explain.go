package athena

import (
	"context"
	"errors"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/sqlgen"
)

// Explain returns the statements that Run would send to Athena, and the hours that they read. Most queries for logs
// need only the first of their statements. The plan has no objects and bytes; Estimate knows limits for them.
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
				s.Title += engine.EarlierHours
			}
			plan.SQL = append(plan.SQL, engine.Statement(s))
		}
	}
	plan.Partitions = engine.HoursOf(q.Clamp(state.Extent))
	return plan, nil
}
