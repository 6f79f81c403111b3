package query

import (
	"slices"
	"sort"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/lake"
)

// TimeBounds is the time in which records can match a query. It is computed once, and then asked about every object and
// row group.
type TimeBounds struct {
	spans []Period
	times []int64 // of the references to records in the spans, ascending; only if linked
	// linked reports that references name every matching record, so that each has one of the times.
	linked bool
}

// TimeBounds returns the time in which records can match: the scope, narrowed by every further condition on the
// timestamp, by the times of references to records, and by the places between which logs are. A reference to a record
// outside of this time matches nothing, so that it does not widen what is read.
func (q Query) TimeBounds() TimeBounds {
	r := TimeBounds{spans: q.periods()}
	refs, linked := q.refs()
	if r.linked = linked; !linked {
		return r
	}
	var spans []Period
	for _, span := range r.spans {
		inside := slices.DeleteFunc(slices.Clone(refs), func(ref lake.Ref) bool { return !span.contains(ref.TsMs) })
		if len(inside) > 0 {
			spans = append(spans, periodOf(inside))
		}
		for _, ref := range inside {
			r.times = append(r.times, ref.TsMs)
		}
	}
	slices.Sort(r.times)
	r.times = slices.Compact(r.times)
	if r.spans = spans; spans == nil {
		r.spans = []Period{noPeriod}
	}
	return r
}

// periods returns the reach without the references: the time of all conditions, or the parts of it that are in the two
// periods of a diff, if these do not adjoin.
func (q Query) periods() []Period {
	span := q.Scope.Period
	for _, c := range q.Conditions {
		if c.Negated || len(c.Terms) != 1 || c.Terms[0].Source.Type != catalog.Time {
			continue
		}
		between, ok := c.Terms[0].Test.(IntRange)
		if !ok {
			continue
		}
		if between.Min != nil {
			span.FromMs = max(span.FromMs, *between.Min)
		}
		if between.Max != nil {
			span.ToMs = min(span.ToMs, *between.Max)
		}
	}
	if logs, ok := q.Shape.(Logs); ok {
		span = logs.within(span)
	}
	d, ok := q.Shape.(Diff)
	if !ok || d.Against.Kind == AgainstNothing {
		return []Period{span}
	}
	first, second := q.Period, d.Baseline
	if first.FromMs > second.FromMs {
		first, second = second, first
	}
	if first.ToMs+1 == second.FromMs {
		return []Period{span}
	}
	var parts []Period
	for _, p := range []Period{first, second} {
		p = Period{max(p.FromMs, span.FromMs), min(p.ToMs, span.ToMs)}
		if !p.Empty() {
			parts = append(parts, p)
		}
	}
	if parts == nil {
		return []Period{{span.FromMs, span.FromMs - 1}}
	}
	return parts
}

// Spans returns the time in the order of time: one period, or two if the periods of a diff do not adjoin. If no record
// can match, it is one empty period.
func (r TimeBounds) Spans() []Period { return r.spans }

// Span returns the period from the first to the last time at which records can match. It is empty if no record can.
func (r TimeBounds) Span() Period {
	return Period{r.spans[0].FromMs, r.spans[len(r.spans)-1].ToMs}
}

// Touches reports whether records from one instant to another, both in milliseconds, can match.
func (r TimeBounds) Touches(fromMs, toMs int64) bool {
	if r.linked {
		next := sort.Search(len(r.times), func(i int) bool { return r.times[i] >= fromMs })
		return next < len(r.times) && r.times[next] <= toMs
	}
	return slices.ContainsFunc(r.spans, func(p Period) bool {
		return !p.Empty() && fromMs <= p.ToMs && toMs >= p.FromMs
	})
}

// Hours returns the hours from first to last in which records can match, ascending, if references limit them to fewer
// than all. Otherwise fewer is false.
func (r TimeBounds) Hours(first, last lake.Partition) (hours []lake.Partition, fewer bool) {
	if !r.linked {
		return nil, false
	}
	for _, ms := range r.times {
		if hour := lake.PartitionOf(ms); first <= hour && hour <= last {
			hours = append(hours, hour)
		}
	}
	hours = slices.Compact(hours)
	return hours, lake.Partition(len(hours)) < last-first+1
}

// Span returns the span of the reach of the query.
func (q Query) Span() Period { return q.TimeBounds().Span() }

// Spans returns the spans of the reach of the query.
func (q Query) Spans() []Period { return q.TimeBounds().Spans() }
