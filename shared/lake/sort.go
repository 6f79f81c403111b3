package lake

import (
	"cmp"
	"slices"
)

// Sort puts rows into the order of objects: ts_ms, ts_nanos, source, line, ascending.
func Sort(rows []Row) {
	if sorted(rows) {
		return
	}
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return Compare(&rows[i], &rows[j]) })
	permute(rows, order)
}

func sorted(rows []Row) bool {
	for i := 1; i < len(rows); i++ {
		if Compare(&rows[i-1], &rows[i]) > 0 {
			return false
		}
	}
	return true
}

// Compare orders two rows as objects hold them. Source and line make the order total.
func Compare(a, b *Row) int {
	return cmp.Or(
		cmp.Compare(a.TsMs, b.TsMs),
		cmp.Compare(a.TsNanos, b.TsNanos),
		cmp.Compare(a.Source, b.Source),
		cmp.Compare(a.Line, b.Line),
	)
}

// permute makes rows[i] what rows[order[i]] was, moving every row once: a row is about a kilobyte.
// It consumes order.
func permute(rows []Row, order []int) {
	for start := range order {
		if order[start] == start {
			continue
		}
		first := rows[start]
		at := start
		for order[at] != start {
			next := order[at]
			rows[at] = rows[next]
			order[at] = at
			at = next
		}
		rows[at] = first
		order[at] = at
	}
}
