package query

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"time"
)

const (
	hour = 3600 // seconds
	week = 7 * day
)

// LocalSegments lists the possible lengths of a segment by a local clock, in seconds: the lengths of Segments from an
// hour on, and a week.
var LocalSegments = []int64{
	hour, 6 * hour, day, 2 * day, 4 * day, week, 8 * day, 16 * day, 32 * day, 64 * day, 128 * day,
	256 * day, 512 * day, 1024 * day, 2048 * day, 4096 * day,
}

// Segmentation is the segments of a span of time. Every instant of the span is in exactly one of them.
type Segmentation struct {
	seconds int64
	first   int64   // the start of the first segment, in Unix seconds
	bounds  []int64 // by a local clock: the starts, ascending, then the end of the last; nil: aligned to the epoch
}

// SegmentsIdentity returns a text that is equal for two queries only if both have an instant in the same segment,
// whatever their periods are.
func (q Query) SegmentsIdentity() string {
	seconds, zone := segmentOf(q.Shape)
	if zone == nil {
		return strconv.FormatInt(seconds, 10)
	}
	offset, _ := clockAt(SegmentStart(q.Period.FromMs, 1), zone)
	origin := segmentOrigin(q.Period, seconds, zone)
	return fmt.Sprintf("%d %s %d %d", seconds, zone, offset, origin-floorTo(origin, seconds))
}

// Segmentation returns the segments of a span. Shapes without segments have none. The span is the period of the query
// or a part of it.
//
// By a local clock, a segment of up to a day begins when the clock reads a multiple of its length since midnight, and a
// longer one when it reads midnight: the midnight of the first day of the period and every so many days later, or, for
// weeks, the midnight of a Monday. If the clock skips such a reading, the segment begins when the clock has skipped it.
// If the clock has the reading twice, the segment begins with the first one. So a day of 23 or 25 hours is one segment.
// Only an hour that the clock reads twice is two segments, because one would count twice as much as its neighbours.
func (q Query) Segmentation(span Period) Segmentation {
	seconds, zone := segmentOf(q.Shape)
	s := Segmentation{seconds: seconds}
	switch {
	case zone != nil:
		s.bounds = localBounds(span, q.Period, seconds, zone)
		s.first = s.bounds[0]
	case seconds > 0:
		s.first = SegmentStart(span.FromMs, seconds)
	}
	return s
}

// segmentOf returns the length of the segments of a shape, 0 if it has none, and their zone.
func segmentOf(shape Shape) (seconds int64, zone *time.Location) {
	switch s := shape.(type) {
	case Stats:
		return s.SegmentSeconds, s.Zone
	case Timeline:
		return s.SegmentSeconds, s.Zone
	case Histogram:
		return s.SegmentSeconds, s.Zone
	case Counts:
		return s.SegmentSeconds, nil
	}
	return 0, nil
}

// Start returns the start, in Unix seconds, of the segment that contains an instant of the span. For an
// instant outside, it may return the start of the first or the last segment.
func (s Segmentation) Start(tsMs int64) int64 {
	if s.bounds == nil {
		return SegmentStart(tsMs, s.seconds)
	}
	return s.bounds[s.index(tsMs)]
}

// EndMs returns the end of the segment with a start, in Unix milliseconds: it is the start of the next one.
func (s Segmentation) EndMs(start int64) int64 {
	if s.bounds == nil {
		return (start + s.seconds) * 1000
	}
	return s.bounds[s.index(start*1000)+1] * 1000
}

// Count returns the number of segments from the segment of one instant to the segment of another, both included.
func (s Segmentation) Count(fromMs, toMs int64) int64 {
	if s.bounds == nil {
		return (SegmentStart(toMs, s.seconds)-SegmentStart(fromMs, s.seconds))/s.seconds + 1
	}
	return int64(s.index(toMs)-s.index(fromMs)) + 1
}

// index returns the place of a segment in bounds.
func (s Segmentation) index(tsMs int64) int {
	second := SegmentStart(tsMs, 1)
	after := sort.Search(len(s.bounds), func(i int) bool { return s.bounds[i] > second })
	return min(max(after-1, 0), len(s.bounds)-2)
}

// SegmentRun is consecutive segments of equal length. The last of them may end earlier, at UntilMs.
type SegmentRun struct {
	Start, Seconds int64
	UntilMs        int64 // Unix milliseconds; in the last run at least the end of the span
}

// Runs returns the segments as few runs. Between two changes of the clock all segments have the same length.
func (s Segmentation) Runs() []SegmentRun {
	if s.bounds == nil {
		return []SegmentRun{{Start: s.first, Seconds: s.seconds, UntilMs: math.MaxInt64}}
	}
	var runs []SegmentRun
	for i, start := range s.bounds[:len(s.bounds)-1] {
		end := s.bounds[i+1]
		last := len(runs) - 1
		if last >= 0 && runs[last].Seconds == s.seconds && end-start <= s.seconds &&
			(start-runs[last].Start)%s.seconds == 0 && runs[last].UntilMs == start*1000 {
			runs[last].UntilMs = end * 1000
			continue
		}
		runs = append(runs, SegmentRun{Start: start, Seconds: max(s.seconds, end-start), UntilMs: end * 1000})
	}
	return runs
}

// localBounds returns the starts of the segments that contain an instant of the span, by the clock of a zone, and the
// end of the last of them.
//
// It reads the clock as a number of seconds, as if the clock were in UTC, so that multiples of a length can be
// computed, and goes through the time from one change of the clock to the next.
func localBounds(span, period Period, seconds int64, zone *time.Location) []int64 {
	from, to := SegmentStart(span.FromMs, 1), SegmentStart(max(span.FromMs, span.ToMs), 1)
	origin := segmentOrigin(period, seconds, zone)
	floor := func(reading int64) int64 { return origin + floorTo(reading-origin, seconds) }

	var bounds []int64
	passed := int64(math.MinInt64) // the latest multiple that the clock has read or skipped
	add := func(start int64) (complete bool) {
		if len(bounds) > 0 && bounds[len(bounds)-1] <= from && start <= from {
			bounds = bounds[:0] // the segment ends before the span
		}
		bounds = append(bounds, start)
		return start > to
	}
	// No segment is longer than its length and a change of the clock, which is at most a day.
	for begin := from - seconds - 2*day; ; {
		offset, end := clockAt(begin, zone)
		reading := begin + offset
		multiple := floor(reading)
		if multiple > passed || seconds == hour && multiple == reading {
			if add(begin) {
				return bounds
			}
			passed = max(passed, multiple)
		}
		for multiple += seconds; multiple-offset < end; multiple += seconds {
			if multiple <= passed && seconds != hour {
				continue
			}
			if add(multiple - offset) {
				return bounds
			}
			passed = max(passed, multiple)
		}
		begin = end
	}
}

// segmentOrigin returns a reading of the clock at which a segment begins.
func segmentOrigin(period Period, seconds int64, zone *time.Location) int64 {
	if seconds <= day {
		return 0
	}
	from := SegmentStart(period.FromMs, 1)
	offset, _ := clockAt(from, zone)
	midnight := floorTo(from+offset, day)
	if seconds == week {
		const monday = 4 * day // 1970-01-05
		return monday + floorTo(midnight-monday, week)
	}
	return midnight
}

// clockAt returns how many seconds the clock of a zone is ahead of UTC, and until when at least, in Unix seconds.
//
// Package time returns an end in the past for the last day of leap years far in the future. As clocks change at
// multiples of a quarter of an hour there, the end is then a quarter later.
func clockAt(second int64, zone *time.Location) (offset, until int64) {
	at := time.Unix(second, 0).In(zone)
	_, ahead := at.Zone()
	_, end := at.ZoneBounds()
	if end.IsZero() {
		return int64(ahead), math.MaxInt64
	}
	if end.Unix() <= second {
		const quarter = hour / 4
		return int64(ahead), floorTo(second, quarter) + quarter
	}
	return int64(ahead), end.Unix()
}

// floorTo returns the largest multiple of a length that is not above n.
func floorTo(n, length int64) int64 {
	rest := n % length
	if rest < 0 {
		rest += length
	}
	return n - rest
}
