package scan

import "fmt"

// sum is a sum of integers that detects an overflow of 64 bits on the way.
type sum struct{ n, passed int64 } // passed is negative after an overflow

func (s *sum) add(n int64) {
	total := s.n + n
	s.passed |= (s.n ^ total) & (n ^ total)
	s.n = total
}

func (s *sum) join(other sum) {
	s.add(other.n)
	s.passed |= other.passed
}

// whole returns ErrUnsupported if one of the sums has overflowed.
func whole(sums ...sum) error {
	for _, s := range sums {
		if s.passed < 0 {
			return fmt.Errorf("%w: a sum passes 64 bits", ErrUnsupported)
		}
	}
	return nil
}
