package scan

import (
	"math/rand/v2"
	"testing"

	"github.com/orrery/orrery/shared/rollup"
)

// TestAverageBounds: the average of a candidate is within its bounds, however many requests its days have.
func TestAverageBounds(t *testing.T) {
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
			of := rollup.Bounds{Averages: [3]rollup.Bound{rollup.BoundOf(float64(average))}}
			if random.IntN(4) > 0 {
				of.Counts[0] = rollup.CountBoundOf(n)
			}
			days = append(days, slowKey{bounds: of})
		}
		of, average := known.bounds(days, 0), sum/float64(count)
		if count > 0 && (average > atMost(of.most) || average < of.least-1e-12*average) {
			t.Fatalf("the average %v of %d requests is not within %v: %d requests are known, %v are bounds",
				average, count, of, known.count, days)
		}
	}
}

// TestNarrowBounds: many requests that were fast bound an average from above, and from below if it is known how many
// they are.
func TestNarrowBounds(t *testing.T) {
	t.Parallel()
	slow := keyTime{count: 1}
	slow.sum.add(60e6)
	fast := rollup.Bounds{Averages: [3]rollup.Bound{rollup.BoundOf(0.1e6)}}
	fast.Counts[0] = rollup.CountBoundOf(99)
	of := slow.bounds([]slowKey{{bounds: fast}}, 0)
	const average = (60e6 + 99*0.1e6) / 100
	if of.most < average || of.most > 1.6*average || of.least > average || of.least < average/1.6 {
		t.Errorf("the average %v has the bounds %v", average, of)
	}
}
