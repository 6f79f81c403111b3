package gen

import (
	"math/bits"
	"math/rand/v2"
)

// Streams of chance that do not disturb each other: what client 7 is does not depend on which requests came before.
const (
	streamRequests = 1 << 32 * (iota + 1)
	streamClock
	streamNasty
	streamClients
	streamAgents
	streamPaths
	streamReferers
	streamNetworks
)

// source is the only source of chance. It uses rand.PCG, whose sequence is fixed, and none of the methods of
// rand.Rand, whose use of that sequence is not.
type source struct{ pcg rand.PCG }

func newSource(seed, stream uint64) source {
	s := source{}
	s.pcg.Seed(seed, stream)
	s.pcg.Uint64() // neighbouring streams start alike
	return s
}

// below is a number from 0 to n-1.
func (s *source) below(n int) int {
	hi, _ := bits.Mul64(s.pcg.Uint64(), uint64(n))
	return int(hi)
}

// between is a number from low to high, both included.
func (s *source) between(low, high int) int { return low + s.below(high-low+1) }

// oneIn is true once in n times.
func (s *source) oneIn(n int) bool { return s.below(n) == 0 }

// perMille is true n times in a thousand.
func (s *source) perMille(n int) bool { return s.below(1000) < n }

// appendHex appends n hexadecimal digits.
func (s *source) appendHex(dst []byte, n int) []byte {
	const digits = "0123456789abcdef"
	for n > 0 {
		v := s.pcg.Uint64()
		for range min(n, 16) {
			dst = append(dst, digits[v&15])
			v >>= 4
		}
		n -= 16
	}
	return dst
}

func (s *source) hex(n int) string { return string(s.appendHex(nil, n)) }

func pick[T any](s *source, list []T) T { return list[s.below(len(list))] }

// curve is a distribution given by its quantiles, straight lines between them: the value below which so many
// per mille of all draws lie. It starts at 0 and ends at 1000.
type curve []struct{ perMille, value int }

func (c curve) draw(s *source) int {
	u := s.below(1000 << 10)
	i := 1
	for u >= c[i].perMille<<10 {
		i++
	}
	a, b := c[i-1], c[i]
	return a.value + (b.value-a.value)*(u-a.perMille<<10)/((b.perMille-a.perMille)<<10)
}
