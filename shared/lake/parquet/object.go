package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// maxGroupRows is more than any writer puts into a row group; a footer with a greater number is damaged.
const maxGroupRows = 1 << 24

// object is an open object. It is safe for concurrent use.
type object struct {
	in      io.ReaderAt
	size    int64
	footer  format.FileMetaData
	version int // of its schema
	columns columnsOfObject
}

var errIncomplete = errors.New("it is not a Parquet file, or it is incomplete")

// openObject reads the footer of an object, and the magic word at its beginning.
func openObject(r io.ReaderAt, size int64) (*object, error) {
	begin, err := (&object{in: r, size: size}).read(0, int64(len(magic)))
	if err == nil && string(begin) != magic {
		err = errIncomplete
	}
	if err != nil {
		return nil, fmt.Errorf("open parquet object: %w", err)
	}
	return openByEnd(r, size)
}

// openByEnd reads the footer of an object.
func openByEnd(r io.ReaderAt, size int64) (*object, error) {
	o := &object{in: r, size: size}
	if err := o.readFooter(); err != nil {
		return nil, fmt.Errorf("open parquet object: %w", err)
	}
	if err := o.findColumns(); err != nil {
		return nil, err
	}
	for i := range o.footer.RowGroups {
		if err := o.checkGroup(&o.footer.RowGroups[i]); err != nil {
			return nil, fmt.Errorf("open parquet object: row group %d: %w", i, err)
		}
	}
	return o, nil
}

// readFooter reads the end of the object: the footer, its length in four bytes, and the magic word.
func (o *object) readFooter() error {
	end, err := o.read(o.size-8, 8)
	if err != nil {
		return err
	}
	if string(end[4:]) != magic {
		return errIncomplete
	}
	length := int64(binary.LittleEndian.Uint32(end))
	text, err := o.read(o.size-8-length, length)
	if err != nil {
		return err
	}
	return thrift.Unmarshal(&thrift.CompactProtocol{}, text, &o.footer)
}

// section returns a reader of a part of the object.
func (o *object) section(offset, length int64) (*io.SectionReader, error) {
	return sectionOf(o.in, o.size, offset, length)
}

func sectionOf(in io.ReaderAt, size, offset, length int64) (*io.SectionReader, error) {
	if offset < 0 || length < 0 || offset > size-length {
		return nil, fmt.Errorf("%d bytes at %d are not within its %d bytes", length, offset, size)
	}
	return io.NewSectionReader(in, offset, length), nil
}

// read reads a part of the object.
func (o *object) read(offset, length int64) ([]byte, error) {
	section, err := o.section(offset, length)
	if err != nil {
		return nil, err
	}
	part := make([]byte, length)
	_, err = io.ReadFull(section, part)
	return part, err
}

// checkGroup compares the columns of a row group with the schema. It ignores columns that only a newer schema has.
func (o *object) checkGroup(g *format.RowGroup) error {
	if g.NumRows < 0 || g.NumRows > maxGroupRows {
		return fmt.Errorf("it has %d rows", g.NumRows)
	}
	if len(g.Columns) != o.columns.total {
		return fmt.Errorf("it has %d columns instead of %d", len(g.Columns), o.columns.total)
	}
	for i := range leaves {
		if !o.has(&leaves[i]) {
			continue
		}
		meta := &g.Columns[o.columns.of[i]].MetaData
		if !slices.Equal(meta.PathInSchema, leaves[i].path) || meta.Type != physical[leaves[i].kind] {
			return fmt.Errorf("column %d is not %s", o.columns.of[i], leaves[i].path)
		}
		// The decoder of another codec may allocate any amount of memory for a page that a damaged footer describes.
		if meta.Codec != format.Zstd {
			return fmt.Errorf("a column is compressed by %s", meta.Codec)
		}
	}
	return nil
}

// has reports whether the object has a column. Objects of an older schema do not have all of them.
func (o *object) has(l *leaf) bool { return o.columns.of[l.number] != missing }

// chunk returns the footer's description of a column of a row group, which the object must have.
func (o *object) chunk(group int, l *leaf) *format.ColumnChunk {
	return &o.footer.RowGroups[group].Columns[o.columns.of[l.number]]
}

// pages makes p a reader of all pages of a column of a row group.
func (o *object) pages(p *pageReader, group int, l *leaf) error {
	meta := &o.chunk(group, l).MetaData
	in, err := o.section(chunkStart(meta), meta.TotalCompressedSize)
	if err != nil {
		return err
	}
	p.reset(l, in)
	return nil
}

// chunkStart returns where the pages of a column begin.
func chunkStart(meta *format.ColumnMetaData) int64 {
	if meta.DictionaryPageOffset != 0 {
		return meta.DictionaryPageOffset
	}
	return meta.DataPageOffset
}

// pageLocations reads where the data pages of a column of a row group are.
func (o *object) pageLocations(group int, l *leaf) ([]format.PageLocation, error) {
	c := o.chunk(group, l)
	var index format.OffsetIndex
	if err := o.decode(c.OffsetIndexOffset, c.OffsetIndexLength, &index); err != nil {
		return nil, fmt.Errorf("read page index: %w", err)
	}
	return index.PageLocations, nil
}

// checkPageBounds reads the bounds of the values of every page, and checks that there are as many as pages.
func (o *object) checkPageBounds(group int, l *leaf, pages int) error {
	c := o.chunk(group, l)
	var index format.ColumnIndex
	if err := o.decode(c.ColumnIndexOffset, c.ColumnIndexLength, &index); err != nil {
		return fmt.Errorf("read page index: %w", err)
	}
	for _, n := range []int{len(index.NullPages), len(index.MinValues), len(index.MaxValues)} {
		if n != pages {
			return fmt.Errorf("the page index has %d pages and %d bounds", pages, n)
		}
	}
	return nil
}

func (o *object) decode(offset int64, length int32, v any) error {
	text, err := o.read(offset, int64(length))
	if err != nil {
		return err
	}
	return thrift.Unmarshal(&thrift.CompactProtocol{}, text, v) // refuses bytes after the end
}

// contain turns a panic into an error: the decoders of parquet-go v0.32.0 panic on some damaged objects.
func contain(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("damaged parquet object: %v", p)
	}
}
