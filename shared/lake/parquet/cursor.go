package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"sort"

	"github.com/parquet-go/parquet-go/format"

	"github.com/orrery/orrery/shared/lake"
)

// cursor reads single rows of one column of one row group. It keeps the dictionary and the last page. It moves forward
// in the page, so reading rows in ascending order is fastest. It goes back to a mark.
type cursor struct {
	*pageReader
	object *object
	group  int
	index  []format.PageLocation

	first, end int64 // rows of the page, counted in the group

	row            int64 // where the cursor is
	level, present int   // index of the next level, and of the next value; at first of the row
	marks          []mark
}

// mark is where a row of a page begins. A cursor of a list remembers the mark of every row whose number in the page is
// a multiple of markRows, as far as it has come in the page.
type mark struct{ level, present int32 }

const markRows = 64

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

// readRows sets the column's part of to from rows of the object. numbers are the numbers of these rows, ascending;
// first is the number of the first row of the group.
func (c *cursor) readRows(numbers []int64, first int64, to []lake.Row, a *arena) (err error) {
	a.begin()
	whole := false // whether the cursor is between two rows
	defer func() {
		if !whole {
			c.end = c.first // the page is read again
		}
	}()
	for i, n := range numbers {
		row := n - first
		if row < c.first || row >= c.end {
			err = c.readPageOf(row)
		}
		if err == nil {
			c.moveTo(row)
			err = c.leaf.assemble(&to[i], c, a)
		}
		if err != nil {
			return fmt.Errorf("read %s of row %d: %w", c.leaf.path, n, err)
		}
		if a.exhausted() {
			whole = true
			return ErrMemory
		}
	}
	whole = true
	return nil
}

// moveTo moves to a row of the page.
func (c *cursor) moveTo(row int64) {
	if row == c.row {
		return
	}
	if c.leaf.maxRep == 0 {
		c.moveToValue(row)
		return
	}
	last := min(int(row-c.first)/markRows, len(c.marks)-1)
	if marked := c.first + int64(last)*markRows; row < c.row || marked > c.row {
		c.row, c.level, c.present = marked, int(c.marks[last].level), int(c.marks[last].present)
	}
	for c.row < row {
		level, untilMark := c.level, markRows-(c.row-c.first)%markRows
		for stop := min(row, c.row+untilMark); c.row < stop; c.row++ {
			c.level = c.rowEnd(c.level)
		}
		c.present += bytes.Count(c.defs[level:c.level], []byte{c.leaf.maxDef})
		c.mark()
	}
}

// mark remembers where the row of the cursor begins.
func (c *cursor) mark() {
	if c.row == c.first+int64(len(c.marks))*markRows {
		c.marks = append(c.marks, mark{int32(c.level), int32(c.present)})
	}
}

// moveToValue moves to a row of the page of a column that is not a list.
func (c *cursor) moveToValue(row int64) {
	if row < c.row {
		c.row, c.level, c.present = c.first, 0, 0
	}
	level := c.level + int(row-c.row)
	switch c.numPresent {
	case c.numValues:
		c.present = level
	case 0:
	default:
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

// pageOf returns the number of the page that contains a row of the group, or -1.
func pageOf(index []format.PageLocation, row int64) int {
	return sort.Search(len(index), func(i int) bool { return index[i].FirstRowIndex > row }) - 1
}

// readPageOf reads the page that contains a row of the group.
func (c *cursor) readPageOf(row int64) error {
	i := pageOf(c.index, row)
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
	c.marks = append(c.marks[:0], mark{})
	return nil
}
