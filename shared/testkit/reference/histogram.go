package reference

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// evaluateHistogram returns one series for each value with the largest totals, one for all other values, and one for
// absent values.
func evaluateHistogram(shape query.Histogram, segments query.Segmentation, rows []*lake.Row) []query.Series {
	if len(rows) == 0 {
		return nil
	}
	if shape.By == nil {
		return []query.Series{seriesOf(query.SeriesAll, "", shape, segments, rows)}
	}
	groups := map[string][]*lake.Row{}
	var absent []*lake.Row
	for _, r := range rows {
		values := shape.By.Values(r)
		for _, value := range values {
			groups[value] = append(groups[value], r)
		}
		if len(values) == 0 {
			absent = append(absent, r)
		}
	}
	var all []query.Series
	for value, in := range groups {
		all = append(all, seriesOf(query.SeriesValue, value, shape, segments, in))
	}
	slices.SortFunc(all, func(a, b query.Series) int {
		return cmp.Or(
			exactMeasure(shape.Measure, groups[b.Value]).Cmp(exactMeasure(shape.Measure, groups[a.Value])),
			cmp.Compare(a.Value, b.Value),
		)
	})
	if len(all) > shape.Limit {
		var others []*lake.Row // a record once for each of its other values
		for _, s := range all[shape.Limit:] {
			others = append(others, groups[s.Value]...)
		}
		other := seriesOf(query.SeriesOther, "", shape, segments, others)
		for _, s := range all[shape.Limit:] {
			other.Distinct += int64(len(s.Points))
		}
		all = append(all[:shape.Limit], other)
	}
	if len(absent) > 0 {
		all = append(all, seriesOf(query.SeriesAbsent, "", shape, segments, absent))
	}
	return all
}

func seriesOf(
	kind query.SeriesKind, value string, shape query.Histogram, segments query.Segmentation, rows []*lake.Row,
) query.Series {
	s := query.Series{Kind: kind, Value: value, Total: measure(shape.Measure, rows)}
	groups, starts := group(rows, func(r *lake.Row) int64 { return segments.Start(r.TsMs) })
	slices.Sort(starts)
	for _, segment := range starts {
		s.Points = append(s.Points, query.Point{Segment: segment, N: measure(shape.Measure, groups[segment])})
	}
	return s
}

func measure(m query.Measure, rows []*lake.Row) int64 { return nearest(exactMeasure(m, rows)) }

func exactMeasure(m query.Measure, rows []*lake.Row) *big.Int {
	if m == query.MeasureBytesSent {
		return exactSum(rows, bytesSent)
	}
	return big.NewInt(counted(m, rows))
}

func counted(m query.Measure, rows []*lake.Row) int64 {
	f := flagged(rows)
	switch m {
	case query.MeasureRequests:
		return f.Requests
	case query.MeasureBlocked:
		return f.Blocked
	case query.MeasureChallenges:
		return f.Challenges
	case query.MeasureMonitored:
		return f.Monitored
	case query.MeasureHuman:
		return f.Human
	}
	panic("reference: unknown measure " + string(m))
}
