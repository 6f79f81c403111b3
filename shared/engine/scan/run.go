package scan

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/rollup"
)

// run is the state that all parts of a scan share.
type run struct {
	query      query.Query
	reach      query.TimeBounds
	workers    int
	memory     int64
	noFallback bool
	key        rollup.HashKey           // of textHash
	hash       func(text []byte) uint64 // instead; nil: the one with the key
	used       atomic.Int64             // bytes of memory
	room       sync.Mutex               // of making room in it
	surveyed   int                      // row groups
	rows       int64                    // of these

	shared *engine.Memory // from which the memory is taken
	caller string
	taken  atomic.Int64 // bytes

	minutes  *minutes          // from which counts are answered; nil: they are not
	subsets  []rollup.Subset   // of whose records the query is; none: of all
	rest     [][]rollup.Subset // by other fields, of which the records must be, too
	isSubset bool              // the query is of such records, so rollups may answer it
	source   Source            // of the objects; nil: they are files

	pools *WorkerPools
	pool  *workerPool // of the caller

	rollups         *Rollups
	rolledUpAt      map[int64][]string // the names of rollups in the source, by the starts of their days
	rolledUpObjects map[string]string  // those of objects, by the paths of these
	fromRecords     bool               // although there are rollups
	sizes           listSizes          // of the lists that it makes
	options         Options            // of the scan
	before          []rolledUpDay      // the days before the one that it rolls up
	isPart          bool               // it rolls up a subset of a day, while others are rolled up
	crew            Crew               // that has counted parts; nil: there are none
	opened          []rolledUpDay      // whose records are needed, too: their rollups do not have all figures
	partials        *Partials
	conditions      string       // the identity of the conditions, if there are partials
	stored          atomic.Int64 // bytes of the partials that this scan has stored

	mu   sync.Mutex
	idle []*worker // of each; their columns' memory is used again
}

// newRun returns the state of a scan. The caller must call giveBack at its end, unless the options have nothing that
// scans share.
func newRun(ctx context.Context, q query.Query, o Options) *run {
	r := &run{
		query: q, reach: q.TimeBounds(), workers: o.Workers, memory: o.Memory, noFallback: o.NoFallback, hash: o.hash,
		shared: o.Shared, caller: engine.CallerOf(ctx), pools: o.Pools, partials: o.Partials,
		rollups: o.Rollups, rolledUpAt: o.RolledUp, rolledUpObjects: o.RolledUpObjects,
		key: o.Rollups.hashKey(), source: o.Source, fromRecords: o.fromRecords, sizes: sizes,
		crew: o.Crew, options: o,
	}
	if r.partials != nil {
		r.conditions = query.ConditionsIdentity(q.Conditions)
	}
	if r.workers == 0 {
		r.workers = runtime.GOMAXPROCS(0)
	}
	if r.memory == 0 {
		r.memory = defaultMemory
	}
	r.query.Conditions = patternsLast(q.Conditions)
	if r.minutes = newMinutes(r); r.minutes != nil {
		r.subsets, r.isSubset = r.minutes.subsets, true
	} else {
		r.subsets, r.rest, r.isSubset = rollup.SubsetsOf(q.Conditions)
	}
	r.pool = r.pools.join(r.caller, r.workers)
	return r
}

// segments returns the segments of the query.
func (r *run) segments() query.Segmentation { return r.query.Segmentation(r.query.Scope.Period) }

// reserve counts memory that is kept until the end of the scan, or until unreserve. It returns ErrUnsupported if that
// is more than allowed, and ErrBusy if other queries use it. Then nothing is counted.
func (r *run) reserve(bytes int64) error {
	if used := r.used.Add(bytes); used > r.memory {
		r.used.Add(-bytes)
		return fmt.Errorf("%w: it needs more than %d MB", errTooLarge, r.memory>>20)
	}
	if !r.take(bytes) {
		r.used.Add(-bytes)
		return ErrBusy
	}
	return nil
}

// reserveOr is like reserve. While memory is short, it calls makeRoom, which reports whether it has freed some.
func (r *run) reserveOr(bytes int64, makeRoom func() bool) error {
	r.room.Lock()
	defer r.room.Unlock()
	for {
		if err := r.reserve(bytes); err == nil || !makeRoom() {
			return err
		}
	}
}

// errTooLarge is an ErrUnsupported: a scan needs more memory than allowed.
var errTooLarge = fmt.Errorf("%w", ErrUnsupported)

// isShort reports whether an error of reserve is that memory is short.
func isShort(err error) bool { return errors.Is(err, errTooLarge) || errors.Is(err, ErrBusy) }

// mayDivide reports whether a histogram or stats that has failed with an error should be counted in parts. While other
// queries use the memory, it is better to wait for them. Objects of a Source are not read several times, because that
// costs requests and takes long; the service of the lake answers instead.
func (r *run) mayDivide(err error) bool { return errors.Is(err, errTooLarge) && r.source == nil }

// spare counts memory as reserve does, unless more than most bytes would then be in use. In that case nothing is
// counted even for a moment, because others would find too little.
func (r *run) spare(bytes, most int64) bool {
	for used := r.used.Load(); used+bytes <= most; used = r.used.Load() {
		if !r.used.CompareAndSwap(used, used+bytes) {
			continue
		}
		if r.take(bytes) {
			return true
		}
		r.used.Add(-bytes)
		return false
	}
	return false
}

// take takes memory from what all queries share, until giveBack. It returns false if other queries use it.
func (r *run) take(bytes int64) bool {
	if !r.shared.Take(r.caller, bytes) {
		return false
	}
	r.taken.Add(bytes)
	return true
}

// unreserve gives back memory that reserve has counted and the scan no longer uses.
func (r *run) unreserve(bytes int64) {
	r.used.Add(-bytes)
	r.taken.Add(-bytes)
	r.shared.Give(r.caller, bytes)
}

// reservation is memory that a step of a scan uses and gives back.
type reservation struct {
	run   *run
	bytes int64
}

// hold makes bytes the memory that the step uses now. It returns the errors of run.reserve.
func (h *reservation) hold(bytes int64) error {
	switch {
	case bytes > h.bytes:
		if err := h.run.reserve(bytes - h.bytes); err != nil {
			return err
		}
	case bytes < h.bytes:
		h.run.unreserve(h.bytes - bytes)
	}
	h.bytes = bytes
	return nil
}

// free gives back the memory.
func (h *reservation) free() {
	h.run.unreserve(h.bytes)
	h.bytes = 0
}

// giveBack gives back the memory that all queries share, and leaves the workers to other scans of the caller.
func (r *run) giveBack() {
	r.shared.Give(r.caller, r.taken.Swap(0))
	r.pools.leave(r.caller)
}

// group is one row group of an object.
type group struct {
	file   fileVersion
	number int
	first  int64 // number of its first row in the object
	parquet.RowGroup

	reader *parquet.ColumnReader // of the object, which has been closed

	columns map[parquet.Column]*parquet.ColumnValues // kept for another pass
	hashes  map[string]keyHashes                     // of the keys of topx, by column, kept for other passes

	read bool // whether its rows were read
}

// id identifies the row group among the row groups of all objects.
func (g *group) id() groupID { return groupID{g.file, g.number} }

// groups lists the row groups of an object that can hold matching records, in the order of the object.
func (r *run) groups(c *parquet.ColumnReader, file fileVersion) (found []*group) {
	first := int64(0)
	for number, g := range c.RowGroups() {
		if g.Rows > 0 && r.reach.Touches(g.MinTsMs, g.MaxTsMs) {
			found = append(found, &group{file: file, number: number, first: first, RowGroup: g, reader: c})
		}
		first += int64(g.Rows)
	}
	return found
}

// survey lists the row groups of all objects that can hold matching records.
func (r *run) survey(ctx context.Context, objects []lake.Object) ([]*group, error) {
	found := make([][]*group, len(objects))
	if err := r.expectFooters(objects); err != nil {
		return nil, err
	}
	err := r.each(ctx, len(objects), func(_ *worker, i int) error {
		return open(r.source, objects[i], func(c *parquet.ColumnReader, file fileVersion) error {
			found[i] = r.groups(c, file)
			return r.reserve(c.Memory())
		})
	})
	all := slices.Concat(found...)
	r.surveyed = len(all)
	for _, g := range all {
		r.rows += int64(g.Rows)
	}
	return all, err
}

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

// end ends the scan. Nothing of its columns is used after that.
func (r *run) end(groups []*group) {
	for _, w := range r.idle {
		w.end()
	}
	for _, g := range groups {
		free(g.columns)
	}
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
