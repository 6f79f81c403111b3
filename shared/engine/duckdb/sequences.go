package duckdb

import (
	"context"
	"database/sql"

	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/sqlgen"
)

func (e *Engine) sequences(ctx context.Context, script sqlgen.Script, shape query.Sequences) (query.SequencesAnswer, error) {
	var all []query.SequenceRow
	err := e.each(ctx, script.Statements[0].SQL, func(rows *sql.Rows) error {
		r := query.SequenceRow{Key: make([]string, len(shape.Key)), With: make([]*string, len(shape.With)+len(shape.Also))}
		targets := []any{&r.TsMs, &r.TsNanos, &r.Selected}
		for i := range r.Key {
			targets = append(targets, &r.Key[i])
		}
		for i := range r.With {
			targets = append(targets, &r.With[i])
		}
		err := rows.Scan(targets...)
		all = append(all, r)
		return err
	})
	return shape.SequencesOf(all), err
}
