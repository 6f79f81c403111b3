package reference

import (
	"cmp"
	"maps"
	"slices"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// evaluateStats returns the figures of the segments that have records, by segment, then hostname or value.
func evaluateStats(shape query.Stats, segments query.Segmentation, rows []*lake.Row) []query.StatsRow {
	if shape.By != nil {
		return evaluateStatsBy(shape, segments, rows)
	}
	type key struct {
		segment  int64
		hostname string
	}
	groups, keys := group(rows, func(r *lake.Row) key {
		k := key{segment: segments.Start(r.TsMs)}
		if shape.GroupByHostname {
			k.hostname, _ = hostnameOf(r)
		}
		return k
	})
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.segment, b.segment), cmp.Compare(a.hostname, b.hostname))
	})
	var stats []query.StatsRow
	for _, k := range keys {
		in := groups[k]
		row := statsRow(shape, k.segment, in)
		row.Hostname = k.hostname
		if !shape.GroupByHostname {
			row.Hostname = busiest(in)
		}
		stats = append(stats, row)
	}
	return stats
}

func statsRow(shape query.Stats, segment int64, in []*lake.Row) query.StatsRow {
	row := query.StatsRow{
		Segment:   segment,
		Requests:  int64(len(in)),
		Bandwidth: sum(in, bytesSent, requestLength),
		TimeUs:    sum(in, totalTime),
		Timed:     count(in, func(r *lake.Row) bool { return r.TotalUs != nil }),
	}
	if shape.Percentiles {
		row.Percentiles = percentiles(in)
	}
	return row
}

func evaluateStatsBy(shape query.Stats, segments query.Segmentation, rows []*lake.Row) []query.StatsRow {
	var stats []query.StatsRow
	eachGroup(*shape.By, segments, rows, func(segment int64, value string, hasValue bool, in []*lake.Row) {
		row := statsRow(shape, segment, in)
		row.Value, row.HasValue = value, hasValue
		stats = append(stats, row)
	})
	return stats
}

// eachGroup groups the records of each segment by their values. A record is in the group of each of its values; the
// records without a value are the last group.
func eachGroup(
	by query.Dimension, segments query.Segmentation, rows []*lake.Row,
	each func(segment int64, value string, hasValue bool, in []*lake.Row),
) {
	bySegment, starts := group(rows, func(r *lake.Row) int64 { return segments.Start(r.TsMs) })
	slices.Sort(starts)
	for _, start := range starts {
		groups := map[string][]*lake.Row{}
		var absent []*lake.Row
		for _, r := range bySegment[start] {
			values := by.Values(r)
			for _, value := range values {
				groups[value] = append(groups[value], r)
			}
			if len(values) == 0 {
				absent = append(absent, r)
			}
		}
		for _, value := range slices.Sorted(maps.Keys(groups)) {
			each(start, value, true, groups[value])
		}
		if absent != nil {
			each(start, "", false, absent)
		}
	}
}

// hostnameOf returns the record's hostname, else its host; ok is false when it has neither.
func hostnameOf(r *lake.Row) (name string, ok bool) {
	switch {
	case r.Hostname != nil:
		return *r.Hostname, true
	case r.Host != nil:
		return *r.Host, true
	}
	return "", false
}

// busiest returns the hostname of most records, of several the first by name. It is "" when no record has a hostname.
func busiest(rows []*lake.Row) string {
	requests := map[string]int{}
	for _, r := range rows {
		if name, ok := hostnameOf(r); ok {
			requests[name]++
		}
	}
	best := ""
	for name, n := range requests {
		if n > requests[best] || n == requests[best] && name < best {
			best = name
		}
	}
	return best
}
