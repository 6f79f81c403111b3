package scan

import (
	"bytes"
	"context"
	"math/bits"
	"slices"
	"sort"
	"sync"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// histogram counts the total of each value, by its code, and ranks the values. Row groups with few codes and segments
// are counted in every segment at the same time; the others need a second pass, after the values have been ranked. A
// histogram that is not split needs one pass and no ranks.
func (r *run) histogram(
	ctx context.Context, shape query.Histogram, days []rolledUpDay, groups []*group,
) ([]query.Series, error) {
	counted, err := r.cellsOfParts(days)
	if err != nil {
		return nil, err
	}
	h := &histogram{
		run: r, shape: shape, division: r.segments(), parts: make([]part, len(groups)+len(counted)),
		segments: map[int64][]cell{},
	}
	if h.shared = allSegments; len(counted) == 0 {
		h.shared = overlaps(groups, h.division)
	}
	for i, p := range counted {
		if shape.By == nil {
			err = h.joinAll(p)
		} else {
			err = h.join(len(groups)+i, p)
		}
		if err != nil {
			return nil, err
		}
	}
	if shape.By == nil {
		err := counting[*cellsOfRows]{question: r.questions()[0], count: h.countAll, join: h.joinAll}.run(ctx, r, groups)
		if err != nil {
			return nil, err
		}
		return h.series(), nil
	}
	if err := h.rankAll(ctx, groups); err != nil {
		return nil, err
	}
	h.choose()
	for i := range h.parts {
		if err := h.fold(&h.parts[i]); err != nil {
			return nil, err
		}
	}
	left := func(i int) bool { return h.parts[i].cells == nil && len(h.parts[i].rows) > 0 }
	err = r.scanSome(ctx, groups, left, func(w *worker, i int) error { return h.count(w, &h.parts[i]) })
	if err != nil {
		return nil, err
	}
	return h.series(), nil
}

// histogram holds what has been counted so far.
type histogram struct {
	run      *run
	shape    query.Histogram
	division query.Segmentation
	parts    []part // of the row groups, then of those that parts have counted
	shared   []span // segments that may have records in several row groups

	mu       sync.Mutex
	alone    int64     // the numbers of different values in each of the other segments, added up
	together hashTable // values of shared segments
	values   parquet.Dictionary
	totals   []sum            // of the values
	numbers  []int32          // of the values: the index of their series
	first    []int            // places of the values that have a series of their own
	segments map[int64][]cell // of each series, by the start of the segment
}

// part is the part of a row group that is kept until the values have been ranked.
type part struct {
	places []int32      // of the codes in values; parquet.Absent for codes that do not occur
	rows   []int32      // matching rows, for a second pass
	cells  *cellsOfRows // whose values have the codes; nil: they need a second pass
}

// fewCells is the largest number of codes times segments of a row group that are counted at once.
const fewCells = 1 << 14

// cell is the measure of a series in a segment.
type cell struct {
	sum
	requests int64
}

// The approximate memory of the total and number of a value.
const totalBytes = 16 + 4

// measured returns the measure of each row, or nil if it is 1 for every row.
func (w *worker) measured(m query.Measure) ([]int64, error) {
	names := map[query.Measure][]string{
		query.MeasureBlocked:    {"blocked"},
		query.MeasureChallenges: {"challenge", "ichallenge"},
		query.MeasureMonitored:  {"monitor"},
		query.MeasureHuman:      {"human"},
	}[m]
	switch m {
	case query.MeasureRequests:
		return nil, nil
	case query.MeasureBytesSent:
		sent, err := w.column("bytes_sent", "")
		if err != nil {
			return nil, err
		}
		return sent.Ints, nil
	}
	columns, err := w.all(names...)
	if err != nil {
		return nil, err
	}
	measured := make([]int64, len(columns[0].Flags))
	for _, column := range columns {
		for row, is := range column.Flags {
			if is == 1 {
				measured[row] = 1
			}
		}
	}
	if m == query.MeasureMonitored {
		reasons, err := w.column("monitor_reasons", "")
		if err != nil {
			return nil, err
		}
		for row := range measured {
			if reasons.Starts[row] < reasons.Starts[row+1] {
				measured[row] = 1
			}
		}
	}
	return measured, nil
}

// rankAll is the first pass.
func (h *histogram) rankAll(ctx context.Context, groups []*group) error {
	question := h.run.questions()[0]
	left := make([]bool, len(groups))
	for i, g := range groups {
		switch p := h.run.partialOf(g, question).(type) {
		case noRows:
		case *cellsOfRows:
			if err := h.join(i, p); err != nil {
				return err
			}
		default:
			left[i] = true
		}
	}
	return h.run.scanSome(ctx, groups, func(i int) bool { return left[i] },
		func(w *worker, i int) error { return h.rank(w, i, question) })
}

// rank is the first pass over row group i.
func (h *histogram) rank(w *worker, i int, question string) error {
	rows, err := w.chosen()
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		h.run.storeIf(w.group, question, noRows{})
		return nil
	}
	in, err := w.measuredRows(h.shape)
	if err != nil {
		return err
	}
	cells := in.of.entries.Len() + 1 // the last is of absent values
	if segments := h.division.Count(in.ts[rows[0]], in.ts[rows[len(rows)-1]]); segments*int64(cells) <= fewCells {
		p := in.cellsOf(in.split(rows, h.division, cells, nil))
		h.run.storeIf(w.group, question, p)
		return h.join(i, p)
	}
	return h.rankRows(w, i, in, rows)
}

// rankRows ranks the values of row group i, whose cells a second pass counts.
func (h *histogram) rankRows(w *worker, i int, in measuredRows, rows []int32) error {
	entries := in.of.entries
	p := part{places: slices.Repeat([]int32{parquet.Absent}, entries.Len()), rows: rows}
	counts := make([]cell, entries.Len()+1) // the last is of absent values
	in.count(counts, rows, nil)
	w.keep(h.run.query.Columns())
	hashes := make([]uint32, entries.Len())
	for code := range hashes {
		if counts[code].requests > 0 {
			hashes[code] = parquet.Hash(entries.At(int32(code)))
		}
	}
	h.parts[i] = p
	alone, together := h.different(in, rows)

	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.bytes()
	for code := range hashes {
		if counts[code].requests > 0 {
			p.places[code] = h.place(entries.At(int32(code)), hashes[code])
			h.totals[p.places[code]].join(counts[code].sum)
		}
	}
	h.alone += alone
	for _, v := range together {
		h.together.add(sharedKey(v.segment, p.places[v.value]))
	}
	return h.reserve(before, int64(4*(cap(p.rows)+cap(p.places))))
}

// place returns the place of a value. It adds the value if it is new.
func (h *histogram) place(text []byte, hash uint32) int32 {
	place := h.values.Code(text, hash)
	if int(place) == len(h.totals) {
		h.totals = append(h.totals, sum{})
	}
	return place
}

// reserve counts memory that a row group takes besides the growth of the values, and checks their number.
func (h *histogram) reserve(before, kept int64) error {
	if h.distinct() > query.MaxDistinct {
		return engine.SegmentDistinctError(query.MaxDistinct)
	}
	return h.run.reserve(h.bytes() - before + kept)
}

// different counts the different values of rows in each segment. It adds up the counts of the segments that no other
// row group shares, and returns the codes of the values of the shared ones.
func (h *histogram) different(in measuredRows, rows []int32) (alone int64, together []segmentValue) {
	met := make(seen, in.of.entries.Len())
	var p pairs
	for number := int32(1); len(rows) > 0; number++ {
		start, n := in.segment(rows, h.division)
		shared := within(h.shared, start)
		p.each(&in.of, nil, rows[:n], func(_, codes []int32) {
			for _, code := range codes {
				switch {
				case !met.first(code, number):
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

// distinct returns the number of different values in each segment, added up.
func (h *histogram) distinct() int64 { return h.alone + int64(h.together.n) }

// measuredRows are the columns of a row group that a histogram counts.
type measuredRows struct {
	ts       []int64
	measured []int64   // nil: 1 for every row
	of       keyColumn // empty if the histogram is not split
}

func (w *worker) measuredRows(shape query.Histogram) (in measuredRows, err error) {
	ts, err := w.column("ts_ms", "")
	if err != nil {
		return in, err
	}
	in.ts = ts.Ints
	if in.measured, err = w.measured(shape.Measure); err != nil {
		return in, err
	}
	if shape.By != nil {
		in.of, err = w.valuesOf(*shape.By)
	}
	return in, err
}

// split counts the rows of each segment in as many cells. numbers are the cells of the codes; nil: a cell for each
// code.
func (in *measuredRows) split(
	rows []int32, division query.Segmentation, cells int, numbers []int32,
) map[int64][]cell {
	segments := map[int64][]cell{}
	for len(rows) > 0 {
		start, n := in.segment(rows, division)
		segments[start] = make([]cell, cells)
		in.count(segments[start], rows[:n], numbers)
		rows = rows[n:]
	}
	return segments
}

// segment returns the start of the first segment of rows, and the number of its rows.
func (in *measuredRows) segment(rows []int32, division query.Segmentation) (start int64, n int) {
	start = division.Start(in.ts[rows[0]])
	end := division.EndMs(start)
	return start, sort.Search(len(rows), func(i int) bool { return in.ts[rows[i]] >= end })
}

// count counts rows in the cells of their codes. Rows without a code are counted in the last cell.
func (in *measuredRows) count(cells []cell, rows []int32, numbers []int32) {
	absent := &cells[len(cells)-1]
	number := func(code int32) int32 { return code }
	if numbers != nil {
		number = func(code int32) int32 { return numbers[code] }
	}
	switch {
	case in.of.codes == nil:
		for _, row := range rows {
			absent.count(in.measured, row)
		}
	case in.of.starts == nil && in.measured == nil: // the measure of a cell is the number of its requests
		for _, row := range rows {
			of := absent
			if code := in.of.codes[row]; code != parquet.Absent {
				if numbers != nil {
					code = numbers[code]
				}
				of = &cells[code]
			}
			of.requests++
		}
		for i := range cells {
			cells[i].sum = sum{low: uint64(cells[i].requests)}
		}
	case in.of.starts == nil:
		for _, row := range rows {
			if code := in.of.codes[row]; code != parquet.Absent {
				cells[number(code)].count(in.measured, row)
			} else {
				absent.count(in.measured, row)
			}
		}
	default:
		for _, row := range rows {
			codes := in.of.codes[in.of.starts[row]:in.of.starts[row+1]]
			if len(codes) == 0 {
				absent.count(in.measured, row)
			}
			for _, code := range codes {
				cells[number(code)].count(in.measured, row)
			}
		}
	}
}

func (c *cell) count(measured []int64, row int32) {
	c.requests++
	if measured == nil {
		c.add(1)
		return
	}
	c.add(measured[row])
}

func (c *cell) merge(other *cell) {
	c.requests += other.requests
	c.join(other.sum)
}

// bytes returns about how much memory the values and totals take.
func (h *histogram) bytes() int64 {
	return h.values.Memory() + int64(cap(h.totals))*totalBytes + h.together.bytes()
}

// choose finds the values that have a series of their own, and numbers all.
func (h *histogram) choose() {
	for place := range h.totals {
		h.first = insertFirst(h.first, place, h.shape.Limit, func(a, b int) int {
			if order := h.totals[b].compare(h.totals[a]); order != 0 {
				return order
			}
			return bytes.Compare(h.values.At(int32(a)), h.values.At(int32(b)))
		})
	}
	h.numbers = slices.Repeat([]int32{int32(h.shape.Limit)}, len(h.totals)) // the others
	for number, place := range h.first {
		h.numbers[place] = int32(number)
	}
}

// width is the number of series: one for each value, one for all other values, and one for absent values. If the
// histogram is not split, the last one counts everything.
func (h *histogram) width() int { return h.shape.Limit + 2 }

// numbersOf returns the index of the series of each code of a row group.
func (h *histogram) numbersOf(p *part) []int32 {
	numbers := make([]int32, len(p.places))
	for code, place := range p.places {
		if place != parquet.Absent {
			numbers[code] = h.numbers[place]
		}
	}
	return numbers
}

// fold adds the cells of the values of a row group to the series.
func (h *histogram) fold(p *part) error {
	if p.cells == nil {
		return nil
	}
	numbers := h.numbersOf(p)
	folded := map[int64][]cell{}
	for i := range p.cells.segments {
		of := &p.cells.segments[i]
		series := make([]cell, h.width())
		for n, value := range of.values {
			series[numbers[value]].merge(&of.cells[n])
		}
		series[h.width()-1] = of.absent
		folded[of.start] = series
	}
	return h.joinSeries(folded)
}

// count is the second pass over a row group.
func (h *histogram) count(w *worker, p *part) error {
	in, err := w.measuredRows(h.shape)
	if err != nil {
		return err
	}
	return h.joinSeries(in.split(p.rows, h.division, h.width(), h.numbersOf(p)))
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
			s.Value = string(h.values.At(int32(h.first[i])))
		}
		if s.Kind == query.SeriesOther {
			s.Distinct = h.distinct() - query.DistinctValues(all)
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
