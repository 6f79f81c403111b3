package search

import (
	"time"

	"github.com/orrery/orrery/shared/query"
)

// eachSegment calls visit for every segment of the period, in order. The last segment contains the end of the period.
// If the end is exactly at the start of that segment, eachSegment visits the segment only if found reports records
// there.
func eachSegment(p query.Period, seconds int64, found func(start int64) bool, visit func(start int64)) {
	for start := query.SegmentStart(p.FromMs, seconds); start*1000 <= p.ToMs; start += seconds {
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
