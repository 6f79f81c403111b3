package search

import (
	"strconv"

	"github.com/orrery/orrery/shared/query"
)

// TimelineResult has the security statistics of one segment.
type TimelineResult struct {
	ArrayOriginStatusCodes []StatusResult `json:"array_origin_status_codes" doc:"Origin statuses, most frequent first"`
	ArrayStatusCodes       []StatusResult `json:"array_status_codes" doc:"Responses by status, most frequent first"`

	NumOfBlockedRequests       int64  `json:"num_of_blocked_requests"`
	NumOfChallenges            int64  `json:"num_of_challenges"`
	NumOfHumanRequests         int64  `json:"num_of_human_requests"`
	NumOfIP                    int64  `json:"num_of_ip" doc:"Client addresses, exact"`
	NumOfOriginBlockedRequests int64  `json:"num_of_origin_blocked_requests"`
	NumOfRequests              int64  `json:"num_of_requests"`
	NumOfSessions              int64  `json:"num_of_sessions" doc:"Sessions, exact"`
	SumOfSentBytes             int64  `json:"sum_of_sent_bytes"`
	TimePeriod                 int64  `json:"time_period" doc:"Segment start, Unix seconds"`
	TimeperiodString           string `json:"timeperiod_string" doc:"Segment start, UTC" example:"2026-01-01 00:00:00"`
	TimeperiodLocal            string `json:"timeperiod_local,omitempty" doc:"Segment start by the clock of tz" example:"2026-01-01 01:00:00+01:00"`
}

// StatusResult counts the responses with one status.
type StatusResult struct {
	Key   string `json:"key" doc:"Status code" example:"200"`
	Value int64  `json:"value" doc:"Responses with it" example:"12"`
}

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
