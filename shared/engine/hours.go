package engine

import (
	"slices"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// HoursOf returns the hours that q, which is clamped to the data, reads.
func HoursOf(q query.Query) []lake.Partition {
	var hours []lake.Partition
	reach := q.TimeBounds()
	for _, span := range reach.Spans() {
		if span.Empty() {
			continue
		}
		first, last := lake.PartitionOf(span.FromMs), lake.PartitionOf(span.ToMs)
		if few, fewer := reach.Hours(first, last); fewer {
			hours = append(hours, few...)
			continue
		}
		for p := first; p <= last; p++ {
			hours = append(hours, p)
		}
	}
	return slices.Compact(hours) // both spans of a diff may be in one hour
}

// Adjacent returns the length of the run of adjacent hours with which a list begins, which is ascending and not empty.
func Adjacent(hours []lake.Partition) int {
	n := 1
	for n < len(hours) && hours[n] == hours[n-1]+1 {
		n++
	}
	return n
}

// LeastOf returns the smallest number of bytes that a query reads. Without further conditions it must read every
// column completely in the hours that lie within the period. With conditions, it may skip row groups in which no record
// can match, and it finds logs by few columns. It may read a single member of a column. A selection need not read the
// columns of further conditions where its first one does not hold.
func LeastOf(q query.Query, extent lake.Extent, counted map[lake.Partition]ColumnBytes) (bytes int64) {
	if _, logs := q.Shape.(query.Logs); logs || len(q.Conditions) > 0 {
		return 0
	}
	columns := slices.DeleteFunc(q.Columns(), query.HasMembers)
	if slices.ContainsFunc(q.Selections(), func(s query.Selection) bool { return len(s.Conditions) > 1 }) {
		columns = []string{"ts_ms"}
	}
	for hour, sizes := range counted {
		from, to := max(hour.Start(), extent.MinTsMs), min((hour+1).Start()-1, extent.MaxTsMs)
		whole := func(span query.Period) bool { return span.FromMs <= from && to <= span.ToMs }
		if !slices.ContainsFunc(q.Spans(), whole) {
			continue
		}
		for _, name := range columns {
			bytes += sizes[name]
		}
	}
	return bytes
}
