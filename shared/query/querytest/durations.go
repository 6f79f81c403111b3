package querytest

import (
	"math"
	"slices"
)

// BoundaryDurations returns durations around every power of ten and the places where rounding changes, of both signs,
// each once.
func BoundaryDurations() []int64 {
	list := []int64{0, math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, math.MinInt64 + 1}
	for power, n := int64(1), 0; n <= 18; n++ {
		for _, factor := range []int64{1, 5, 9} {
			for _, change := range []int64{0, 1, power / 10, power/100 - 1, power / 100, power/100 + 1, power / 1000} {
				at := factor*power + change
				if at < power { // beyond 64 bits
					continue
				}
				list = append(list, at, -at, at-1, 1-at)
			}
		}
		power *= 10
	}
	slices.Sort(list)
	return slices.Compact(list)
}
