package duckdb

import (
	"context"
	"database/sql"

	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/sqlgen"
)

func (e *Engine) histogram(ctx context.Context, script sqlgen.Script, shape query.Histogram) ([]query.Series, error) {
	var all []query.HistogramRow
	err := e.each(ctx, script.Statements[0].SQL, func(rows *sql.Rows) error {
		var r query.HistogramRow
		err := rows.Scan(&r.Series, &r.Value, &r.Total, &r.Distinct, &r.Segment, &r.N)
		all = append(all, r)
		return err
	})
	return query.SeriesOf(all, shape), err
}
