package search

import "github.com/orrery/orrery/shared/query"

// seriesOf returns the series of an answer. A histogram that is not split has its series even if no record matches.
func seriesOf(all []query.Series, shape query.Histogram) []query.Series {
	if len(all) == 0 && shape.By == nil {
		return []query.Series{{Kind: query.SeriesAll}}
	}
	return all
}

func seriesMetaOf(all []query.Series) []SeriesMeta {
	meta := make([]SeriesMeta, len(all))
	for i, s := range all {
		meta[i] = SeriesMeta{Series: seriesName(s), Kind: string(s.Kind), Total: s.Total}
	}
	return meta
}

func seriesName(s query.Series) *string {
	if s.Kind != query.SeriesValue {
		return nil
	}
	return &s.Value
}

// histogramOf returns a result for each series in every segment of the period. Where a series has no records, the
// result is 0.
func histogramOf(all []query.Series, q query.Query, shape query.Histogram) []HistogramResult {
	bySegment := map[int64][]int64{}
	for i, s := range all {
		for _, point := range s.Points {
			if bySegment[point.Segment] == nil {
				bySegment[point.Segment] = make([]int64, len(all))
			}
			bySegment[point.Segment][i] = point.N
		}
	}
	results := []HistogramResult{}
	found := func(start int64) bool { return bySegment[start] != nil }
	eachSegment(q, found, func(start int64) {
		values := bySegment[start]
		if values == nil {
			values = make([]int64, len(all))
		}
		for i, s := range all {
			results = append(results, HistogramResult{
				TimePeriod:       start,
				TimeperiodString: segmentName(start),
				TimeperiodLocal:  localName(start, shape.Zone),
				Series:           seriesName(s),
				Kind:             string(s.Kind),
				Value:            values[i],
			})
		}
	})
	return results
}
