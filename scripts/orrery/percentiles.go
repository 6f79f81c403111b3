package main

import (
	"slices"

	"github.com/orrery/orrery/shared/search"
)

// percentileColumns are the columns that a table shows in addition if percentiles are asked for.
var percentileColumns = []string{"p50_total_time", "p90_total_time", "p99_total_time"}

// figureColumns returns the columns of a route for the given groups and figures.
func (q *queryCommand) figureColumns() []string {
	if q.Route == valuesRoute && q.has("counts") {
		return countedColumns
	}
	columns := slices.Clone(tableColumns[q.Route])
	if i := slices.Index(columns, "timeperiod_string"); i >= 0 && q.has("tz") {
		columns[i] = "timeperiod_local"
	}
	if by := q.text("group_by"); by != "" && by != "hostname" {
		if i := slices.Index(columns, "hostname"); i >= 0 {
			columns[i] = "value"
		}
	}
	if q.text("figures") == search.FiguresPercentiles {
		columns = append(columns, percentileColumns...)
	}
	return columns
}
