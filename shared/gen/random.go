package gen

import (
	"math/bits"
	"math/rand/v2"
)

// The streams of random numbers. They are independent: client 7, for example, does not depend on the requests before.
const (
	streamRequests = 1 << 32 * (iota + 1)
	streamClock
	streamNasty
	streamClients
	streamAgents
	streamPaths
	streamReferers
	streamNetworks
	streamNewcomers
	streamScenes
	streamAttackers
	streamChanges
)

// source is the only source of randomness. It uses rand.PCG, which has a specified sequence, and no method of
// rand.Rand, because the methods may use the sequence differently in another version of Go.
type source struct{ pcg rand.PCG }

func newSource(seed, stream uint64) source {
	s := source{}
	s.pcg.Seed(seed, stream)
	s.pcg.Uint64() // skip the first number, which is similar in neighboring streams
	return s
}

// below returns a number from 0 to n-1.
func (s *source) below(n int) int {
	hi, _ := bits.Mul64(s.pcg.Uint64(), uint64(n))
	return int(hi)
}

// between returns a number from low to high, both included.
func (s *source) between(low, high int) int { return low + s.below(high-low+1) }

// oneIn returns true with a probability of 1/n.
func (s *source) oneIn(n int) bool { return s.below(n) == 0 }

// perMille returns true with a probability of n/1000.
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

// curve is a distribution given by quantiles: perMille of all draws are below value. It is linear between the
// quantiles. The first is at 0 per mille, the last at 1000.
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
