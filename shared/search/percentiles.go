package search

import (
	"fmt"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/query"
)

// FiguresPercentiles is the value of the figures parameter.
const FiguresPercentiles = "percentiles"

// groupByHostname groups by the hostname, else the host, unlike the field of that name.
const groupByHostname = "hostname"

func (r Request) stats() (query.Shape, error) {
	shape := query.Stats{GroupByHostname: r.GroupBy == groupByHostname}
	var err error
	if !shape.GroupByHostname {
		if shape.By, err = groupByOf(r.GroupBy); err != nil {
			return nil, err
		}
	}
	if shape.Percentiles, err = r.percentiles(); err != nil {
		return nil, err
	}
	shape.SegmentSeconds, shape.Zone, err = r.segment()
	return shape, err
}

// groupByOf returns the field by which stats are grouped, or nil for "".
func groupByOf(text string) (*query.Dimension, error) {
	by, err := dimensionsOf("group_by", text)
	switch {
	case err != nil || by == nil:
		return nil, err
	case len(by) > 1:
		return nil, &ParamError{
			Param: "group_by", Message: fmt.Sprintf("stats are grouped by one field, not by %d", len(by)),
			Suggestion: by[0].String(),
		}
	}
	return &by[0], nil
}

func (r Request) percentiles() (bool, error) {
	if r.Figures != "" && r.Figures != FiguresPercentiles {
		return false, &ParamError{
			Param:      "figures",
			Message:    fmt.Sprintf("unknown figures %q; the only value is %s", r.Figures, FiguresPercentiles),
			Suggestion: FiguresPercentiles,
		}
	}
	return r.Figures != "", nil
}

// percentilesOf returns the percentiles of a group, or nil if they are not asked for.
func percentilesOf(asked bool, p query.Percentiles) *Percentiles {
	if !asked {
		return nil
	}
	var r Percentiles
	r.P50TotalTime, r.P90TotalTime, r.P99TotalTime = secondsAt(p.Total)
	r.P50OriginTime, r.P90OriginTime, r.P99OriginTime = secondsAt(p.Origin)
	r.P50SvcTime, r.P90SvcTime, r.P99SvcTime = secondsAt(p.Svc)
	return &r
}

// secondsAt returns percentiles in seconds. All are nil if there are no durations.
func secondsAt(r query.Ranks) (p50, p90, p99 *float64) {
	if !r.Known {
		return nil, nil, nil
	}
	a, b, c := float64(r.P50)/1e6, float64(r.P90)/1e6, float64(r.P99)/1e6
	return &a, &b, &c
}

func percentilesMeta(asked bool) *PercentilesMeta {
	if !asked {
		return nil
	}
	return &PercentilesMeta{Method: "nearest rank", Digits: query.RoundingDigits, Error: 0.01}
}

// checkSize returns an error if an answer has more groups, or is about more different values, than allowed.
func checkSize(q query.Query, a query.Answer) error {
	stats, ok := q.Shape.(query.Stats)
	if ok && stats.By != nil && len(a.Stats) > query.MaxStatsRows || len(a.Counts) > query.MaxStatsRows {
		return engine.GroupsError(query.MaxStatsRows)
	}
	if a.Sequences.Requests() > query.MaxSequenced {
		return engine.SequencesError(query.MaxSequenced)
	}
	if a.Distinct() <= query.MaxDistinct {
		return nil
	}
	if _, ok := q.Shape.(query.Histogram); ok {
		return engine.SegmentDistinctError(query.MaxDistinct)
	}
	return engine.DistinctError(query.MaxDistinct)
}
