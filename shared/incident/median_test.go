package incident

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestMedian(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for length := range 40 {
		for most := range int64(20) { // with few different numbers, many are equal
			list := make([]int64, length)
			for i := range list {
				list[i] = random.Int64N(most + 1)
			}
			want := int64(0)
			if sorted := slices.Sorted(slices.Values(list)); length > 0 {
				want = sorted[length/2]
			}
			if got := median(slices.Clone(list)); got != want {
				t.Fatalf("median of %v: %d, not %d", list, got, want)
			}
		}
	}
}
