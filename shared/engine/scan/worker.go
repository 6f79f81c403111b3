package scan

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake/parquet"
)

// each calls do for each i from 0 to n-1, on several workers. The first error stops all workers.
func (r *run) each(ctx context.Context, n int, do func(w *worker, i int) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(r.workers, n) {
		workers.Go(func() {
			w := r.worker(ctx)
			defer r.release(w)
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if ctx.Err() != nil {
					return
				}
				if err := recovered(w, i, do); err != nil {
					stop(err)
					return
				}
			}
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}

// worker returns an idle worker, or a new one.
func (r *run) worker(ctx context.Context) *worker {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := newWorker()
	if last := len(r.idle) - 1; last >= 0 {
		w, r.idle = r.idle[last], r.idle[:last]
	}
	w.run, w.ctx = r, ctx
	return w
}

// release makes a worker idle.
func (r *run) release(w *worker) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.idle = append(r.idle, w)
}

// recovered calls do and returns a panic as an error. A panic in a worker's goroutine would end the program.
func recovered(w *worker, i int, do func(w *worker, i int) error) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("scan: %v\n%s", reason, debug.Stack())
		}
	}()
	return do(w, i)
}

// worker reads row groups, one at a time.
type worker struct {
	run    *run
	ctx    context.Context //nolint:containedctx // of the current pass
	reader *parquet.ColumnReader
	group  *group

	at       groupID                                  // the row group that it is reading; the lock of the pool guards it
	columns  map[parquet.Column]*parquet.ColumnValues // of this group, as far as they have been read
	coded    map[parquet.Column]*parquet.ColumnValues // the same without entries
	spare    map[parquet.Column]*parquet.ColumnValues // of earlier groups, for their memory
	flagged  []uint8                                  // what flags returns for this group
	hasFlags bool                                     // flagged is of this group

	// Memory for the values of a dimension in a group, used again for the next one.
	starts, codes []int32
	lastRow       []int32 // of each code: the last row that has it, plus one
	counts        []flagCounts
	met           []int32
	hashes        []textHash
	tallies       []uint64
	times         [][3]duration
	numbers       []int32
	places        []int
	pairs         pairs
	hashed        map[string]*hashesInUse
	tried         triedTexts
	sections      [3][]byte // of a rollup
}

func newWorker() *worker {
	return &worker{
		columns: map[parquet.Column]*parquet.ColumnValues{}, coded: map[parquet.Column]*parquet.ColumnValues{},
		spare: map[parquet.Column]*parquet.ColumnValues{}, hashed: map[string]*hashesInUse{},
	}
}

// begin makes g the row group that the worker reads.
func (w *worker) begin(reader *parquet.ColumnReader, g *group) {
	w.leave()
	w.reader, w.group = reader, g
}

// leave ends the reading of a row group. The next one reuses the memory of its columns.
func (w *worker) leave() {
	maps.Copy(w.spare, w.coded)
	clear(w.coded)
	maps.Copy(w.spare, w.columns)
	clear(w.columns)
	w.hasFlags = false
	w.at, w.reader, w.group = groupID{}, nil, nil
}

// end makes the memory of the worker's columns free for other workers.
func (w *worker) end() {
	w.leave()
	free(w.spare)
	w.tried = triedTexts{}
	w.run, w.ctx = nil, nil
}

// freeColumns has a pool for each column: columns that no scan uses any more, whose memory the next scan uses again.
// The garbage collector empties pools.
var freeColumns sync.Map // of *sync.Pool by parquet.Column

// free removes all columns and gives back their memory.
func free(columns map[parquet.Column]*parquet.ColumnValues) {
	for stored, values := range columns {
		pool, _ := freeColumns.LoadOrStore(stored, &sync.Pool{})
		pool.(*sync.Pool).Put(values)
		delete(columns, stored)
	}
}

// newColumn returns values to read a column into.
func (w *worker) newColumn(stored parquet.Column) *parquet.ColumnValues {
	if values, known := w.spare[stored]; known {
		delete(w.spare, stored)
		return values
	}
	if pool, used := freeColumns.Load(stored); used {
		if values, ok := pool.(*sync.Pool).Get().(*parquet.ColumnValues); ok {
			return values
		}
	}
	return &parquet.ColumnValues{}
}

// column returns a column of the group, and reads it at the first call. The values are valid until the next group.
func (w *worker) column(name, member string) (*parquet.ColumnValues, error) {
	stored, ok := parquet.ColumnOf(name, member)
	if !ok {
		panic(fmt.Sprintf("scan: no column %s %s", name, member))
	}
	if values, kept := w.group.columns[stored]; kept {
		return values, nil
	}
	if values, read := w.columns[stored]; read {
		return values, nil
	}
	return w.read(stored, w.columns, func(values *parquet.ColumnValues) error {
		return w.reader.Read(w.group.number, stored, values)
	})
}

// codesOf returns the codes of a column of the group, without its entries, as column does.
func (w *worker) codesOf(name string, entries int) ([]int32, error) {
	stored, _ := parquet.ColumnOf(name, "")
	if values, read := w.columns[stored]; read {
		return values.Codes, nil
	}
	if values, read := w.coded[stored]; read {
		return values.Codes, nil
	}
	values, err := w.read(stored, w.coded, func(values *parquet.ColumnValues) error {
		return w.reader.ReadCodes(w.group.number, stored, entries, values)
	})
	if err != nil {
		return nil, err
	}
	return values.Codes, nil
}

// read reads values of the group and adds them to those that have been read.
func (w *worker) read(
	stored parquet.Column, known map[parquet.Column]*parquet.ColumnValues, read func(*parquet.ColumnValues) error,
) (*parquet.ColumnValues, error) {
	if w.ctx.Err() != nil {
		return nil, context.Cause(w.ctx)
	}
	values := w.newColumn(stored)
	if err := read(values); err != nil {
		return nil, &engine.ObjectError{Path: w.group.file.path, Err: err}
	}
	known[stored] = values
	return values, nil
}

// fewKept is the smallest share of the columns of a scan that is worth keeping.
const fewKept = 1. / 4

// keep keeps columns of the group for another pass. If memory is short, or only few columns would fit, it keeps none,
// and the pass reads them again.
func (w *worker) keep(names []string) {
	if w.group.columns != nil {
		return
	}
	kept := map[parquet.Column]*parquet.ColumnValues{}
	bytes := int64(0)
	for _, name := range names {
		stored, _ := parquet.ColumnOf(name, "")
		if values, read := w.columns[stored]; read {
			kept[stored] = values
			bytes += values.Memory()
		}
	}
	most := 3 * w.run.memory / 8 // the rest is for what cannot be read again
	if all := float64(bytes) * float64(w.run.rows) / float64(w.group.Rows); float64(most) < all*fewKept {
		return
	}
	if !w.run.spare(bytes, most) {
		return
	}
	for stored := range kept {
		delete(w.columns, stored)
	}
	w.group.columns = kept
}

// mayKeepRows reports whether there is enough memory to keep rows for another pass. It counts the memory.
func (w *worker) mayKeepRows(rows []int32) bool {
	return areFirstRows(rows) || w.run.spare(int64(4*cap(rows)), w.run.memory/2)
}

// all reads several columns of single values.
func (w *worker) all(names ...string) ([]*parquet.ColumnValues, error) {
	columns := make([]*parquet.ColumnValues, len(names))
	for i, name := range names {
		var err error
		if columns[i], err = w.column(name, ""); err != nil {
			return nil, err
		}
	}
	return columns, nil
}

// errOrder is an ErrUnsupported: the records of an object are not in the order of time.
var errOrder = fmt.Errorf("%w: records are not in the order of time", ErrUnsupported)

var errLateRecord = errors.New("a record is later than the last time in the footer")

// inOrder returns an error if the chosen rows of a group are not in the order of time, or outside the time that the
// footer gives. The scan relies on that order: it counts one segment after the other, and takes the last rows as the
// newest.
func (w *worker) inOrder(ts []int64, rows []int32) error {
	last := w.group.MinTsMs
	for _, row := range rows {
		if ts[row] < last {
			return fmt.Errorf("%w in %s", errOrder, w.group.file.path)
		}
		last = ts[row]
	}
	if last > w.group.MaxTsMs {
		return &engine.ObjectError{Path: w.group.file.path, Err: errLateRecord}
	}
	return nil
}
