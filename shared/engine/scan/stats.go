package scan

import (
	"context"

	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// stats sums up the traffic of each host, or of each value of a field, in each segment, and returns the rows that the
// shape asks for.
func (r *run) stats(
	ctx context.Context, shape query.Stats, days []rolledUpDay, groups []*group,
) ([]query.StatsRow, error) {
	if shape.By != nil {
		g := newGrouping(r, func(w *worker) (keyColumn, error) { return w.valuesOf(*shape.By) }, shape.Percentiles)
		g.most = query.MaxStatsRows
		if err := r.group(ctx, groups, g); err != nil {
			return nil, err
		}
		return g.rows(), nil
	}
	hosts, all := r.hostGroupings(shape)
	for _, day := range days {
		if err := r.joinHosts(day, hosts, all); err != nil {
			return nil, err
		}
	}
	if all == nil {
		if err := r.group(ctx, groups, hosts); err != nil {
			return nil, err
		}
		return hosts.hostRows(shape.GroupByHostname), nil
	}
	if err := r.group(ctx, groups, hosts, all); err != nil {
		return nil, err
	}
	rows := hosts.hostRows(false)
	for i := range rows {
		of := &all.groups[all.index[segmentValue{rows[i].Segment, parquet.Absent}]]
		rows[i].Percentiles = of.durations.percentiles()
	}
	return rows, nil
}

// hostGroupings returns the grouping of stats by host and, for the percentiles of all hosts together, one of the
// segments or nil.
func (r *run) hostGroupings(shape query.Stats) (hosts, all *grouping) {
	if shape.Percentiles && !shape.GroupByHostname {
		all = newGrouping(r, nil, true)
	}
	return newGrouping(r, (*worker).hostnames, shape.Percentiles && shape.GroupByHostname), all
}

// group counts row groups in groupings.
func (r *run) group(ctx context.Context, groups []*group, groupings ...*grouping) error {
	return counting[groupingPartials]{
		question: r.questions()[0],
		count: func(w *worker, rows []int32) (groupingPartials, error) {
			all := make(groupingPartials, len(groupings))
			for i, g := range groupings {
				var err error
				if all[i], err = g.count(w, rows); err != nil {
					return nil, err
				}
			}
			return all, nil
		},
		join: func(all groupingPartials) error {
			for i, g := range groupings {
				if err := g.join(all[i]); err != nil {
					return err
				}
			}
			return nil
		},
	}.run(ctx, r, groups)
}

// groupingPartials are what several groupings have counted in a row group.
type groupingPartials []*groupsOfRows

func (all groupingPartials) bytes() (bytes int64) {
	for _, p := range all {
		bytes += p.bytes()
	}
	return bytes
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
	places, texts := g.sorted(parquet.Absent)
	rows := make([]query.StatsRow, 0, len(places))
	var all groupFigures
	busiest := int64(0)
	for i, p := range places {
		of, name := &g.groups[p.group], ""
		if of.value != parquet.Absent {
			name = texts[of.value]
		}
		if i == 0 || rows[len(rows)-1].Segment != p.segment || apart && rows[len(rows)-1].Hostname != name {
			rows = append(rows, query.StatsRow{Segment: p.segment})
			all, busiest = groupFigures{}, 0
		}
		all.traffic.join(&of.traffic)
		all.durations.join(of.durations)
		row := &rows[len(rows)-1]
		all.fill(row)
		if of.value != parquet.Absent && of.traffic.requests > busiest {
			row.Hostname, busiest = name, of.traffic.requests
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
