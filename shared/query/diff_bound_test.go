package query

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestValuesThatCannotReach: the bound that spares logarithms is never lower than the score, and it spares most values
// that are as frequent on both sides.
func TestValuesThatCannotReach(t *testing.T) {
	const values = 100_000
	random := rand.New(rand.NewPCG(1, 2))
	least := minScore + 2*math.Log(values)
	alike, spared := 0, 0
	for range values {
		all := Sides{Selected: 1 + random.Int64N(1<<random.IntN(40)), Baseline: 1 + random.Int64N(1<<random.IntN(40))}
		n := Sides{Selected: random.Int64N(all.Selected + 1), Baseline: random.Int64N(all.Baseline + 1)}
		isAlike := random.IntN(2) == 0
		if isAlike {
			share := random.Float64()
			n = Sides{Selected: int64(share * float64(all.Selected)), Baseline: int64(share * float64(all.Baseline))}
			alike++
		}
		score := scoreOf(n, all)
		cannot := cannotReach(least, n, all)
		if cannot && score >= least {
			t.Fatalf("%+v of %+v has the score %g, of at least %g", n, all, score, least)
		}
		if isAlike && cannot {
			spared++
		}
	}
	if spared < alike*9/10 {
		t.Errorf("only %d of %d values that are as frequent on both sides are spared", spared, alike)
	}
}
