package search

import (
	"strconv"

	"github.com/orrery/orrery/shared/query"
)

// timelineOf returns one result for every segment of the period. Empty segments have zeros and empty arrays.
func timelineOf(rows []query.TimelineRow, q query.Query, shape query.Timeline) []TimelineResult {
	bySegment := make(map[int64]query.TimelineRow, len(rows))
	for _, row := range rows {
		bySegment[row.Segment] = row
	}
	results := []TimelineResult{}
	found := func(start int64) bool { return bySegment[start].Requests > 0 }
	eachSegment(q, found, func(start int64) {
		row := bySegment[start]
		results = append(results, TimelineResult{
			ArrayOriginStatusCodes:     statusesOf(row.OriginStatuses),
			ArrayStatusCodes:           statusesOf(row.Statuses),
			NumOfBlockedRequests:       row.Blocked,
			NumOfChallenges:            row.Challenges,
			NumOfHumanRequests:         row.Human,
			NumOfIP:                    row.IPs,
			NumOfOriginBlockedRequests: row.OriginBlocked,
			NumOfRequests:              row.Requests,
			NumOfSessions:              row.Sessions,
			SumOfSentBytes:             row.BytesSent,
			TimePeriod:                 start,
			TimeperiodString:           segmentName(start),
			TimeperiodLocal:            localName(start, shape.Zone),
		})
	})
	return results
}

func statusesOf(counts []query.StatusCount) []StatusResult {
	results := make([]StatusResult, len(counts))
	for i, c := range counts {
		results[i] = StatusResult{Key: strconv.FormatInt(c.Status, 10), Value: c.Count}
	}
	return results
}
