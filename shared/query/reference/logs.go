package reference

import (
	"cmp"
	"slices"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// evaluateLogs gives the newest records: the full timestamp, then the later line of the later source, first.
func evaluateLogs(shape query.Logs, rows []*lake.Row) []*lake.Row {
	newest := slices.Clone(rows)
	slices.SortStableFunc(newest, func(a, b *lake.Row) int {
		return cmp.Or(
			cmp.Compare(b.TsMs, a.TsMs),
			cmp.Compare(b.TsNanos, a.TsNanos),
			cmp.Compare(b.Source, a.Source),
			cmp.Compare(b.Line, a.Line),
		)
	})
	return newest[:min(len(newest), shape.Limit)]
}
