package gen

import (
	"math"
	"testing"
)

// TestZipf compares the frequencies of ranks with their weights.
func TestZipf(t *testing.T) {
	const n, shift, draws = 50, 3, 200_000
	z := newZipf(n, shift, 2)
	s := newSource(1, streamRequests)
	counts := make([]float64, n)
	for range draws {
		counts[z.draw(&s)]++
	}
	var total float64
	for k := range n {
		total += math.Pow(float64(k+shift), -1.25)
	}
	for k, got := range counts {
		want := draws * math.Pow(float64(k+shift), -1.25) / total
		if math.Abs(got-want) > 5*math.Sqrt(want) {
			t.Errorf("rank %d was drawn %v times, want about %.0f", k, got, want)
		}
	}
}

func TestCurve(t *testing.T) {
	c := curve{{0, 100}, {500, 200}, {1000, 1000}}
	s := newSource(1, streamRequests)
	below := 0
	for range 10_000 {
		v := c.draw(&s)
		if v < 100 || v >= 1000 {
			t.Fatalf("drew %d", v)
		}
		if v < 200 {
			below++
		}
	}
	if below < 4_800 || below > 5_200 {
		t.Errorf("%d of 10,000 draws are below the median", below)
	}
}
