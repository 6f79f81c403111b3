package reference

import (
	"cmp"
	"slices"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// evaluateLogs returns the newest records. The order is descending by full timestamp, then source, then line.
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
