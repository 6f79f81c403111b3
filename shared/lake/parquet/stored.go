package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// ErrSchema says that an object was written with other columns than Row has.
var ErrSchema = errors.New("object has other columns than this version reads")

// stored is an open object of this version's schema.
type stored struct {
	in     io.ReaderAt
	size   int64
	footer format.FileMetaData
}

// openStored reads the footer of an object.
func openStored(r io.ReaderAt, size int64) (*stored, error) {
	s := &stored{in: r, size: size}
	if err := s.readFooter(); err != nil {
		return nil, fmt.Errorf("open parquet object: %w", err)
	}
	if !reflect.DeepEqual([]format.SchemaElement(s.footer.Schema), schema) {
		return nil, ErrSchema
	}
	for i := range s.footer.RowGroups {
		if err := checkGroup(&s.footer.RowGroups[i]); err != nil {
			return nil, fmt.Errorf("open parquet object: row group %d: %w", i, err)
		}
	}
	return s, nil
}

// readFooter reads what the object ends with: the footer, its length in four bytes, and the magic word.
func (s *stored) readFooter() error {
	end, err := s.read(s.size-8, 8)
	if err != nil {
		return err
	}
	begin, err := s.read(0, int64(len(magic)))
	if err != nil {
		return err
	}
	if string(begin) != magic || string(end[4:]) != magic {
		return errors.New("it is no Parquet file, or not whole")
	}
	length := int64(binary.LittleEndian.Uint32(end))
	text, err := s.read(s.size-8-length, length)
	if err != nil {
		return err
	}
	return thrift.Unmarshal(&thrift.CompactProtocol{}, text, &s.footer)
}

// read reads a part of the object.
func (s *stored) read(offset, length int64) ([]byte, error) {
	if offset < 0 || length < 0 || offset > s.size-length {
		return nil, fmt.Errorf("bytes %d to %d lie outside of its %d", offset, offset+length, s.size)
	}
	part := make([]byte, length)
	if n, err := s.in.ReadAt(part, offset); n < len(part) {
		return nil, err
	}
	return part, nil
}

// checkGroup compares the columns of a row group with the schema.
func checkGroup(g *format.RowGroup) error {
	if len(g.Columns) != len(leaves) {
		return fmt.Errorf("it has %d columns instead of %d", len(g.Columns), len(leaves))
	}
	for i := range g.Columns {
		meta := &g.Columns[i].MetaData
		if !slices.Equal(meta.PathInSchema, leaves[i].path) || meta.Type != physical[leaves[i].kind] {
			return fmt.Errorf("column %d is not %s", i, leaves[i].path)
		}
		// Another codec's decoder may ask for any amount of memory for what a damaged footer takes for its data.
		if meta.Codec != format.Zstd {
			return fmt.Errorf("a column is compressed by %s", meta.Codec)
		}
	}
	return nil
}

// begin has pages read a column of a row group; what they have read before is lost.
func (s *stored) begin(p *pages, group int, l *leaf) error {
	meta := &s.footer.RowGroups[group].Columns[l.number].MetaData
	start := chunkStart(meta)
	if start < 0 || meta.TotalCompressedSize < 0 || start > s.size-meta.TotalCompressedSize {
		return errors.New("it lies outside of the object")
	}
	p.leaf, p.dictionary = l, false
	p.in.Reset(io.NewSectionReader(s.in, start, meta.TotalCompressedSize))
	return nil
}

// chunkStart is where the pages of a column begin.
func chunkStart(meta *format.ColumnMetaData) int64 {
	if meta.DictionaryPageOffset != 0 {
		return meta.DictionaryPageOffset
	}
	return meta.DataPageOffset
}

// pageIndex reads the page index of a column of a row group: where its pages are, of which every one has bounds.
func (s *stored) pageIndex(group int, l *leaf) ([]format.PageLocation, error) {
	column := &s.footer.RowGroups[group].Columns[l.number]
	var places format.OffsetIndex
	var bounds format.ColumnIndex
	err := errors.Join(
		s.decode(column.OffsetIndexOffset, column.OffsetIndexLength, &places),
		s.decode(column.ColumnIndexOffset, column.ColumnIndexLength, &bounds),
	)
	if err != nil {
		return nil, fmt.Errorf("read page index: %w", err)
	}
	for _, n := range []int{len(bounds.NullPages), len(bounds.MinValues), len(bounds.MaxValues)} {
		if n != len(places.PageLocations) {
			return nil, fmt.Errorf("the page index has %d places and %d bounds", len(places.PageLocations), n)
		}
	}
	return places.PageLocations, nil
}

func (s *stored) decode(offset int64, length int32, v any) error {
	text, err := s.read(offset, int64(length))
	if err != nil {
		return err
	}
	return thrift.NewDecoder((&thrift.CompactProtocol{}).NewReader(bytes.NewReader(text))).Decode(v)
}

// contain turns a panic into an error: the decoders of parquet-go v0.32.0 panic on some damaged objects.
func contain(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("damaged parquet object: %v", p)
	}
}
