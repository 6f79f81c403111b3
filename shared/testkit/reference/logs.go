package reference

import (
	"cmp"
	"slices"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// evaluateLogs returns the newest records between the two places of the shape.
func evaluateLogs(shape query.Logs, rows []*lake.Row) []*lake.Row {
	var newest []*lake.Row
	for _, r := range rows {
		older := shape.OlderThan == nil || newestFirst(rowAt(*shape.OlderThan), r) < 0
		newer := shape.NewerThan == nil || newestFirst(r, rowAt(*shape.NewerThan)) < 0
		if older && newer {
			newest = append(newest, r)
		}
	}
	slices.SortStableFunc(newest, newestFirst)
	return newest[:min(len(newest), shape.Limit)]
}

// newestFirst is the order of answers: descending by full timestamp, then source, then line.
func newestFirst(a, b *lake.Row) int {
	return cmp.Or(
		cmp.Compare(b.TsMs, a.TsMs),
		cmp.Compare(b.TsNanos, a.TsNanos),
		cmp.Compare(b.Source, a.Source),
		cmp.Compare(b.Line, a.Line),
	)
}

// rowAt returns a row at a place.
func rowAt(p query.Place) *lake.Row {
	return &lake.Row{TsMs: p.TsMs, TsNanos: p.TsNanos, Source: p.Source, Line: p.Line}
}
