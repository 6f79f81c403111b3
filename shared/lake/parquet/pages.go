package parquet

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/orrery/orrery/shared/lake"
)

// pages reads the pages of a column of a row group, one after the other. Those of NewWriter are read, and others like
// them: data pages V1 with checksums, levels in RLE, values plain, delta encoded or by dictionary.
type pages struct {
	leaf  *leaf
	room  *pageRoom
	brief bool // texts are not looked at once the next page is read
	in    bufio.Reader

	entries    column // of the dictionary
	dictionary bool   // there is one

	// The page read last. The values are those that are there.
	levels
	count  int     // of values, absent ones included
	there  int     // of values that are there
	coded  bool    // they are codes of entries
	codes  []int32 // if coded
	values column  // if not
}

// pageRoom is what pages are decoded in; the columns that are read in turn share one.
type pageRoom struct{ packed, page []byte }

// column is values one after the other, all of one kind.
type column struct {
	texts []byte
	ends  []uint32 // where each text begins, and where the last one ends
	ints  []int64
	bits  []byte
}

// next reads the next data page; io.EOF after the last one. Texts of earlier pages stay valid unless the pages are brief.
func (p *pages) next() error {
	for {
		if _, err := p.in.Peek(1); err != nil {
			return err // io.EOF: the column ends here
		}
		var head format.PageHeader
		if err := thrift.NewDecoder((&thrift.CompactProtocol{}).NewReader(&p.in)).Decode(&head); err != nil {
			return unexpected(fmt.Errorf("read page header: %w", err))
		}
		if err := p.unpack(&head); err != nil {
			return unexpected(err)
		}
		switch {
		case head.Type == format.DictionaryPage && head.DictionaryPageHeader.Valid:
			if err := p.readDictionary(&head.DictionaryPageHeader.V); err != nil {
				return fmt.Errorf("read dictionary: %w", err)
			}
		case head.Type == format.DataPage && head.DataPageHeader.Valid:
			return p.readData(&head.DataPageHeader.V)
		default:
			return fmt.Errorf("a page is of type %s", head.Type)
		}
	}
}

// unexpected is an error that is not the end of the column.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("the last page is cut off")
	}
	return err
}

// unpack reads what follows on a page header, and decompresses it.
func (p *pages) unpack(head *format.PageHeader) (err error) {
	if head.CompressedPageSize < 0 {
		return fmt.Errorf("a page has %d bytes", head.CompressedPageSize)
	}
	packed := bytes.NewBuffer(p.room.packed[:0]) // grows with what is there, not with what a damaged header says
	if n, err := io.CopyN(packed, &p.in, int64(head.CompressedPageSize)); err != nil {
		return fmt.Errorf("read page: %d of %d bytes: %w", n, head.CompressedPageSize, err)
	}
	p.room.packed = packed.Bytes()
	if sum := crc32.ChecksumIEEE(p.room.packed); sum != uint32(head.CRC) {
		return fmt.Errorf("the checksum of a page is %08x instead of %08x", sum, uint32(head.CRC))
	}
	if p.room.page, err = p.leaf.codec.Decode(p.room.page[:0], p.room.packed); err != nil {
		return fmt.Errorf("decompress page: %w", err)
	}
	if len(p.room.page) != int(head.UncompressedPageSize) {
		return fmt.Errorf("a page has %d bytes instead of %d", len(p.room.page), head.UncompressedPageSize)
	}
	return nil
}

func (p *pages) readDictionary(head *format.DictionaryPageHeader) error {
	if p.dictionary {
		return errors.New("there is one already")
	}
	if head.Encoding != format.Plain {
		return fmt.Errorf("the encoding is %s", head.Encoding)
	}
	p.dictionary = true
	if err := p.decode(&p.entries, &plainEncoding, p.room.page); err != nil {
		return err
	}
	if n := p.entries.len(p.leaf.kind); n != int(head.NumValues) {
		return fmt.Errorf("%d entries instead of %d", n, head.NumValues)
	}
	return nil
}

// readData reads levels and values of a page.
func (p *pages) readData(head *format.DataPageHeader) (err error) {
	p.count, p.there = int(head.NumValues), int(head.NumValues)
	if p.count < 0 || head.DefinitionLevelEncoding != format.RLE || head.RepetitionLevelEncoding != format.RLE {
		return fmt.Errorf("a page of %d values has levels in %s and %s", p.count, head.RepetitionLevelEncoding, head.DefinitionLevelEncoding)
	}
	data := p.room.page
	if p.leaf.maxRep > 0 {
		if p.reps, data, err = decodeLevels(&p.leaf.repCoder, p.reps, data, p.count); err != nil {
			return fmt.Errorf("decode repetition levels: %w", err)
		}
	}
	if p.leaf.maxDef > 0 {
		if p.defs, data, err = decodeLevels(&p.leaf.defCoder, p.defs, data, p.count); err != nil {
			return fmt.Errorf("decode definition levels: %w", err)
		}
		p.there = bytes.Count(p.defs, []byte{p.leaf.maxDef})
	}
	if err := p.readValues(head.Encoding, data); err != nil {
		return fmt.Errorf("decode values: %w", err)
	}
	return nil
}

// decodeLevels decodes levels, which say how many bytes they take, and returns what follows.
func decodeLevels(coder encoding.Encoding, dst, data []byte, count int) (levels, rest []byte, err error) {
	if len(data) < 4 {
		return nil, nil, io.ErrUnexpectedEOF
	}
	length := uint64(binary.LittleEndian.Uint32(data))
	if length > uint64(len(data)-4) {
		return nil, nil, io.ErrUnexpectedEOF
	}
	if levels, err = coder.DecodeLevels(dst[:0], data[4:4+length]); err != nil {
		return nil, nil, err
	}
	if len(levels) < count {
		return nil, nil, fmt.Errorf("%d instead of %d", len(levels), count)
	}
	return levels[:count], data[4+length:], nil
}

func (p *pages) readValues(as format.Encoding, data []byte) (err error) {
	var have int
	p.coded = as == format.RLEDictionary
	switch {
	case p.coded && !p.dictionary:
		return errors.New("codes of no dictionary")
	case p.coded:
		p.codes, err = dictEncoding.DecodeInt32(p.codes[:0], data)
		have = len(p.codes)
	case as == format.Plain:
		err = p.decode(&p.values, &plainEncoding, data)
		have = p.values.len(p.leaf.kind)
	case as == format.DeltaBinaryPacked && p.leaf.kind == lake.Int:
		err = p.decode(&p.values, &deltaEncoding, data)
		have = len(p.values.ints)
	default:
		return fmt.Errorf("the encoding is %s", as)
	}
	if err != nil {
		return err
	}
	eights := p.coded || p.leaf.kind == lake.Bool // are written, the last ones beyond the end
	if have < p.there || have > p.there && !eights || have >= p.there+8 {
		return fmt.Errorf("%d instead of %d", have, p.there)
	}
	if p.coded {
		entries := uint32(p.entries.len(p.leaf.kind))
		for _, code := range p.codes[:p.there] {
			if uint32(code) >= entries {
				return fmt.Errorf("a code is none of %d entries", entries)
			}
		}
	}
	return nil
}

// decode fills the column.
func (p *pages) decode(c *column, coder encoding.Encoding, data []byte) (err error) {
	switch p.leaf.kind {
	case lake.Text:
		if !p.brief {
			c.texts = make([]byte, 0, len(data))
		}
		c.texts, c.ends, err = coder.DecodeByteArray(c.texts[:0], data, c.ends[:0])
	case lake.Int:
		c.ints, err = coder.DecodeInt64(c.ints[:0], data)
	case lake.Bool:
		c.bits, err = coder.DecodeBoolean(c.bits[:0], data)
	}
	return err
}

// len is how many values there are; of bits, how many there may be.
func (c *column) len(kind lake.Kind) int {
	switch kind {
	case lake.Text:
		return max(0, len(c.ends)-1)
	case lake.Int:
		return len(c.ints)
	}
	return 8 * len(c.bits)
}

// at is a value of the page, of those that are there.
func (p *pages) at(i int) RawValue {
	from := &p.values
	if p.coded {
		from, i = &p.entries, int(p.codes[i])
	}
	v := RawValue{kind: p.leaf.kind}
	switch p.leaf.kind {
	case lake.Text:
		v.setText(from.texts[from.ends[i]:from.ends[i+1]])
	case lake.Int:
		v.number = uint64(from.ints[i])
	case lake.Bool:
		v.number = uint64(from.bits[i/8] >> (i % 8) & 1)
	}
	return v
}

// rows is how many rows begin on the page.
func (p *pages) rows() int64 {
	if p.leaf.maxRep == 0 {
		return int64(p.count)
	}
	return int64(bytes.Count(p.reps, []byte{0}))
}
