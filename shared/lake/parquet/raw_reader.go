package parquet

import (
	"errors"
	"fmt"
	"io"

	"github.com/orrery/orrery/shared/lake"
)

// rawReadAhead is the number of bytes that are read ahead in each column. It is small, because many are read at once.
const rawReadAhead = 4 << 10

// RawReader reads the rows of one object in order, as Raw rows of the present schema: columns that the object does not
// have are absent.
type RawReader struct {
	object  *object
	largest int64
	group   int          // being read
	left    int64        // rows of it
	columns []*rawColumn // of it
}

// NewRawReader opens an object of the given size. It returns ErrNewerSchema for an object of a newer schema, because
// its rows would lose columns.
func NewRawReader(r io.ReaderAt, size int64) (_ *RawReader, err error) {
	defer contain(&err)
	object, err := openObject(r, size)
	if err != nil {
		return nil, err
	}
	if object.version > lake.SchemaVersion() {
		return nil, fmt.Errorf("%w: its version is %d", ErrNewerSchema, object.version)
	}
	out := &RawReader{object: object, group: -1}
	for i := range object.footer.RowGroups {
		out.largest = max(out.largest, object.footer.RowGroups[i].TotalByteSize)
	}
	return out, nil
}

// GroupBytes returns the size of the largest row group before compression. Reading needs no more memory than that,
// apart from the rows read.
func (r *RawReader) GroupBytes() int64 { return r.largest }

// Read fills rows, reusing their memory, and returns how many it filled: at least one, unless it returns io.EOF after
// the last row. The texts of the rows stay valid until the next Read.
func (r *RawReader) Read(rows []Raw) (n int, err error) {
	defer contain(&err)
	for r.left == 0 {
		if r.group++; r.group >= len(r.object.footer.RowGroups) {
			r.columns = nil
			return 0, io.EOF
		}
		if err := r.begin(); err != nil {
			return 0, fmt.Errorf("read parquet rows: row group %d: %w", r.group, err)
		}
	}
	rows = rows[:min(int64(len(rows)), r.left)]
	for i := range rows {
		rows[i] = rows[i][:0]
	}
	for _, c := range r.columns {
		if err := c.appendTo(rows); err != nil {
			return 0, fmt.Errorf("read parquet rows: row group %d, column %s: %w", r.group, c.leaf.path, err)
		}
	}
	r.left -= int64(len(rows))
	return len(rows), nil
}

// begin starts a row group.
func (r *RawReader) begin() error {
	r.left = r.object.footer.RowGroups[r.group].NumRows
	if r.left < 0 {
		return fmt.Errorf("it has %d rows", r.left)
	}
	buffer := &pageBuffer{}
	r.columns = nil
	for i := range leaves {
		if !r.object.has(&leaves[i]) {
			r.columns = append(r.columns, &rawColumn{pageReader: &pageReader{leaf: &leaves[i]}, missing: true})
			continue
		}
		c := &rawColumn{pageReader: newPageReader(rawReadAhead, buffer)}
		c.retain = true
		if err := r.object.pages(c.pageReader, r.group, &leaves[i]); err != nil {
			return fmt.Errorf("column %s: %w", leaves[i].path, err)
		}
		r.columns = append(r.columns, c)
	}
	return nil
}

// Close releases the reader's memory; it does not close the underlying reader.
func (r *RawReader) Close() error {
	r.columns = nil
	return nil
}

// rawColumn reads the values of a column row by row.
type rawColumn struct {
	*pageReader
	missing        bool // the object does not have it
	level, present int  // how many levels and values of the page have been read
}

// appendTo appends the values of the next rows.
func (c *rawColumn) appendTo(rows []Raw) error {
	if c.missing {
		for i := range rows {
			rows[i] = append(rows[i], RawValue{leaf: uint16(c.leaf.number)})
		}
		return nil
	}
	repeated := c.leaf.maxRep > 0
	for i := range rows {
		if c.level == c.numValues {
			if err := c.nextPage(); err != nil {
				return err
			}
		}
		for {
			rows[i] = append(rows[i], c.nextValue())
			if !repeated || c.level == c.numValues || c.reps[c.level] == 0 {
				break
			}
		}
	}
	return nil
}

// nextPage reads the next page that has values.
func (c *rawColumn) nextPage() error {
	c.level, c.present = 0, 0
	for {
		err := c.next()
		switch {
		case errors.Is(err, io.EOF):
			return errors.New("it has fewer rows than its row group")
		case err != nil:
			return err
		case c.numValues > 0 && c.leaf.maxRep > 0 && c.reps[0] > 0:
			return errors.New("a page begins within a row")
		case c.numValues > 0:
			return nil
		}
	}
}

func (c *rawColumn) nextValue() RawValue {
	l := c.leaf
	v := RawValue{leaf: uint16(l.number), def: l.maxDef}
	if l.maxRep > 0 {
		v.rep = c.reps[c.level]
	}
	if l.maxDef > 0 {
		v.def = c.defs[c.level]
	}
	c.level++
	if v.def != l.maxDef {
		return v
	}
	values, i := c.value(c.present)
	c.present++
	switch v.kind = l.kind; l.kind {
	case lake.Text:
		v.setText(values.texts.At(int32(i)))
	case lake.Int:
		v.number = uint64(values.ints[i])
	case lake.Bool:
		v.number = uint64(values.bit(i))
	}
	return v
}
