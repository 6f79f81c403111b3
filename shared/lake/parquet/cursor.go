package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"sort"

	"github.com/parquet-go/parquet-go/format"

	"github.com/orrery/orrery/shared/lake"
)

// cursor reads single rows of one column of one row group. It keeps the dictionary and the last page, and moves forward
// in the page, so rows should be read in ascending order.
type cursor struct {
	*pageReader
	object *object
	group  int
	index  []format.PageLocation

	first, end int64 // rows of the page, counted in the group

	row            int64 // where the cursor is
	level, present int   // index of the row's first level, and of its first value
}

func newCursor(o *object, group int, l *leaf, p *pageReader) (*cursor, error) {
	index, err := o.pageLocations(group, l)
	if err != nil {
		return nil, err
	}
	c := &cursor{pageReader: p, object: o, group: group, index: index}
	p.reset(l, nil)
	meta := &o.chunk(group, l).MetaData
	if meta.DictionaryPageOffset == 0 {
		return c, nil
	}
	in, err := o.section(meta.DictionaryPageOffset, meta.DataPageOffset-meta.DictionaryPageOffset)
	if err != nil {
		return nil, err
	}
	p.in.Reset(in)
	if _, err := p.readPage(); err != nil {
		return nil, unexpected(err)
	}
	return c, nil
}

// read sets the column's part of a row of the lake to that of a row of the group.
func (c *cursor) read(row int64, to *lake.Row) error {
	if row < c.first || row >= c.end {
		if err := c.readPageOf(row); err != nil {
			return err
		}
	}
	if row < c.row {
		c.row, c.level, c.present = c.first, 0, 0
	}
	c.forward(row)
	return c.leaf.assemble(to, c)
}

// forward moves to a row of the page.
func (c *cursor) forward(row int64) {
	level := c.level
	if c.leaf.maxRep == 0 {
		level += int(row - c.row)
	} else {
		for ; c.row < row; c.row++ {
			level = c.rowEnd(level)
		}
	}
	if c.leaf.maxDef == 0 {
		c.present = level
	} else {
		c.present += bytes.Count(c.defs[c.level:level], []byte{c.leaf.maxDef})
	}
	c.row, c.level = row, level
}

// rowEnd returns the index of the level after a row that begins at a level: the next row begins with repetition level
// 0.
func (c *cursor) rowEnd(level int) int {
	if c.leaf.maxRep == 0 {
		return level + 1
	}
	if n := bytes.IndexByte(c.reps[level+1:], 0); n >= 0 {
		return level + 1 + n
	}
	return len(c.reps)
}

// readPageOf reads the page that contains a row of the group.
func (c *cursor) readPageOf(row int64) error {
	i := sort.Search(len(c.index), func(i int) bool { return c.index[i].FirstRowIndex > row }) - 1
	if i < 0 {
		return errors.New("no page contains it")
	}
	c.end = c.first // no rows, if reading fails
	in, err := c.object.section(c.index[i].Offset, int64(c.index[i].CompressedPageSize))
	if err != nil {
		return err
	}
	c.in.Reset(in)
	if err := c.next(); err != nil {
		return fmt.Errorf("read page %d: %w", i, unexpected(err))
	}
	if c.leaf.maxRep > 0 && c.numValues > 0 && c.reps[0] > 0 {
		return fmt.Errorf("page %d begins within a row", i)
	}
	first := c.index[i].FirstRowIndex
	if rows := c.numRows(); row >= first+rows {
		return fmt.Errorf("page %d has only %d rows", i, rows)
	}
	c.first, c.end = first, first+c.numRows()
	c.row, c.level, c.present = first, 0, 0
	return nil
}
