package scan

import (
	"context"
	"fmt"
	"math"

	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/rollup"
	"github.com/orrery/orrery/shared/varints"
)

// cellsName is the name of the section with the cells of the row groups of a part of a histogram.
const cellsName = "cells"

// cellsNameOf is the name of the section with the cells of the hours of a day, of a histogram that is not split.
func cellsNameOf(m query.Measure) string { return cellsName + " of " + string(m) }

// countCells adds a section with the cells of the row groups to the lists.
func (r *run) countCells(ctx context.Context, shape query.Histogram, groups []*group, lists *rollup.Lists) error {
	all := make([]*cellsOfRows, len(groups))
	err := r.scan(ctx, groups, func(w *worker, i int) error {
		rows, err := w.chosen()
		if err == nil && len(rows) > 0 {
			all[i], err = w.cellsOf(rows, shape)
		}
		return err
	})
	if err == nil {
		lists.Add(cellsName, cellsSection(all))
	}
	return err
}

// cellsOf returns the cells of rows in the segments of the query. The error is an ErrUnsupported if there are so many
// that they need a second pass.
func (w *worker) cellsOf(rows []int32, shape query.Histogram) (*cellsOfRows, error) {
	in, err := w.measuredRows(shape)
	if err != nil {
		return nil, err
	}
	cells := 1 // of absent values, or of all
	if in.of.entries != nil {
		cells += in.of.entries.Len()
	}
	division := w.run.segments()
	if division.Count(in.ts[rows[0]], in.ts[rows[len(rows)-1]])*int64(cells) > fewCells {
		return nil, fmt.Errorf("%w: a part of a histogram has too many values", ErrUnsupported)
	}
	p := in.cellsOf(in.split(rows, division, cells, nil))
	return p, w.run.reserve(p.bytes())
}

// cellsSection returns the section of the cells of row groups; nil: it has none.
func cellsSection(all []*cellsOfRows) []byte {
	w := varints.Writer{}
	for _, p := range all {
		if p != nil {
			writeCells(&w, p)
		}
	}
	return w.Bytes
}

// cellsOfDays returns the cells of the row groups that parts and days have counted.
func (r *run) cellsOfDays(
	days []rolledUpDay, measure query.Measure, division query.Segmentation,
) (all []*cellsOfRows, _ error) {
	for _, day := range days {
		name := cellsName
		if day.part == nil {
			name = cellsNameOf(measure)
		}
		content, err := r.section(day, name, nil)
		if err != nil {
			return nil, err
		}
		in := varints.Reader{Bytes: content}
		for len(in.Bytes) > 0 {
			p := readCells(&in)
			for i := range p.segments {
				// The section of a day has hours, which the segments of the query contain.
				p.segments[i].start = division.Start(p.segments[i].start * 1000)
			}
			if err := r.reserve(p.bytes()); err != nil {
				return nil, err
			}
			all = append(all, p)
		}
		if in.Failed {
			return nil, unusable(rollup.ErrInvalid)
		}
	}
	return all, nil
}

// allSegments says that any segment may have records in several row groups.
var allSegments = []span{{math.MinInt64, math.MaxInt64}}

func writeCells(w *varints.Writer, p *cellsOfRows) {
	w.Uint(uint64(len(p.hashes)))
	for value := range p.hashes {
		w.Text(string(p.texts.At(int32(value))))
	}
	write := func(c cell) {
		w.Uint(c.low)
		w.Int(c.high)
		w.Int(c.requests)
	}
	w.Uint(uint64(len(p.segments)))
	for i := range p.segments {
		of := &p.segments[i]
		w.Int(of.start)
		w.Uint(uint64(len(of.values)))
		for n, value := range of.values {
			w.Uint(uint64(value))
			write(of.cells[n])
		}
		write(of.absent)
	}
}

func readCells(in *varints.Reader) *cellsOfRows {
	p := &cellsOfRows{hashes: make([]uint32, in.Length())}
	for value := range p.hashes {
		text := in.Text()
		p.texts.Add(text)
		p.hashes[value] = parquet.Hash(text)
	}
	read := func() cell { return cell{sum{low: in.Uint(), high: in.Int()}, in.Int()} }
	p.segments = make([]segmentCells, in.Length())
	for i := range p.segments {
		of := &p.segments[i]
		of.start = in.Int()
		of.values, of.cells = make([]int32, in.Length()), make([]cell, 0)
		for n := range of.values {
			value := in.Uint()
			if value >= uint64(len(p.hashes)) {
				in.Fail()
				return p
			}
			of.values[n], of.cells = int32(value), append(of.cells, read())
		}
		of.absent = read()
	}
	return p
}
