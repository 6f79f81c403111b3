package report

import (
	"slices"
	"time"
)

// chart describes the bars of the chart.
func (b *builder) chart() {
	s := stepOf(b.Period)
	_, exact := s.segmentSeconds(b.Period, b.Zone)
	if b.Previous != nil {
		_, before := s.segmentSeconds(*b.Previous, b.Zone)
		exact = exact && before
	}
	b.r.Chart.Step, b.r.Chart.Coarse, b.r.Chart.Undecided = string(s), !exact, b.r.Figures[1].Absent
	if b.r.Chart.Bars == nil {
		b.r.Chart.Bars = []Bar{}
	}
}

// bars sums up the segments of both periods in bars.
func (b *builder) bars(timeline, timelineBefore []segment, known, knownBefore bool) {
	if !known {
		return
	}
	s := stepOf(b.Period)
	bars := s.bars(timeline, b.Period, b.Zone)
	if knownBefore {
		earlier := s.bars(timelineBefore, *b.Previous, b.Zone)
		for i := range bars[:min(len(bars), len(earlier))] {
			end := b.r.Previous.To
			if i+1 < len(earlier) {
				end = earlier[i+1].From
			}
			if b.r.begins != "" && !before(b.r.begins, end) {
				continue // the data begins later
			}
			bars[i].RequestsBefore, bars[i].BlockedBefore = &earlier[i].Requests, &earlier[i].Blocked
		}
		if len(earlier) > len(bars) {
			b.r.Chart.LeftOut = earlier[len(bars):]
		}
	}
	b.r.Chart.Bars = bars
}

// bars returns the bars of a period, with the sums of their segments.
func (s step) bars(segments []segment, p Period, zone *time.Location) []Bar {
	starts := s.starts(p, zone)
	bars := make([]Bar, len(starts))
	for i, ms := range starts {
		bars[i].From = time.UnixMilli(ms).UTC().Format(time.RFC3339)
		bars[i].Label = s.label(ms, zone)
	}
	for _, segment := range segments {
		bar := &bars[barOf(starts, segment.TimePeriod)]
		bar.Requests += segment.NumOfRequests
		bar.Blocked += segment.NumOfBlockedRequests
	}
	return bars
}

// barOf returns the bar that a segment, which begins at start in Unix seconds, is in. The first segment may begin before
// the period.
func barOf(starts []int64, start int64) int {
	at, found := slices.BinarySearch(starts, start*1000)
	if !found {
		at--
	}
	return max(at, 0)
}
