package scan

import (
	"math/rand/v2"
	"testing"

	"github.com/orrery/orrery/shared/rollup"
)

// TestMostAverage: no candidate has a higher average than most tells from its bounds.
func TestMostAverage(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		known := keyTime{count: random.Int64N(3)}
		known.sum.add(known.count * random.Int64N(1<<26))
		sum, count := known.sum.float(), known.count
		var days []slowKey
		for range random.IntN(4) {
			n, average := 1+random.Int64N(1000)*random.Int64N(2), random.Int64N(1<<26)
			sum, count = sum+float64(n*average), count+n
			days = append(days, slowKey{bounds: rollup.Bounds{
				Averages: [3]rollup.Bound{rollup.BoundOf(float64(average))}, Least: rollup.LeastOf(n),
			}})
		}
		if most := known.most(days, 0); count > 0 && sum/float64(count) > most {
			t.Fatalf("the average %v of %d requests is above the bound %v: %d requests are known, %v are bounds",
				sum/float64(count), count, most, known.count, days)
		}
	}
}
