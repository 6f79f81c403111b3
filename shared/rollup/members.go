package rollup

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// Member is a key of a column. If labels rank the column by times, it has bounds of these.
type Member struct {
	Hash
	Bounds
}

// Bounds tell what is known about the times of a key without its figures, in the order of query.TimeLabels.
type Bounds struct {
	Averages [3]Bound
	Counts   [3]CountBound // of the times; 0 if they were not counted
}

// CountBound tells the two leading bits of a number.
type CountBound uint8

const (
	countBits    = 5
	largestCount = 1<<countBits - 1 // 49,152 or more
)

// CountBoundOf returns the bound of a number that is not negative.
func CountBoundOf(n int64) CountBound {
	shift := max(0, bits.Len64(uint64(n))-2)
	return CountBound(min(shift<<1+int(n>>shift), largestCount))
}

// Least returns a lower bound of the number.
func (c CountBound) Least() float64 {
	if c < 2 {
		return float64(c)
	}
	return math.Ldexp(float64(2+c&1), int(c>>1)-1)
}

// Most returns an upper bound of the number.
func (c CountBound) Most() float64 {
	if c == largestCount {
		return math.Inf(1)
	}
	return (c + 1).Least() - 1
}

// Bound tells an average of times in microseconds by an upper and a lower bound, on a logarithmic scale. 0 is that of
// no times.
type Bound uint8

const little = 1e-9 // more than what platforms differ by

// perDouble is the number of bounds between a time and its double. Bounds reach up to 2⁴² microseconds.
const perDouble = 6

// most has all bounds in microseconds. Platforms may calculate them a little differently.
var most = func() (all [math.MaxUint8 + 1]float64) {
	for b := range all {
		all[b] = math.Exp2(float64(b-2) / perDouble)
	}
	all[0], all[1], all[math.MaxUint8] = math.Inf(-1), 0, math.Inf(1)
	return all
}()

// BoundOf returns a bound of an average.
func BoundOf(average float64) Bound {
	b, _ := slices.BinarySearch(most[1:], average*(1+little))
	return Bound(1 + b)
}

// Most returns the bound in microseconds.
func (b Bound) Most() float64 { return most[b] }

// Least returns a lower bound of the average in microseconds.
func (b Bound) Least() float64 {
	if b < 2 {
		return math.Inf(-1)
	}
	return most[b-1] * (1 - 2*little)
}

// members returns a set of keys: its kind, the number of leading bits of hashes, for each combination of leading bits the
// end of its keys, and for each key the bytes of its hash after these bits, and its bounds.
func members(all []Member, timed bool) []byte {
	slices.SortFunc(all, func(a, b Member) int { return a.compare(b.Hash) })
	m := Members{kind: shortMembers, lead: max(0, bits.Len(uint(len(all)))-4)}
	if timed {
		m.kind = boundedMembers
	}
	hash, bounds := m.widths()
	rest := make([]byte, 0, (hash+bounds)*len(all))
	content := []byte{m.kind, byte(m.lead)}
	next := 0
	for prefix := range 1 << m.lead {
		for ; next < len(all) && m.prefixOf(all[next].First) == prefix; next++ {
			of := &all[next]
			rest = binary.BigEndian.AppendUint64(rest, of.First<<m.lead)
			rest = rest[:len(rest)-8+hash]
			if timed {
				rest = of.Bounds.append(rest)
			}
		}
		content = binary.LittleEndian.AppendUint32(content, uint32(next))
	}
	return append(content, rest...)
}

// The kinds of sets of keys. In those without bounds, a key that is not in the set is found in it with a probability of
// 2⁻²⁰ or less, which only costs the time to read records. In the others, the probability is 2⁻³⁶ or less.
const (
	shortMembers   = 3 // 3 bytes of the hash
	averageMembers = 5 // 5 bytes of the hash, 3 bounds of averages; nobody writes it any more
	boundedMembers = 6 // 5 bytes of the hash, the bytes of Bounds
)

// Members is a set of keys, the section of MembersName.
type Members struct {
	kind       byte
	lead       int // bits
	ends, rest []byte
}

// widths returns the numbers of bytes that a key has of its hash and of bounds.
func (m *Members) widths() (hash, bounds int) {
	switch m.kind {
	case averageMembers:
		return 5, 3
	case boundedMembers:
		return 5, boundsBytes
	}
	return 3, 0
}

func (m *Members) prefixOf(first uint64) int { return int(first >> 1 >> (63 - m.lead)) }

// DecodeMembers reads the section of MembersName. The error is ErrInvalid.
func DecodeMembers(content []byte) (m Members, _ error) {
	kinds := []byte{shortMembers, averageMembers, boundedMembers}
	if len(content) < 2 || !slices.Contains(kinds, content[0]) || content[1] > 32 {
		return m, ErrInvalid
	}
	m.kind, m.lead = content[0], int(content[1])
	ends := 4 << m.lead
	if len(content) < 2+ends {
		return m, ErrInvalid
	}
	m.ends, m.rest = content[2:2+ends], content[2+ends:]
	hash, bounds := m.widths()
	if len(m.rest) != (hash+bounds)*int(binary.LittleEndian.Uint32(m.ends[ends-4:])) {
		return m, ErrInvalid
	}
	return m, nil
}

// Len returns the number of keys.
func (m *Members) Len() int {
	hash, bounds := m.widths()
	return len(m.rest) / (hash + bounds)
}

// Find returns the place and the bounds of the key with the first part of a hash, and whether there may be one.
func (m *Members) Find(first uint64) (place int, bounds Bounds, found bool) {
	prefix := m.prefixOf(first)
	hash, width := m.widths()
	width += hash
	from := 0
	if prefix > 0 {
		from = int(binary.LittleEndian.Uint32(m.ends[4*(prefix-1):])) * width
	}
	to := min(int(binary.LittleEndian.Uint32(m.ends[4*prefix:]))*width, len(m.rest))
	var word [8]byte
	binary.BigEndian.PutUint64(word[:], first<<m.lead)
	for at := from; at < to; at += width {
		if bytes.Equal(m.rest[at:at+hash], word[:hash]) {
			return at / width, boundsAt(m.rest[at+hash : at+width]), true
		}
	}
	return 0, bounds, false
}

// Hashes returns the first parts of the hashes of all keys, given their Rest. Only keys that have bounds have enough of
// their hashes; for others, the result is nil.
func (m *Members) Hashes(r *Rest) (hashes []uint64) {
	hash, bounds := m.widths()
	width := hash + bounds
	if 8*hash+restBits < 64 || len(m.rest) != width*len(r.ends) {
		return nil
	}
	for prefix := range 1 << m.lead {
		for end := int(binary.LittleEndian.Uint32(m.ends[4*prefix:])); len(hashes) < min(end, len(r.ends)); {
			var word [8]byte
			copy(word[:], m.rest[width*len(hashes):][:hash])
			first := binary.BigEndian.Uint64(word[:])>>m.lead | uint64(prefix)<<1<<(63-m.lead)
			hashes = append(hashes, first&^restEnd|uint64(r.ends[len(hashes)]))
		}
	}
	return hashes
}

const boundsBytes = 5

// append appends a byte for the bound of each average, and then two bytes with the bounds of all counts.
func (b *Bounds) append(to []byte) []byte {
	counts := uint16(0)
	for i, average := range b.Averages {
		to = append(to, byte(average))
		counts |= uint16(b.Counts[i]) << (i * countBits)
	}
	return binary.LittleEndian.AppendUint16(to, counts)
}

// boundsAt returns the bounds in the bytes of a key after its hash.
func boundsAt(content []byte) (b Bounds) {
	if len(content) == 0 {
		return b
	}
	for i := range b.Averages {
		b.Averages[i] = Bound(content[i])
	}
	if len(content) == boundsBytes {
		counts := binary.LittleEndian.Uint16(content[len(b.Averages):])
		for i := range b.Counts {
			b.Counts[i] = CountBound(counts >> (i * countBits) & largestCount)
		}
	}
	return b
}
