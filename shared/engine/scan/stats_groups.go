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

// statsBy returns the figures of each value of the dimension of the shape in each segment.
func (r *run) statsBy(ctx context.Context, shape query.Stats, groups []*group) ([]query.StatsRow, error) {
	g := newGrouping(r, shape)
	g.keysOf = func(w *worker, _ int) (keyColumn, error) { return w.valuesOf(*shape.By) }
	if err := r.scan(ctx, groups, func(w *worker, _ int) error { return g.read(w) }); err != nil {
		return nil, err
	}
	return g.rows(), nil
}

// addPercentiles adds the percentiles to the rows of stats that are not grouped, or grouped by hostname.
func (r *run) addPercentiles(
	ctx context.Context, shape query.Stats, groups []*group, rows []query.StatsRow,
) error {
	g := newGrouping(r, shape)
	g.keysOf = func(_ *worker, rows int) (keyColumn, error) {
		return keyColumn{codes: slices.Repeat([]int32{parquet.Absent}, rows), entries: numbers(nil)}, nil
	}
	if shape.GroupByHostname {
		g.keysOf = func(w *worker, _ int) (keyColumn, error) { return w.hostnames() }
	}
	if err := r.scan(ctx, groups, func(w *worker, _ int) error { return g.read(w) }); err != nil {
		return err
	}
	for i := range rows {
		value := int32(parquet.Absent)
		if shape.GroupByHostname {
			name := []byte(rows[i].Hostname)
			value = g.values.Code(name, parquet.Hash(name))
		}
		rows[i].Percentiles = g.figures[segmentValue{rows[i].Segment, value}].durations.percentiles()
	}
	return nil
}

// hostnames returns the hostname of each row: its hostname, else its host, else the empty text.
func (w *worker) hostnames() (keyColumn, error) {
	columns, err := w.all("hostname", "host")
	if err != nil {
		return keyColumn{}, err
	}
	names, hostCodes, err := union(&columns[0].Texts, &columns[1].Texts)
	if err != nil {
		return keyColumn{}, err
	}
	unnamed := names.Code(nil, parquet.Hash(nil))
	codes := slices.Clone(columns[0].Codes)
	for row, code := range codes {
		if code != parquet.Absent {
			continue
		}
		codes[row] = unnamed
		if host := columns[1].Codes[row]; host != parquet.Absent {
			codes[row] = hostCodes[host]
		}
	}
	return keyColumn{codes: codes, entries: names}, nil
}

// grouping sums up the records of each segment and value.
type grouping struct {
	run         *run
	segments    query.Segmentation
	percentiles bool
	keysOf      func(w *worker, rows int) (keyColumn, error) // the values of the rows of a row group

	mu      sync.Mutex
	values  parquet.Dictionary
	figures map[segmentValue]*groupFigures
}

func newGrouping(r *run, shape query.Stats) *grouping {
	return &grouping{
		run: r, segments: r.segments(), percentiles: shape.Percentiles,
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

// read counts a row group.
func (g *grouping) read(w *worker) error {
	rows, err := w.chosen()
	if err != nil || len(rows) == 0 {
		return err
	}
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
	keys, err := g.keysOf(w, len(ts))
	if err != nil {
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
	return g.run.reserve(taken)
}

// rows returns the figures by segment, then by value. The records without a value are the last of a segment.
func (g *grouping) rows() []query.StatsRow {
	keys := make([]segmentValue, 0, len(g.figures))
	for key := range g.figures {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b segmentValue) int {
		switch {
		case a.segment != b.segment || a.value == b.value:
			return cmp.Compare(a.segment, b.segment)
		case a.value == parquet.Absent:
			return 1
		case b.value == parquet.Absent:
			return -1
		}
		return bytes.Compare(g.values.At(a.value), g.values.At(b.value))
	})
	keys = keys[:min(len(keys), query.MaxStatsRows+1)]
	rows := make([]query.StatsRow, len(keys))
	for i, key := range keys {
		figures := g.figures[key]
		t := &figures.traffic
		rows[i] = query.StatsRow{
			Segment:     key.segment,
			HasValue:    key.value != parquet.Absent,
			Requests:    t.requests,
			Bandwidth:   t.bandwidth.whole(),
			TimeUs:      t.timeUs.whole(),
			Timed:       t.timed,
			Percentiles: figures.durations.percentiles(),
		}
		if rows[i].HasValue {
			rows[i].Value = string(g.values.At(key.value))
		}
	}
	return rows
}
