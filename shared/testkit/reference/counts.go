package reference

import (
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// evaluateCounts counts the records of the groups of stats, and sorts them by value.
func evaluateCounts(shape query.Counts, segments query.Segmentation, rows []*lake.Row) []query.CountsRow {
	var counts []query.CountsRow
	add := func(segment int64, value string, hasValue bool, in []*lake.Row) {
		n := []int64{int64(len(in))}
		for _, s := range shape.Of {
			n = append(n, count(in, s.Holds))
		}
		counts = append(counts, query.CountsRow{Segment: segment, Value: value, HasValue: hasValue, N: n})
	}
	eachGroup(shape.By, segments, rows, add)
	slices.SortStableFunc(counts, func(a, b query.CountsRow) int {
		switch {
		case a.HasValue == b.HasValue:
			return strings.Compare(a.Value, b.Value)
		case a.HasValue:
			return -1
		}
		return 1
	})
	return counts
}
