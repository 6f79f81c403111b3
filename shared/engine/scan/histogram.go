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

// histogram works in two passes over the columns, which are kept between them as memory allows. The first counts the
// total of each value, by its code, and ranks the values. The second counts the series of the first ones, of the others
// and of absent values in each segment. A histogram that is not split needs only the second.
func (r *run) histogram(ctx context.Context, shape query.Histogram, groups []*group) ([]query.Series, error) {
	h := &histogram{
		run: r, shape: shape,
		chosen: make([][]int32, len(groups)), places: make([][]int32, len(groups)), segments: map[int64][]cell{},
	}
	if shape.By != nil {
		if err := r.scan(ctx, groups, h.rank); err != nil {
			return nil, err
		}
		if err := whole(h.totals...); err != nil {
			return nil, err
		}
		h.choose()
	}
	if err := r.scan(ctx, groups, h.count); err != nil {
		return nil, err
	}
	return h.series()
}

// histogram holds what has been counted so far.
type histogram struct {
	run    *run
	shape  query.Histogram
	chosen [][]int32 // matching rows of each row group
	places [][]int32 // of each row group, the places in values of the codes that occur

	mu       sync.Mutex
	values   parquet.Dictionary
	totals   []sum   // of the values
	numbers  []int32 // of the values: the index of their series
	first    []int   // places of the values that have a series of their own
	segments map[int64][]cell
}

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

// rank is the first pass over row group i.
func (h *histogram) rank(w *worker, i int) error {
	rows, err := w.chosen()
	if err != nil || len(rows) == 0 {
		return err
	}
	measured, err := w.measured(h.shape.Measure)
	if err != nil {
		return err
	}
	of, err := w.valuesOf(*h.shape.By)
	if err != nil {
		return err
	}
	counts := make([]cell, of.entries.Len())
	of.each(rows, func(row, code int32) { counts[code].count(measured, row) })
	places, hashes := make([]int32, len(counts)), make([]uint32, len(counts))
	for code := range counts {
		if counts[code].requests > 0 {
			hashes[code] = parquet.Hash(of.entries.At(int32(code)))
		}
	}
	h.chosen[i], h.places[i] = rows, places
	w.keep(h.run.query.Columns())

	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.bytes()
	for code := range counts {
		if counts[code].requests == 0 {
			continue
		}
		places[code] = h.values.Code(of.entries.At(int32(code)), hashes[code])
		if int(places[code]) == len(h.totals) {
			h.totals = append(h.totals, sum{})
		}
		h.totals[places[code]].join(counts[code].sum)
	}
	return h.run.reserve(h.bytes() - before + int64(4*(cap(rows)+cap(places))))
}

func (c *cell) count(measured []int64, row int32) {
	c.requests++
	if measured == nil {
		c.n++
		return
	}
	c.add(measured[row])
}

// bytes returns about how much memory the values and totals take.
func (h *histogram) bytes() int64 { return h.values.Memory() + int64(cap(h.totals))*totalBytes }

// choose finds the values that have a series of their own, and numbers all.
func (h *histogram) choose() {
	for place := range h.totals {
		h.first = insertFirst(h.first, place, h.shape.Limit, func(a, b int) int {
			if order := cmp.Compare(h.totals[b].n, h.totals[a].n); order != 0 {
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

// count is the second pass over row group i.
func (h *histogram) count(w *worker, i int) error {
	var err error
	rows := h.chosen[i]
	if h.shape.By == nil {
		rows, err = w.chosen()
	}
	if err != nil || len(rows) == 0 {
		return err
	}
	measured, err := w.measured(h.shape.Measure)
	if err != nil {
		return err
	}
	ts, err := w.column("ts_ms", "")
	if err != nil {
		return err
	}
	var of keyColumn
	if h.shape.By != nil {
		if of, err = w.valuesOf(*h.shape.By); err != nil {
			return err
		}
	}
	parts := map[int64][]cell{}
	for len(rows) > 0 {
		start := query.SegmentStart(ts.Ints[rows[0]], h.shape.SegmentSeconds)
		end := (start + h.shape.SegmentSeconds) * 1000
		n, _ := slices.BinarySearchFunc(rows, end, func(row int32, end int64) int { return cmp.Compare(ts.Ints[row], end) })
		parts[start] = h.cells(rows[:n], of, h.places[i], measured)
		rows = rows[n:]
	}
	return h.join(parts)
}

// cells counts the series of rows of one segment.
func (h *histogram) cells(rows []int32, of keyColumn, places []int32, measured []int64) []cell {
	cells := make([]cell, h.shape.Limit+2)
	other, absent := h.shape.Limit, h.shape.Limit+1
	switch {
	case h.shape.By == nil:
		for _, row := range rows {
			cells[other].count(measured, row)
		}
	case of.starts == nil:
		for _, row := range rows {
			number := int32(absent)
			if code := of.codes[row]; code != parquet.Absent {
				number = h.numbers[places[code]]
			}
			cells[number].count(measured, row)
		}
	default:
		for _, row := range rows {
			codes := of.codes[of.starts[row]:of.starts[row+1]]
			if len(codes) == 0 {
				cells[absent].count(measured, row)
			}
			for _, code := range codes {
				cells[h.numbers[places[code]]].count(measured, row)
			}
		}
	}
	return cells
}

// join adds the cells of a row group to those of other row groups.
func (h *histogram) join(parts map[int64][]cell) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	taken := int64(0)
	for start, cells := range parts {
		known, met := h.segments[start]
		if !met {
			h.segments[start] = cells
			taken += int64(len(cells)) * cellBytes
			continue
		}
		for i := range cells {
			known[i].join(cells[i].sum)
			known[i].requests += cells[i].requests
		}
	}
	return h.run.reserve(taken)
}

// cellBytes is the memory of a cell.
const cellBytes = 3 * 8

// series returns the series that have records, in the order of the answer.
func (h *histogram) series() ([]query.Series, error) {
	starts := make([]int64, 0, len(h.segments))
	for start := range h.segments {
		starts = append(starts, start)
	}
	slices.Sort(starts)
	var all []query.Series
	for i := range h.shape.Limit + 2 {
		s := query.Series{Kind: h.shape.KindOf(i + 1)}
		if i < len(h.first) {
			s.Value = string(h.values.At(int32(h.first[i])))
		}
		var total sum
		for _, start := range starts {
			c := h.segments[start][i]
			if c.requests == 0 {
				continue
			}
			total.join(c.sum)
			if err := whole(total); err != nil {
				return nil, err
			}
			s.Points = append(s.Points, query.Point{Segment: start, N: c.n})
		}
		if s.Total = total.n; s.Points != nil {
			all = append(all, s)
		}
	}
	return all, nil
}
