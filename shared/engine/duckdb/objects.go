package duckdb

import (
	"context"
	"fmt"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// objects lists what can hold matching records at this moment: the objects of the span's partitions, without those
// that hold no instant of it.
func (e *Engine) objects(ctx context.Context, q query.Query) ([]lake.Object, error) {
	span := q.Span()
	if span.FromMs > span.ToMs {
		return nil, nil
	}
	all, err := e.index.Objects(ctx, lake.PartitionOf(span.FromMs), lake.PartitionOf(span.ToMs))
	if err != nil {
		return nil, fmt.Errorf("list objects: %w", err)
	}
	var touched []lake.Object
	for _, o := range all {
		if o.Rows > 0 && o.MinTsMs <= span.ToMs && o.MaxTsMs >= span.FromMs {
			touched = append(touched, o)
		}
	}
	return touched, nil
}

func paths(objects []lake.Object) []string {
	out := make([]string, len(objects))
	for i, o := range objects {
		out[i] = o.Path
	}
	return out
}

// costOf is what a query over the objects takes. Logs reads the columns that find the records in every object, and
// of the rest no more than the records' own share.
func costOf(q query.Query, objects []lake.Object, records int64) engine.Cost {
	cost := engine.Cost{Objects: len(objects)}
	columns := q.Columns()
	logs, isLogs := q.Shape.(query.Logs)
	if isLogs {
		columns = q.FindingColumns()
	}
	var whole int64
	for _, o := range objects {
		cost.RowsConsidered += o.Rows
		cost.BytesScanned += bytesOf(o, columns)
		if isLogs {
			whole += bytesOf(o, logs.RecordColumns())
		}
	}
	if cost.RowsConsidered > 0 {
		cost.BytesScanned += int64(float64(whole) * float64(min(records, cost.RowsConsidered)) / float64(cost.RowsConsidered))
	}
	return cost
}

func bytesOf(o lake.Object, columns []string) int64 {
	var total int64
	for _, column := range columns {
		total += o.ColumnBytes[column]
	}
	return total
}
