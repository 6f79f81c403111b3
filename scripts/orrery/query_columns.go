package main

import "encoding/json"

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
