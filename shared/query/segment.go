package query

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
)

// Defaults of the shapes.
const (
	DefaultLogs = 200
	DefaultTopX = 50

	DefaultFacetLimit = 10
	DefaultSeries     = 5 // of a histogram
)

const (
	day = 86400 // seconds
	// maxSegments is the largest number of segments in an answer.
	maxSegments = 10_000
	// maxDefaultSegments is the largest number of segments when the request names no length.
	maxDefaultSegments = 1_500
)

// Segments lists the possible lengths of a segment, in seconds: 1 m, 5 m, 15 m, 1 h, 6 h, 1, 2, 4, 8 … 4096 days, which
// is enough for every period that a filter can have. LocalSegments lists the lengths by a local clock.
var Segments = []int64{
	60, 300, 900, 3600, 6 * 3600, day, 2 * day, 4 * day, 8 * day, 16 * day, 32 * day, 64 * day, 128 * day,
	256 * day, 512 * day, 1024 * day, 2048 * day, 4096 * day,
}

// Length returns a length of time as parameters take it and messages print it: in the largest unit that
// divides it, as 90s, 5m, 1h or 4d.
func Length(seconds int64) string {
	for _, unit := range []struct {
		seconds int64
		name    string
	}{{day, "d"}, {hour, "h"}, {60, "m"}} {
		if seconds != 0 && seconds%unit.seconds == 0 {
			return strconv.FormatInt(seconds/unit.seconds, 10) + unit.name
		}
	}
	return strconv.FormatInt(seconds, 10) + "s"
}

// ParseLength reads a length such as 300, 300s, 5m, 1h or 2d and returns it in seconds. The number is positive, without a
// sign or leading zeros.
func ParseLength(text string) (seconds int64, ok bool) {
	digits := strings.TrimRight(text, "smhd")
	unit, known := map[string]int64{"": 1, "s": 1, "m": 60, "h": hour, "d": day}[text[len(digits):]]
	n, err := strconv.ParseInt(digits, 10, 32)
	return n * unit, known && err == nil && n >= 1 && strconv.FormatInt(n, 10) == digits
}

// SegmentFor returns the default length of a segment, in seconds: a minute for periods up to 24 hours, then the
// shortest length that gives at most 1,500 segments.
func SegmentFor(p Period) int64 { return division{period: p}.standard() }

// SegmentCount returns the largest number of segments of a length that an answer can have. When the upper bound is
// exactly on a boundary, it counts one more segment, because requests may have that time.
func SegmentCount(p Period, seconds int64) int64 {
	return (SegmentStart(p.ToMs, seconds)-SegmentStart(p.FromMs, seconds))/seconds + 1
}

// SegmentStart returns the start, in Unix seconds, of the segment that contains an instant. Segments are aligned to the
// Unix epoch.
func SegmentStart(tsMs, seconds int64) int64 {
	length := seconds * 1000
	start := tsMs - tsMs%length
	if tsMs%length < 0 {
		start -= length
	}
	return start / 1000
}

// CheckSegment returns an error if a length is not one of Segments, or divides the period into more than 10,000
// segments.
func CheckSegment(p Period, seconds int64) error { return division{period: p}.check(seconds) }

// division is a period to be divided into segments.
type division struct {
	period Period
	zone   *time.Location // by whose clock; nil: segments are aligned to the Unix epoch
}

func (d division) lengths() []int64 {
	if d.zone != nil {
		return LocalSegments
	}
	return Segments
}

// count returns the largest number of segments of a length that an answer can have. By a local clock it lists them,
// unless about as many segments of UTC are far from the limit.
func (d division) count(seconds, limit int64) int64 {
	n := SegmentCount(d.period, seconds)
	if d.zone == nil || n > 2*limit || 2*n < limit {
		return n
	}
	return int64(len(localBounds(d.period, d.period, seconds, d.zone)) - 1)
}

// standard returns the default length, see SegmentFor. By a local clock it is at least an hour.
func (d division) standard() int64 {
	switch {
	case d.zone != nil:
		return d.shortest(maxDefaultSegments)
	case d.period.ToMs-d.period.FromMs <= day*1000:
		return Segments[0]
	}
	return max(Segments[1], d.shortest(maxDefaultSegments))
}

// shortest returns the first of the ascending lengths that gives at most limit segments, else the last.
func (d division) shortest(limit int64) int64 {
	lengths := d.lengths()
	for _, seconds := range lengths {
		if d.count(seconds, limit) <= limit {
			return seconds
		}
	}
	return lengths[len(lengths)-1]
}

func (d division) check(seconds int64) error {
	if lengths := d.lengths(); !slices.Contains(lengths, seconds) {
		first := make([]string, 8)
		for i := range first {
			first[i] = Length(lengths[i])
		}
		message := "a segment is one of %s … %s, not %s"
		if d.zone != nil {
			message = "in a time zone, " + message
		}
		return fault.New(fault.Invalid, message,
			strings.Join(first, ", "), Length(lengths[len(lengths)-1]), Length(seconds))
	}
	if n := d.count(seconds, maxSegments); n > maxSegments {
		const message = "segments of %s cut the period into as many as %d results, more than %d; " +
			"the shortest that fits is %s"
		return fault.New(fault.Invalid, message, Length(seconds), n, maxSegments, Length(d.shortest(maxSegments)))
	}
	return nil
}

// withDefaults sets the figures of the shape that are zero. Their defaults may depend on the period.
func (q Query) withDefaults() (Query, error) {
	var err error
	switch s := q.Shape.(type) {
	case Logs:
		if s.Limit == 0 {
			s.Limit = DefaultLogs
		}
		q.Shape = s
	case Stats:
		s.SegmentSeconds, err = q.segment(s.SegmentSeconds, s.Zone)
		q.Shape = s
	case Timeline:
		s.SegmentSeconds, err = q.segment(s.SegmentSeconds, s.Zone)
		q.Shape = s
	case TopX:
		if s.Limit == 0 {
			s.Limit = DefaultTopX
		}
		q.Shape = s
	case Facets:
		if s.Limit == 0 {
			s.Limit = DefaultFacetLimit
		}
		if s.By == nil {
			s.By, err = ParseDimensions(DefaultFacets)
		}
		q.Shape = s
	case Diff:
		if s.Limit == 0 {
			s.Limit = DefaultFindings
		}
		if s.Least == 0 {
			s.Least = DefaultLeast
		}
		if s.By == nil {
			s.By, err = ParseDimensions(DefaultDiff)
		}
		q.Shape = s
		if s.Against.Kind != AgainstNothing && err == nil {
			q, err = q.compared(s)
		}
	case Histogram:
		if s.Limit == 0 && s.By != nil {
			s.Limit = DefaultSeries
		}
		if s.Measure == "" {
			s.Measure = Measures[0]
		}
		s.SegmentSeconds, err = q.segmentOfSeries(s.SegmentSeconds, s.Zone, s.series())
		q.Shape = s
	case Counts:
		s.SegmentSeconds, err = q.segment(s.SegmentSeconds, nil)
		q.Shape = s
	case Sequences:
		q.Shape = s
	case Values:
		if s.Limit == 0 {
			s.Limit = DefaultValues
		}
		q.Shape = s
	}
	return q, err
}

// segment returns the length of the segments: the requested one, in seconds, or the default when that is 0.
func (q Query) segment(requested int64, zone *time.Location) (int64, error) {
	d := division{q.Period, zone}
	if requested == 0 {
		return d.standard(), nil
	}
	return requested, d.check(requested)
}

// segmentOfSeries is segment for an answer with several results a segment.
func (q Query) segmentOfSeries(requested int64, zone *time.Location, series int64) (int64, error) {
	d := division{q.Period, zone}
	if requested == 0 {
		return max(d.standard(), d.shortest(maxSegments/series)), nil
	}
	if err := d.check(requested); err != nil {
		return 0, err
	}
	if n := d.count(requested, maxSegments/series); n > maxSegments/series {
		const message = "%d segments of %s and %d series are more than %d results; " +
			"the shortest segment that fits is %s"
		return 0, fault.New(fault.Invalid, message,
			n, Length(requested), series, maxSegments, Length(d.shortest(maxSegments/series)))
	}
	return requested, nil
}

// Clamp returns the query with its scope narrowed to the time of the data. The period stays the same.
func (q Query) Clamp(e lake.Extent) Query {
	q.Scope.FromMs = max(q.Scope.FromMs, e.MinTsMs)
	q.Scope.ToMs = min(q.Scope.ToMs, e.MaxTsMs)
	if e.Rows == 0 || q.Scope.Empty() {
		q.Scope.Period = Period{FromMs: q.Period.FromMs, ToMs: q.Period.FromMs - 1}
	}
	return q
}

// Empty reports whether the period contains no instant. After Clamp, a scope is empty when it contains no data.
func (p Period) Empty() bool { return p.FromMs > p.ToMs }
