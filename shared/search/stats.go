package search

import "github.com/orrery/orrery/shared/query"

// statsOf returns one result for every segment of the period, or one per segment and hostname or value. Empty
// segments have one result with zeros.
func statsOf(rows []query.StatsRow, q query.Query, shape query.Stats) []StatsResult {
	bySegment := map[int64][]query.StatsRow{}
	for _, row := range rows {
		bySegment[row.Segment] = append(bySegment[row.Segment], row)
	}
	results := []StatsResult{}
	found := func(start int64) bool { return len(bySegment[start]) > 0 }
	eachSegment(q, found, func(start int64) {
		if !found(start) {
			results = append(results, statsResult(query.StatsRow{Segment: start}, shape))
		}
		for _, row := range bySegment[start] {
			results = append(results, statsResult(row, shape))
		}
	})
	return results
}

func statsResult(row query.StatsRow, shape query.Stats) StatsResult {
	r := StatsResult{
		AvgLatency:       averageLatency(row),
		NumOfRequests:    row.Requests,
		SumOfBandwidth:   row.Bandwidth,
		TimePeriod:       row.Segment,
		TimeperiodString: segmentName(row.Segment),
		TimeperiodLocal:  localName(row.Segment, shape.Zone),
		Percentiles:      percentilesOf(shape.Percentiles, row.Percentiles),
	}
	switch {
	case shape.By == nil:
		r.Hostname = &row.Hostname
	case row.HasValue:
		r.Value = typedValue(*shape.By, row.Value)
	}
	return r
}

// averageLatency returns the mean time of the requests that have one. It returns nil if none of them has one, and 0 if
// there are no requests.
func averageLatency(row query.StatsRow) *float64 {
	var average float64
	switch {
	case row.Timed > 0:
		average = mean(row.TimeUs, row.Timed)
	case row.Requests > 0:
		return nil
	}
	return &average
}

// mean returns the mean of n > 0 durations in seconds, given their sum in microseconds.
func mean(sumUs, n int64) float64 { return float64(sumUs) / float64(n) / 1e6 }
