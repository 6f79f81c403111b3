package scan

import (
	"sort"

	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

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

// cell is the measure of a series in a segment.
type cell struct {
	sum
	requests int64
}

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
