package duckdb

import (
	"context"
	"database/sql"

	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/sqlgen"
)

func (e *Engine) diff(ctx context.Context, script sqlgen.Script, shape query.Diff) (query.DiffAnswer, error) {
	var all []query.DiffRow
	err := e.each(ctx, script.Statements[0].SQL, func(rows *sql.Rows) error {
		var r query.DiffRow
		err := rows.Scan(&r.Dimension, &r.Kind, &r.Value, &r.Distinct, &r.Selected, &r.Baseline)
		all = append(all, r)
		return err
	})
	if err != nil {
		return query.DiffAnswer{}, err
	}
	return query.DiffOf(all, shape)
}
