package scan

import (
	"context"
	"os"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/completionindex"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// ValueLists returns the lists of the commonest values of the object in a file, encoded. They depend only on the
// object.
//
// Errors: *engine.ObjectError, ctx's own.
func ValueLists(ctx context.Context, path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, &engine.ObjectError{Path: path, Err: err}
	}
	r := newRun(ctx, query.Query{}, Options{Workers: 1})
	defer r.end(nil)
	l := lister{by: completionindex.Dimensions()}
	err = r.each(ctx, 1, func(w *worker, _ int) error {
		return open(nil, lake.Object{Path: path}, func(c *parquet.ColumnReader, file fileVersion) error {
			for number, g := range c.RowGroups() {
				w.begin(c, &group{file: file, number: number, RowGroup: g, reader: c})
				if err := l.read(w); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return l.tally.Encode(info.Size())
}

// lister counts the values of an object for lists.
type lister struct {
	by     []query.Dimension
	tally  completionindex.Tally
	counts []int64 // of the codes of a dimension; all 0 between two branches
	met    []int32 // the codes whose counts are not 0
}

// rowsOfBranch are the rows of a row group that belong to a branch.
type rowsOfBranch struct {
	tally *completionindex.BranchTally
	rows  []int32
}

// read counts the values of a row group, branch by branch.
func (l *lister) read(w *worker) error {
	branches, err := l.branches(w)
	if err != nil {
		return err
	}
	for i, d := range l.by {
		of, err := w.valuesOf(d)
		if err != nil {
			return err
		}
		l.counts = cleared(l.counts, of.entries.Len())
		for _, b := range branches {
			l.count(i, &of, b)
		}
		if i+1 == len(l.by) || d.Sources[0].Column != l.by[i+1].Sources[0].Column {
			free(w.columns) // members of one column share it
		}
	}
	return nil
}

// branches divides the rows of a row group by branch.
func (l *lister) branches(w *worker) ([]rowsOfBranch, error) {
	field, ok := catalog.Lookup("branch")
	if !ok {
		panic("scan: the catalogue has no field branch")
	}
	of, err := w.valuesOf(query.Dimension{Field: field, Sources: field.Sources})
	if err != nil {
		return nil, err
	}
	rows := make([][]int32, of.entries.Len()) // by code
	var without []int32
	for row, code := range of.codes {
		if code == parquet.Absent {
			without = append(without, int32(row))
			continue
		}
		rows[code] = append(rows[code], int32(row))
	}
	var all []rowsOfBranch
	add := func(b *completionindex.BranchTally, rows []int32) {
		if b != nil {
			b.AddRecords(len(rows))
			all = append(all, rowsOfBranch{b, rows})
		}
	}
	for code, in := range rows {
		if len(in) > 0 {
			add(l.tally.Branch(of.entries.At(int32(code))), in)
		}
	}
	if len(without) > 0 {
		add(l.tally.NoBranch(), without)
	}
	return all, nil
}

// count counts the values of a dimension in the rows of a branch.
func (l *lister) count(dimension int, of *keyColumn, b rowsOfBranch) {
	l.met = l.met[:0]
	for _, row := range b.rows {
		for _, code := range of.at(row) {
			if l.counts[code] == 0 {
				l.met = append(l.met, code)
			}
			l.counts[code]++
		}
	}
	for _, code := range l.met {
		b.tally.Add(dimension, of.entries.At(code), l.counts[code])
		l.counts[code] = 0
	}
}

// at returns the codes of the values of a row.
func (k *keyColumn) at(row int32) []int32 {
	switch {
	case k.starts != nil:
		return k.codes[k.starts[row]:k.starts[row+1]]
	case k.codes[row] == parquet.Absent:
		return nil
	}
	return k.codes[row : row+1]
}
