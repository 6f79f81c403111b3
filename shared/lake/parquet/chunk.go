package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"unsafe"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/orrery/orrery/shared/lake"
)

const (
	// pageBytes is the size of the values of a page before encoding. Row and list weights are the bytes that a row adds
	// to them. Pages of optional columns have about 28,000 rows, so that a single row is found and read quickly, and a
	// page compresses well.
	pageBytes = 250 << 10
	rowWeight = 4
	// listWeight is greater, because lists have several values per row.
	listWeight = 8
)

// chunk collects the column chunk of one leaf for one row group.
type chunk struct {
	leaf   *leaf
	values pageValues
	levels     // of the page being filled
	rows   int // of that page

	pages     bytes.Buffer // written, each with its header
	header    format.ColumnMetaData
	index     format.ColumnIndex
	locations []format.PageLocation // of the pages written; offsets count from the first
	firstRow  int64                 // of the page being filled, in the group
}

// workspace is the memory in which pages are encoded, one after the other.
type workspace struct {
	levels, encoded, page, compressed []byte
	header                            bytes.Buffer
	protocol                          thrift.CompactProtocol
	set                               codeSet
	values                            []unsafe.Pointer
}

func newChunk(l *leaf) *chunk {
	c := &chunk{leaf: l, values: newPageValues(l)}
	c.begin()
	return c
}

// begin starts a chunk.
func (c *chunk) begin() {
	l := c.leaf
	c.header = format.ColumnMetaData{
		Type: physical[l.kind], Encoding: encodingsOf(l), PathInSchema: l.path, Codec: l.codec.CompressionCodec(),
	}
	c.index = format.ColumnIndex{}
	c.locations = nil
	c.firstRow = 0
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

// add adds the leaf's part of some rows.
func (c *chunk) add(rows []*lake.Row, w *workspace) {
	w.values = c.leaf.shred(rows, &c.levels, w.values[:0])
	c.values.add(w.values)
	c.rows += len(rows)
}

// addRaw adds one value of a row.
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

// pageSize returns the size of the page being filled.
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

// size estimates the memory of the chunk in bytes.
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
	count := c.rows // of values, including absent ones
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
	if err := w.compress(c, &head, w.page); err != nil {
		return err
	}
	c.locations = append(c.locations, format.PageLocation{
		Offset:             int64(c.pages.Len()),
		CompressedPageSize: int32(w.header.Len() + len(w.compressed)),
		FirstRowIndex:      c.firstRow,
	})
	c.pages.Write(w.header.Bytes())
	c.pages.Write(w.compressed)
	c.header.NumValues += int64(count)
	c.header.Statistics.NullCount += int64(nulls)
	c.addBounds(nulls, w)
	c.firstRow += int64(c.rows)
	c.rows = 0
	c.levels.reset()
	c.values.endPage()
	return nil
}

// encode encodes the page: levels first, each with their length.
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

// compress compresses a page and encodes its header, which it completes, into the workspace. It adds their sizes to the
// sizes of the chunk.
func (w *workspace) compress(c *chunk, head *format.PageHeader, page []byte) (err error) {
	if w.compressed, err = c.leaf.codec.Encode(w.compressed[:0], page); err != nil {
		return fmt.Errorf("compress page of %s: %w", c.leaf.path, err)
	}
	head.UncompressedPageSize, head.CompressedPageSize = int32(len(page)), int32(len(w.compressed))
	head.CRC = int32(crc32.ChecksumIEEE(w.compressed))
	w.header.Reset()
	if err := thrift.NewEncoder(w.protocol.NewWriter(&w.header)).Encode(head); err != nil {
		return fmt.Errorf("write page header of %s: %w", c.leaf.path, err)
	}
	c.header.TotalUncompressedSize += int64(w.header.Len() + len(page))
	c.header.TotalCompressedSize += int64(w.header.Len() + len(w.compressed))
	return nil
}

// finish ends the chunk's last page and completes the description of the chunk.
func (c *chunk) finish(w *workspace) error {
	if err := c.endPage(w); err != nil {
		return err
	}
	encoding := c.leaf.encoding.Encoding()
	pages := int32(len(c.locations))
	stats := []format.PageEncodingStats{{PageType: format.DataPage, Encoding: encoding, Count: pages}}
	if c.leaf.dictionary {
		stats = append(stats, format.PageEncodingStats{
			PageType: format.DictionaryPage,
			Encoding: format.Plain,
			Count:    1,
		})
	}
	c.header.EncodingStats = stats
	if c.ascending() {
		c.index.BoundaryOrder = format.Ascending
	}
	return nil
}

// compressDictionary compresses the dictionary page.
func (c *chunk) compressDictionary(w *workspace) error {
	d := c.values.dictionary()
	w.page = d.appendPage(w.page[:0])
	head := format.PageHeader{Type: format.DictionaryPage}
	head.DictionaryPageHeader.Set(format.DictionaryPageHeader{NumValues: int32(d.Len()), Encoding: format.Plain})
	return w.compress(c, &head, w.page)
}
