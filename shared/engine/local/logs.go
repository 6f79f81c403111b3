package local

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// logs answers a query for logs in two steps: it finds the places of the newest matching records, then it reads only
// those rows, from their pages. DuckDB alone would decode every column of whole row groups for them.
func (e *Engine) logs(ctx context.Context, q query.Query, objects []lake.Object) ([]*lake.Row, error) {
	places, err := e.duckDB.Newest(ctx, q, objects)
	if err != nil {
		return nil, err
	}
	byObject := map[string]*wantedRows{}
	for record, place := range places {
		wanted := byObject[place.Path]
		if wanted == nil {
			wanted = &wantedRows{}
			byObject[place.Path] = wanted
		}
		wanted.numbers = append(wanted.numbers, place.Row)
		wanted.records = append(wanted.records, record)
	}
	records := make([]*lake.Row, len(places))
	columns := q.Shape.(query.Logs).RecordColumns()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for path, wanted := range byObject {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return e.records.read(path, wanted, columns, records)
		})
	}
	return records, group.Wait()
}

// readers is how many objects an answer reads rows of at the same time.
const readers = 2

// wantedRows are rows of one object that belong to an answer.
type wantedRows struct {
	numbers []int64 // of the rows in the object
	records []int   // their indexes in the answer
}
