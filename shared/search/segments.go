package search

import (
	"time"

	"github.com/orrery/orrery/shared/query"
)

// eachSegment calls visit for every segment of the period of the query, in order. The last segment contains the end of
// the period. If the end is exactly at the start of that segment, eachSegment visits the segment only if found reports
// records there.
func eachSegment(q query.Query, found func(start int64) bool, visit func(start int64)) {
	segments, p := q.Segmentation(q.Period), q.Period
	for start := segments.Start(p.FromMs); start*1000 <= p.ToMs; start = segments.EndMs(start) / 1000 {
		onBoundary := start*1000 == p.ToMs && p.ToMs > p.FromMs
		if onBoundary && !found(start) {
			return
		}
		visit(start)
	}
}

// segmentName returns a segment's start as the API prints it.
func segmentName(start int64) string {
	return time.Unix(start, 0).UTC().Format(time.DateTime)
}

// localName returns a segment's start by the clock of a zone, or "" without one. With its offset from UTC, it is a time
// as filters take it, and different for the two hours that a clock reads alike.
func localName(start int64, zone *time.Location) string {
	if zone == nil {
		return ""
	}
	local := time.Unix(start, 0).In(zone)
	layout := "2006-01-02 15:04:05-07:00"
	if _, offset := local.Zone(); offset%60 != 0 { // before time zones, each city had the time of its own sun
		layout += ":00"
	}
	return local.Format(layout)
}
