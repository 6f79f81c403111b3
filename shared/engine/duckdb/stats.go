package duckdb

import (
	"context"
	"database/sql"

	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/sqlgen"
)

func (e *Engine) stats(ctx context.Context, script sqlgen.Script, shape query.Stats) ([]query.StatsRow, error) {
	var all []query.StatsRow
	err := e.each(ctx, script.Statements[0].SQL, func(rows *sql.Rows) error {
		var (
			r     query.StatsRow
			group *string // hostname or value
			more  percentiles
		)
		targets := []any{&r.Segment, &group, &r.Requests, &r.Bandwidth, &r.TimeUs, &r.Timed}
		if shape.Percentiles {
			targets = append(targets, more.targets()...)
		}
		err := rows.Scan(targets...)
		switch {
		case group == nil:
		case shape.By != nil:
			r.Value, r.HasValue = *group, true
		default:
			r.Hostname = *group
		}
		r.Percentiles = more.result()
		all = append(all, r)
		return err
	})
	return all, err
}
