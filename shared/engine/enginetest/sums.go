package enginetest

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// testLargeSums asks for sums over records with sizes and times near the limits of 64 bits. Sums of hosts and of the
// whole period pass the limits, and some come back when negative numbers are added.
func testLargeSums(t *testing.T, open func(rows []lake.Row) engine.Engine) {
	rows := largeSums()
	e, all := open(rows), pointers(rows)
	host, err := query.ParseDimensions("host")
	if err != nil {
		t.Fatal(err)
	}
	for _, shape := range []query.Shape{
		query.Stats{SegmentSeconds: 60},
		query.Stats{SegmentSeconds: 86_400, GroupByHostname: true},
		query.Stats{SegmentSeconds: 86_400, By: &host[0]},
		query.Stats{SegmentSeconds: 3600, Percentiles: true},
		query.Timeline{SegmentSeconds: 60},
		query.Timeline{SegmentSeconds: 86_400},
		query.TopX{Limit: 2},
		query.Histogram{SegmentSeconds: 60, Measure: query.MeasureBytesSent},
		query.Histogram{SegmentSeconds: 60, Measure: query.MeasureBytesSent, By: &host[0], Limit: 2},
		query.Histogram{SegmentSeconds: 86_400, Measure: query.MeasureBytesSent, By: &host[0], Limit: 5},
	} {
		check(t, e, bind(t, hours, shape), all)
	}
}

func largeSums() []lake.Row {
	const most, least = math.MaxInt64, math.MinInt64
	var rows []lake.Row
	for host, sizes := range [][]int64{
		{most, most, most},
		{most, most, 1},
		{most, 1, -7},
		{least, least},
		{least, -1, most},
		{most - 1, 1},
		{5},
	} {
		for n, size := range sizes {
			name, url := fmt.Sprintf("host%d", host), fmt.Sprintf("/%d", host%3)
			at := Start.Add(time.Duration(40*n+host) * time.Second)
			length, time := size/2, max(size, 0)/2+7
			rows = append(rows, lake.Row{
				TsMs: at.UnixMilli(), Source: "s", Line: int64(len(rows) + 1), Host: &name, URL: &url,
				BytesSent: &size, RequestLength: &length, TotalUs: &time, OriginUs: &time,
			})
		}
	}
	return rows
}
