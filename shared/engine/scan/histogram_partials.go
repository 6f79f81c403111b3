package scan

import (
	"context"
	"maps"
	"slices"

	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// cellsOfRows are the values of a row group and their cells in each segment: a partial of a histogram.
type cellsOfRows struct {
	texts    query.PackedTexts
	hashes   []uint32 // of the texts: parquet.Hash
	segments []segmentCells
}

// segmentCells are the cells of a segment.
type segmentCells struct {
	start  int64
	values []int32 // indexes of the texts that occur
	cells  []cell  // of these
	absent cell    // of the records without a value, or of all if the histogram is not split
}

// bytes implements partial.
func (p *cellsOfRows) bytes() int64 {
	const segmentBytes = 88
	bytes := p.texts.Memory() + int64(cap(p.hashes))*numberBytes + int64(cap(p.segments))*segmentBytes
	for i := range p.segments {
		bytes += int64(cap(p.segments[i].values)) * (numberBytes + cellBytes)
	}
	return bytes
}

// cellsOf returns the cells of codes without those that are empty. The last cell of a segment is of absent values.
func (in *measuredRows) cellsOf(split map[int64][]cell) *cellsOfRows {
	p := &cellsOfRows{}
	var values []int32 // of the codes, plus one; 0: not met yet
	if in.of.entries != nil {
		values = make([]int32, in.of.entries.Len())
	}
	for _, start := range slices.Sorted(maps.Keys(split)) {
		cells := split[start]
		of := segmentCells{start: start, absent: cells[len(cells)-1]}
		for code := range values {
			if cells[code].requests == 0 {
				continue
			}
			if values[code] == 0 {
				text := in.of.entries.At(int32(code))
				p.texts.Add(text)
				p.hashes = append(p.hashes, parquet.Hash(text))
				values[code] = int32(len(p.hashes))
			}
			of.values, of.cells = append(of.values, values[code]-1), append(of.cells, cells[code])
		}
		p.segments = append(p.segments, of)
	}
	return p
}

// join adds the values of a row group to the totals, and counts the different ones of its segments.
func (h *histogram) join(p *cellsOfRows) error {
	places := make([]int32, len(p.hashes))
	h.mu.Lock()
	defer h.mu.Unlock()
	for value, hash := range p.hashes {
		places[value] = parquet.Absent
		if text := p.texts.At(int32(value)); h.ranks(text) {
			places[value] = h.place(text, hash)
		}
	}
	for s := range p.segments {
		of := &p.segments[s]
		shared := within(h.shared, of.start)
		for n, value := range of.values {
			place := places[value]
			if place == parquet.Absent {
				continue
			}
			h.totals[place].join(of.cells[n].sum)
			if shared {
				h.together.add(sharedKey(of.start, place))
			} else {
				h.distinct++
			}
		}
	}
	return h.reserve()
}

// countRecords counts a histogram that is not split.
func (h *histogram) countRecords(ctx context.Context) error {
	for _, p := range h.counted {
		if err := h.joinAll(p); err != nil {
			return err
		}
	}
	return counting[*cellsOfRows]{question: h.question, count: h.countAll, join: h.joinAll}.run(ctx, h.run, h.groups)
}

// countAll counts a row group of a histogram that is not split.
func (h *histogram) countAll(w *worker, rows []int32) (*cellsOfRows, error) {
	in, err := w.measuredRows(h.shape)
	if err != nil {
		return nil, err
	}
	return in.cellsOf(in.split(rows, h.division, 1, nil)), nil
}

// joinAll adds the cells of a row group of a histogram that is not split.
func (h *histogram) joinAll(p *cellsOfRows) error {
	series := map[int64][]cell{}
	for _, of := range p.segments {
		series[of.start] = make([]cell, h.width())
		series[of.start][h.width()-1] = of.absent
	}
	return h.joinSeries(series)
}
