package duckdb

import (
	"context"
	"database/sql"

	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/sqlgen"
)

// facets returns the answer to a query about n dimensions.
func (e *Engine) facets(ctx context.Context, script sqlgen.Script, n int) (query.FacetsAnswer, error) {
	var all []query.FacetRow
	err := e.each(ctx, script.Statements[0].SQL, func(rows *sql.Rows) error {
		var r query.FacetRow
		err := rows.Scan(&r.Dimension, &r.Value, &r.Requests, &r.Blocked, &r.Challenges, &r.Monitored, &r.Human,
			&r.Distinct, &r.Sum, &r.SumBlocked)
		all = append(all, r)
		return err
	})
	return query.FacetsOf(all, n), err
}
