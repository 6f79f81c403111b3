package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"sort"

	"github.com/parquet-go/parquet-go"
)

// cursor reads single rows of one Parquet column of one row group. It stays on its page and goes forward in it, so
// rows should be asked for in ascending order.
type cursor struct {
	leaf     int
	repeated bool
	full     byte // definition level of a value that is there
	index    parquet.OffsetIndex
	pages    parquet.Pages

	page        parquet.Page
	first, rows int64 // of the page, in the group
	get         func(i int) parquet.Value
	reps, defs  []byte

	row          int64 // where the cursor stands
	level, value int   // place of the row's first level, and of its first value
}

func newCursor(chunk parquet.ColumnChunk) (*cursor, error) {
	index, err := chunk.OffsetIndex()
	if err != nil {
		return nil, fmt.Errorf("read page index: %w", err)
	}
	column, _ := rowSchema.Lookup(rowSchema.Columns()[chunk.Column()]...)
	return &cursor{
		leaf: chunk.Column(), repeated: column.MaxRepetitionLevel > 0, full: byte(column.MaxDefinitionLevel),
		index: index, pages: chunk.Pages(),
	}, nil
}

func (c *cursor) close() error {
	parquet.Release(c.page)
	c.page = nil
	return c.pages.Close()
}

// appendRow appends the values of a row of the group.
func (c *cursor) appendRow(values parquet.Row, row int64) (parquet.Row, error) {
	if c.page == nil || row < c.first || row >= c.first+c.rows {
		if err := c.load(row); err != nil {
			return nil, err
		}
	}
	if row < c.row {
		c.row, c.level, c.value = c.first, 0, 0
	}
	c.forward(row)
	end := c.level + 1
	if c.repeated {
		end = c.rowEnd(c.level)
	}
	value := c.value
	for level := c.level; level < end; level++ {
		rep, def := 0, 0
		if c.repeated {
			rep = int(c.reps[level])
		}
		v := parquet.NullValue()
		if c.full > 0 {
			def = int(c.defs[level])
		}
		if def == int(c.full) {
			v = c.get(value)
			value++
		}
		values = append(values, v.Level(rep, def, c.leaf))
	}
	return values, nil
}

// forward moves to a row of the page.
func (c *cursor) forward(row int64) {
	level := c.level
	if !c.repeated {
		level += int(row - c.row)
	} else {
		for r := c.row; r < row; r++ {
			level = c.rowEnd(level)
		}
	}
	if c.full == 0 {
		c.value = level
	} else {
		c.value += bytes.Count(c.defs[c.level:level], []byte{c.full})
	}
	c.row, c.level = row, level
}

// rowEnd is where the row that begins at a level ends: where the next begins, which repeats nothing.
func (c *cursor) rowEnd(level int) int {
	if n := bytes.IndexByte(c.reps[level+1:], 0); n >= 0 {
		return level + 1 + n
	}
	return len(c.reps)
}

// load reads the page that holds a row of the group.
func (c *cursor) load(row int64) error {
	at := sort.Search(c.index.NumPages(), func(i int) bool { return c.index.FirstRowIndex(i) > row }) - 1
	if at < 0 {
		return errors.New("no page holds it")
	}
	first := c.index.FirstRowIndex(at)
	if err := c.pages.SeekToRow(first); err != nil {
		return fmt.Errorf("seek to page %d: %w", at, err)
	}
	page, err := c.pages.ReadPage()
	if err != nil {
		return fmt.Errorf("read page %d: %w", at, err)
	}
	parquet.Release(c.page)
	c.page, c.first, c.rows = page, first, page.NumRows()
	if row >= c.first+c.rows {
		return fmt.Errorf("page %d has only %d rows", at, c.rows)
	}
	c.reps, c.defs = page.RepetitionLevels(), page.DefinitionLevels()
	c.row, c.level, c.value = first, 0, 0
	c.get = getterOf(page)
	return nil
}

// getterOf returns what reads the values of a page by number, nulls not counted.
func getterOf(page parquet.Page) func(int) parquet.Value {
	data := page.Data()
	if dictionary := page.Dictionary(); dictionary != nil {
		indexes := data.Int32()
		return func(i int) parquet.Value { return dictionary.Index(indexes[i]) }
	}
	switch page.Type().Kind() {
	case parquet.Boolean:
		bits := data.Boolean()
		return func(i int) parquet.Value { return parquet.BooleanValue(bits[i/8]>>(i%8)&1 != 0) }
	case parquet.Int64:
		ints := data.Int64()
		return func(i int) parquet.Value { return parquet.Int64Value(ints[i]) }
	case parquet.ByteArray:
		// A copy: the page's memory is used again once the cursor has left it.
		text, offsets := data.ByteArray()
		return func(i int) parquet.Value { return parquet.ByteArrayValue(bytes.Clone(text[offsets[i]:offsets[i+1]])) }
	}
	panic(fmt.Sprintf("lake: no column has values of kind %s", page.Type().Kind()))
}
