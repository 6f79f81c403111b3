package local

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// logs answers a query for logs in two steps: it finds the places of the newest matching records, then it reads only
// those rows, from their pages. DuckDB alone would decode every column of whole row groups for them. It also returns
// the objects that were read.
func (e *Engine) logs(
	ctx context.Context, q query.Query, objects []lake.Object,
) (_ []*lake.Row, read []lake.Object, _ error) {
	places, read, err := e.newest(ctx, q, objects)
	if err != nil {
		return nil, nil, err
	}
	rows, err := e.rowsAt(ctx, places, q.Shape.(query.Logs).RecordColumns())
	return rows, read, err
}

// newest finds the places of the newest matching records. The scan reads the newest objects first and usually stops
// after two of them. DuckDB reads all objects, but skips most of their pages for a single address or request.
func (e *Engine) newest(
	ctx context.Context, q query.Query, objects []lake.Object,
) (_ []engine.Place, read []lake.Object, _ error) {
	if e.scans(q) {
		found, err := scan.Newest(ctx, q, objects, e.scan)
		if !errors.Is(err, scan.ErrUnsupported) {
			return found.Places, found.Objects, err
		}
		if e.duckDB == nil {
			return nil, nil, needsDuckDB(err)
		}
	}
	places, err := e.duckDB.Newest(ctx, q, objects)
	return places, objects, err
}

// rowsAt reads some columns of the rows at the given places, in their order.
func (e *Engine) rowsAt(ctx context.Context, places []engine.Place, columns []string) ([]*lake.Row, error) {
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
	numbers []int64 // of the rows, in the object
	records []int   // indexes of the rows in the answer
}
