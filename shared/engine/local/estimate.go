package local

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

var _ engine.Estimator = (*Engine)(nil)

// Estimate returns what Run would read, from the list of the objects. The number of bytes of an answer with figures is
// exact. The objects and rows of a query for logs are those of the whole period, although the scan usually finds the
// newest records in a few of them: which ones is known only after reading.
func (e *Engine) Estimate(ctx context.Context, q query.Query) (engine.Estimate, error) {
	objects, err := e.objects(ctx, q)
	if err != nil {
		return engine.Estimate{}, e.failure(ctx, err)
	}
	cost := costOf(q, objects, 0)
	bytes := engine.Bytes{Low: cost.BytesScanned, High: cost.BytesScanned}
	if logs, ok := q.Shape.(query.Logs); ok {
		bytes = engine.Bytes{Low: leastOfLogs(q, logs.Limit, objects), High: bytes.High + mostOfRecords(logs, objects)}
	}
	return engine.Estimate{
		By:         e.by(q),
		Partitions: partitions(objects),
		Objects:    cost.Objects,
		Rows:       cost.RowsConsidered,
		Bytes:      &bytes,
		Columns:    columnSizes(q, objects),
	}, nil
}

// leastOfLogs returns the least number of bytes of a query for logs. The scan reads the objects in the order of their
// last record, newest first, and needs at least as many as have the rows of the limit.
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

// mostOfRecords returns the largest share that the records of an answer have in the columns of records, whichever
// objects they are in.
func mostOfRecords(logs query.Logs, objects []lake.Object) int64 {
	var whole int64
	var largest float64 // bytes of a row, as an average of the object in which it is largest
	for _, o := range objects {
		bytes := bytesOf(o, logs.RecordColumns())
		whole += bytes
		largest = max(largest, float64(bytes)/float64(o.Rows))
	}
	return min(whole, int64(math.Ceil(largest*float64(logs.Limit))))
}

func columnSizes(q query.Query, objects []lake.Object) []engine.ColumnSize {
	var sizes []engine.ColumnSize
	for _, name := range q.Columns() {
		var bytes int64
		for _, o := range objects {
			bytes += o.ColumnBytes[name]
		}
		sizes = append(sizes, engine.ColumnSize{Name: name, Bytes: &bytes})
	}
	return sizes
}
