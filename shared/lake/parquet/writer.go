package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/orrery/orrery/shared/lake"
)

const (
	// RowsPerGroup is the number of rows of a row group. Every group repeats its dictionaries, so large groups make
	// small files. 122,880 is also DuckDB's unit of parallel work.
	RowsPerGroup = 122_880

	// GroupBytes limits the memory of a row group including its dictionaries: a larger group is written however few
	// its rows are. Ordinary groups are far smaller. The limit is for records of many kilobytes.
	GroupBytes = 32 << 20

	// stepRows and stepBytes are how many rows, and how many bytes of them, are added before the sizes of the pages and
	// the group are checked again.
	stepRows  = 64
	stepBytes = 1 << 20

	// versionKey is the key of the version of the schema in every object's metadata.
	versionKey = "orrery.schema_version"
	writerName = "orrery"
	magic      = "PAR1"
)

// Writer writes one Parquet object. Rows must be sorted as lake.Compare does and be in one partition. Verify checks
// both, the writer does not.
//
// It splits rows into values itself, one column of many rows at a time. parquet-go, which encodes the pages, would do
// so value by value and need more than twice the time.
type Writer struct {
	out          output
	rowsPerGroup int64
	group        *groupWriter // nil once closed
	large        bool         // a group ended because of its size
	done         []writtenGroup
}

// NewWriter returns a writer of one object to w. The object is complete only after Close.
func NewWriter(w io.Writer) *Writer { return newWriter(w, RowsPerGroup) }

func newWriter(w io.Writer, rowsPerGroup int64) *Writer {
	return &Writer{out: output{w: w}, rowsPerGroup: rowsPerGroup, group: groupWriters.Get().(*groupWriter)}
}

// Write appends rows.
func (w *Writer) Write(rows []lake.Row) error {
	pointers := make([]*lake.Row, len(rows))
	for i := range rows {
		pointers[i] = &rows[i]
	}
	return w.WriteEach(pointers)
}

// WriteEach is Write for rows given by pointers.
func (w *Writer) WriteEach(rows []*lake.Row) error {
	return addInGroups(w, rows, func(r *lake.Row) int64 { return r.Memory() }, w.group.add)
}

// WriteRaw appends Raw rows. It writes the same bytes for them as Write does for the same rows.
func (w *Writer) WriteRaw(rows []Raw) error {
	return addInGroups(w, rows, RawMemory, w.group.addRaw)
}

// addInGroups adds rows, and ends the row group whenever it is full.
func addInGroups[R any](w *Writer, rows []R, memory func(R) int64, add func([]R) error) error {
	for len(rows) > 0 {
		most := min(int64(len(rows)), stepRows, w.rowsPerGroup-w.group.rows)
		n, size := int64(0), int64(0)
		for ; n < most && size < stepBytes; n++ {
			size += memory(rows[n])
		}
		if err := add(rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
		large := w.group.size() >= GroupBytes
		w.large = w.large || large
		if large || w.group.rows == w.rowsPerGroup {
			if err := w.endGroup(); err != nil {
				return err
			}
		}
	}
	return nil
}

// begin writes the start of the object, which is the same for all.
func (w *Writer) begin() error {
	if w.out.offset > 0 {
		return nil
	}
	return w.out.write([]byte(magic))
}

// endGroup writes the row group.
func (w *Writer) endGroup() error {
	if w.group.rows == 0 {
		return nil
	}
	if err := w.begin(); err != nil {
		return err
	}
	if len(w.done) == math.MaxInt16 {
		return errors.New("the object has too many row groups")
	}
	done, err := w.group.write(&w.out)
	if err != nil {
		return err
	}
	done.group.Ordinal = int16(len(w.done))
	w.done = append(w.done, done)
	return nil
}

// Close writes the footer. It does not close the underlying writer, and the Writer must not be used again.
func (w *Writer) Close() error {
	if err := w.begin(); err != nil {
		return err
	}
	if err := w.endGroup(); err != nil {
		return err
	}
	if !w.large {
		w.group.release()
	}
	w.group = nil
	if err := w.writeIndexes(); err != nil {
		return fmt.Errorf("write page index: %w", err)
	}
	if err := w.writeFooter(); err != nil {
		return fmt.Errorf("write parquet footer: %w", err)
	}
	return nil
}

// writeIndexes writes the page index of every group: first the bounds, then the locations of pages.
func (w *Writer) writeIndexes() error {
	for _, d := range w.done {
		for i := range d.indexes {
			column := &d.group.Columns[i]
			column.ColumnIndexOffset = w.out.offset
			if err := w.out.encode(&d.indexes[i]); err != nil {
				return err
			}
			column.ColumnIndexLength = int32(w.out.offset - column.ColumnIndexOffset)
		}
	}
	for _, d := range w.done {
		for i := range d.offsets {
			column := &d.group.Columns[i]
			column.OffsetIndexOffset = w.out.offset
			if err := w.out.encode(&d.offsets[i]); err != nil {
				return err
			}
			column.OffsetIndexLength = int32(w.out.offset - column.OffsetIndexOffset)
		}
	}
	return nil
}

// writeFooter writes the schema and the locations of all columns.
func (w *Writer) writeFooter() error {
	footer := newFooter()
	for _, d := range w.done {
		footer.NumRows += d.group.NumRows
		footer.RowGroups = append(footer.RowGroups, d.group)
	}
	from := w.out.offset
	if err := w.out.encode(&footer); err != nil {
		return err
	}
	return w.out.write(append(binary.LittleEndian.AppendUint32(nil, uint32(w.out.offset-from)), magic...))
}
