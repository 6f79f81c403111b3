package search

import "github.com/orrery/orrery/shared/query"

// HistogramResult is the measure of one series in one segment.
type HistogramResult struct {
	TimePeriod       int64   `json:"time_period" doc:"Segment start, Unix seconds"`
	TimeperiodString string  `json:"timeperiod_string" doc:"Segment start, UTC" example:"2026-01-01 00:00:00"`
	TimeperiodLocal  string  `json:"timeperiod_local,omitempty" doc:"Segment start by the clock of tz" example:"2026-01-01 01:00:00+01:00"`
	Series           *string `json:"series" nullable:"true" doc:"The value of a series of kind value, otherwise null"`
	Kind             string  `json:"kind" enum:"value,other,absent,all" doc:"Kind of the series"`
	Value            int64   `json:"value" doc:"The measure"`
	SeriesTruncated  bool    `json:"series_truncated,omitempty" doc:"series is cut and ends with its hash"`
}

// SeriesMeta describes a series of a histogram.
type SeriesMeta struct {
	Series          *string `json:"series" nullable:"true" doc:"The value of a series of kind value, otherwise null"`
	Kind            string  `json:"kind" enum:"value,other,absent,all" doc:"other: the sum over all other values"`
	Total           int64   `json:"total" doc:"Sum over the segments"`
	SeriesTruncated bool    `json:"series_truncated,omitempty" doc:"series is cut and ends with its hash"`
}

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
