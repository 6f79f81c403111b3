package scan

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/rollup"
)

// stats sums up the traffic of each host, or of each value of a field, in each segment, and returns the rows that the
// shape asks for. If the groups need more memory than there is, it counts one part of them after the other.
func (r *run) stats(
	ctx context.Context, shape query.Stats, days []rolledUpDay, groups []*group,
) ([]query.StatsRow, error) {
	s := stats{run: r, shape: shape, days: days, groups: groups, segments: map[int64]*segmentTotal{}}
	for left := []partOfGroups{r.allGroups()}; len(left) > 0; {
		part := left[len(left)-1]
		left = left[:len(left)-1]
		err := s.countPart(ctx, part)
		if first, second, ok := part.halves(); ok && r.mayDivide(err) {
			left = append(left, second, first)
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	return s.all(), nil
}

// stats holds the rows of the parts counted so far. A part that fails leaves nothing in it.
type stats struct {
	run    *run
	shape  query.Stats
	days   []rolledUpDay
	groups []*group

	rows     []query.StatsRow
	segments map[int64]*segmentTotal // if a row is about all hosts of a segment
	reserved int64                   // bytes of these
}

// countPart counts a part of the groups, and adds it to the rows.
func (s *stats) countPart(ctx context.Context, part partOfGroups) error {
	groups := part.rowGroups(s.groups)
	if s.shape.By != nil {
		g := newGrouping(s.run, func(w *worker) (keyColumn, error) { return w.valuesOf(*s.shape.By) }, s.shape.Percentiles)
		g.part, g.limited, g.most, g.shared = part, true, query.MaxStatsRows-len(s.rows), overlaps(groups, g.segments)
		defer g.forget()
		if err := s.run.group(ctx, groups, g); err != nil {
			return err
		}
		return s.add(g.rows())
	}
	hosts, all := s.run.hostGroupings(s.shape)
	counted := []*grouping{hosts}
	if all != nil {
		counted = append(counted, all)
	}
	for _, g := range counted {
		if g.part = part; len(s.days) == 0 {
			g.shared = overlaps(groups, g.segments)
		}
		defer g.forget()
	}
	for _, day := range s.days {
		hosts.expected += int(int64(len(day.Hosts)) * rollup.Hour / max(rollup.Hour, s.shape.SegmentSeconds))
	}
	for _, day := range s.days {
		if err := s.run.joinHosts(day, hosts, all); err != nil {
			return err
		}
	}
	if err := s.run.group(ctx, groups, counted...); err != nil {
		return err
	}
	if s.shape.GroupByHostname {
		return s.add(hosts.hostRows())
	}
	return s.addUp(counted...)
}

// add adds rows of a part.
func (s *stats) add(rows []query.StatsRow) error {
	bytes := int64(0)
	for i := range rows {
		bytes += statsRowBytes + int64(len(rows[i].Hostname)+len(rows[i].Value))
	}
	if err := s.reserve(bytes); err != nil {
		return err
	}
	s.rows = append(s.rows, rows...)
	return nil
}

// reserve counts memory of rows. At most half of the memory is for these: more passes would not make them fewer.
func (s *stats) reserve(bytes int64) error {
	if s.reserved+bytes > s.run.memory/2 {
		return errLongAnswer
	}
	err := s.run.reserve(bytes)
	if err == nil {
		s.reserved += bytes
	}
	return err
}

// errLongAnswer is an ErrUnsupported: the answer alone needs too much memory.
var errLongAnswer = fmt.Errorf("%w: the answer is too long", ErrUnsupported)

// The approximate memory of a row and of the total of a segment.
const statsRowBytes, segmentTotalBytes = 192, 256

// segmentTotal holds the figures of all hosts of a segment.
type segmentTotal struct {
	groupFigures
	busiest     string
	requests    int64 // of the busiest host
	percentiles query.Percentiles
}

// addUp adds the hosts of a part to the totals of their segments, and sets the percentiles of all hosts if they have been
// counted.
func (s *stats) addUp(counted ...*grouping) error {
	fresh := map[int64]bool{}
	for _, g := range counted {
		for i := range g.groups {
			if segment := g.groups[i].segment; s.segments[segment] == nil {
				fresh[segment] = true
			}
		}
	}
	if err := s.reserve(int64(len(fresh)) * segmentTotalBytes); err != nil {
		return err
	}
	for segment := range fresh {
		s.segments[segment] = &segmentTotal{}
	}
	hosts := counted[0]
	for i := range hosts.groups {
		of := &hosts.groups[i]
		total := s.segments[of.segment]
		total.traffic.join(&of.traffic)
		if of.value == parquet.Absent || of.traffic.requests < total.requests {
			continue
		}
		name := hosts.values.At(of.value)
		if of.traffic.requests > total.requests || string(name) < total.busiest {
			total.busiest, total.requests = string(name), of.traffic.requests
		}
	}
	for _, all := range counted[1:] {
		for i := range all.groups {
			of := &all.groups[i]
			s.segments[of.segment].percentiles = of.durations.percentiles()
		}
	}
	return nil
}

// all returns the rows of all parts in the order of the answer.
func (s *stats) all() []query.StatsRow {
	for segment, total := range s.segments {
		row := query.StatsRow{Segment: segment, Hostname: total.busiest}
		total.fill(&row)
		row.Percentiles = total.percentiles
		s.rows = append(s.rows, row)
	}
	slices.SortFunc(s.rows, func(a, b query.StatsRow) int {
		if a.Segment != b.Segment {
			return cmp.Compare(a.Segment, b.Segment)
		}
		if a.HasValue != b.HasValue { // the records without a value are the last of a segment
			if a.HasValue {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.Hostname, b.Hostname))
	})
	return s.rows
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

// hostRows returns the figures of each host by segment, then by name. Records without a host count as those of one
// without a name.
func (g *grouping) hostRows() []query.StatsRow {
	places, texts := g.sorted(parquet.Absent)
	rows := make([]query.StatsRow, 0, len(places))
	var all groupFigures
	for i, p := range places {
		of, name := &g.groups[p.group], ""
		if of.value != parquet.Absent {
			name = texts[of.value]
		}
		if i == 0 || rows[len(rows)-1].Segment != p.segment || rows[len(rows)-1].Hostname != name {
			rows = append(rows, query.StatsRow{Segment: p.segment, Hostname: name})
			all = groupFigures{}
		}
		all.traffic.join(&of.traffic)
		all.durations.join(of.durations)
		all.fill(&rows[len(rows)-1])
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
