package query

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
)

// Defaults of the shapes.
const (
	DefaultLogs = 200
	DefaultTopX = 50
)

const (
	day = 86400 // seconds
	// maxSegments is how many segments an answer may have.
	maxSegments = 10_000
	// goodSegments is how many segments a default gives at most.
	goodSegments = 1_500
)

// Segments lists the lengths a segment may have, in seconds: 1 m, 5 m, 15 m, 1 h, 6 h, 1, 2, 4, 8 … 4096 days,
// which is enough for every period that can be written.
var Segments = []int64{
	60, 300, 900, 3600, 6 * 3600, day, 2 * day, 4 * day, 8 * day, 16 * day, 32 * day, 64 * day, 128 * day,
	256 * day, 512 * day, 1024 * day, 2048 * day, 4096 * day,
}

// SegmentFor is the default length of a segment: a minute up to 24 hours, then the shortest that gives at most
// 1,500.
func SegmentFor(p Period) int64 {
	if p.ToMs-p.FromMs <= day*1000 {
		return Segments[0]
	}
	return shortest(p, Segments[1:], goodSegments)
}

// SegmentCount is how many segments of a length an answer may have. An upper bound exactly on a boundary counts
// as one more, because requests may lie on that very instant.
func SegmentCount(p Period, seconds int64) int64 {
	return (SegmentStart(p.ToMs, seconds)-SegmentStart(p.FromMs, seconds))/seconds + 1
}

// SegmentStart is the start, in Unix seconds, of the segment that holds an instant. Segments are aligned to
// the Unix epoch.
func SegmentStart(tsMs, seconds int64) int64 {
	length := seconds * 1000
	start := tsMs - tsMs%length
	if tsMs%length < 0 {
		start -= length
	}
	return start / 1000
}

// CheckSegment refuses a length that is not one of Segments, or that cuts the period into more than 10,000.
func CheckSegment(p Period, seconds int64) error {
	if !slices.Contains(Segments, seconds) {
		return fault.New(fault.Invalid, "a segment is one of %s … %d seconds, not %d",
			strings.Trim(strings.ReplaceAll(fmt.Sprint(Segments[:8]), " ", ", "), "[]"), Segments[len(Segments)-1], seconds)
	}
	if n := SegmentCount(p, seconds); n > maxSegments {
		return fault.New(fault.Invalid, "segments of %d s cut the period into as many as %d results, more than %d; the shortest that fits is %d s",
			seconds, n, maxSegments, shortest(p, Segments, maxSegments))
	}
	return nil
}

func shortest(p Period, lengths []int64, limit int64) int64 {
	for _, seconds := range lengths {
		if SegmentCount(p, seconds) <= limit {
			return seconds
		}
	}
	return lengths[len(lengths)-1]
}

// withDefaults fills in what the shape leaves open, once the period is known.
func (q Query) withDefaults() (Query, error) {
	var err error
	switch s := q.Shape.(type) {
	case Logs:
		if s.Limit == 0 {
			s.Limit = DefaultLogs
		}
		q.Shape = s
	case Stats:
		s.SegmentSeconds, err = q.segment(s.SegmentSeconds)
		q.Shape = s
	case Timeline:
		s.SegmentSeconds, err = q.segment(s.SegmentSeconds)
		q.Shape = s
	case TopX:
		if s.Limit == 0 {
			s.Limit = DefaultTopX
		}
		q.Shape = s
	}
	return q, err
}

func (q Query) segment(asked int64) (int64, error) {
	if asked == 0 {
		return SegmentFor(q.Period), nil
	}
	return asked, CheckSegment(q.Period, asked)
}

// Clamp narrows what is read to the time the data covers; the period asked stays.
func (q Query) Clamp(e lake.Extent) Query {
	q.Scope.FromMs = max(q.Scope.FromMs, e.MinTsMs)
	q.Scope.ToMs = min(q.Scope.ToMs, e.MaxTsMs)
	if e.Rows == 0 || q.Scope.Empty() {
		q.Scope.Period = Period{FromMs: q.Period.FromMs, ToMs: q.Period.FromMs - 1}
	}
	return q
}

// Empty reports whether no instant lies in the period: after Clamp, when all data is outside.
func (p Period) Empty() bool { return p.FromMs > p.ToMs }
