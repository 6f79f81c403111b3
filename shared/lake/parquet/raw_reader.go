package parquet

import (
	"errors"
	"fmt"
	"io"
	"slices"

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
	buffer, decoded := &pageBuffer{}, &decodedPage{}
	r.columns = nil
	for i := range leaves {
		if !r.object.has(&leaves[i]) {
			r.columns = append(r.columns, &rawColumn{pageReader: &pageReader{leaf: &leaves[i]}, missing: true})
			continue
		}
		c := &rawColumn{pageReader: newPageReader(rawReadAhead, buffer), decoded: decoded}
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

// rawColumn reads the values of a column row by row. It has its page in little memory, because many objects are read at
// the same time.
type rawColumn struct {
	*pageReader
	missing           bool // the object does not have it
	decoded           *decodedPage
	reps, defs, codes packed      // of the page
	level, present    int         // how many levels and values of the page have been read
	known             []knownCode // of the texts of the dictionary
}

// decodedPage is the memory in which the columns decode levels and codes, one after the other.
type decodedPage struct {
	levels
	codes []int32
}

// packed is a list of numbers in little memory.
type packed struct {
	all   uint32   // if they are equal; otherwise, one of the others is not nil
	bytes []uint8  // if they are less than 1<<8
	words []uint16 // if they are less than 1<<16
	longs []uint32
}

func pack[N byte | int32](numbers []N) (p packed) {
	if len(numbers) == 0 {
		return p
	}
	switch most := slices.Max(numbers); {
	case most == slices.Min(numbers):
		p.all = uint32(most)
	case uint32(most) < 1<<8:
		p.bytes = narrowed[uint8](numbers)
	case uint32(most) < 1<<16:
		p.words = narrowed[uint16](numbers)
	default:
		p.longs = narrowed[uint32](numbers)
	}
	return p
}

func narrowed[T uint8 | uint16 | uint32, N byte | int32](numbers []N) []T {
	list := make([]T, len(numbers))
	for i, n := range numbers {
		list[i] = T(n)
	}
	return list
}

func (p *packed) at(i int) uint32 {
	switch {
	case p.bytes != nil:
		return uint32(p.bytes[i])
	case p.words != nil:
		return uint32(p.words[i])
	case p.longs != nil:
		return p.longs[i]
	}
	return p.all
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
			rows[i] = append(rows[i], RawValue{leaf: uint16(c.leaf.number)})
			c.nextValue(&rows[i][len(rows[i])-1])
			if !repeated || c.level == c.numValues || c.reps.at(c.level) == 0 {
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
		c.pageReader.levels, c.pageReader.codes = c.decoded.levels, c.decoded.codes
		err := c.next()
		c.decoded.levels, c.decoded.codes = c.pageReader.levels, c.pageReader.codes
		c.pageReader.levels, c.pageReader.codes = levels{}, nil
		switch {
		case errors.Is(err, io.EOF):
			return errors.New("it has fewer rows than its row group")
		case err != nil:
			return err
		case c.numValues > 0 && c.leaf.maxRep > 0 && c.decoded.reps[0] > 0:
			return errors.New("a page begins within a row")
		case c.numValues > 0:
			c.reps, c.defs, c.codes = pack(c.decoded.reps), pack(c.decoded.defs), packed{}
			if c.coded {
				c.codes = pack(c.decoded.codes)
			}
			if c.coded && c.leaf.kind == lake.Text && c.known == nil {
				c.known = make([]knownCode, c.numEntries)
			}
			return nil
		}
	}
}

// nextValue sets an absent value to the next one.
func (c *rawColumn) nextValue(v *RawValue) {
	l := c.leaf
	if l.maxRep > 0 {
		v.rep = byte(c.reps.at(c.level))
	}
	if l.maxDef > 0 {
		v.def = byte(c.defs.at(c.level))
	}
	c.level++
	if v.def != l.maxDef {
		return
	}
	values, i := &c.plain, c.present
	if c.coded {
		values, i = &c.entries, int(c.codes.at(c.present))
	}
	c.present++
	switch v.kind = l.kind; l.kind {
	case lake.Text:
		v.setText(values.texts.At(int32(i)))
		if c.coded {
			v.known = &c.known[i]
		}
	case lake.Int:
		v.number = uint64(values.ints[i])
	case lake.Bool:
		v.number = uint64(values.bit(i))
	}
}
