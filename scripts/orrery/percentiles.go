package main

import (
	"slices"

	"github.com/orrery/orrery/shared/search"
)

// percentileColumns are the columns that a table shows in addition if percentiles are asked for.
var percentileColumns = []string{"p50_total_time", "p90_total_time", "p99_total_time"}

// columnsOf returns the columns of the table of a route: the requested fields, or those for the given groups and figures.
func columnsOf(route string, flags parameterFlags) []string {
	if fields := flags.fields(); fields != nil {
		return fields
	}
	if route == string(search.Values) && flags.has("counts") {
		return countedColumns
	}
	columns := slices.Clone(tableColumns[route])
	if i := slices.Index(columns, "timeperiod_string"); i >= 0 && flags.has("tz") {
		columns[i] = "timeperiod_local"
	}
	if by := flags.text("group_by"); by != "" && by != "hostname" {
		if i := slices.Index(columns, "hostname"); i >= 0 {
			columns[i] = "value"
		}
	}
	if flags.text("figures") == search.FiguresPercentiles {
		columns = append(columns, percentileColumns...)
	}
	return columns
}
