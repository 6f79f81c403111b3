package local

import (
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// costOf returns the cost of a query that reads the given objects and returns some records. A query for logs reads the
// columns that find the records in every object, and of the other columns no more than the records' own share.
func costOf(q query.Query, objects []lake.Object, records int64) engine.Cost {
	var cost engine.Cost
	number, rows := len(objects), int64(0)
	columns := q.Columns()
	logs, isLogs := q.Shape.(query.Logs)
	if isLogs {
		columns = q.FindingColumns()
	}
	var whole int64 // bytes of the columns of the records, of all rows
	for _, o := range objects {
		rows += o.Rows
		cost.BytesScanned += bytesOf(o, columns)
		if isLogs {
			whole += bytesOf(o, logs.RecordColumns())
		}
	}
	if rows > 0 {
		share := float64(min(records, rows)) / float64(rows)
		cost.BytesScanned += int64(float64(whole) * share)
	}
	cost.Objects, cost.RowsConsidered = &number, &rows
	return cost
}

func bytesOf(o lake.Object, columns []string) int64 {
	var total int64
	for _, column := range columns {
		total += o.ColumnBytes[column]
	}
	return total
}
