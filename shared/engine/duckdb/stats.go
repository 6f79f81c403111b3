package duckdb

import (
	"context"
	"database/sql"

	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/sqlgen"
)

func (e *Engine) stats(ctx context.Context, script sqlgen.Script) ([]query.StatsRow, error) {
	var all []query.StatsRow
	err := e.each(ctx, script.Statements[0].SQL, func(rows *sql.Rows) error {
		var r query.StatsRow
		err := rows.Scan(&r.Segment, &r.Hostname, &r.Requests, &r.Bandwidth, &r.TimeUs, &r.Timed)
		all = append(all, r)
		return err
	})
	return all, err
}
