package scan

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// facets counts the values of every dimension in one pass: by code in each row group, then by text in all.
func (r *run) facets(ctx context.Context, shape query.Facets, groups []*group) (query.FacetsAnswer, error) {
	return r.facetsOf(ctx, shape, groups, nil)
}

// facetsOf is facets of the values that pass a test; nil: all values.
func (r *run) facetsOf(
	ctx context.Context, shape query.Facets, groups []*group, find *query.Find,
) (query.FacetsAnswer, error) {
	flags := func(w *worker, _ []int32) ([]uint8, error) { return w.flags() }
	f := newFacets(r, shape.By, flags, (*flagCounts).addTo)
	for i := range f.by {
		f.by[i].find = find
	}
	if err := r.scan(ctx, groups, f.read); err != nil {
		return query.FacetsAnswer{}, err
	}
	answer := query.FacetsAnswer{Requests: f.all.Requests}
	if answer.Requests == 0 {
		return answer, nil
	}
	answer.Facets = make([]query.Facet, len(f.by))
	err := r.each(ctx, len(f.by), func(_ *worker, i int) error {
		answer.Facets[i] = facetAnswer(&f.by[i], shape)
		return nil
	})
	return answer, err
}

// facets holds what has been counted so far, in counts of type C.
type facets[C any] struct {
	run   *run
	by    []facet[C]
	flags func(w *worker, rows []int32) ([]uint8, error) // returns the flags of each row of a row group
	add   func(n *flagCounts, to *C)                     // adds the records that have each combination of flags

	mu  sync.Mutex
	all C // of all matching records
}

// facet holds the counts of a dimension.
type facet[C any] struct {
	dimension query.Dimension
	find      *query.Find // nil: every value is counted

	mu      sync.Mutex
	present C // of the records that have a value
	values  parquet.Dictionary
	counts  []C // of the values, by their codes
}

func newFacets[C any](
	r *run, by []query.Dimension, flags func(*worker, []int32) ([]uint8, error), add func(*flagCounts, *C),
) *facets[C] {
	f := &facets[C]{run: r, by: make([]facet[C], len(by)), flags: flags, add: add}
	for i, d := range by {
		f.by[i].dimension = d
	}
	return f
}

// countBytes is the memory of the counts of a value, at most.
const countBytes = 5 * 8

// read counts a row group. Row groups begin with different dimensions, so that workers seldom wait for each other.
func (f *facets[C]) read(w *worker, group int) error {
	rows, err := w.chosen()
	if err != nil || len(rows) == 0 {
		return err
	}
	flags, err := f.flags(w, rows)
	if err != nil {
		return err
	}
	var all flagCounts
	for _, row := range rows {
		all[flags[row]%manyFlags]++
	}
	f.mu.Lock()
	f.add(&all, &f.all)
	f.mu.Unlock()
	for i := range f.by {
		if err := f.by[(group+i)%len(f.by)].read(w, rows, flags, f.add); err != nil {
			return err
		}
	}
	return nil
}

// read counts the values of a row group.
func (f *facet[C]) read(w *worker, rows []int32, flags []uint8, add func(*flagCounts, *C)) error {
	of, err := w.elementsOf(f.dimension)
	if err != nil {
		return err
	}
	w.counts = cleared(w.counts, of.entries.Len())
	counts, present := w.counts, w.count(&of, rows, flags)
	w.met, w.hashes = w.met[:0], w.hashes[:0]
	for code := range counts {
		if counts[code] != (flagCounts{}) && f.passes(of.entries, int32(code)) {
			w.met = append(w.met, int32(code))
			w.hashes = append(w.hashes, parquet.Hash(of.entries.At(int32(code))))
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.bytes()
	add(&present, &f.present)
	for i, code := range w.met {
		place := int(f.values.Code(of.entries.At(code), w.hashes[i]))
		if place == len(f.counts) {
			f.counts = append(f.counts, *new(C))
		}
		add(&counts[code], &f.counts[place])
	}
	return w.run.reserve(f.bytes() - before)
}

// passes reports whether a value is counted.
func (f *facet[C]) passes(entries texts, code int32) bool {
	return f.find == nil || f.find.Passes(string(entries.At(code)))
}

// bytes returns about how much memory the values and counts take.
func (f *facet[C]) bytes() int64 { return f.values.Memory() + int64(cap(f.counts))*countBytes }

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

func (c *flagCounts) addTo(to *query.Flagged) {
	for flags, n := range c {
		if n == 0 {
			continue
		}
		n := int64(n)
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
}

// facetAnswer returns the first values of the dimension.
func facetAnswer(f *facet[query.Flagged], shape query.Facets) query.Facet {
	out := query.Facet{Requests: f.present.Requests, Distinct: int64(len(f.counts))}
	compare := func(a, b int) int {
		blocked := 0
		if shape.ByBlocked {
			blocked = cmp.Compare(f.counts[b].Blocked, f.counts[a].Blocked)
		}
		if order := cmp.Or(blocked, cmp.Compare(f.counts[b].Requests, f.counts[a].Requests)); order != 0 {
			return order
		}
		return bytes.Compare(f.values.At(int32(a)), f.values.At(int32(b)))
	}
	var first []int // codes, sorted
	for code, n := range f.counts {
		out.Sum += n.Requests
		out.SumBlocked += n.Blocked
		first = insertFirst(first, code, shape.Limit, compare)
	}
	for _, code := range first {
		out.Values = append(out.Values, query.FacetValue{
			Value:   string(f.values.At(int32(code))),
			Flagged: f.counts[code],
		})
	}
	return out
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
