package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"unicode/utf8"
	"unsafe"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/orrery/orrery/shared/lake"
)

const (
	// pageBytes is how large the values of a page get before they are encoded; row and list weights are what a row adds
	// beside. Pages of optional columns come to about 28,000 rows: a single row is found and read quickly, and a page
	// compresses well.
	pageBytes = 250 << 10
	rowWeight = 4
	// listWeight is more: lists have several values a row.
	listWeight = 8
	// indexBytes is how much of a text the page index holds.
	indexBytes = 16
)

// chunk collects the column chunk of one leaf for one row group.
type chunk struct {
	leaf   *leaf
	values values
	levels     // of the page being filled
	rows   int // of that page

	pages  bytes.Buffer // written, each with its header
	header format.ColumnMetaData
	index  format.ColumnIndex
	places []format.PageLocation // offsets count from the first page
	before int64                 // rows in the pages written
}

// workspace is what pages are made in, one after the other.
type workspace struct {
	levels, encoded, page, packed []byte
	header                        bytes.Buffer
	protocol                      thrift.CompactProtocol
	set                           codeSet
	places                        []unsafe.Pointer
}

func newChunk(l *leaf) *chunk {
	c := &chunk{leaf: l, values: valuesOf(l)}
	c.begin()
	return c
}

// begin begins a chunk.
func (c *chunk) begin() {
	l := c.leaf
	c.header = format.ColumnMetaData{
		Type: physical[l.kind], Encoding: encodingsOf(l), PathInSchema: l.path, Codec: l.codec.CompressionCodec(),
	}
	c.index = format.ColumnIndex{}
	c.places = nil
	c.before = 0
	c.pages.Reset()
	c.values.endGroup()
}

var physical = [...]format.Type{lake.Text: format.ByteArray, lake.Int: format.Int64, lake.Bool: format.Boolean}

// encodingsOf lists the encodings in a chunk, ascending.
func encodingsOf(l *leaf) (list []format.Encoding) {
	own := l.encoding.Encoding()
	if l.dictionary || own == format.Plain {
		list = append(list, format.Plain)
	}
	if l.maxDef > 0 {
		list = append(list, format.RLE)
	}
	if own != format.Plain {
		list = append(list, own)
	}
	return list
}

// add takes in the leaf's part of some rows.
func (c *chunk) add(rows []*lake.Row, w *workspace) {
	w.places = c.leaf.shred(rows, &c.levels, w.places[:0])
	c.values.add(w.places)
	c.rows += len(rows)
}

// addRaw takes in one value of a row.
func (c *chunk) addRaw(v *RawValue) {
	if v.rep == 0 {
		c.rows++
	}
	if c.leaf.maxRep > 0 {
		c.reps = append(c.reps, v.rep)
	}
	if c.leaf.maxDef > 0 {
		c.defs = append(c.defs, v.def)
	}
	if v.def == c.leaf.maxDef {
		c.values.addRaw(v)
	}
}

// pageSize is the size of the page being filled.
func (c *chunk) pageSize() int {
	n := len(c.reps) + len(c.defs) + c.values.size()
	switch {
	case c.leaf.maxRep > 0:
		n += listWeight * c.rows
	case c.leaf.maxDef > 0:
		n += rowWeight * c.rows
	}
	return n
}

// size is about how much memory the chunk takes.
func (c *chunk) size() int {
	n := c.pages.Len() + c.pageSize()
	if d := c.values.dictionary(); d != nil {
		n += d.pageSize()
	}
	return n
}

// endPage writes the page being filled.
func (c *chunk) endPage(w *workspace) error {
	if c.rows == 0 {
		return nil
	}
	if err := c.encode(w); err != nil {
		return err
	}
	count := c.rows // of values, absent ones included
	nulls := 0
	if c.leaf.maxDef > 0 {
		count = len(c.defs)
		nulls = count - bytes.Count(c.defs, []byte{c.leaf.maxDef})
	}
	head := format.PageHeader{Type: format.DataPage}
	head.DataPageHeader.Set(format.DataPageHeader{
		NumValues: int32(count), Encoding: c.leaf.encoding.Encoding(),
		DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
	})
	if err := w.pack(c, &head, w.page); err != nil {
		return err
	}
	c.places = append(c.places, format.PageLocation{
		Offset: int64(c.pages.Len()), CompressedPageSize: int32(w.header.Len() + len(w.packed)), FirstRowIndex: c.before,
	})
	c.pages.Write(w.header.Bytes())
	c.pages.Write(w.packed)
	c.header.NumValues += int64(count)
	c.header.Statistics.NullCount += int64(nulls)
	c.addBounds(nulls, w)
	c.before += int64(c.rows)
	c.rows = 0
	c.levels.reset()
	c.values.endPage()
	return nil
}

// encode makes the page, levels first, each with its length.
func (c *chunk) encode(w *workspace) (err error) {
	l := c.leaf
	w.page = w.page[:0]
	if l.maxRep > 0 {
		if w.levels, err = l.repCoder.EncodeLevels(w.levels, c.reps); err != nil {
			return fmt.Errorf("encode repetition levels of %s: %w", l.path, err)
		}
		w.page = append(binary.LittleEndian.AppendUint32(w.page, uint32(len(w.levels))), w.levels...)
	}
	if l.maxDef > 0 {
		if w.levels, err = l.defCoder.EncodeLevels(w.levels, c.defs); err != nil {
			return fmt.Errorf("encode definition levels of %s: %w", l.path, err)
		}
		w.page = append(binary.LittleEndian.AppendUint32(w.page, uint32(len(w.levels))), w.levels...)
	}
	encoded, err := c.values.encode(w.encoded[:0], l)
	if err != nil {
		return fmt.Errorf("encode values of %s: %w", l.path, err)
	}
	w.page = append(w.page, encoded...)
	return nil
}

// pack compresses a page and makes its header, which it completes; both then lie in the workspace. Their sizes are added
// to the chunk's.
func (w *workspace) pack(c *chunk, head *format.PageHeader, page []byte) (err error) {
	if w.packed, err = c.leaf.codec.Encode(w.packed[:0], page); err != nil {
		return fmt.Errorf("compress page of %s: %w", c.leaf.path, err)
	}
	head.UncompressedPageSize, head.CompressedPageSize = int32(len(page)), int32(len(w.packed))
	head.CRC = int32(crc32.ChecksumIEEE(w.packed))
	w.header.Reset()
	if err := thrift.NewEncoder(w.protocol.NewWriter(&w.header)).Encode(head); err != nil {
		return fmt.Errorf("write page header of %s: %w", c.leaf.path, err)
	}
	c.header.TotalUncompressedSize += int64(w.header.Len() + len(page))
	c.header.TotalCompressedSize += int64(w.header.Len() + len(w.packed))
	return nil
}

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

// floor is a short value that is not greater.
func (c *chunk) floor(v []byte) []byte {
	if c.leaf.kind == lake.Text && len(v) > indexBytes {
		v = v[:runeStart(v, indexBytes)]
	}
	return bytes.Clone(v)
}

// ceiling is a value that is not less, short if there is such a text.
func (c *chunk) ceiling(v []byte) []byte {
	if c.leaf.kind != lake.Text || len(v) <= indexBytes {
		return bytes.Clone(v)
	}
	for end := runeStart(v, indexBytes); end > 0; {
		last, size := utf8.DecodeLastRune(v[:end])
		end -= size
		if next := last + 1; size > 1 || last != utf8.RuneError {
			if next == 0xD800 { // the surrogates are no runes
				next = 0xE000
			}
			if next <= utf8.MaxRune {
				return utf8.AppendRune(bytes.Clone(v[:end]), next)
			}
		}
	}
	return bytes.Clone(v)
}

// runeStart is the last place up to at where a rune of the text begins.
func runeStart(text []byte, at int) int {
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// finish ends the chunk's last page and says how the pages follow one another.
func (c *chunk) finish(w *workspace) error {
	if err := c.endPage(w); err != nil {
		return err
	}
	encoding := c.leaf.encoding.Encoding()
	c.header.EncodingStats = []format.PageEncodingStats{{PageType: format.DataPage, Encoding: encoding, Count: int32(len(c.places))}}
	if c.leaf.dictionary {
		c.header.EncodingStats = append(c.header.EncodingStats, format.PageEncodingStats{PageType: format.DictionaryPage, Encoding: format.Plain, Count: 1})
	}
	if c.ascending() {
		c.index.BoundaryOrder = format.Ascending
	}
	return nil
}

// ascending tells whether the bounds of the pages ascend; pages without a value do not count.
func (c *chunk) ascending() bool {
	compare, last := c.leaf.compareStored, -1
	for i, null := range c.index.NullPages {
		if null {
			continue
		}
		if last >= 0 && (compare(c.index.MinValues[last], c.index.MinValues[i]) > 0 || compare(c.index.MaxValues[last], c.index.MaxValues[i]) > 0) {
			return false
		}
		last = i
	}
	return true
}

// packDictionary packs the dictionary page.
func (c *chunk) packDictionary(w *workspace) error {
	d := c.values.dictionary()
	w.page = d.appendPage(w.page[:0])
	head := format.PageHeader{Type: format.DictionaryPage}
	head.DictionaryPageHeader.Set(format.DictionaryPageHeader{NumValues: int32(d.Len()), Encoding: format.Plain})
	return w.pack(c, &head, w.page)
}
