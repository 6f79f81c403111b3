package parquet

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"sync"

	"github.com/parquet-go/parquet-go"

	"github.com/orrery/orrery/shared/lake"
)

// leavesOf is the numbers of the Parquet columns that a top-level column consists of.
var leavesOf = func() map[string][]int {
	leaves := map[string][]int{}
	for i, path := range rowSchema.Columns() {
		leaves[path[0]] = append(leaves[path[0]], i)
	}
	return leaves
}()

// File is an open object from which single rows are read: by the page index, only the pages they lie on. It keeps
// the dictionaries and the last page of every column it has read, about twice the object's size at most, so a second
// look is much cheaper than the first. It is safe for concurrent use, one call at a time.
type File struct {
	mu     sync.Mutex
	file   *parquet.File
	groups []rowGroup
}

// rowGroup is one row group of a file: its place and how far each Parquet column has been read.
type rowGroup struct {
	first, rows int64
	chunks      []parquet.ColumnChunk
	cursors     []*cursor // by Parquet column; nil until needed
}

// OpenFile reads footer and page index of an object.
func OpenFile(r io.ReaderAt, size int64) (_ *File, err error) {
	defer contain(&err)
	file, err := openParquet(r, size)
	if err != nil {
		return nil, err
	}
	f := &File{file: file}
	first := int64(0)
	for _, group := range file.RowGroups() {
		chunks := group.ColumnChunks()
		f.groups = append(f.groups, rowGroup{first: first, rows: group.NumRows(), chunks: chunks, cursors: make([]*cursor, len(chunks))})
		first += group.NumRows()
	}
	return f, nil
}

// NumRows is how many rows the object holds.
func (f *File) NumRows() int64 { return f.file.NumRows() }

// Close releases what the file keeps; the file must not be used again. It does not close the underlying reader.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, group := range f.groups {
		for _, c := range group.cursors {
			if c != nil {
				errs = append(errs, c.close())
			}
		}
	}
	f.groups = nil
	return errors.Join(errs...)
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

// Rows reads the rows with the given numbers, counted from 0 in the order of the object, and returns them in the
// order asked. columns names top-level columns, nil is all; the others are left zero. The rows are the caller's.
func (f *File) Rows(numbers []int64, columns []string) (_ []*lake.Row, err error) {
	defer contain(&err)
	wanted, err := wantedLeaves(columns)
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

	f.mu.Lock()
	defer f.mu.Unlock()
	byNumber := make(map[int64]*lake.Row, len(ascending))
	for i := range f.groups {
		group := &f.groups[i]
		from := sort.Search(len(ascending), func(i int) bool { return ascending[i] >= group.first })
		to := sort.Search(len(ascending), func(i int) bool { return ascending[i] >= group.first+group.rows })
		if from == to {
			continue
		}
		rows, err := group.read(ascending[from:to], wanted)
		if err != nil {
			return nil, err
		}
		for i, n := range ascending[from:to] {
			byNumber[n] = rows[i]
		}
	}
	rows := make([]*lake.Row, len(numbers))
	for i, n := range numbers {
		rows[i] = byNumber[n]
	}
	return rows, nil
}

// wantedLeaves tells which Parquet columns the named columns consist of.
func wantedLeaves(columns []string) ([]bool, error) {
	if columns == nil {
		columns = lake.ColumnNames
	}
	wanted := make([]bool, len(rowSchema.Columns()))
	for _, name := range columns {
		leaves, known := leavesOf[name]
		if !known {
			return nil, fmt.Errorf("no column %q", name)
		}
		for _, leaf := range leaves {
			wanted[leaf] = true
		}
	}
	return wanted, nil
}

// read reads rows of the group, whose numbers in the file are ascending.
func (g *rowGroup) read(numbers []int64, wanted []bool) ([]*lake.Row, error) {
	values := make([]parquet.Row, len(numbers))
	for leaf := range g.chunks {
		if !wanted[leaf] {
			for i := range values {
				values[i] = append(values[i], parquet.NullValue().Level(0, 0, leaf))
			}
			continue
		}
		if g.cursors[leaf] == nil {
			c, err := newCursor(g.chunks[leaf])
			if err != nil {
				return nil, err
			}
			g.cursors[leaf] = c
		}
		for i, n := range numbers {
			var err error
			if values[i], err = g.cursors[leaf].appendRow(values[i], n-g.first); err != nil {
				return nil, fmt.Errorf("read %s of row %d: %w", rowSchema.Columns()[leaf], n, err)
			}
		}
	}
	rows := make([]lake.Row, len(numbers))
	pointers := make([]*lake.Row, len(numbers))
	for i := range rows {
		pointers[i] = &rows[i]
		if err := rowSchema.Reconstruct(pointers[i], values[i]); err != nil {
			return nil, fmt.Errorf("assemble row %d: %w", numbers[i], err)
		}
	}
	return pointers, nil
}
