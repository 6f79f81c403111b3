package local

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// logs answers a query for logs in two steps: it finds the places of the newest matching records, then it reads only
// those rows, from their pages. DuckDB alone would decode every column of whole row groups for them. It also returns
// the objects that were read. The answer is truncated if the records would take too much memory.
func (e *Engine) logs(
	ctx context.Context, q query.Query, objects []lake.Object,
) (_ query.Answer, read []lake.Object, _ error) {
	places, read, err := e.newest(ctx, q, objects)
	if err != nil {
		return query.Answer{}, nil, err
	}
	rows, err := e.firstRows(ctx, places, q.Shape.(query.Logs).RecordColumns(), e.sizes.answer)
	return query.Answer{Logs: rows, Truncated: len(rows) < len(places)}, read, err
}

// newest finds the places of the newest matching records. The scan reads the newest objects first and usually stops
// after two of them. DuckDB skips most pages of the objects for a single address or request.
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
	return e.newestBySQL(ctx, q, objects)
}

// DuckDB reads every object that a statement names. So the first statement is about the objects of few hours, the
// newest ones, and each further statement about more, until there are enough records. A single record of a day is found
// by two statements.
const (
	firstHours  = 4
	hoursGrowth = 8
)

// newestBySQL finds the places of the newest matching records with DuckDB.
func (e *Engine) newestBySQL(
	ctx context.Context, q query.Query, objects []lake.Object,
) (places []engine.Place, read []lake.Object, _ error) {
	shape := q.Shape.(query.Logs)
	limit := shape.Limit
	left := slices.Clone(objects)
	slices.SortStableFunc(left, func(a, b lake.Object) int { return cmp.Compare(b.Partition, a.Partition) })
	for hours := firstHours; len(left) > 0 && len(places) < limit; hours *= hoursGrowth {
		n := ofPartitions(left, hours)
		shape.Limit = limit - len(places)
		q.Shape = shape
		if err := checkObjects(ctx, left[:n]); err != nil {
			return nil, nil, err
		}
		found, err := e.duckDB.Newest(ctx, q, left[:n])
		if err != nil {
			return nil, nil, err
		}
		places, read, left = append(places, found...), append(read, left[:n]...), left[n:]
	}
	return places, read, nil
}

// ofPartitions returns how many of the objects belong to the first n partitions. The objects are in the order of their
// partitions.
func ofPartitions(objects []lake.Object, n int) int {
	for i := 1; i < len(objects); i++ {
		if objects[i].Partition != objects[i-1].Partition {
			if n--; n == 0 {
				return i
			}
		}
	}
	return len(objects)
}

// firstRows reads some columns of the rows at the given places, in their order, as scan.FirstRows does.
func (e *Engine) firstRows(
	ctx context.Context, places []engine.Place, columns []string, most int64,
) ([]*lake.Row, error) {
	return scan.FirstRows(places, most, func(places []engine.Place, budget *parquet.Budget) ([]*lake.Row, error) {
		return e.rowsAt(ctx, places, columns, budget)
	})
}

// rowsAt reads some columns of the rows at the given places, in their order. It returns parquet.ErrMemory if they
// exceed the budget.
func (e *Engine) rowsAt(
	ctx context.Context, places []engine.Place, columns []string, budget *parquet.Budget,
) ([]*lake.Row, error) {
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
			return e.records.read(path, wanted, columns, budget, records)
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
