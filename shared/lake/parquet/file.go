package parquet

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"sync"
	"unsafe"

	"github.com/orrery/orrery/shared/lake"
)

// File is an open object from which single rows are read. The page index leads to the pages that contain them, and no
// others are read. A File keeps the dictionaries and the last page of every column that it has read, at most about
// twice the object's size, so further reads are much faster than the first. It is safe for concurrent use, but executes
// one call at a time.
type File struct {
	object  *object
	numRows int64

	mu     sync.Mutex
	groups []rowGroup
	shared *pageReader // all cursors read with its buffers
}

// rowGroup is one row group of a file.
type rowGroup struct {
	first, rows int64
	cursors     []*cursor // by leaf; nil until needed
}

// OpenFile reads the footer of an object.
func OpenFile(r io.ReaderAt, size int64) (*File, error) { return openFile(r, size, openObject) }

// OpenFileByEnd is like OpenFile, but reads only the end of the object. It saves a read where each takes long.
func OpenFileByEnd(r io.ReaderAt, size int64) (*File, error) { return openFile(r, size, openByEnd) }

func openFile(
	r io.ReaderAt, size int64, open func(r io.ReaderAt, size int64) (*object, error),
) (_ *File, err error) {
	defer contain(&err)
	object, err := open(r, size)
	if err != nil {
		return nil, err
	}
	f := &File{object: object, shared: pageReaders.Get().(*pageReader)}
	for i := range object.footer.RowGroups {
		rows := object.footer.RowGroups[i].NumRows
		f.groups = append(f.groups, rowGroup{first: f.numRows, rows: rows, cursors: make([]*cursor, len(leaves))})
		f.numRows += rows
	}
	return f, nil
}

// NumRows returns the number of rows of the object.
func (f *File) NumRows() int64 { return f.numRows }

// Close releases the memory of the file, which must not be used afterwards. It does not close the underlying reader.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, g := range f.groups {
		for _, c := range g.cursors {
			if c != nil {
				c.in, c.buffer = nil, nil
				cursorReaders.Put(c.pageReader)
			}
		}
	}
	if f.shared != nil {
		pageReaders.Put(f.shared)
	}
	f.groups, f.shared = nil, nil
	return nil
}

// ReadColumns opens an object and reads some of its rows, as File.Rows does.
func ReadColumns(r io.ReaderAt, size int64, numbers []int64, columns []string) ([]*lake.Row, error) {
	f, err := OpenFile(r, size)
	if err != nil {
		return nil, err
	}
	rows, err := f.Rows(numbers, columns)
	return rows, errors.Join(err, f.Close())
}

// Rows reads the rows with the given numbers, counted from 0 in the order of the object, and returns them in the order
// of the numbers. columns names top-level columns, nil means all; other columns are zero, and so are columns that the
// object does not have. The rows share memory with each other, so their values must not be modified.
func (f *File) Rows(numbers []int64, columns []string) ([]*lake.Row, error) {
	return f.RowsWithin(NewBudget(math.MaxInt64), numbers, columns)
}

// RowsWithin is like Rows, but returns ErrMemory if the rows would take more memory than the budget has left.
func (f *File) RowsWithin(budget *Budget, numbers []int64, columns []string) (_ []*lake.Row, err error) {
	defer contain(&err)
	wanted, err := leavesIn(columns)
	if err != nil {
		return nil, err
	}
	for _, n := range numbers {
		if n < 0 || n >= f.NumRows() {
			return nil, fmt.Errorf("row %d of %d", n, f.NumRows())
		}
	}
	ascending := slices.Clone(numbers)
	slices.Sort(ascending)
	ascending = slices.Compact(ascending)
	memory := newArena(len(ascending), budget)
	if memory.take(int64(len(ascending)) * int64(unsafe.Sizeof(lake.Row{}))); memory.exhausted() {
		return nil, ErrMemory
	}
	read := make([]lake.Row, len(ascending))

	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.groups {
		group := &f.groups[i]
		from := sort.Search(len(ascending), func(i int) bool { return ascending[i] >= group.first })
		to := sort.Search(len(ascending), func(i int) bool { return ascending[i] >= group.first+group.rows })
		if from == to {
			continue
		}
		if err := f.readGroup(i, ascending[from:to], wanted, read[from:to], memory); err != nil {
			return nil, err
		}
	}
	rows := make([]*lake.Row, len(numbers))
	for i, n := range numbers {
		at, _ := slices.BinarySearch(ascending, n)
		rows[i] = &read[at]
	}
	return rows, nil
}

// IndexParts returns where the page index of the row groups with some rows is, for the named columns.
func (f *File) IndexParts(numbers []int64, columns []string) (parts []Part, _ error) {
	err := f.eachChunk(numbers, columns, func(group int, l *leaf, _ []int64) error {
		c := f.object.chunk(group, l)
		parts = append(parts, Part{c.OffsetIndexOffset, int64(c.OffsetIndexLength)})
		return nil
	})
	return parts, err
}

// RowParts returns where the pages are that Rows reads. It reads the page index.
func (f *File) RowParts(numbers []int64, columns []string) (parts []Part, err error) {
	defer contain(&err)
	err = f.eachChunk(numbers, columns, func(group int, l *leaf, rows []int64) error {
		pages, err := f.object.pageLocations(group, l)
		if err != nil {
			return err
		}
		meta := &f.object.chunk(group, l).MetaData
		if meta.DictionaryPageOffset != 0 {
			parts = append(parts, Part{meta.DictionaryPageOffset, meta.DataPageOffset - meta.DictionaryPageOffset})
		}
		last := -1
		for _, row := range rows {
			page := pageOf(pages, row)
			if page < 0 || page == last {
				continue // Rows reports a row without a page
			}
			parts, last = append(parts, Part{pages[page].Offset, int64(pages[page].CompressedPageSize)}), page
		}
		return nil
	})
	return parts, err
}

// eachChunk calls do for each named column that the object has, in each row group with some rows. rows are their numbers
// in the row group, ascending.
func (f *File) eachChunk(numbers []int64, columns []string, do func(group int, l *leaf, rows []int64) error) error {
	wanted, err := leavesIn(columns)
	if err != nil {
		return err
	}
	ascending := slices.Sorted(slices.Values(numbers))
	for i := range f.groups {
		g := &f.groups[i]
		var rows []int64
		for _, n := range ascending {
			if g.first <= n && n < g.first+g.rows {
				rows = append(rows, n-g.first)
			}
		}
		if len(rows) == 0 {
			continue
		}
		for _, l := range wanted {
			if f.object.has(l) {
				if err := do(i, l, rows); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// leavesIn lists the leaves of the named columns in the order of the schema.
func leavesIn(columns []string) (all []*leaf, err error) {
	if columns == nil {
		columns = lake.ColumnNames
	}
	for _, name := range columns {
		of, known := leavesOf[name]
		if !known {
			return nil, fmt.Errorf("no column %q", name)
		}
		all = append(all, of...)
	}
	slices.SortFunc(all, func(a, b *leaf) int { return a.number - b.number })
	return slices.Compact(all), nil
}

// readGroup reads rows of a row group. Their numbers, counted in the file, are ascending.
func (f *File) readGroup(group int, numbers []int64, wanted []*leaf, rows []lake.Row, memory *arena) error {
	g := &f.groups[group]
	for _, l := range wanted {
		if !f.object.has(l) {
			continue
		}
		c := g.cursors[l.number]
		if c == nil {
			p := cursorReaders.Get().(*pageReader)
			p.in, p.buffer = f.shared.in, f.shared.buffer
			var err error
			if c, err = newCursor(f.object, group, l, p); err != nil {
				return fmt.Errorf("row group %d, column %s: %w", group, l.path, err)
			}
			g.cursors[l.number] = c
		}
		if err := c.readRows(numbers, g.first, rows, memory); err != nil {
			return err
		}
	}
	return nil
}
