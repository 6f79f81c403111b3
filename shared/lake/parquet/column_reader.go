package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/orrery/orrery/shared/lake"
)

// ColumnReader reads whole columns of an object, one row group at a time, in the form in which they are stored: texts
// as codes of a dictionary. It is for scans of few columns and all rows; File is for few rows. It keeps the footer only
// and is safe for concurrent use.
type ColumnReader struct{ object *object }

// OpenColumns reads the footer of an object.
func OpenColumns(r io.ReaderAt, size int64) (_ *ColumnReader, err error) {
	defer contain(&err)
	object, err := openObject(r, size)
	if err != nil {
		return nil, err
	}
	return &ColumnReader{object}, nil
}

// RowGroup is the footer's description of a row group.
type RowGroup struct {
	Rows             int
	MinTsMs, MaxTsMs int64 // ts_ms of the first and of the last row
}

// RowGroups lists the row groups of the object.
func (c *ColumnReader) RowGroups() (all []RowGroup, err error) {
	for i, g := range c.object.footer.RowGroups {
		bounds := &g.Columns[leafTsMs].MetaData.Statistics
		if len(bounds.MinValue) != 8 || len(bounds.MaxValue) != 8 {
			return nil, fmt.Errorf("row group %d: the footer does not have the bounds of its time", i)
		}
		all = append(all, RowGroup{
			Rows:    int(g.NumRows),
			MinTsMs: int64(binary.LittleEndian.Uint64(bounds.MinValue)),
			MaxTsMs: int64(binary.LittleEndian.Uint64(bounds.MaxValue)),
		})
	}
	return all, nil
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

// Read reads a column of a row group. Without the column, the object has no value in any row.
func (c *ColumnReader) Read(group int, column Column, v *ColumnValues) (err error) {
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
	want := c.object.footer.RowGroups[group].NumRows
	if !c.object.has(l) {
		if err := appendPage(absentPage(l, int(want))); err != nil {
			return err
		}
		v.end(l)
		return nil
	}
	p := pageReaders.Get().(*pageReader)
	defer pageReaders.Put(p)
	if err := c.object.pages(p, group, l); err != nil {
		return err
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
	if rows := v.end(l); int64(rows) != want {
		return fmt.Errorf("%d rows instead of %d", rows, want)
	}
	return nil
}
