package reference

import (
	"slices"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// evaluateTimeline returns the figures of the segments that have records, by segment.
func evaluateTimeline(segments query.Segmentation, rows []*lake.Row) []query.TimelineRow {
	groups, starts := group(rows, func(r *lake.Row) int64 { return segments.Start(r.TsMs) })
	slices.Sort(starts)
	var timeline []query.TimelineRow
	for _, segment := range starts {
		in := groups[segment]
		timeline = append(timeline, query.TimelineRow{
			Segment:       segment,
			Requests:      int64(len(in)),
			Blocked:       count(in, isBlocked),
			Challenges:    count(in, isChallenged),
			Human:         count(in, isHuman),
			OriginBlocked: count(in, isOriginBlocked),
			IPs:           distinctTexts(in, func(r *lake.Row) *string { return r.IP }),
			Sessions:      distinctTexts(in, func(r *lake.Row) *string { return r.Session }),
			BytesSent:     sum(in, bytesSent),
			Statuses: countStatuses(in, func(r *lake.Row) []int64 {
				if r.Status == nil {
					return nil
				}
				return []int64{*r.Status}
			}),
			OriginStatuses: countStatuses(in, func(r *lake.Row) []int64 { return r.UpstreamStatus }),
		})
	}
	return timeline
}

// distinctTexts counts the distinct texts of the records that have one.
func distinctTexts(rows []*lake.Row, text func(*lake.Row) *string) int64 {
	seen := map[string]bool{}
	for _, r := range rows {
		if s := text(r); s != nil {
			seen[*s] = true
		}
	}
	return int64(len(seen))
}

// countStatuses counts every status of every record.
func countStatuses(rows []*lake.Row, statuses func(*lake.Row) []int64) []query.StatusCount {
	counts := map[int64]int64{}
	for _, r := range rows {
		for _, status := range statuses(r) {
			counts[status]++
		}
	}
	return query.SortedStatuses(counts)
}
