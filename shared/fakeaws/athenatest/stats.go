package athenatest

import (
	"fmt"

	"github.com/orrery/orrery/shared/fakeaws/emulator"
	"github.com/orrery/orrery/shared/query"
)

func statsResult(shape query.Stats, rows []query.StatsRow) emulator.Result {
	group := "hostname"
	if shape.By != nil {
		group = "value"
	}
	t := newResult("segment " + group + " requests bandwidth time_us timed" + percentileColumns(shape.Percentiles))
	for _, r := range rows {
		value := any(r.Hostname)
		switch {
		case r.HasValue:
			value = r.Value
		case shape.By != nil:
			value = nil
		}
		t.add(withPercentiles(shape.Percentiles, r.Percentiles,
			r.Segment, value, r.Requests, r.Bandwidth, r.TimeUs, r.Timed)...)
	}
	return t.Result
}

// percentileColumns returns the names of the columns with percentiles, if they are asked for.
func percentileColumns(asked bool) string {
	names := ""
	if asked {
		for _, duration := range []string{"origin", "svc", "total"} {
			for _, percent := range query.Percents {
				names += fmt.Sprintf(" %s_p%d", duration, percent)
			}
		}
	}
	return names
}

// withPercentiles appends percentiles to the values of a row, if they are asked for.
func withPercentiles(asked bool, p query.Percentiles, values ...any) []any {
	if !asked {
		return values
	}
	for _, r := range []query.Ranks{p.Origin, p.Svc, p.Total} {
		if r.Known {
			values = append(values, r.P50, r.P90, r.P99)
		} else {
			values = append(values, nil, nil, nil)
		}
	}
	return values
}
