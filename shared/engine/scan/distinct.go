package scan

import (
	"cmp"
	"slices"

	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// span is segments one after the other, by the starts of the first and of the last.
type span struct{ first, last int64 }

// overlaps lists the segments that more than one row group can have records of, ascending.
func overlaps(groups []*group, seconds int64) []span {
	all := make([]span, len(groups))
	for i, g := range groups {
		all[i] = span{query.SegmentStart(g.MinTsMs, seconds), query.SegmentStart(g.MaxTsMs, seconds)}
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

// seen holds, for every entry of a dictionary, the last segment of its row group that has the entry.
type seen []int32

func newSeen(v *parquet.ColumnValues) seen { return make(seen, v.Entries()) }

// first reports whether an entry comes for the first time in a segment, of which the numbers ascend from 1.
func (s seen) first(code, segment int32) bool {
	if code == parquet.Absent || s[code] == segment {
		return false
	}
	s[code] = segment
	return true
}

// distinct counts the different texts of segments that several row groups have.
type distinct struct {
	texts parquet.Dictionary
	pairs map[pair]struct{}
}

type pair struct {
	segment int64
	text    int32
}

// pairBytes is about what an element of the map takes.
const pairBytes = 40

func (d *distinct) bytes() int64 {
	return d.texts.Memory() + int64(len(d.pairs)*pairBytes)
}

// numbering is the numbers of a dictionary's entries among all texts, found when they are needed.
type numbering struct {
	*distinct
	values  *parquet.ColumnValues
	numbers []int32 // 0: not found yet
}

func (d *distinct) numbering(values *parquet.ColumnValues) numbering {
	if d.pairs == nil {
		d.pairs = map[pair]struct{}{}
	}
	return numbering{distinct: d, values: values}
}

// add counts those of the codes whose texts are new to a segment.
func (n *numbering) add(segment int64, codes []int32) int64 {
	if n.numbers == nil {
		n.numbers = make([]int32, n.values.Entries())
	}
	before := len(n.pairs)
	for _, code := range codes {
		if n.numbers[code] == 0 {
			text := n.values.Texts.At(code)
			n.numbers[code] = n.texts.Code(text, parquet.Hash(text)) + 1
		}
		n.pairs[pair{segment, n.numbers[code]}] = struct{}{}
	}
	return int64(len(n.pairs) - before)
}
