package parquet

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/lake"
)

// indexBytes is how many bytes of a text the page index holds.
const indexBytes = 16

// addBounds adds the page to the page index and to the statistics of the chunk.
func (c *chunk) addBounds(nulls int, w *workspace) {
	x, all := &c.index, &c.header.Statistics
	x.NullCounts = append(x.NullCounts, int64(nulls))
	x.NullPages = append(x.NullPages, c.values.empty())
	if c.values.empty() {
		x.MinValues, x.MaxValues = append(x.MinValues, []byte{}), append(x.MaxValues, []byte{})
		return
	}
	least, greatest := c.values.bounds(&w.set)
	x.MinValues, x.MaxValues = append(x.MinValues, c.floor(least)), append(x.MaxValues, c.ceiling(greatest))
	compare := c.leaf.compareStored
	if all.MinValue == nil || compare(least, all.MinValue) < 0 {
		all.MinValue = append([]byte{}, least...)
	}
	if all.MaxValue == nil || compare(greatest, all.MaxValue) > 0 {
		all.MaxValue = append([]byte{}, greatest...)
	}
}

// floor returns a short value that is not greater than the given one.
func (c *chunk) floor(v []byte) []byte {
	if c.leaf.kind == lake.Text && len(v) > indexBytes {
		v = v[:runeStart(v, indexBytes)]
	}
	return bytes.Clone(v)
}

// ceiling returns a value that is not less than the given one: a short one if one exists.
func (c *chunk) ceiling(v []byte) []byte {
	if c.leaf.kind != lake.Text || len(v) <= indexBytes {
		return bytes.Clone(v)
	}
	for end := runeStart(v, indexBytes); end > 0; {
		last, size := utf8.DecodeLastRune(v[:end])
		end -= size
		if next := last + 1; size > 1 || last != utf8.RuneError {
			if next == 0xD800 { // surrogates are not runes
				next = 0xE000
			}
			if next <= utf8.MaxRune {
				return utf8.AppendRune(bytes.Clone(v[:end]), next)
			}
		}
	}
	return bytes.Clone(v)
}

// runeStart returns the greatest index, at most at, where a rune of the text begins.
func runeStart(text []byte, at int) int {
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// ascending reports whether the bounds of the pages ascend; pages without a value do not count.
func (c *chunk) ascending() bool {
	compare, last := c.leaf.compareStored, -1
	for i, null := range c.index.NullPages {
		if null {
			continue
		}
		least, greatest := c.index.MinValues, c.index.MaxValues
		if last >= 0 && (compare(least[last], least[i]) > 0 || compare(greatest[last], greatest[i]) > 0) {
			return false
		}
		last = i
	}
	return true
}

// compareStored orders two values as statistics hold them.
func (l *leaf) compareStored(a, b []byte) int {
	if l.kind == lake.Int {
		return cmp.Compare(int64(binary.LittleEndian.Uint64(a)), int64(binary.LittleEndian.Uint64(b)))
	}
	return bytes.Compare(a, b)
}

func storedInt(v int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(v)) }
