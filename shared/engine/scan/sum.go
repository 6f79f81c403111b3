package scan

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
)

// sum is a sum of integers of 64 bits. It has 128 bits, so no number of records makes it overflow.
type sum struct {
	low  uint64
	high int64
}

func (s *sum) add(n int64) {
	low, carry := bits.Add64(s.low, uint64(n), 0)
	s.low = low
	s.high += n>>63 + int64(carry)
}

func (s *sum) join(other sum) {
	low, carry := bits.Add64(s.low, other.low, 0)
	s.low = low
	s.high += other.high + int64(carry)
}

func (s sum) compare(other sum) int {
	return cmp.Or(cmp.Compare(s.high, other.high), cmp.Compare(s.low, other.low))
}

// whole returns the sum as answers have it: the nearest integer of 64 bits.
func (s sum) whole() int64 {
	switch {
	case s.fits():
		return int64(s.low)
	case s.high < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

// fits reports whether the sum is an integer of 64 bits.
func (s sum) fits() bool { return s.high == int64(s.low)>>63 }

// errLongTimes is the error of a rank by times if a key's times have a negative sum in a row group and a sum of more
// than 64 bits. Then the averages in the row groups do not bound the average over all of them.
var errLongTimes = fmt.Errorf("%w: a sum of negative times has more than 64 bits", ErrUnsupported)

// float returns the sum, rounded.
func (s sum) float() float64 {
	if s.fits() {
		return float64(int64(s.low))
	}
	return float64(s.high)*(1<<64) + float64(s.low)
}
