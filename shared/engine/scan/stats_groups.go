package scan

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// grouping sums up the records of each segment and value.
type grouping struct {
	run         *run
	segments    query.Segmentation
	percentiles bool
	keysOf      func(w *worker) (keyColumn, error) // the values of the rows of a row group; nil: none has any
	most        int                                // groups; 0: any number

	mu      sync.Mutex
	values  parquet.Dictionary
	figures map[segmentValue]*groupFigures
}

func newGrouping(r *run, keysOf func(*worker) (keyColumn, error), percentiles bool) *grouping {
	return &grouping{
		run: r, segments: r.segments(), percentiles: percentiles, keysOf: keysOf,
		figures: map[segmentValue]*groupFigures{},
	}
}

type segmentValue struct {
	segment int64
	value   int32 // number of the value; parquet.Absent: records without one
}

// groupFigures holds the figures of a group.
type groupFigures struct {
	traffic   traffic
	durations durationCounts
}

// groupFiguresBytes is the approximate memory that the figures of a group take without the counts of durations.
const groupFiguresBytes = 240

// localGroup holds the figures of a group in one row group.
type localGroup struct {
	traffic   traffic
	durations durations
}

// read counts rows of a row group.
func (g *grouping) read(w *worker, rows []int32) error {
	columns, err := w.all("ts_ms", "bytes_sent", "request_length", "total_us")
	if err != nil {
		return err
	}
	ts, sent, length, time := columns[0].Ints, columns[1].Ints, columns[2].Ints, columns[3]
	var timed []*parquet.ColumnValues
	if g.percentiles {
		if timed, err = w.all(durationColumns...); err != nil {
			return err
		}
	}
	keys := keyColumn{entries: numbers(nil)}
	if g.keysOf == nil {
		w.codes = slices.Grow(w.codes[:0], len(ts))[:len(ts)]
		for row := range w.codes {
			w.codes[row] = parquet.Absent
		}
		keys.codes = w.codes
	} else if keys, err = g.keysOf(w); err != nil {
		return err
	}

	local := make([]localGroup, keys.entries.Len()+1) // of the current segment, by code plus one; 0: without a value
	numbers := make([]int32, keys.entries.Len())      // of the values in g.values, plus one; 0: not looked up yet
	var met []int32                                   // indexes in local that have records
	segment, end := int64(0), int64(0)                // start in seconds and end in milliseconds of the current segment
	flush := func() error {
		err := g.join(segment, local, met, numbers, keys.entries)
		for _, i := range met {
			local[i].traffic = traffic{}
		}
		met = met[:0]
		return err
	}
	add := func(i, row int32) {
		of := &local[i]
		if of.traffic.requests == 0 {
			met = append(met, i)
		}
		of.traffic.requests++
		of.traffic.bandwidth.add(sent[row])
		of.traffic.bandwidth.add(length[row])
		of.traffic.timeUs.add(time.Ints[row])
		if len(time.Present) == 0 || time.Present[row] {
			of.traffic.timed++
		}
		of.durations.add(timed, row)
	}
	for _, row := range rows {
		if ts[row] >= end || len(met) == 0 {
			if err := flush(); err != nil {
				return err
			}
			segment = g.segments.Start(ts[row])
			end = g.segments.EndMs(segment)
		}
		if keys.starts == nil {
			add(keys.codes[row]+1, row)
			continue
		}
		codes := keys.codes[keys.starts[row]:keys.starts[row+1]]
		for _, code := range codes {
			add(code+1, row)
		}
		if len(codes) == 0 {
			add(0, row)
		}
	}
	return flush()
}

// join adds the figures of a row group in a segment to the figures of the other row groups.
func (g *grouping) join(segment int64, local []localGroup, met, numbers []int32, entries texts) error {
	counts := make([]durationCounts, len(met))
	for n, i := range met {
		counts[n] = local[i].durations.count()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	taken := int64(0)
	for n, i := range met {
		key := segmentValue{segment, parquet.Absent}
		if entry := i - 1; entry != parquet.Absent {
			code, bytes := addEntry(&g.values, entries, entry, numbers)
			key.value, taken = code, taken+bytes
		}
		figures, known := g.figures[key]
		if !known {
			figures = &groupFigures{}
			g.figures[key] = figures
			taken += groupFiguresBytes
		}
		figures.traffic.join(&local[i].traffic)
		taken += figures.durations.join(counts[n])
	}
	if g.most > 0 && len(g.figures) > g.most {
		return engine.GroupsError(g.most)
	}
	return g.run.reserve(taken)
}

// rows returns the figures by segment, then by value. The records without a value are the last of a segment.
func (g *grouping) rows() []query.StatsRow {
	keys := g.keys(func(a, b segmentValue) int {
		switch {
		case a.value == b.value:
			return 0
		case a.value == parquet.Absent:
			return 1
		case b.value == parquet.Absent:
			return -1
		}
		return bytes.Compare(g.text(a), g.text(b))
	})
	rows := make([]query.StatsRow, len(keys))
	for i, key := range keys {
		rows[i] = query.StatsRow{
			Segment: key.segment, HasValue: key.value != parquet.Absent, Value: string(g.text(key)),
		}
		g.figures[key].fill(&rows[i])
	}
	return rows
}

// keys lists the groups by segment, then in an order.
func (g *grouping) keys(order func(a, b segmentValue) int) []segmentValue {
	return slices.SortedFunc(maps.Keys(g.figures), func(a, b segmentValue) int {
		if a.segment != b.segment {
			return cmp.Compare(a.segment, b.segment)
		}
		return order(a, b)
	})
}

// text returns the value of a group, empty if there is none.
func (g *grouping) text(of segmentValue) []byte {
	if of.value == parquet.Absent {
		return nil
	}
	return g.values.At(of.value)
}

// fill sets the figures of a row.
func (f *groupFigures) fill(row *query.StatsRow) {
	row.Requests, row.Timed = f.traffic.requests, f.traffic.timed
	row.Bandwidth, row.TimeUs = f.traffic.bandwidth.whole(), f.traffic.timeUs.whole()
	row.Percentiles = f.durations.percentiles()
}
