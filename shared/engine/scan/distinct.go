package scan

import (
	"cmp"
	"slices"

	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// span is a range of consecutive segments: the starts of the first and of the last.
type span struct{ first, last int64 }

// overlaps returns the segments that may have records in more than one row group, ascending.
func overlaps(groups []*group, segments query.Segmentation) []span {
	all := make([]span, len(groups))
	for i, g := range groups {
		all[i] = span{segments.Start(g.MinTsMs), segments.Start(g.MaxTsMs)}
	}
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.first, b.first) })
	var shared []span
	for i := 1; i < len(all); i++ {
		last := all[i-1].last // the last segment of all spans before
		if all[i].first <= last {
			both := span{all[i].first, min(all[i].last, last)}
			if n := len(shared); n > 0 && both.first <= shared[n-1].last {
				shared[n-1].last = max(shared[n-1].last, both.last)
			} else {
				shared = append(shared, both)
			}
		}
		all[i].last = max(all[i].last, last)
	}
	return shared
}

// within reports whether a segment is in one of the spans.
func within(spans []span, start int64) bool {
	i, _ := slices.BinarySearchFunc(spans, start, func(s span, start int64) int { return cmp.Compare(s.last, start) })
	return i < len(spans) && spans[i].first <= start
}

// seen holds, for each entry of a dictionary, the last segment of the row group that has the entry.
type seen []int32

func newSeen(v *parquet.ColumnValues) seen { return make(seen, v.Entries()) }

// first reports whether an entry occurs for the first time in a segment. Segments are numbered from 1, ascending.
func (s seen) first(code, segment int32) bool {
	if code == parquet.Absent || s[code] == segment {
		return false
	}
	s[code] = segment
	return true
}

// distinct counts the different texts of segments that several row groups have. It numbers the texts by their hashes,
// and keeps a set of numbers for every segment.
type distinct struct {
	texts textTable
	sets  map[int64]*numberSet // by the start of the segment
	pages int64                // of all sets
}

// bytes returns about how much memory the texts and sets take.
func (d *distinct) bytes() int64 { return d.texts.bytes() + d.pages*(pageBytes+pointerBytes) }

// numberSet is a set of numbers in pages. Pages without a number are nil.
type numberSet []*[pageBytes / 8]uint64

const (
	pageBytes    = 128
	pageBits     = 8 * pageBytes
	pointerBytes = 8
	numberBytes  = 4
)

// add adds a number. It reports whether the number is new to the set and whether the set has one page more.
func (s *numberSet) add(number int32) (isNew, grown bool) {
	page, bit := int(number)/pageBits, uint(number)%pageBits
	if page >= len(*s) {
		*s = append(*s, make([]*[pageBytes / 8]uint64, page+1-len(*s))...)
	}
	words := (*s)[page]
	if words == nil {
		words, grown = new([pageBytes / 8]uint64), true
		(*s)[page] = words
	}
	isNew = words[bit/64]>>(bit%64)&1 == 0
	words[bit/64] |= 1 << (bit % 64)
	return isNew, grown
}

// textSets are the sets of different texts that a row group has in some segments.
type textSets struct {
	texts []textHash
	sets  [][]int32 // indexes in texts
}

// textSetsOf returns the sets of the texts that codes have and that the timeline counts in this pass.
func textSetsOf(t *timeline, values *parquet.ColumnValues, sets [][]int32) (found textSets) {
	const elsewhere = -1
	numbers := make([]int32, values.Entries()) // plus one; 0: not hashed yet
	found.sets = make([][]int32, len(sets))
	for i, codes := range sets {
		set := make([]int32, 0, len(codes)>>t.bits)
		for _, code := range codes {
			if numbers[code] == 0 {
				numbers[code] = elsewhere
				if text := t.run.textHash(values.Texts.At(code)); t.counts(text) {
					found.texts = append(found.texts, text)
					numbers[code] = int32(len(found.texts))
				}
			}
			if numbers[code] != elsewhere {
				set = append(set, numbers[code]-1)
			}
		}
		found.sets[i] = set
	}
	return found
}

func (t *textSets) bytes() int64 {
	bytes := int64(cap(t.texts)) * textHashBytes
	for _, set := range t.sets {
		bytes += int64(cap(set)) * numberBytes
	}
	return bytes
}

// numbers returns the numbers of the texts of a row group. It adds new texts.
func (d *distinct) numbers(of *textSets) []int32 {
	numbers := make([]int32, len(of.texts))
	for i, text := range of.texts {
		numbers[i] = int32(d.texts.add(text))
	}
	return numbers
}

// add adds a set of texts to a segment, and returns how many of them are new to it.
func (d *distinct) add(segment int64, texts, numbers []int32) (added int64) {
	set := d.sets[segment]
	if set == nil {
		if d.sets == nil {
			d.sets = map[int64]*numberSet{}
		}
		set = &numberSet{}
		d.sets[segment] = set
	}
	for _, text := range texts {
		isNew, grown := set.add(numbers[text])
		if isNew {
			added++
		}
		if grown {
			d.pages++
		}
	}
	return added
}
