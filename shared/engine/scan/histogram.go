package scan

import (
	"bytes"
	"context"
	"math/bits"
	"slices"
	"sync"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// histogram counts the total of each value, ranks the values, and counts the cells of those that have a series of their
// own. A histogram that is not split needs one pass and no ranks.
func (r *run) histogram(
	ctx context.Context, shape query.Histogram, days []rolledUpDay, groups []*group,
) ([]query.Series, error) {
	division := r.segments()
	counted, err := r.cellsOfDays(days, shape.Measure, division)
	if err != nil {
		return nil, err
	}
	h := &histogram{
		run: r, question: r.questions()[0], shape: shape, division: division, counted: counted, groups: groups,
		parts: make([]part, len(groups)), segments: map[int64][]cell{},
	}
	if h.shared = allSegments; len(counted) == 0 {
		h.shared = overlaps(groups, h.division)
	}
	if shape.By == nil {
		err = h.countRecords(ctx)
	} else if err = h.rank(ctx); err == nil {
		err = h.countCells(ctx)
	}
	if err != nil {
		return nil, err
	}
	return h.series(), nil
}

// histogram holds what has been counted so far.
type histogram struct {
	run      *run
	question string // of the partials
	shape    query.Histogram
	division query.Segmentation
	counted  []*cellsOfRows // by other processes
	groups   []*group
	parts    []part // of the row groups
	shared   []span // segments that may have records in several row groups

	bits uint   // the values are in 1<<bits parts, by the first bits of their hashes
	part uint64 // that is ranked

	mu       sync.Mutex
	values   parquet.Dictionary // of the part
	totals   []sum              // of these values
	together hashTable          // the values of the part in each shared segment
	reserved int64              // bytes of these
	distinct int64              // the numbers of different values in each segment but those together, added up

	first    []rankedValue    // that have a series of their own
	numbers  map[string]int32 // of these: the index of their series
	segments map[int64][]cell // of each series, by the start of the segment
}

// part is what is kept of a row group for further passes, as far as there is memory.
type part struct {
	none  bool         // no row matches
	rows  []int32      // matching rows
	cells *cellsOfRows // in every segment, if it has few
}

// rankedValue is a value and what ranks it.
type rankedValue struct {
	text  []byte
	total sum
}

// fewCells is the largest number of codes times segments of a row group that are counted at once.
const fewCells = 1 << 14

// totalBytes is the memory of the total of a value.
const totalBytes = 16

// rank finds the values that have a series of their own. If the values need more memory than there is, it begins again,
// and ranks a part of them in each pass. A pass that fails has read only as many records as there is memory for, and
// each one reads twice as many as the one before, so all of them together take about as long as two passes.
func (h *histogram) rank(ctx context.Context) error {
	for ; ; h.bits++ {
		err := h.rankParts(ctx)
		if !h.run.mayDivide(err) || h.bits == maxPartBits {
			return err
		}
		h.first, h.distinct = nil, 0
	}
}

// rankParts ranks one part of the values after the other.
func (h *histogram) rankParts(ctx context.Context) error {
	for h.part = 0; h.part < 1<<h.bits; h.part++ {
		err := h.rankPart(ctx)
		if err == nil {
			h.choose()
		}
		h.forget()
		if err != nil {
			return err
		}
	}
	return nil
}

// rankPart counts the totals of a part of the values.
func (h *histogram) rankPart(ctx context.Context) error {
	for _, p := range h.counted {
		if err := h.join(p); err != nil {
			return err
		}
	}
	return h.eachGroup(ctx, h.join, h.rankGroup)
}

// eachGroup calls ofCells with the cells of each row group that are kept, and read for each other one with matching
// rows.
func (h *histogram) eachGroup(
	ctx context.Context, ofCells func(*cellsOfRows) error, read func(w *worker, i int) error,
) error {
	left := make([]bool, len(h.groups))
	err := h.run.each(ctx, len(h.groups), func(_ *worker, i int) error {
		p := h.cells(i)
		if left[i] = p == nil && !h.parts[i].none; p == nil {
			return nil
		}
		return ofCells(p)
	})
	if err != nil {
		return err
	}
	return h.run.scanSome(ctx, h.groups, func(i int) bool { return left[i] }, read)
}

// cells returns the cells of row group i, if this scan or an earlier one keeps them.
func (h *histogram) cells(i int) *cellsOfRows {
	if of := &h.parts[i]; of.none || of.cells != nil {
		return of.cells
	}
	switch p := h.run.partialOf(h.groups[i], h.question).(type) {
	case noRows:
		h.parts[i].none = true
	case *cellsOfRows:
		h.keepCells(i, p)
		return p
	}
	return nil
}

// keepCells keeps the cells of row group i if there is enough memory.
func (h *histogram) keepCells(i int, p *cellsOfRows) {
	if h.run.spare(p.bytes(), h.run.memory/2) {
		h.parts[i].cells = p
	}
}

// rowsOf returns the matching rows of row group i. It keeps them if there is enough memory.
func (h *histogram) rowsOf(w *worker, i int) ([]int32, error) {
	of := &h.parts[i]
	if of.rows != nil {
		return of.rows, nil
	}
	rows, err := w.chosen()
	if err != nil {
		return nil, err
	}
	if of.none = len(rows) == 0; !of.none && w.mayKeepRows(rows) {
		of.rows = rows
	}
	return rows, nil
}

// rankGroup counts the totals of row group i. If it has few codes and segments, it counts the cells of all of them.
func (h *histogram) rankGroup(w *worker, i int) error {
	rows, err := h.rowsOf(w, i)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		h.run.storeIf(w.group, h.question, noRows{})
		return nil
	}
	in, err := w.measuredRows(h.shape)
	if err != nil {
		return err
	}
	cells := in.of.entries.Len() + 1 // the last is of absent values
	if segments := h.division.Count(in.ts[rows[0]], in.ts[rows[len(rows)-1]]); segments*int64(cells) <= fewCells {
		p := in.cellsOf(in.split(rows, h.division, cells, nil))
		h.run.storeIf(w.group, h.question, p)
		h.keepCells(i, p)
		return h.join(p)
	}
	w.keep(h.run.query.Columns())
	return h.rankRows(in, rows)
}

// rankRows adds the values of rows to the totals.
func (h *histogram) rankRows(in measuredRows, rows []int32) error {
	entries := in.of.entries
	counts := make([]cell, entries.Len()+1) // the last is of absent values
	in.count(counts, rows, nil)
	ranks, hashes := make([]bool, entries.Len()), make([]uint32, entries.Len())
	for code := range hashes {
		if counts[code].requests > 0 {
			text := entries.At(int32(code))
			ranks[code], hashes[code] = h.ranks(text), parquet.Hash(text)
		}
	}
	alone, together := h.different(in, rows, ranks)

	h.mu.Lock()
	defer h.mu.Unlock()
	places := make([]int32, entries.Len())
	for code := range hashes {
		if ranks[code] {
			places[code] = h.place(entries.At(int32(code)), hashes[code])
			h.totals[places[code]].join(counts[code].sum)
		}
	}
	h.distinct += alone
	for _, v := range together {
		h.together.add(sharedKey(v.segment, places[v.value]))
	}
	return h.reserve()
}

// ranks reports whether a value belongs to the part that is ranked.
func (h *histogram) ranks(text []byte) bool {
	return h.bits == 0 || h.run.textHash(text).hash>>(64-h.bits) == h.part
}

// place returns the place of a value. It adds the value if it is new.
func (h *histogram) place(text []byte, hash uint32) int32 {
	place := h.values.Code(text, hash)
	if int(place) == len(h.totals) {
		h.totals = append(h.totals, sum{})
	}
	return place
}

// reserve counts the memory by which the values have grown, and checks their number.
func (h *histogram) reserve() error {
	if h.allDistinct() > maxDistinct {
		return engine.SegmentDistinctError(query.MaxDistinct)
	}
	more := h.values.Memory() + int64(cap(h.totals))*totalBytes + h.together.bytes() - h.reserved
	err := h.run.reserve(more)
	if err == nil {
		h.reserved += more
	}
	return err
}

// forget forgets the values of a part, but for the first ones.
func (h *histogram) forget() {
	for i := range h.first {
		h.first[i].text = bytes.Clone(h.first[i].text)
	}
	h.distinct = h.allDistinct()
	h.run.unreserve(h.reserved)
	h.values, h.totals, h.together, h.reserved = parquet.Dictionary{}, nil, hashTable{}, 0
}

// different counts the different values of rows in each segment that are ranked. It adds up the counts of the segments
// that no other row group shares, and returns the codes of the values of the shared ones.
func (h *histogram) different(in measuredRows, rows []int32, ranks []bool) (alone int64, together []segmentValue) {
	met := make(seen, in.of.entries.Len())
	var p pairs
	for number := int32(1); len(rows) > 0; number++ {
		start, n := in.segment(rows, h.division)
		shared := within(h.shared, start)
		p.each(&in.of, nil, rows[:n], func(_, codes []int32) {
			for _, code := range codes {
				switch {
				case !ranks[code] || !met.first(code, number):
				case shared:
					together = append(together, segmentValue{start, code})
				default:
					alone++
				}
			}
		})
		rows = rows[n:]
	}
	return alone, together
}

// sharedKey returns a number that is different for every segment and place. There are at most some millions of places,
// and the starts of segments differ in their last 39 bits. The multiplication spreads the numbers.
func sharedKey(start int64, place int32) uint64 {
	return bits.RotateLeft64((uint64(start)<<25|uint64(place))*0x9e3779b97f4a7c15, 32)
}

// allDistinct returns the number of different values in each segment, added up.
func (h *histogram) allDistinct() int64 { return h.distinct + int64(h.together.n) }

// choose finds the values of the part that have a series of their own so far.
func (h *histogram) choose() {
	for place := range h.totals {
		of := rankedValue{h.values.At(int32(place)), h.totals[place]}
		h.first = insertFirst(h.first, of, h.shape.Limit, func(a, b rankedValue) int {
			if order := b.total.compare(a.total); order != 0 {
				return order
			}
			return bytes.Compare(a.text, b.text)
		})
	}
}

// width is the number of series: one for each value, one for all other values, and one for absent values. If the
// histogram is not split, the last one counts everything.
func (h *histogram) width() int { return h.shape.Limit + 2 }

// countCells counts the cells of each series, after the values have been ranked.
func (h *histogram) countCells(ctx context.Context) error {
	h.numbers = make(map[string]int32, len(h.first))
	for number, of := range h.first {
		h.numbers[string(of.text)] = int32(number)
	}
	for _, p := range h.counted {
		if err := h.fold(p); err != nil {
			return err
		}
	}
	return h.eachGroup(ctx, h.fold, func(w *worker, i int) error {
		rows, err := h.rowsOf(w, i)
		if err != nil {
			return err
		}
		in, err := w.measuredRows(h.shape)
		if err != nil {
			return err
		}
		return h.joinSeries(in.split(rows, h.division, h.width(), h.numbersOf(in.of.entries)))
	})
}

// numbersOf returns the index of the series of each value of a row group.
func (h *histogram) numbersOf(values texts) []int32 {
	numbers := make([]int32, values.Len())
	for code := range numbers {
		number, isFirst := h.numbers[string(values.At(int32(code)))]
		if !isFirst {
			number = int32(h.shape.Limit) // the others
		}
		numbers[code] = number
	}
	return numbers
}

// fold adds the cells of the values of a row group to the series.
func (h *histogram) fold(p *cellsOfRows) error {
	numbers := h.numbersOf(&p.texts)
	folded := map[int64][]cell{}
	for i := range p.segments {
		of := &p.segments[i]
		series := make([]cell, h.width())
		for n, value := range of.values {
			series[numbers[value]].merge(&of.cells[n])
		}
		series[h.width()-1] = of.absent
		folded[of.start] = series
	}
	return h.joinSeries(folded)
}

// joinSeries adds the cells of the series in a row group to the cells of the other row groups.
func (h *histogram) joinSeries(segments map[int64][]cell) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	taken := int64(0)
	for start, cells := range segments {
		known, met := h.segments[start]
		if !met {
			h.segments[start] = cells
			taken += int64(len(cells)) * cellBytes
			continue
		}
		for i := range cells {
			known[i].merge(&cells[i])
		}
	}
	return h.run.reserve(taken)
}

// cellBytes is the memory of a cell.
const cellBytes = 3 * 8

// series returns the series that have records, in the order of the answer.
func (h *histogram) series() []query.Series {
	starts := make([]int64, 0, len(h.segments))
	for start := range h.segments {
		starts = append(starts, start)
	}
	slices.Sort(starts)
	var all []query.Series
	for i := range h.width() {
		s := query.Series{Kind: h.shape.KindOf(i + 1)}
		if i < len(h.first) {
			s.Value = string(h.first[i].text)
		}
		if s.Kind == query.SeriesOther {
			s.Distinct = h.allDistinct() - query.DistinctValues(all)
		}
		var total sum
		for _, start := range starts {
			c := h.segments[start][i]
			if c.requests == 0 {
				continue
			}
			total.join(c.sum)
			s.Points = append(s.Points, query.Point{Segment: start, N: c.whole()})
		}
		if s.Total = total.whole(); s.Points != nil {
			all = append(all, s)
		}
	}
	return all
}
