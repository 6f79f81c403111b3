package reference

import (
	"slices"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

func percentiles(rows []*lake.Row) query.Percentiles {
	return query.Percentiles{Origin: ranks(rows, originTime), Svc: ranks(rows, svcTime), Total: ranks(rows, totalTime)}
}

// ranks sorts the rounded durations and takes the ones at the nearest ranks.
func ranks(rows []*lake.Row, duration func(*lake.Row) *int64) query.Ranks {
	var all []int64
	for _, r := range rows {
		if d := duration(r); d != nil {
			all = append(all, query.RoundDuration(*d))
		}
	}
	if len(all) == 0 {
		return query.Ranks{}
	}
	slices.Sort(all)
	at := func(percent int) int64 { return all[(len(all)*percent+99)/100-1] }
	return query.Ranks{Known: true, P50: at(50), P90: at(90), P99: at(99)}
}
