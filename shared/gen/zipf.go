package gen

import (
	"math"
	"math/bits"
)

// zipf draws ranks 0…n-1, the rank k with a weight of 1/(k+shift)^s, by Walker's alias method. A draw takes one random
// number and at most two table entries.
type zipf struct {
	keep  []uint32 // probability, times 2^32, that a column gives its own rank
	alias []uint32 // the rank that the column gives otherwise
}

// newZipf makes the tables for the exponent s = 1 + eighths/8. It computes the eighth root as three square roots,
// because square roots are exactly rounded on every machine and powers are not.
func newZipf(n, shift, eighths int) *zipf {
	weights := make([]uint64, n)
	for k := range weights {
		x := float64(k + shift)
		root := math.Sqrt(math.Sqrt(math.Sqrt(x)))
		weight := float64(1<<40) / x
		for range eighths {
			weight /= root
		}
		weights[k] = uint64(weight) + 1
	}
	return newAlias(weights)
}

// newAlias makes the tables for any weights. The sum of the weights times their number must be less than 2^64.
func newAlias(weights []uint64) *zipf {
	n := len(weights)
	var total uint64
	for _, w := range weights {
		total += w
	}
	// Each column must have the weight total. Rank k contributes weights[k]*n to its own column; a rank with more than
	// total fills columns with less.
	fill := make([]uint64, n)
	var small, large []int
	for k, w := range weights {
		fill[k] = w * uint64(n)
		if fill[k] < total {
			small = append(small, k)
		} else {
			large = append(large, k)
		}
	}
	z := &zipf{keep: make([]uint32, n), alias: make([]uint32, n)}
	for k := range z.keep {
		z.keep[k], z.alias[k] = math.MaxUint32, uint32(k)
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		share, _ := bits.Div64(fill[s]>>32, fill[s]<<32, total)
		z.keep[s], z.alias[s] = uint32(share), uint32(l)
		fill[l] -= total - fill[s]
		if fill[l] < total {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	return z
}

func (z *zipf) draw(s *source) int {
	v := s.pcg.Uint64()
	k := uint32(v >> 32 * uint64(len(z.keep)) >> 32)
	if uint32(v) < z.keep[k] {
		return int(k)
	}
	return int(z.alias[k])
}
