package duckdb

import (
	"context"
	"database/sql"

	"golang.org/x/sync/errgroup"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/sqlgen"
)

// logs works in two steps: DuckDB finds the places of the newest matching records, then only those rows are read, from
// their pages. DuckDB itself would decode every column of whole row groups for them.
func (e *Engine) logs(ctx context.Context, shape query.Logs, script sqlgen.Script) ([]*lake.Row, error) {
	var (
		found    int
		byObject = map[string]*places{}
	)
	err := e.each(ctx, script.Statements[0].SQL, func(rows *sql.Rows) error {
		var (
			path   string
			number int64
			order  lake.Row // what the statement sorts by; the answer's order is all we need of it
		)
		if err := rows.Scan(&path, &number, &order.TsMs, &order.TsNanos, &order.Source, &order.Line); err != nil {
			return err
		}
		if byObject[path] == nil {
			byObject[path] = &places{}
		}
		byObject[path].add(number, found)
		found++
		return nil
	})
	if err != nil {
		return nil, err
	}
	records := make([]*lake.Row, found)
	columns := shape.RecordColumns()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for path, at := range byObject {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return e.records.read(path, at, columns, records)
		})
	}
	return records, group.Wait()
}

// readers is how many objects of one answer are read at once.
const readers = 2

// places are rows of one object and which records of the answer they are.
type places struct {
	numbers []int64
	records []int
}

func (p *places) add(number int64, record int) {
	p.numbers = append(p.numbers, number)
	p.records = append(p.records, record)
}
