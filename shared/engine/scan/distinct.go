package scan

import (
	"cmp"
	"slices"

	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// span is a range of consecutive segments: the starts of the first and of the last.
type span struct{ first, last int64 }

// overlaps returns the segments of which more than one row group can have records, ascending.
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

// distinct counts the different texts in segments that several row groups share.
type distinct struct {
	texts parquet.Dictionary
	pairs map[pair]struct{}
}

type pair struct {
	segment int64
	text    int32
}

// pairBytes is the approximate size of an element of the map.
const pairBytes = 40

func (d *distinct) bytes() int64 {
	return d.texts.Memory() + int64(len(d.pairs)*pairBytes)
}

// numbering holds the numbers of a dictionary's entries among all texts. It looks an entry up when it is needed.
type numbering struct {
	*distinct
	values  *parquet.ColumnValues
	numbers []int32 // the number plus one; 0: not looked up yet
}

func (d *distinct) numbering(values *parquet.ColumnValues) numbering {
	if d.pairs == nil {
		d.pairs = map[pair]struct{}{}
	}
	return numbering{distinct: d, values: values}
}

// add returns how many of the codes are of texts that are new in a segment.
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
