package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/orrery/orrery/shared/lake"
)

// ColumnReader reads whole columns of an object, one row group at a time, in the form in which they are stored: texts
// as codes of a dictionary. It is for scans of few columns and all rows; File is for few rows. It keeps only the places
// of the columns from the footer. It is safe for concurrent use.
type ColumnReader struct {
	in      io.ReaderAt
	size    int64
	columns columnsOfObject
	groups  []columnGroup
}

// columnGroup is the part of a row group's footer that a ColumnReader keeps.
type columnGroup struct {
	RowGroup
	chunks []chunkPlace // of the leaves that the object has
}

// chunkPlace is where the pages of a column of a row group are.
type chunkPlace struct {
	offset, length int64
	dictionary     int64 // length of the page with all values, which is the first; 0 without such a page
}

// RowGroup is the footer's description of a row group.
type RowGroup struct {
	Rows             int
	MinTsMs, MaxTsMs int64 // ts_ms of the first and of the last row
}

// OpenColumns reads the footer of an object.
func OpenColumns(r io.ReaderAt, size int64) (*ColumnReader, error) {
	return openColumns(r, size, openObject)
}

// OpenColumnsByEnd is like OpenColumns, but reads only the end of the object. It saves a read where each takes long.
func OpenColumnsByEnd(r io.ReaderAt, size int64) (*ColumnReader, error) {
	return openColumns(r, size, openByEnd)
}

func openColumns(
	r io.ReaderAt, size int64, open func(r io.ReaderAt, size int64) (*object, error),
) (_ *ColumnReader, err error) {
	defer contain(&err)
	object, err := open(r, size)
	if err != nil {
		return nil, err
	}
	c := &ColumnReader{in: r, size: size, columns: object.columns}
	for i, g := range object.footer.RowGroups {
		bounds := &g.Columns[leafTsMs].MetaData.Statistics
		if len(bounds.MinValue) != 8 || len(bounds.MaxValue) != 8 {
			return nil, fmt.Errorf("row group %d: the footer does not have the bounds of its time", i)
		}
		group := columnGroup{
			RowGroup: RowGroup{
				Rows:    int(g.NumRows),
				MinTsMs: int64(binary.LittleEndian.Uint64(bounds.MinValue)),
				MaxTsMs: int64(binary.LittleEndian.Uint64(bounds.MaxValue)),
			},
			chunks: make([]chunkPlace, len(leaves)),
		}
		for l := range leaves {
			if object.has(&leaves[l]) {
				meta := &object.chunk(i, &leaves[l]).MetaData
				group.chunks[l] = chunkPlace{chunkStart(meta), meta.TotalCompressedSize, dictionaryLength(meta)}
			}
		}
		c.groups = append(c.groups, group)
	}
	return c, nil
}

// From returns a reader of the same object from another file handle. It does not read the footer again.
func (c *ColumnReader) From(r io.ReaderAt) *ColumnReader {
	return &ColumnReader{in: r, size: c.size, columns: c.columns, groups: c.groups}
}

// ColumnBytes returns the compressed size of each top-level column that the object has, by name.
func (c *ColumnReader) ColumnBytes() map[string]int64 {
	bytes := make(map[string]int64, len(lake.Columns))
	for _, group := range c.groups {
		for l := range leaves {
			if n := group.chunks[l].length; n > 0 {
				bytes[leaves[l].path[0]] += n
			}
		}
	}
	return bytes
}

// Extent returns the time that the object covers, and its rows.
func (c *ColumnReader) Extent() (e lake.Extent) {
	for _, g := range c.RowGroups() {
		e = e.Union(lake.Extent{MinTsMs: g.MinTsMs, MaxTsMs: g.MaxTsMs, Rows: int64(g.Rows)})
	}
	return e
}

// RowGroups lists the row groups of the object.
func (c *ColumnReader) RowGroups() []RowGroup {
	all := make([]RowGroup, len(c.groups))
	for i := range c.groups {
		all[i] = c.groups[i].RowGroup
	}
	return all
}

// Part is a part of an object.
type Part struct{ Offset, Length int64 }

// Parts returns where top-level columns of a row group are, except those that the object lacks.
func (c *ColumnReader) Parts(group int, columns []string) (parts []Part) {
	for _, name := range columns {
		for _, l := range leavesOf[name] {
			if place := c.groups[group].chunks[l.number]; place.length > 0 {
				parts = append(parts, Part{place.offset, place.length})
			}
		}
	}
	return parts
}

// Memory returns about how many bytes the reader keeps.
func (c *ColumnReader) Memory() int64 {
	const placeBytes, groupBytes = 3 * 8, 6 * 8
	return int64(len(c.groups) * (groupBytes + len(leaves)*placeBytes))
}

// Column is a Parquet column: a top-level column of one value or a list, or a member of its structs.
type Column struct{ leaf *leaf }

// ColumnOf finds the Parquet column that holds a top-level column, or a member of its structs.
func ColumnOf(column, member string) (Column, bool) {
	for _, l := range leavesOf[column] {
		if member == "" || member == l.path[len(l.path)-1] {
			return Column{l}, true
		}
	}
	return Column{}, false
}

// HasDictionary reports whether equal values are stored once per row group.
func (c Column) HasDictionary() bool { return c.leaf.dictionary }

// HasBloomFilter reports whether engines can skip row groups that do not contain a value.
func (c Column) HasBloomFilter() bool { return c.leaf.bloom }

// Read reads a column of a row group. If the object lacks the column, no row has a value.
func (c *ColumnReader) Read(group int, column Column, v *ColumnValues) (err error) {
	return c.read(group, column, v, 0)
}

// ReadCodes is Read without the entries, for a caller that knows what it needs of them. They must be entries of a
// complete dictionary, see Dictionary. It does not read the dictionary, which takes most of the time if most values
// differ.
func (c *ColumnReader) ReadCodes(group int, column Column, entries int, v *ColumnValues) (err error) {
	if !c.HasCompleteDictionary(group, column) {
		return errors.New("the dictionary is not complete")
	}
	return c.read(group, column, v, entries)
}

// HasCompleteDictionary reports whether ReadCodes can read a column of a row group.
func (c *ColumnReader) HasCompleteDictionary(group int, column Column) bool {
	l := column.leaf
	return c.columns.of[l.number] == missing || c.groups[group].chunks[l.number].dictionary > 0
}

// read reads a column of a row group, without the entries if their number is known.
func (c *ColumnReader) read(group int, column Column, v *ColumnValues, entries int) (err error) {
	l := column.leaf
	defer func() {
		if err != nil {
			err = fmt.Errorf("row group %d, column %s: %w", group, l.path, err)
		}
	}()
	defer contain(&err)
	v.reset()
	appendPage := v.appendCodes
	switch {
	case l.kind == lake.Bool:
		appendPage = v.appendFlags
	case l.kind == lake.Int && !l.dictionary:
		appendPage = v.appendInts
	}
	g := &c.groups[group]
	v.grow(l, g.Rows)
	if c.columns.of[l.number] == missing {
		if err := appendPage(absentPage(l, g.Rows)); err != nil {
			return err
		}
		v.end(l)
		return nil
	}
	place := g.chunks[l.number]
	if entries > 0 {
		place.offset, place.length = place.offset+place.dictionary, place.length-place.dictionary
	}
	in, err := sectionOf(c.in, c.size, place.offset, place.length)
	if err != nil {
		return err
	}
	p := pageReaders.Get().(*pageReader)
	defer pageReaders.Put(p)
	p.reset(l, in)
	switch {
	case entries > 0:
		p.hasDictionary, p.numEntries, v.hasDictionary = true, entries, true
	case l.kind == lake.Text && l.dictionary:
		p.entries.texts, v.Texts = v.Texts, Texts{}
	}
	for {
		err := p.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := appendPage(p); err != nil {
			return err
		}
	}
	if rows := v.end(l); rows != g.Rows {
		return fmt.Errorf("%d rows instead of %d", rows, g.Rows)
	}
	return nil
}
