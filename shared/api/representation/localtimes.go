package representation

import (
	"slices"

	"github.com/orrery/orrery/shared/tabular"
)

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
