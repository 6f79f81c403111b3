package search

import "github.com/orrery/orrery/shared/query"

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
