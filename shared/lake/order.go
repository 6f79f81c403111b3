package lake

import "cmp"

// Compare compares two rows in the order of objects. Source and line make the order total.
func Compare(a, b *Row) int {
	return cmp.Or(
		cmp.Compare(a.TsMs, b.TsMs),
		cmp.Compare(a.TsNanos, b.TsNanos),
		cmp.Compare(a.Source, b.Source),
		cmp.Compare(a.Line, b.Line),
	)
}
