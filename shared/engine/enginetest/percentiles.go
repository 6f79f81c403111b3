package enginetest

import (
	"strconv"
	"testing"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
)

// testPercentiles asks for percentiles of single durations at which rounding changes, and of groups of durations of
// many sizes. The records of a group are in several objects.
func testPercentiles(t *testing.T, open func(rows []lake.Row) engine.Engine) {
	var rows []lake.Row
	add := func(group string, total int64, svc *int64) {
		line := int64(len(rows) + 1)
		ms := Start.UnixMilli() + line%3*3_600_000
		rows = append(rows, lake.Row{
			TsMs: ms, TimePeriod: ms / 1000, Source: "source-" + strconv.FormatInt(line%2, 10), Line: line,
			Country: &group, TotalUs: &total, SvcUs: svc,
		})
	}
	for _, us := range querytest.BoundaryDurations() {
		add("single "+strconv.FormatInt(us, 10), us, nil)
	}
	for _, n := range []int64{1, 2, 3, 9, 10, 11, 19, 20, 21, 49, 50, 51, 98, 99, 100, 101, 102, 199, 200, 201} {
		for i := range n {
			svc := (i*7919)%n - n/2
			add("group of "+strconv.FormatInt(n, 10), i*i*31, &svc)
		}
	}
	e, all := open(rows), pointers(rows)
	byCountry := query.Stats{SegmentSeconds: 86_400, By: dimension("country"), Percentiles: true}
	check(t, e, bind(t, hours, byCountry), all)
	byCountry.SegmentSeconds = 3600
	check(t, e, bind(t, hours, byCountry), all)
	// the sum over all records exceeds 64 bits
	for _, shape := range []query.Shape{
		query.Stats{SegmentSeconds: 86_400, Percentiles: true},
		query.TopX{Limit: 80, Percentiles: true},
	} {
		check(t, e, bind(t, hours+`, country~"group"`, shape), all)
	}
}
