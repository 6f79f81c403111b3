package scan

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// facets counts the values of every dimension: by code in each row group, then by text in all. That takes one pass, unless
// the values need more memory than there is.
func (r *run) facets(
	ctx context.Context, shape query.Facets, days []rolledUpDay, groups []*group,
) (query.FacetsAnswer, error) {
	if len(days) > 0 {
		return r.facetsOfDays(ctx, shape, days, groups)
	}
	return r.facetsOf(ctx, shape, groups, nil)
}

// facetsOf is facets of the values that pass a test; nil: all values, of which there may be query.MaxDistinct.
func (r *run) facetsOf(
	ctx context.Context, shape query.Facets, groups []*group, find *query.Find,
) (query.FacetsAnswer, error) {
	f := newFacets(r, shape.By, flagsOfRows, addFlagged)
	if f.find = find; find == nil {
		f.question = r.questions()[0]
	}
	all := make([]query.Facet, len(f.by))
	err := f.count(ctx, groups, func(i int, values *counted[query.Flagged]) error {
		addFacet(&all[i], values, shape)
		return nil
	})
	if err != nil || f.all.Requests == 0 {
		return query.FacetsAnswer{}, err
	}
	for i := range all {
		all[i].Requests = f.by[i].present.Requests
	}
	return query.FacetsAnswer{Requests: f.all.Requests, Facets: all}, nil
}

func flagsOfRows(w *worker, _ []int32) ([]uint8, error) { return w.flags() }

// facets holds what has been counted so far, in counts of type C.
type facets[C any] struct {
	run   *run
	by    []facet[C]
	find  *query.Find                                    // nil: every value is counted
	flags func(w *worker, rows []int32) ([]uint8, error) // returns the flags of each row of a row group
	add   func(flags int, n int64, to *C)                // adds n records that have these flags

	question string // of the partials; "": there are none

	lists     countedLists[C] // the values of by
	different atomic.Int64    // values that have been counted

	mu  sync.Mutex
	all C // of all matching records
}

// facet holds the counts of a dimension.
type facet[C any] struct {
	dimension query.Dimension
	values    counted[C]
	present   C // of the records that have a value
}

func newFacets[C any](
	r *run, by []query.Dimension, flags func(*worker, []int32) ([]uint8, error), add func(flags int, n int64, to *C),
) *facets[C] {
	f := &facets[C]{run: r, by: make([]facet[C], len(by)), flags: flags, add: add}
	f.lists = countedLists[C]{run: r, dropped: func(n int) { f.different.Add(int64(-n)) }}
	for i, d := range by {
		f.by[i].dimension = d
		f.by[i].values = newCounted[C](countBytes)
		f.lists.all = append(f.lists.all, &f.by[i].values)
	}
	return f
}

// maxDistinct limits the different values of facets and diffs. Tests change it.
var maxDistinct int64 = query.MaxDistinct

// countBytes is the memory of the counts of a value, at most.
const countBytes = 5 * 8

// count counts the values of all dimensions. It passes the values of each part of a dimension to collect.
func (f *facets[C]) count(ctx context.Context, groups []*group, collect func(i int, values *counted[C]) error) error {
	first := true
	kept, left := keptOf[*valuesOfRows](f.run, groups, f.question, nil)
	return f.lists.eachPart(func(open []int) error {
		err := f.run.each(ctx, len(kept), func(_ *worker, i int) error { return f.joinKept(kept[i], i, open, first) })
		if err != nil {
			return err
		}
		err = f.run.scan(ctx, left, func(w *worker, group int) error { return f.read(w, group, open, first) })
		if err != nil {
			return err
		}
		first = false
		return f.run.each(ctx, len(open), func(_ *worker, i int) error {
			return collect(open[i], &f.by[open[i]].values)
		})
	})
}

// read counts a row group in the dimensions that are open. Row groups begin with different dimensions, so that workers
// seldom wait for each other. Only the first pass counts the records.
func (f *facets[C]) read(w *worker, group int, open []int, first bool) error {
	rows, err := w.chosen()
	if err != nil {
		return err
	}
	keep := f.keeper(w, first)
	if len(rows) == 0 {
		keep.nothing()
		return nil
	}
	flags, err := f.flags(w, rows)
	if err != nil {
		return err
	}
	if first {
		var all flagCounts
		for _, row := range rows {
			all[flags[row]%manyFlags]++
		}
		keep.all(&all)
		f.addAll(&all)
	}
	for i := range open {
		n := open[(group+i)%len(open)]
		by := &f.by[n]
		of, err := w.elementsOf(by.dimension)
		if err != nil {
			return err
		}
		w.counts = cleared(w.counts, of.entries.Len())
		counts, present := w.counts, w.count(&of, rows, flags)
		w.meet(of.entries, func(code int32) bool { return counts[code] != (flagCounts{}) && f.passes(of.entries, code) })
		keep.values(w, n, &of, &present)
		if err := f.reserve(f.join(w, by, &of, &present, first)); err != nil {
			return err
		}
	}
	keep.end()
	return nil
}

// addAll counts the records of a row group.
func (f *facets[C]) addAll(n *flagCounts) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.addCounts(n, &f.all)
}

func (f *facets[C]) addCounts(counts *flagCounts, to *C) {
	for flags, n := range counts {
		if n > 0 {
			f.add(flags, int64(n), to)
		}
	}
}

// reserve counts memory of the values, and checks their number.
func (f *facets[C]) reserve(grown int64) error {
	if err := f.lists.reserve(grown); err != nil {
		return err
	}
	if f.find == nil && f.different.Load() > maxDistinct {
		return engine.DistinctError(query.MaxDistinct)
	}
	return nil
}

// join adds the counts of a row group to the counts of the other row groups. It returns the memory that this takes.
func (f *facets[C]) join(w *worker, by *facet[C], of *keyColumn, present *flagCounts, first bool) (grown int64) {
	values := &by.values
	values.mu.Lock()
	defer values.mu.Unlock()
	before, known := values.bytes(), len(values.counts)
	if first {
		f.addCounts(present, &by.present)
	}
	for i, code := range w.met {
		if n := values.of(of.entries.At(code), w.hashes[i]); n != nil {
			f.addCounts(&w.counts[code], n)
		}
	}
	f.different.Add(int64(len(values.counts) - known))
	return values.bytes() - before
}

// passes reports whether a value is counted.
func (f *facets[C]) passes(entries texts, code int32) bool {
	return f.find == nil || f.find.Passes(string(entries.At(code)))
}

// flagCounts counts records by their flags.
type flagCounts [manyFlags]int32

// count adds the rows that have each of the keys to w.counts. It returns the counts of the rows that have any.
func (w *worker) count(k *keyColumn, rows []int32, flags []uint8) (present flagCounts) {
	counts := w.counts
	if k.starts == nil {
		for _, row := range rows {
			if code := k.codes[row]; code != parquet.Absent {
				counts[code][flags[row]%manyFlags]++
				present[flags[row]%manyFlags]++
			}
		}
		return present
	}
	if k.repeats {
		w.lastRow = cleared(w.lastRow, len(counts))
	}
	for _, row := range rows {
		codes, flag := k.codes[k.starts[row]:k.starts[row+1]], flags[row]%manyFlags
		if len(codes) > 0 {
			present[flag]++
		}
		if !k.repeats {
			for _, code := range codes {
				counts[code][flag]++
			}
			continue
		}
		for _, code := range codes {
			if w.lastRow[code] != row+1 {
				w.lastRow[code] = row + 1
				counts[code][flag]++
			}
		}
	}
	return present
}

func addFlagged(flags int, n int64, to *query.Flagged) {
	to.Requests += n
	if flags&isBlocked != 0 {
		to.Blocked += n
	}
	if flags&isChallenged != 0 {
		to.Challenges += n
	}
	if flags&isMonitored != 0 {
		to.Monitored += n
	}
	if flags&isHuman != 0 {
		to.Human += n
	}
}

// orderOf returns the order of values in an answer, except that texts break ties.
func orderOf(shape query.Facets) func(a, b query.Flagged) int {
	return func(a, b query.Flagged) int {
		blocked := 0
		if shape.ByBlocked {
			blocked = cmp.Compare(b.Blocked, a.Blocked)
		}
		return cmp.Or(blocked, cmp.Compare(b.Requests, a.Requests))
	}
}

// addFacet adds the values of a part of a dimension to the answer.
func addFacet(to *query.Facet, values *counted[query.Flagged], shape query.Facets) {
	compare := orderOf(shape)
	var first []int // codes, sorted
	for code, n := range values.counts {
		to.Sum += n.Requests
		to.SumBlocked += n.Blocked
		first = insertFirst(first, code, shape.Limit, func(a, b int) int {
			return cmp.Or(compare(values.counts[a], values.counts[b]),
				bytes.Compare(values.texts.At(int32(a)), values.texts.At(int32(b))))
		})
	}
	to.Distinct += int64(len(values.counts))
	for _, code := range first {
		value := query.FacetValue{Value: string(values.texts.At(int32(code))), Flagged: values.counts[code]}
		to.Values = insertFirst(to.Values, value, shape.Limit, func(a, b query.FacetValue) int {
			return cmp.Or(compare(a.Flagged, b.Flagged), cmp.Compare(a.Value, b.Value))
		})
	}
}

// insertFirst inserts an element into a sorted list. It keeps at most limit elements, the first ones.
func insertFirst[T any](sorted []T, element T, limit int, compare func(a, b T) int) []T {
	if len(sorted) == limit {
		if compare(element, sorted[limit-1]) >= 0 {
			return sorted
		}
		sorted = sorted[:limit-1]
	}
	at, _ := slices.BinarySearchFunc(sorted, element, compare)
	return slices.Insert(sorted, at, element)
}
