// Package grafana defines a Grafana dashboard over the HTTP API, for the data source Infinity. dashboard.json is
// generated from the table in this file: run the tests with -update, and read the diff.
package grafana

// panel is a row of the table of panels.
type panel struct {
	title, doc string
	kind       kind
	width      int    // of 24
	route      string // under /api/v4.0/data/
	where      string // conditions in addition to the dashboard's
	params     []param
	root       string // where the rows are in the answer, as a path of GJSON
	columns    []column
	unit       string // of the numbers; "" is a count
}

// kind is the type of a panel of Grafana.
type kind string

const (
	totals kind = "stat"
	chart  kind = "timeseries"
	table  kind = "table"
)

type param struct{ name, value string }

// column is a column of the rows of a panel.
type column struct {
	selector string // path in a row
	title    string
	of       columnType
	rare     bool // absent in most answers
}

// columnType is a type of Infinity.
type columnType string

const (
	text    columnType = "string"
	number  columnType = "number"
	seconds columnType = "timestamp_epoch_s" // Unix seconds
	instant columnType = "timestamp"         // RFC 3339
)

// segment is the length of a segment by the range of the dashboard. An answer has at most 400 segments in ranges of up
// to 8 years.
const segment = "$__customInterval(6h,1m,1d,5m,2d,15m,7d,1h,30d,6h,365d,1d,8d)"

const results = "data.results"

var bySegment = []param{{"segment", segment}}

// panels are the panels in the order of the dashboard, from left to right and from top to bottom.
var panels = []panel{
	{
		title: "Totals", kind: totals, width: 8, route: "timeline", params: bySegment, root: results,
		doc: "Requests, and how many of them were blocked, challenged or from humans.",
		columns: []column{
			{selector: "num_of_requests", title: "requests", of: number},
			{selector: "num_of_blocked_requests", title: "blocked", of: number},
			{selector: "num_of_challenges", title: "challenged", of: number},
			{selector: "num_of_human_requests", title: "human", of: number},
		},
	},
	{
		title: "Requests", kind: chart, width: 16, route: "timeline", params: bySegment, root: results,
		doc: "Requests per segment.",
		columns: []column{
			timeColumn,
			{selector: "num_of_requests", title: "requests", of: number},
			{selector: "num_of_blocked_requests", title: "blocked", of: number},
			{selector: "num_of_challenges", title: "challenged", of: number},
			{selector: "num_of_human_requests", title: "human", of: number},
		},
	},
	split("Responses by status", "status"),
	split("Responses of the origin by status", "upstream_status"),
	{
		title: "Latency", kind: chart, width: 6, route: "stats", params: bySegment, root: results, unit: "s",
		doc:     "Mean time of a request.",
		columns: []column{timeColumn, {selector: "avg_latency", title: "mean", of: number}},
	},
	{
		title: "Bandwidth", kind: chart, width: 6, route: "stats", params: bySegment, root: results, unit: "bytes",
		doc:     "Bytes received and sent.",
		columns: []column{timeColumn, {selector: "sum_of_bandwidth", title: "bytes", of: number}},
	},
	blocked("Blocked addresses", "ip"),
	blocked("Blocked countries", "country"),
	blocked("Blocked organizations", "organization"),
	blocked("Attacked hosts", "host"),
	blocked("Attacked URLs", "url"),
	blocked("Blocked user agents", "user_agent"),
	blocked("Reasons", "reason"),
	{
		title: "Slow targets", kind: table, width: 6, route: "topx", params: []param{{"limit", "10"}},
		doc: "URLs by their mean time.", root: `data.results.#(label=="total_time")#`,
		columns: []column{
			{selector: "key", title: "url", of: text},
			{selector: "avg_total_time", title: "mean s", of: number},
			{selector: "max_total_time", title: "longest s", of: number},
			{selector: "num_of_requests", title: "requests", of: number},
		},
	},
	{
		title: "Newest blocked requests", kind: table, width: 16, route: "logs", where: ", blocked is true",
		params: []param{{"fields", "timestamp,ip,host,path,status,reason,record_ref"}, {"limit", "50"}}, root: results,
		doc: "The newest records. A link shows a record in the console.",
		columns: []column{
			{selector: "timestamp", title: "time", of: instant},
			{selector: "ip", title: "ip", of: text},
			{selector: "host", title: "host", of: text},
			{selector: "path", title: "path", of: text},
			{selector: "status", title: "status", of: number},
			{selector: "reason", title: "reason", of: text},
			{selector: "record_ref", title: recordRef, of: text},
		},
	},
	{
		title: "Completeness and cost", kind: table, width: 8, route: "stats", params: bySegment, root: "meta",
		doc: "To when the data is complete, what could not be read, and what a query of this range reads and costs.",
		columns: []column{
			{selector: "complete_through", title: "complete through", of: instant},
			{selector: "newest", title: "newest record", of: instant},
			{selector: "skipped.#", title: "unreadable objects", of: number, rare: true},
			{selector: "bytes_scanned", title: "bytes", of: number},
			{selector: "cost_usd", title: "USD", of: number, rare: true},
			{selector: "engine", title: "engine", of: text},
		},
	},
}

var timeColumn = column{selector: "time_period", title: "time", of: seconds}

// split returns a chart of the requests by the values of a field. The column kind distinguishes the series of all other
// values from the series of requests without a value.
func split(title, field string) panel {
	return panel{
		title: title, kind: chart, width: 6, route: "histogram", root: results,
		doc:    "Requests per segment, split by " + field + ": the values with the largest totals and all others.",
		params: append([]param{{"by", field}, {"limit", "8"}}, bySegment...),
		columns: []column{
			timeColumn,
			{selector: "series", title: "series", of: text},
			{selector: "kind", title: "kind", of: text},
			{selector: "value", title: "value", of: number},
		},
	}
}

// blocked returns a table of the values of a field that most blocked requests have.
func blocked(title, field string) panel {
	return panel{
		title: title, kind: table, width: 6, route: "facets", where: ", blocked is true", root: "data.results.0.values",
		doc: "The most frequent values of " + field + " in blocked requests. " +
			"Links show the requests in the console, or here.",
		params: []param{{"by", field}, {"limit", "10"}},
		columns: []column{
			{selector: "value", title: field, of: text},
			{selector: "num_of_requests", title: "blocked", of: number},
			{selector: "condition", title: condition, of: text},
		},
	}
}

// Titles of the last column of a table with links. It is not shown.
const (
	condition = "condition" // selects the requests of the row
	recordRef = "record_ref"
)

// variable is a list of conditions to choose from.
type variable struct{ name, label, field string }

// variables are the lists of the dashboard. The text field where comes after them.
var variables = []variable{
	{"host", "Host", "host"},
	{"country", "Country", "country"},
}

// always is a condition that every record meets: the choice All.
const always = "timestamp between 1970-01-01 and 2200-01-01"
