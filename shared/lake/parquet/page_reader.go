package parquet

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"sync"

	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/orrery/orrery/shared/lake"
)

// pageReader reads pages of a column of a row group. It reads the format of NewWriter: data pages V1 with checksums,
// levels in RLE, values plain, delta encoded or as codes of a dictionary.
type pageReader struct {
	leaf   *leaf
	in     *bufio.Reader
	buffer *pageBuffer
	retain bool // texts stay valid when the next page is read

	entries       vector // of the dictionary
	hasDictionary bool
	numEntries    int

	// The data page read last.
	levels
	numValues  int     // with absent ones
	numPresent int     // without them
	coded      bool    // values are codes of entries
	codes      []int32 // if coded
	plain      vector  // if not
}

// readAhead is the number of bytes of a column that are read at once: a compressed page of an ordinary column.
const readAhead = 64 << 10

// pageReaders are readers of one column at a time. They are reused for their memory.
var pageReaders = sync.Pool{New: func() any { return newPageReader(readAhead, &pageBuffer{}) }}

// cursorReaders are the readers of columns of closed files, without buffers.
var cursorReaders = sync.Pool{New: func() any { return &pageReader{} }}

// newPageReader returns a reader that reads ahead by some bytes. Readers that are never used at the same time may share
// a buffer.
func newPageReader(readAhead int, buffer *pageBuffer) *pageReader {
	return &pageReader{in: bufio.NewReaderSize(nil, readAhead), buffer: buffer}
}

// pageBuffer holds a page while it is decoded.
type pageBuffer struct{ compressed, page []byte }

// vector is a list of values of one kind.
type vector struct {
	texts Texts
	ints  []int64
	bits  []byte
}

// reset starts a column. Its pages are read from in.
func (p *pageReader) reset(l *leaf, in io.Reader) {
	p.leaf, p.hasDictionary, p.numEntries = l, false, 0
	p.in.Reset(in)
}

// absentPage returns a reader as if it had read a page of rows without values.
func absentPage(l *leaf, rows int) *pageReader {
	p := &pageReader{leaf: l, numValues: rows}
	p.defs = make([]byte, rows)
	if l.maxRep > 0 {
		p.reps = make([]byte, rows)
	}
	return p
}

// next reads the next data page, and the dictionary if it comes before it. It returns io.EOF after the last page.
func (p *pageReader) next() error {
	for {
		isData, err := p.readPage()
		if err != nil || isData {
			return err
		}
	}
}

// readPage reads the next page and reports whether it is a data page; otherwise it is the dictionary.
func (p *pageReader) readPage() (isData bool, err error) {
	if _, err := p.in.Peek(1); err != nil {
		return false, err // io.EOF: the column ends here
	}
	var head format.PageHeader
	if err := thrift.NewDecoder((&thrift.CompactProtocol{}).NewReader(p.in)).Decode(&head); err != nil {
		return false, unexpected(fmt.Errorf("read page header: %w", err))
	}
	if err := p.decompress(&head); err != nil {
		return false, unexpected(err)
	}
	switch {
	case head.Type == format.DictionaryPage && head.DictionaryPageHeader.Valid:
		if err := p.readDictionary(&head.DictionaryPageHeader.V); err != nil {
			return false, fmt.Errorf("read dictionary: %w", err)
		}
		return false, nil
	case head.Type == format.DataPage && head.DataPageHeader.Valid:
		return true, p.readData(&head.DataPageHeader.V)
	}
	return false, fmt.Errorf("a page is of type %s", head.Type)
}

// unexpected replaces an io.EOF, which here does not mean the end of the column.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("the last page is cut off")
	}
	return err
}

// decompress reads and decompresses the page that follows a header.
func (p *pageReader) decompress(head *format.PageHeader) (err error) {
	if head.CompressedPageSize < 0 {
		return fmt.Errorf("a page has %d bytes", head.CompressedPageSize)
	}
	// The buffer grows with the bytes read, so a size in a damaged header allocates nothing.
	compressed := bytes.NewBuffer(p.buffer.compressed[:0])
	if n, err := io.CopyN(compressed, p.in, int64(head.CompressedPageSize)); err != nil {
		return fmt.Errorf("read page: %d of %d bytes: %w", n, head.CompressedPageSize, err)
	}
	b := p.buffer
	b.compressed = compressed.Bytes()
	if sum := crc32.ChecksumIEEE(b.compressed); sum != uint32(head.CRC) {
		return fmt.Errorf("the checksum of a page is %08x instead of %08x", sum, uint32(head.CRC))
	}
	if b.page, err = p.leaf.codec.Decode(b.page[:0], b.compressed); err != nil {
		return fmt.Errorf("decompress page: %w", err)
	}
	if len(b.page) != int(head.UncompressedPageSize) {
		return fmt.Errorf("a page has %d bytes instead of %d", len(b.page), head.UncompressedPageSize)
	}
	return nil
}

func (p *pageReader) readDictionary(head *format.DictionaryPageHeader) error {
	if p.hasDictionary {
		return errors.New("the column has one already")
	}
	if head.Encoding != format.Plain {
		return fmt.Errorf("the encoding is %s", head.Encoding)
	}
	p.hasDictionary = true
	if err := p.decode(&p.entries, &plainEncoding, p.buffer.page, int(head.NumValues)); err != nil {
		return err
	}
	p.numEntries = p.entries.len(p.leaf.kind)
	if p.numEntries != int(head.NumValues) {
		return fmt.Errorf("%d entries instead of %d", p.numEntries, head.NumValues)
	}
	return nil
}

// readData reads levels and values of a page.
func (p *pageReader) readData(head *format.DataPageHeader) (err error) {
	p.numValues, p.numPresent = int(head.NumValues), int(head.NumValues)
	if p.numValues < 0 || head.DefinitionLevelEncoding != format.RLE || head.RepetitionLevelEncoding != format.RLE {
		return fmt.Errorf("a page of %d values has levels in %s and %s",
			p.numValues, head.RepetitionLevelEncoding, head.DefinitionLevelEncoding)
	}
	data := p.buffer.page
	p.levels.reset()
	if p.leaf.maxRep > 0 {
		if p.reps, data, err = decodeLevels(&p.leaf.repCoder, p.reps, data, p.numValues); err != nil {
			return fmt.Errorf("decode repetition levels: %w", err)
		}
	}
	if p.leaf.maxDef > 0 {
		if p.defs, data, err = decodeLevels(&p.leaf.defCoder, p.defs, data, p.numValues); err != nil {
			return fmt.Errorf("decode definition levels: %w", err)
		}
		p.numPresent = bytes.Count(p.defs, []byte{p.leaf.maxDef})
	}
	if err := p.readValues(head.Encoding, data); err != nil {
		return fmt.Errorf("decode values: %w", err)
	}
	return nil
}

// decodeLevels decodes levels, which start with their length in bytes, and returns the bytes after them.
func decodeLevels(coder encoding.Encoding, dst, data []byte, count int) (levels, rest []byte, err error) {
	if len(data) < 4 {
		return nil, nil, io.ErrUnexpectedEOF
	}
	length := uint64(binary.LittleEndian.Uint32(data))
	if length > uint64(len(data)-4) {
		return nil, nil, io.ErrUnexpectedEOF
	}
	if levels, err = coder.DecodeLevels(room(dst, count), data[4:4+length]); err != nil {
		return nil, nil, err
	}
	if len(levels) < count {
		return nil, nil, fmt.Errorf("%d instead of %d", len(levels), count)
	}
	return levels[:count], data[4+length:], nil
}

func (p *pageReader) readValues(as format.Encoding, data []byte) (err error) {
	var decoded int
	p.coded = as == format.RLEDictionary
	switch {
	case p.coded && !p.hasDictionary:
		return errors.New("codes without a dictionary")
	case p.coded:
		p.codes, err = dictEncoding.DecodeInt32(room(p.codes, p.numPresent), data)
		decoded = len(p.codes)
	case as == format.Plain:
		err = p.decode(&p.plain, &plainEncoding, data, p.numPresent)
		decoded = p.plain.len(p.leaf.kind)
	case as == format.DeltaBinaryPacked && p.leaf.kind == lake.Int:
		err = p.decode(&p.plain, &deltaEncoding, data, p.numPresent)
		decoded = len(p.plain.ints)
	default:
		return fmt.Errorf("the encoding is %s", as)
	}
	if err != nil {
		return err
	}
	// Codes and bits are written in groups of eight. The last group is filled up.
	padded := p.coded || p.leaf.kind == lake.Bool
	if decoded < p.numPresent || decoded > p.numPresent && !padded || decoded >= p.numPresent+8 {
		return fmt.Errorf("%d instead of %d", decoded, p.numPresent)
	}
	if p.coded {
		p.codes = p.codes[:p.numPresent]
		for _, code := range p.codes {
			if uint32(code) >= uint32(p.numEntries) {
				return fmt.Errorf("code %d of a dictionary of %d entries", code, p.numEntries)
			}
		}
	}
	return nil
}

// decode replaces the values of a vector. Their number should be count, but may differ if the header is damaged.
func (p *pageReader) decode(v *vector, coder encoding.Encoding, data []byte, count int) (err error) {
	switch t := &v.texts; p.leaf.kind {
	case lake.Text:
		if p.retain {
			t.bytes = nil
		}
		t.bytes = slices.Grow(t.bytes[:0], len(data))
		t.bytes, t.offsets, err = coder.DecodeByteArray(t.bytes, data, room(t.offsets, count))
	case lake.Int:
		v.ints, err = coder.DecodeInt64(room(v.ints, count), data)
	case lake.Bool:
		v.bits, err = coder.DecodeBoolean(v.bits[:0], data)
	}
	return err
}

// room returns an empty slice in the memory of s, with room for count values, rounded up to a group of eight. There may
// be less room if the count is far more than the pages of this package have.
func room[T any](s []T, count int) []T {
	return slices.Grow(s[:0], min(max(count, 0), maxRoom)+8)
}

// maxRoom is the largest number of values for which memory is allocated before they are read.
const maxRoom = 1 << 17

// len returns the number of values. For bits it is an upper bound.
func (v *vector) len(kind lake.Kind) int {
	switch kind {
	case lake.Text:
		return v.texts.Len()
	case lake.Int:
		return len(v.ints)
	}
	return 8 * len(v.bits)
}

func (v *vector) bit(i int) byte { return v.bits[i/8] >> (i % 8) & 1 }

// value returns the location of value i of the page. Absent values do not count.
func (p *pageReader) value(i int) (*vector, int) {
	if p.coded {
		return &p.entries, int(p.codes[i])
	}
	return &p.plain, i
}

// numRows returns the number of rows that start on the page.
func (p *pageReader) numRows() int64 {
	if p.leaf.maxRep == 0 {
		return int64(p.numValues)
	}
	return int64(bytes.Count(p.reps, []byte{0}))
}
