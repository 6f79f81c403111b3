package api

import (
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/tabular"
)

var tzParam = param{
	name: "tz",
	doc: "A time zone such as Europe/Berlin: segments begin by its clock, so that they are its days. A segment is then " +
		"1h, 6h, 1d, 2d, 4d, 7d (from Monday), 8d … By default it is the shortest that gives at most 1,500 segments. " +
		"`today` and `yesterday` in the filter are its days, too.",
	schema:  &huma.Schema{Type: "string", Pattern: "^[A-Za-z0-9_+/-]+$"},
	example: "Europe/Berlin",
	read:    readText,
}

// dayZoneParam is tzParam for routes without segments.
var dayZoneParam = param{
	name:    tzParam.name,
	doc:     "A time zone such as Europe/Berlin: `today` and `yesterday` in the filter are its days. By default UTC.",
	schema:  tzParam.schema,
	example: tzParam.example,
	read:    tzParam.read,
}

const (
	localTime  = "timeperiod_local"
	timeString = "timeperiod_string" // the column before it
)

// WithLocalTimes returns a table of segments with the column of their local times. Answers without tz do not have it.
func WithLocalTimes(t tabular.Table) tabular.Table {
	if at := slices.Index(t.Columns, timeString); at >= 0 {
		t.Columns = slices.Insert(slices.Clone(t.Columns), at+1, localTime)
	}
	return t
}

func withoutLocalTimes[T any]() []string {
	return slices.DeleteFunc(tabular.Columns[T](), func(name string) bool { return name == localTime })
}
