package duckdb

import (
	"context"
	"database/sql"

	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/sqlgen"
)

func (e *Engine) topX(ctx context.Context, script sqlgen.Script, shape query.TopX) ([]query.TopXRow, error) {
	var all []query.TopXRow
	err := e.each(ctx, script.Statements[0].SQL, func(rows *sql.Rows) error {
		var r query.TopXRow
		var more percentiles
		targets := []any{
			&r.Label, &r.Key,
			&r.Requests, &r.Blocked, &r.Bots, &r.Challenges, &r.Human, &r.Monitored, &r.BytesSent, &r.RequestLength,
			&r.Origin.Count, &r.Origin.Sum, &r.Origin.Min, &r.Origin.Max,
			&r.Svc.Count, &r.Svc.Sum, &r.Svc.Min, &r.Svc.Max,
			&r.Total.Count, &r.Total.Sum, &r.Total.Min, &r.Total.Max,
			&r.FirstASN, &r.FirstCountry, &r.FirstOrganization,
		}
		if shape.Percentiles {
			targets = append(targets, more.targets()...)
		}
		err := rows.Scan(targets...)
		r.Percentiles = more.result()
		all = append(all, r)
		return err
	})
	return all, err
}
