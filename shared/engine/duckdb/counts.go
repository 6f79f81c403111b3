package duckdb

import (
	"context"
	"database/sql"

	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/sqlgen"
)

func (e *Engine) counts(ctx context.Context, script sqlgen.Script, shape query.Counts) ([]query.CountsRow, error) {
	var all []query.CountsRow
	err := e.each(ctx, script.Statements[0].SQL, func(rows *sql.Rows) error {
		r := query.CountsRow{N: make([]int64, len(shape.Of)+1)}
		var value *string
		targets := []any{&r.Segment, &value}
		for i := range r.N {
			targets = append(targets, &r.N[i])
		}
		err := rows.Scan(targets...)
		if value != nil {
			r.Value, r.HasValue = *value, true
		}
		all = append(all, r)
		return err
	})
	return all, err
}
