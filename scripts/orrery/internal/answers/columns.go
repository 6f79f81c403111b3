package answers

import (
	"encoding/json"
	"slices"

	"github.com/orrery/orrery/scripts/orrery/internal/question"
	"github.com/orrery/orrery/shared/search"
)

// percentileColumns are the columns that a table shows in addition if percentiles are asked for.
var percentileColumns = []string{"p50_total_time", "p90_total_time", "p99_total_time"}

// columnsOf returns the columns of the table of a route: the requested fields, or those for the given groups and
// figures.
func columnsOf(route string, flags question.ParameterFlags) []string {
	if fields := flags.Fields(); fields != nil {
		return fields
	}
	if route == string(search.Values) && flags.Has("counts") {
		return countedColumns
	}
	columns := slices.Clone(tableColumns[route])
	if i := slices.Index(columns, "timeperiod_string"); i >= 0 && flags.Has("tz") {
		columns[i] = "timeperiod_local"
	}
	if by := flags.Text("group_by"); by != "" && by != "hostname" {
		if i := slices.Index(columns, "hostname"); i >= 0 {
			columns[i] = "value"
		}
	}
	if flags.Text("figures") == search.FiguresPercentiles {
		columns = append(columns, percentileColumns...)
	}
	return columns
}

// countedColumns are the columns of a table of values with their counts.
var countedColumns = []string{"value", "num_of_requests", "num_of_blocked_requests", "condition"}

// tableColumns lists the members that a table shows by default, by route.
var tableColumns = map[string][]string{
	"logs":  {"timestamp", "ip", "method", "host", "path", "status", "result", "reason"},
	"stats": {"timeperiod_string", "hostname", "num_of_requests", "sum_of_bandwidth", "avg_latency"},
	"timeline": {
		"timeperiod_string", "num_of_requests", "num_of_blocked_requests", "num_of_challenges", "num_of_ip",
		"num_of_sessions", "array_status_codes",
	},
	"facets":    {"by", "value", "num_of_requests", "num_of_blocked_requests", "share"},
	"histogram": {"timeperiod_string", "series", "value", "bar"},
	"diff":      {"by", "value", "selected", "baseline", "score", "share_of_selected", "share_of_baseline"},
	"values":    {"value", "condition"},
	"topx": {
		"label", "key", "num_of_blocked_requests", "num_of_requests", "num_of_human_requests", "avg_total_time",
		"first_geo_country",
	},
}

// tableRows make the rows of a table from the results of a route, where these are not rows already.
var tableRows = map[string]func(results []json.RawMessage) ([]json.RawMessage, error){
	"facets":    facetRows,
	"histogram": histogramRows,
	"diff":      diffRows,
}
