package local

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

var _ engine.Estimator = (*Engine)(nil)

// Estimate returns what Run would read, from the list of the objects. The number of bytes of an answer with figures is
// exact, except that topx reads objects again whose figures are kept if other keys come first. For logs, the estimate counts all objects and rows of the period, although the scan usually finds the newest
// records in a few of them: which ones is known only after reading. For values that are not counted, it counts all
// objects that the scan may look in; the scan may stop after the first, and may read dictionaries only.
func (e *Engine) Estimate(ctx context.Context, q query.Query) (engine.Estimate, error) {
	objects, err := e.objects(ctx, q)
	if err != nil {
		return engine.Estimate{}, e.failure(ctx, err)
	}
	if shape, ok := q.Shape.(query.Values); ok {
		objects = scan.ValueObjects(shape, objects)
	}
	all := objects
	if e.scans(q) {
		objects = scan.ToRead(ctx, q, all, e.scan)
	}
	number, rows := len(objects), lake.Rows(objects)
	columns, records := columnSizes(q, objects)
	return engine.Estimate{
		By:         e.by(q),
		Partitions: partitions(all),
		Objects:    &number,
		Rows:       &rows,
		Reused:     len(all) - len(objects),
		Bytes:      bytesToRead(q, objects, columns, records),
		Columns:    columns,
		Lacking:    lacking(q, all),
	}, nil
}

// lacking returns the columns of later versions of the schema that a query depends on and that some objects do not
// have. Whole records need none of them: earlier versions kept such values among the other members of a record.
func lacking(q query.Query, objects []lake.Object) (columns []engine.LackingColumn) {
	needed := q.Columns()
	if logs, ok := q.Shape.(query.Logs); ok && logs.Fields == nil {
		needed = q.ConditionColumns()
	}
	for _, name := range needed {
		if lake.AddedIn(name) == 1 {
			continue
		}
		without := 0
		for i := range objects {
			if !objects[i].Has(name) {
				without++
			}
		}
		if without > 0 {
			columns = append(columns, engine.LackingColumn{Name: name, Objects: without})
		}
	}
	return columns
}

// bytesToRead returns how many bytes a query reads in the columns that it touches. records are the bytes of the columns
// of records in each object.
func bytesToRead(
	q query.Query, objects []lake.Object, columns []engine.ColumnSize, records []int64,
) *engine.Bytes {
	logs, isLogs := q.Shape.(query.Logs)
	finding := q.FindingColumns()
	var bytes int64
	for _, c := range columns {
		if !isLogs || slices.Contains(finding, c.Name) {
			bytes += *c.Bytes
		}
	}
	if values, ok := q.Shape.(query.Values); ok && !values.Counts {
		return &engine.Bytes{High: bytes + mostOfDictionaries(values, columns)}
	}
	if !isLogs {
		return &engine.Bytes{Low: bytes, High: bytes}
	}
	return &engine.Bytes{
		Low: leastOfLogs(q, logs.Limit, objects), High: bytes + mostOfRecords(logs.Limit, objects, records),
	}
}

// mostOfDictionaries returns an upper bound for the bytes of the dictionaries that a query for values reads. It may
// read the dictionaries of some row groups besides the columns of others.
func mostOfDictionaries(values query.Values, columns []engine.ColumnSize) (bytes int64) {
	var ofField []string
	for _, s := range values.By.Sources {
		ofField = append(ofField, s.Columns()...)
	}
	for _, c := range columns {
		if slices.Contains(ofField, c.Name) {
			bytes += *c.Bytes
		}
	}
	return bytes
}

// leastOfLogs returns the smallest number of bytes that a query for logs reads. The scan reads the objects in the order
// of their last record, newest first, until they have as many rows as the limit at least.
func leastOfLogs(q query.Query, limit int, objects []lake.Object) int64 {
	newest := slices.Clone(objects)
	slices.SortFunc(newest, func(a, b lake.Object) int {
		return cmp.Or(cmp.Compare(b.MaxTsMs, a.MaxTsMs), cmp.Compare(a.Path, b.Path))
	})
	var rows, bytes int64
	for _, o := range newest {
		if rows >= int64(limit) {
			break
		}
		rows += o.Rows
		bytes += bytesOf(o, q.FindingColumns())
	}
	return bytes
}

// mostOfRecords returns an upper bound for the bytes that the records of an answer take in the columns of records,
// whichever objects they are in.
func mostOfRecords(limit int, objects []lake.Object, records []int64) int64 {
	var whole int64
	var largest float64 // bytes of a row, as an average of the object in which it is largest
	for i, o := range objects {
		whole += records[i]
		largest = max(largest, float64(records[i])/float64(o.Rows))
	}
	return min(whole, int64(math.Ceil(largest*float64(limit))))
}

// columnSizes returns the sizes of the columns that a query reads and, for a query for logs, the bytes of the columns
// of records in each object.
func columnSizes(q query.Query, objects []lake.Object) (sizes []engine.ColumnSize, records []int64) {
	var ofRecords []string
	if logs, ok := q.Shape.(query.Logs); ok {
		ofRecords = logs.RecordColumns()
	}
	records = make([]int64, len(objects))
	for _, name := range q.Columns() {
		var bytes int64
		isOfRecords := slices.Contains(ofRecords, name)
		for i := range objects {
			n := objects[i].ColumnBytes[name]
			if bytes += n; isOfRecords {
				records[i] += n
			}
		}
		sizes = append(sizes, engine.ColumnSize{Name: name, Bytes: &bytes})
	}
	return sizes, records
}
