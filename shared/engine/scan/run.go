package scan

import (
	"context"
	"errors"
	"fmt"
	"runtime"
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

// end ends the scan. Nothing of its columns is used after that.
func (r *run) end(groups []*group) {
	for _, w := range r.idle {
		w.end()
	}
	for _, g := range groups {
		free(g.columns)
	}
}
