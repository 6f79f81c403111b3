package query

import "time"

// Histogram asks for a measure per segment, split by the values of a dimension.
type Histogram struct {
	SegmentSeconds int64
	Zone           *time.Location // as of Stats
	By             *Dimension     // nil: not split
	Limit          int            // values that have a series of their own, 1…20; 0 if not split
	Measure        Measure
}

func (Histogram) shape() {}

// Measure is what a histogram sums up.
type Measure string

const (
	MeasureRequests   Measure = "requests"
	MeasureBlocked    Measure = "blocked"
	MeasureChallenges Measure = "challenges"
	MeasureMonitored  Measure = "monitored"
	MeasureHuman      Measure = "human"
	MeasureBytesSent  Measure = "bytes_sent"
)

// Measures lists the measures. The first is the default.
var Measures = []Measure{
	MeasureRequests, MeasureBlocked, MeasureChallenges, MeasureMonitored, MeasureHuman, MeasureBytesSent,
}

// columns lists the columns from which the measure is computed.
func (m Measure) columns() []string {
	switch m {
	case MeasureBlocked:
		return []string{"blocked"}
	case MeasureChallenges:
		return []string{"challenge", "ichallenge"}
	case MeasureMonitored:
		return []string{"monitor", "monitor_reasons"}
	case MeasureHuman:
		return []string{"human"}
	case MeasureBytesSent:
		return []string{"bytes_sent"}
	}
	return nil
}

// series returns the number of series that the guard against large answers counts.
func (s Histogram) series() int64 {
	if s.By == nil {
		return 1
	}
	return int64(s.Limit)
}

// SeriesKind is the kind of a series.
type SeriesKind string

const (
	SeriesAll    SeriesKind = "all"    // all records, if the histogram is not split
	SeriesValue  SeriesKind = "value"  // the records with one value
	SeriesOther  SeriesKind = "other"  // the sum of the series of all other values
	SeriesAbsent SeriesKind = "absent" // the records without a value
)

// Series is one series of a histogram. A histogram has a series for each of the values with the largest totals (of
// equal ones the smallest text), then one for the other values and one for absent values, as far as records have them.
type Series struct {
	Kind   SeriesKind
	Value  string // of SeriesValue
	Total  int64
	Points []Point // by segment; segments without records of the series are missing

	Distinct int64 // of SeriesOther: the numbers of its values in each segment, added up
}

// Point is the measure of a series in one segment.
type Point struct{ Segment, N int64 }

// HistogramRow is a row of the result of the SQL for Histogram.
type HistogramRow struct {
	// Series numbers the values from 1 to the limit. The next numbers are the other values and the absent ones. It is 0
	// if the histogram is not split.
	Series   int
	Value    *string
	Total    int64
	Distinct int64 // the numbers of different values in each segment, added up
	Point
}

// SeriesOf returns the answer for the rows of a result, which are ordered by series, then segment.
func SeriesOf(rows []HistogramRow, shape Histogram) []Series {
	var all []Series
	last := -1
	for _, r := range rows {
		if r.Series != last {
			s := Series{Kind: shape.KindOf(r.Series), Total: r.Total}
			if r.Value != nil {
				s.Value = *r.Value
			}
			if s.Kind == SeriesOther {
				s.Distinct = r.Distinct - DistinctValues(all)
			}
			all, last = append(all, s), r.Series
		}
		s := &all[len(all)-1]
		s.Points = append(s.Points, r.Point)
	}
	return all
}

// DistinctValues returns the numbers of different values in each segment of a histogram, added up.
func DistinctValues(all []Series) (n int64) {
	for _, s := range all {
		switch s.Kind {
		case SeriesValue:
			n += int64(len(s.Points))
		case SeriesOther:
			n += s.Distinct
		}
	}
	return n
}

// KindOf returns the kind of a series by its number, see HistogramRow.
func (s Histogram) KindOf(series int) SeriesKind {
	switch {
	case s.By == nil:
		return SeriesAll
	case series <= s.Limit:
		return SeriesValue
	case series == s.Limit+1:
		return SeriesOther
	}
	return SeriesAbsent
}
