package query

import (
	"bytes"
	"hash/maphash"
	"slices"
	"sort"
)

// PackedTexts are texts in one piece of memory, one after the other. Their numbers count from 0.
type PackedTexts struct {
	Bytes []byte
	Ends  []uint32 // of each text
}

// NewPackedTexts returns an empty list with room for so many texts of so many bytes.
func NewPackedTexts(texts, bytes int) PackedTexts {
	return PackedTexts{make([]byte, 0, bytes), make([]uint32, 0, texts)}
}

// Add adds a text.
func (l *PackedTexts) Add(text []byte) {
	l.Bytes = append(l.Bytes, text...)
	l.Ends = append(l.Ends, uint32(len(l.Bytes)))
}

// Grow makes room for further texts of so many bytes.
func (l *PackedTexts) Grow(texts, bytes int) {
	l.Bytes, l.Ends = slices.Grow(l.Bytes, bytes), slices.Grow(l.Ends, texts)
}

// Len returns the number of texts.
func (l *PackedTexts) Len() int { return len(l.Ends) }

// At returns a text, which must not be changed.
func (l *PackedTexts) At(i int32) []byte {
	start := uint32(0)
	if i > 0 {
		start = l.Ends[i-1]
	}
	return l.Bytes[start:l.Ends[i]]
}

// Memory returns about how many bytes the list takes.
func (l *PackedTexts) Memory() int64 { return int64(cap(l.Bytes)) + int64(cap(l.Ends))*4 }

// Texts are the texts of several lists. The numbers of a list follow those of the list before. A text may be there several
// times.
type Texts struct {
	Lists []PackedTexts
	First []int32 // the number of the first text of each list
	N     int32
}

// Append adds the texts of a list, and returns the number of the first of them.
func (t *Texts) Append(l PackedTexts) (first int32) {
	first = t.N
	if l.Len() > 0 {
		t.Lists, t.First, t.N = append(t.Lists, l), append(t.First, first), first+int32(l.Len())
	}
	return first
}

// Len returns the number of texts.
func (t *Texts) Len() int { return int(t.N) }

// At returns a text, which must not be changed.
func (t *Texts) At(i int32) []byte {
	list := sort.Search(len(t.First), func(at int) bool { return t.First[at] > i }) - 1
	return t.Lists[list].At(i - t.First[list])
}

// Same returns a function that returns the same number for equal texts of a field: the number of one of them.
func (t *Texts) Same() func(i int32) int32 {
	if len(t.Lists) < 2 { // a list has each text of a field once
		return func(i int32) int32 { return i }
	}
	numbers, known := make([]int32, t.N), sameTexts{of: t, seed: maphash.MakeSeed()} // numbers are plus one; 0: not known yet
	return func(i int32) int32 {
		if numbers[i] == 0 {
			numbers[i] = known.number(i) + 1
		}
		return numbers[i] - 1
	}
}

// sameTexts is a hash table, with linear probing, of the numbers of different texts.
type sameTexts struct {
	of    *Texts
	seed  maphash.Seed
	slots []uint64 // the upper half of a hash, then a number plus one; 0: empty
	n     int
}

// number returns the number of the first text that number was called for and that is equal.
func (s *sameTexts) number(i int32) int32 {
	if 2*s.n >= len(s.slots) {
		s.grow()
	}
	text := s.of.At(i)
	hash := maphash.Bytes(s.seed, text) >> 32
	at := s.place(hash, func(number int32) bool { return bytes.Equal(s.of.At(number), text) })
	if *at == 0 {
		*at = hash<<32 | uint64(i+1)
		s.n++
	}
	return int32(uint32(*at)) - 1
}

// place returns the slot of the text with a hash that is equal, or the empty slot where it goes.
func (s *sameTexts) place(hash uint64, equal func(number int32) bool) *uint64 {
	mask := uint64(len(s.slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		slot := &s.slots[at]
		if *slot == 0 || *slot>>32 == hash && equal(int32(uint32(*slot))-1) {
			return slot
		}
	}
}

func (s *sameTexts) grow() {
	old := s.slots
	s.slots = make([]uint64, max(1<<10, 2*len(old)))
	for _, slot := range old {
		if slot != 0 {
			*s.place(slot>>32, func(int32) bool { return false }) = slot
		}
	}
}
