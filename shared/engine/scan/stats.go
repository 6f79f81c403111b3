package scan

import (
	"bytes"
	"cmp"
	"context"

	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// stats sums up the traffic of each host, or of each value of a field, in each segment, and returns the rows that the
// shape asks for.
func (r *run) stats(ctx context.Context, shape query.Stats, groups []*group) ([]query.StatsRow, error) {
	if shape.By != nil {
		g := newGrouping(r, func(w *worker) (keyColumn, error) { return w.valuesOf(*shape.By) }, shape.Percentiles)
		g.most = query.MaxStatsRows
		if err := r.scan(ctx, groups, func(w *worker, _ int) error { return read(w, g) }); err != nil {
			return nil, err
		}
		return g.rows(), nil
	}
	hosts := newGrouping(r, (*worker).hostnames, shape.Percentiles && shape.GroupByHostname)
	if hosts.percentiles || !shape.Percentiles {
		if err := r.scan(ctx, groups, func(w *worker, _ int) error { return read(w, hosts) }); err != nil {
			return nil, err
		}
		return hosts.hostRows(shape.GroupByHostname), nil
	}
	all := newGrouping(r, nil, true) // the percentiles of all hosts together
	if err := r.scan(ctx, groups, func(w *worker, _ int) error { return read(w, hosts, all) }); err != nil {
		return nil, err
	}
	rows := hosts.hostRows(false)
	for i := range rows {
		rows[i].Percentiles = all.figures[segmentValue{rows[i].Segment, parquet.Absent}].durations.percentiles()
	}
	return rows, nil
}

// read counts a row group in groupings.
func read(w *worker, groupings ...*grouping) error {
	rows, err := w.chosen()
	if err != nil || len(rows) == 0 {
		return err
	}
	for _, g := range groupings {
		if err := g.read(w, rows); err != nil {
			return err
		}
	}
	return nil
}

// hostnames returns the host of each row: its hostname, or its host if it has no hostname.
func (w *worker) hostnames() (keyColumn, error) {
	columns, err := w.all("hostname", "host")
	if err != nil {
		return keyColumn{}, err
	}
	names, hostCodes, err := union(&columns[0].Texts, &columns[1].Texts)
	if err != nil {
		return keyColumn{}, err
	}
	w.codes = append(w.codes[:0], columns[0].Codes...)
	for row, code := range w.codes {
		if host := columns[1].Codes[row]; code == parquet.Absent && host != parquet.Absent {
			w.codes[row] = hostCodes[host]
		}
	}
	return keyColumn{codes: w.codes, entries: names}, nil
}

// hostRows returns the figures by segment, then by name of the host. If apart is false, a row holds all hosts of a
// segment and names the busiest.
func (g *grouping) hostRows(apart bool) []query.StatsRow {
	keys := g.keys(func(a, b segmentValue) int {
		return cmp.Or(bytes.Compare(g.text(a), g.text(b)), cmp.Compare(a.value, b.value))
	})
	var rows []query.StatsRow
	var all groupFigures
	busiest := int64(0)
	for i, key := range keys {
		figures := g.figures[key]
		name := string(g.text(key))
		if i == 0 || rows[len(rows)-1].Segment != key.segment || apart && rows[len(rows)-1].Hostname != name {
			rows = append(rows, query.StatsRow{Segment: key.segment})
			all, busiest = groupFigures{}, 0
		}
		all.traffic.join(&figures.traffic)
		all.durations.join(figures.durations)
		row := &rows[len(rows)-1]
		all.fill(row)
		if key.value != parquet.Absent && figures.traffic.requests > busiest {
			row.Hostname, busiest = name, figures.traffic.requests
		}
	}
	return rows
}

// traffic holds the figures of some records.
type traffic struct {
	requests, timed   int64
	bandwidth, timeUs sum
}

func (t *traffic) join(other *traffic) {
	t.requests += other.requests
	t.timed += other.timed
	t.bandwidth.join(other.bandwidth)
	t.timeUs.join(other.timeUs)
}
