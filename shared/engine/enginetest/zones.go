package enginetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
)

// testZones asks for segments by local clocks, over records around the changes of each clock. With -short or
// -suite.every, it asks for each shape in half of the zones, at one of the two changes.
func testZones(t *testing.T, open func(rows []lake.Row) engine.Engine) {
	rows := aroundClockChanges()
	e, all := open(rows), pointers(rows)
	extent, err := e.Extent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for z, name := range querytest.Zones {
		t.Run(name, func(t *testing.T) {
			for i, change := range querytest.ClockChanges(name) {
				period := "timestamp between " + instant(change.Add(-26*time.Hour)) + " and " + instant(change.Add(26*time.Hour))
				for n, shape := range zoneShapes(querytest.Zone(name)) {
					if (n+z)%4 == 2*i || !few() {
						check(t, e, bind(t, period, shape), all)
					}
				}
			}
			year := bind(t, "timestamp between 2017-06-01 and 2025-06-01", query.Timeline{
				SegmentSeconds: 86_400, Zone: querytest.Zone(name),
			})
			check(t, e, year.Clamp(extent), all)
		})
	}
	t.Run("generated filters", func(t *testing.T) {
		records := Records(t, 200, *filterSeed)
		e, all := open(records), pointers(records)
		extent, err := e.Extent(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		filters := 40
		if few() {
			filters = 4
		}
		forEachQuery(t, records, filters, func(i int, q query.Query) {
			shapes := zoneShapes(querytest.Zone(querytest.Zones[i%len(querytest.Zones)]))
			q.Shape = shapes[i%len(shapes)]
			check(t, e, q.Clamp(extent), all)
		})
	})
}

// zoneShapes returns shapes of all kinds with segments in a zone. Each length has rules of its own: an hour, which may
// be two segments, a part of a day, a day, several days and a week.
func zoneShapes(zone *time.Location) []query.Shape {
	return []query.Shape{
		query.Timeline{SegmentSeconds: 3600, Zone: zone},
		query.Stats{SegmentSeconds: 86_400, Zone: zone, GroupByHostname: true},
		query.Stats{SegmentSeconds: 21_600, Zone: zone, By: dimension("status"), Percentiles: true},
		query.Histogram{SegmentSeconds: 3600, Zone: zone, Measure: query.MeasureRequests, Limit: 2, By: dimension("tags")},
		query.Stats{SegmentSeconds: 7 * 86_400, Zone: zone, Percentiles: true},
		query.Timeline{SegmentSeconds: 86_400, Zone: zone},
		query.Histogram{SegmentSeconds: 2 * 86_400, Zone: zone, Measure: query.MeasureBytesSent},
	}
}

// aroundClockChanges returns records at times around the changes of all clocks, and exactly at them. Records of the
// same hour are in different objects.
func aroundClockChanges() []lake.Row {
	var rows []lake.Row
	for _, name := range querytest.Zones {
		for _, change := range querytest.ClockChanges(name) {
			for _, after := range []time.Duration{
				-26 * time.Hour, -24*time.Hour - time.Millisecond, -24 * time.Hour, -13 * time.Hour, -time.Hour - time.Millisecond,
				-time.Hour, -15 * time.Minute, -time.Millisecond, 0, time.Millisecond, 15*time.Minute - time.Millisecond,
				15 * time.Minute, time.Hour - time.Millisecond, time.Hour, 2 * time.Hour, 21 * time.Hour, 22 * time.Hour,
				23*time.Hour - time.Millisecond, 24 * time.Hour, 26 * time.Hour,
			} {
				line := int64(len(rows) + 1)
				ms := change.Add(after).UnixMilli()
				ip, host, status, sent := fmt.Sprint("192.0.2.", line%5), fmt.Sprint(line%2, ".example"), 200+line%3, line
				rows = append(rows, lake.Row{
					TsMs: ms, TimePeriod: ms / 1000, Source: fmt.Sprint("source-", line%2), Line: line,
					IP: &ip, Host: &host, Status: &status, BytesSent: &sent, TotalUs: &sent, Tags: []string{host, ip},
				})
			}
		}
	}
	return rows
}
