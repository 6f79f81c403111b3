package scan

import (
	"slices"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/rollup"
)

// addsUp reports whether the answers about two subsets of a day can be added up. Numbers of different addresses do not.
func addsUp(shape query.Shape) bool {
	_, isTimeline := shape.(query.Timeline)
	return !isTimeline
}

// answers reports whether a rollup has the figures for the query. all says that no other object has records of its
// hours.
func (r *run) answers(day *rollup.Day, all bool) bool {
	return day.HashID == r.key.ID() && r.coversDay(day) && fits(day, r.query.Shape, r.segments(), all)
}

// takesParts reports whether the query can be answered from some minutes of a rollup, without the rest of the day.
func (r *run) takesParts() bool { return r.minutes != nil && !r.minutes.cut }

// coversDay reports whether the figures of a rollup tell the records of the query from the others of the day. All
// records must be of the period, or of the same period of a diff.
func (r *run) coversDay(day *rollup.Day) bool {
	first, last := day.Times()
	return r.takesParts() || slices.ContainsFunc(SpansOf(r.query), func(p query.Period) bool {
		return p.FromMs <= first && last <= p.ToMs
	})
}

// asked returns the objects of a rollup that are listed for the query, which may be about a part of the day. Objects of
// a source are listed by hours.
func (r *run) asked(day *rollup.Day) []rollup.Object {
	if !r.takesParts() {
		return day.Objects
	}
	var asked []rollup.Object
	for _, o := range day.Objects {
		first, last := o.MinTsMs, o.MaxTsMs
		if r.source != nil {
			hour := lake.PartitionOf(first)
			first, last = hour.Start(), (hour+1).Start()-1
		}
		if r.reach.Touches(first, last) {
			asked = append(asked, o)
		}
	}
	return asked
}

// rollsUp reports whether rollups have the figures of the query.
func (r *run) rollsUp() bool {
	if !r.isSubset {
		return false
	}
	switch shape := r.query.Shape.(type) {
	case query.Counts:
		return r.minutes != nil
	case query.Stats:
		return shape.By == nil && (!shape.Percentiles || !shape.GroupByHostname)
	case query.Histogram:
		return shape.By == nil
	case query.Timeline:
		return slices.Contains(rollup.Lengths, shape.SegmentSeconds)
	case query.TopX:
		return !shape.Percentiles
	case query.Diff:
		return shape.Against.Kind != query.AgainstNothing
	case query.Facets:
		return true
	}
	return false
}

// fits reports whether a day has the lists or the figures for a query. Stats and histograms add up hours, so they only
// need that no hour is in two segments, and percentiles that the whole day is in one. Numbers of different addresses do
// not add up, so a timeline needs the same segments, and all of their records.
func fits(day *rollup.Day, shape query.Shape, division query.Segmentation, all bool) bool {
	switch shape := shape.(type) {
	case query.Timeline:
		ofLength := func(s rollup.Segment) bool { return s.Seconds == shape.SegmentSeconds }
		hasLength := len(day.Segments) == 0 || slices.ContainsFunc(day.Segments, ofLength) // or a subset without records
		return all && hasLength && !slices.ContainsFunc(day.Segments, func(s rollup.Segment) bool {
			return ofLength(s) &&
				(division.Start(s.Start*1000) != s.Start || division.EndMs(s.Start) != (s.Start+s.Seconds)*1000)
		})
	case query.Histogram:
		if !day.HasSection(cellsNameOf(shape.Measure)) {
			return false
		}
	case query.Stats:
		whole := division.EndMs(division.Start(day.Start*1000)) >= (day.Start+rollup.DayLength)*1000
		if shape.Percentiles && (!whole || !day.HasSection(durationsName)) {
			return false
		}
	case query.Counts:
		has, _ := day.HasCounts(shape)
		return has
	case query.TopX:
		return !slices.ContainsFunc(partsOf(shape), func(part query.TopXPart) bool {
			return !day.HasSection(rollup.MembersName(part.Column))
		})
	case query.Facets:
		return lists(day, shape.By)
	case query.Diff:
		return lists(day, shape.By)
	}
	return !slices.ContainsFunc(day.Hosts, func(h rollup.Host) bool {
		return division.EndMs(division.Start(h.Hour*1000)) < (h.Hour+rollup.Hour)*1000
	})
}

// lists reports whether a rollup lists the values of dimensions.
func lists(day *rollup.Day, by []query.Dimension) bool {
	return !slices.ContainsFunc(by, func(d query.Dimension) bool {
		return !day.HasSection(rollup.ValuesName(d))
	})
}
