package search

import "github.com/orrery/orrery/shared/query"

// TopXResult has the numbers for one key of one label. Times are in seconds.
type TopXResult struct {
	Label                  string   `json:"label" enum:"country,host,ip,organization,origin_time,reason,referer,svc_time,svcid,total_time,url,user_agent"`
	Key                    string   `json:"key"`
	AvgOriginTime          *float64 `json:"avg_origin_time" doc:"null when no request reached the origin"`
	MaxOriginTime          *float64 `json:"max_origin_time"`
	MinOriginTime          *float64 `json:"min_origin_time"`
	AvgSvcTime             *float64 `json:"avg_svc_time"`
	MaxSvcTime             *float64 `json:"max_svc_time"`
	MinSvcTime             *float64 `json:"min_svc_time"`
	AvgTotalTime           *float64 `json:"avg_total_time"`
	MaxTotalTime           *float64 `json:"max_total_time"`
	MinTotalTime           *float64 `json:"min_total_time"`
	FirstASN               string   `json:"first_asn"`
	FirstGeoCountry        string   `json:"first_geo_country"`
	FirstOrganization      string   `json:"first_organization"`
	NumOfBlockedRequests   int64    `json:"num_of_blocked_requests"`
	NumOfBotRequests       int64    `json:"num_of_bot_requests"`
	NumOfChallenges        int64    `json:"num_of_challenges"`
	NumOfHumanRequests     int64    `json:"num_of_human_requests"`
	NumOfMonitoredRequests int64    `json:"num_of_monitored_requests"`
	NumOfRequests          int64    `json:"num_of_requests"`
	SumOfBytesSent         int64    `json:"sum_of_bytes_sent"`
	SumOfRequestLength     int64    `json:"sum_of_request_length"`

	*Percentiles
}

func topxOf(rows []query.TopXRow, shape query.TopX) []TopXResult {
	results := make([]TopXResult, len(rows))
	for i, row := range rows {
		r := TopXResult{
			Label:                  row.Label,
			Key:                    row.Key,
			FirstASN:               row.FirstASN,
			FirstGeoCountry:        row.FirstCountry,
			FirstOrganization:      row.FirstOrganization,
			NumOfBlockedRequests:   row.Blocked,
			NumOfBotRequests:       row.Bots,
			NumOfChallenges:        row.Challenges,
			NumOfHumanRequests:     row.Human,
			NumOfMonitoredRequests: row.Monitored,
			NumOfRequests:          row.Requests,
			SumOfBytesSent:         row.BytesSent,
			SumOfRequestLength:     row.RequestLength,
			Percentiles:            percentilesOf(shape.Percentiles, row.Percentiles),
		}
		r.AvgOriginTime, r.MaxOriginTime, r.MinOriginTime = secondsOf(row.Origin)
		r.AvgSvcTime, r.MaxSvcTime, r.MinSvcTime = secondsOf(row.Svc)
		r.AvgTotalTime, r.MaxTotalTime, r.MinTotalTime = secondsOf(row.Total)
		results[i] = r
	}
	return results
}

// secondsOf returns the mean, the longest and the shortest time in seconds. All are nil if there are no times.
func secondsOf(t query.Times) (avg, longest, shortest *float64) {
	if t.Count == 0 {
		return nil, nil, nil
	}
	a, l, s := mean(t.Sum, t.Count), float64(t.Max)/1e6, float64(t.Min)/1e6
	return &a, &l, &s
}
