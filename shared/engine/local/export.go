package local

import (
	"context"
	"errors"
	"slices"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

var _ engine.Exporter = (*Engine)(nil)

// firstPart is the number of records of the first part. The records of a part decide how many the next one has.
const firstPart = 64

// export is a pass over all records of a query, newest first.
type export struct {
	engine *Engine
	query  query.Query // for the records that have not been visited
	visit  func(engine.ExportPart) error

	next    int // records of the next part
	visited int64
	read    []lake.Object
	skipped []string // paths of damaged objects
}

// visitError is an error of visit.
type visitError struct{ err error }

func (e *visitError) Error() string { return e.err.Error() }

// Export finds the places of some ten thousand records and reads them in parts, and so on. If an object cannot be read,
// compaction may have replaced it, so Export continues with the present objects after the last record visited. An
// object that still cannot be read is left out and named in Cost.Skipped.
func (e *Engine) Export(ctx context.Context, q query.Query, visit func(engine.ExportPart) error) error {
	x := &export{engine: e, query: q, visit: visit, next: min(firstPart, e.sizes.rows)}
	for again := false; ; {
		before := x.visited
		objects, err := x.run(ctx)
		var ofVisit *visitError
		switch {
		case err == nil:
			return nil
		case errors.As(err, &ofVisit):
			return ofVisit.err
		case !e.mayBeObject(ctx, err):
			return e.failure(ctx, err)
		case !again || x.visited > before:
			again = true
			continue
		}
		damaged := e.damaged(ctx, x.query, objects, err)
		if len(damaged) == 0 {
			return e.failure(ctx, err)
		}
		x.skipped = append(x.skipped, damaged...)
		again = false
	}
}

// run visits the records that have not been visited. After an error, it returns the objects that may have caused it.
func (x *export) run(ctx context.Context) ([]lake.Object, error) {
	for {
		objects, err := x.engine.objects(ctx, x.query)
		if err != nil {
			return nil, err
		}
		objects = without(objects, x.skipped)
		if err := x.engine.checkPatterns(ctx, x.query, objects); err != nil {
			return objects, err
		}
		shape := x.query.Shape.(query.Logs)
		shape.Limit = x.engine.sizes.places
		q := x.query
		q.Shape = shape
		places, read, err := x.engine.newest(ctx, q, objects)
		if err != nil {
			return objects, err
		}
		x.note(read)
		if err := x.visitAll(ctx, places); err != nil {
			return objects, err
		}
		if len(places) < shape.Limit {
			return objects, x.end()
		}
		if err := x.closeNewer(); err != nil {
			return objects, err
		}
	}
}

// note notes which objects have been read.
func (x *export) note(read []lake.Object) {
	for _, o := range read {
		if !slices.ContainsFunc(x.read, func(known lake.Object) bool { return known.Path == o.Path }) {
			x.read = append(x.read, o)
		}
	}
}

// closeNewer closes the objects whose records have all been visited.
func (x *export) closeNewer() error {
	oldest := x.query.Shape.(query.Logs).OlderThan
	for _, o := range x.read {
		if o.MinTsMs > oldest.TsMs {
			if err := x.engine.records.drop(o.Path); err != nil {
				return &engine.ObjectError{Path: o.Path, Err: err}
			}
		}
	}
	return nil
}

// visitAll reads and visits the records at some places.
func (x *export) visitAll(ctx context.Context, places []engine.Place) error {
	columns := x.query.Shape.(query.Logs).RecordColumns()
	for len(places) > 0 {
		n := min(x.next, len(places))
		rows, err := x.engine.firstRows(ctx, places[:n], columns, 2*x.engine.sizes.part)
		if err != nil {
			return err
		}
		x.next = x.fitting(rows)
		if err := x.pass(rows); err != nil {
			return err
		}
		places = places[len(rows):]
	}
	return nil
}

// fitting returns how many records like these make a part.
func (x *export) fitting(rows []*lake.Row) int {
	bytes := int64(0)
	for _, row := range rows {
		bytes += row.Memory()
	}
	return int(min(max(x.engine.sizes.part*int64(len(rows))/bytes, 1), int64(x.engine.sizes.rows)))
}

// pass passes a part to visit.
func (x *export) pass(rows []*lake.Row) error {
	part := engine.ExportPart{Rows: rows, Cost: engine.Cost{By: byRows, Skipped: names(x.skipped)}}
	if err := x.visit(part); err != nil {
		return &visitError{err}
	}
	x.visited += int64(len(rows))
	oldest := query.PlaceOf(rows[len(rows)-1])
	shape := x.query.Shape.(query.Logs)
	shape.OlderThan = &oldest
	x.query.Shape = shape
	return nil
}

// end passes the last part, which has no records, to visit.
func (x *export) end() error {
	cost := costOf(x.query, x.read, x.visited)
	cost.By, cost.Skipped = byRows, names(x.skipped)
	if err := x.visit(engine.ExportPart{Last: true, Cost: cost}); err != nil {
		return &visitError{err}
	}
	return nil
}
