package search

import (
	"math"
	"slices"

	"github.com/orrery/orrery/shared/query"
)

// saturated is the members of results that have saturated sums.
type saturated []string

// note adds a member, once, if a sum from which it is made may be beyond 64 bits. An engine returns the nearest integer
// of 64 bits for such a sum.
func (s *saturated) note(member string, sum int64) {
	if (sum == math.MaxInt64 || sum == math.MinInt64) && !slices.Contains(*s, member) {
		*s = append(*s, member)
	}
}

// saturatedIn returns the members of the results of an answer that have saturated sums, in alphabetical order.
func saturatedIn(a query.Answer) []string {
	var s saturated
	for i := range a.Stats {
		s.note("avg_latency", a.Stats[i].TimeUs)
		s.note("sum_of_bandwidth", a.Stats[i].Bandwidth)
	}
	for i := range a.Timeline {
		s.note("sum_of_sent_bytes", a.Timeline[i].BytesSent)
	}
	for i := range a.TopX {
		row := &a.TopX[i]
		s.note("avg_origin_time", row.Origin.Sum)
		s.note("avg_svc_time", row.Svc.Sum)
		s.note("avg_total_time", row.Total.Sum)
		s.note("sum_of_bytes_sent", row.BytesSent)
		s.note("sum_of_request_length", row.RequestLength)
	}
	for i := range a.Histogram {
		s.note("total", a.Histogram[i].Total)
		for _, p := range a.Histogram[i].Points {
			s.note("value", p.N)
		}
	}
	slices.Sort(s)
	return s
}
