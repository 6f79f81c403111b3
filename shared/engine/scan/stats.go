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

// stats sums up the traffic of each host in each segment, and returns the rows that the shape asks for.
func (r *run) stats(ctx context.Context, shape query.Stats, groups []*group) ([]query.StatsRow, error) {
	if shape.By != nil {
		return r.statsBy(ctx, shape, groups)
	}
	s := &stats{run: r, segments: r.segments(), figures: map[segmentHost]*traffic{}}
	err := r.scan(ctx, groups, func(w *worker, _ int) error { return s.read(w) })
	if err != nil {
		return nil, err
	}
	rows := s.rows(shape.GroupByHostname)
	if shape.Percentiles {
		err = r.addPercentiles(ctx, shape, groups, rows)
	}
	return rows, err
}

// stats holds the figures counted so far.
type stats struct {
	run      *run
	segments query.Segmentation

	mu      sync.Mutex
	hosts   parquet.Dictionary
	figures map[segmentHost]*traffic
}

type segmentHost struct {
	segment int64
	host    int32 // number of the host's name; parquet.Absent: records without a host
}

// segmentHostBytes is the approximate memory that the figures of a host in a segment take.
const segmentHostBytes = 160

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

// read counts a row group. The host of a record is its hostname, or its host if it has no hostname.
func (s *stats) read(w *worker) error {
	rows, err := w.chosen()
	if err != nil || len(rows) == 0 {
		return err
	}
	columns, err := w.all("ts_ms", "hostname", "host", "bytes_sent", "request_length", "total_us")
	if err != nil {
		return err
	}
	ts, hostname, host := columns[0].Ints, columns[1].Codes, columns[2].Codes
	sent, length, time := columns[3].Ints, columns[4].Ints, columns[5]
	names, hostCodes, err := union(&columns[1].Texts, &columns[2].Texts)
	if err != nil {
		return err
	}

	hosts := make([]traffic, names.Len()+1) // of the current segment, by code plus one; 0: records without a host
	var met []int32                         // indexes in hosts that have records
	segment, end := int64(0), int64(0)      // start in seconds and end in milliseconds of the current segment
	numbers := make([]int32, names.Len())   // of the names in s.hosts, plus one; 0: not looked up yet
	flush := func() error {
		err := s.join(segment, hosts, met, numbers, names)
		for _, i := range met {
			hosts[i] = traffic{}
		}
		met = met[:0]
		return err
	}
	for _, row := range rows {
		if ts[row] >= end || len(met) == 0 {
			if err := flush(); err != nil {
				return err
			}
			segment = s.segments.Start(ts[row])
			end = s.segments.EndMs(segment)
		}
		place := hostname[row]
		if place == parquet.Absent && host[row] != parquet.Absent {
			place = hostCodes[host[row]]
		}
		of := &hosts[place+1]
		if of.requests == 0 {
			met = append(met, place+1)
		}
		of.requests++
		of.bandwidth.add(sent[row])
		of.bandwidth.add(length[row])
		of.timeUs.add(time.Ints[row])
		if len(time.Present) == 0 || time.Present[row] {
			of.timed++
		}
	}
	return flush()
}

// join adds the figures of a row group in a segment to the figures of the other row groups.
func (s *stats) join(segment int64, hosts []traffic, met, numbers []int32, names *parquet.Dictionary) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := int64(0)
	for _, i := range met {
		key := segmentHost{segment, parquet.Absent}
		if place := i - 1; place != parquet.Absent {
			code, bytes := addEntry(&s.hosts, names, place, numbers)
			key.host, taken = code, taken+bytes
		}
		figures, known := s.figures[key]
		if !known {
			figures = &traffic{}
			s.figures[key] = figures
			taken += segmentHostBytes
		}
		figures.join(&hosts[i])
	}
	return s.run.reserve(taken)
}

// rows returns the figures by segment, then by name of the host. If apart is false, a row holds all hosts of a segment
// and names the busiest.
func (s *stats) rows(apart bool) []query.StatsRow {
	keys := make([]segmentHost, 0, len(s.figures))
	for key := range s.figures {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b segmentHost) int {
		return cmp.Or(
			cmp.Compare(a.segment, b.segment),
			bytes.Compare(s.name(a.host), s.name(b.host)),
			cmp.Compare(a.host, b.host),
		)
	})
	var rows []query.StatsRow
	var all traffic
	busiest := int64(0)
	for i, key := range keys {
		figures := s.figures[key]
		name := string(s.name(key.host))
		if i == 0 || rows[len(rows)-1].Segment != key.segment ||
			apart && rows[len(rows)-1].Hostname != name {
			rows = append(rows, query.StatsRow{Segment: key.segment})
			all, busiest = traffic{}, 0
		}
		all.join(figures)
		row := &rows[len(rows)-1]
		row.Requests, row.Timed = all.requests, all.timed
		row.Bandwidth, row.TimeUs = all.bandwidth.whole(), all.timeUs.whole()
		if key.host != parquet.Absent && figures.requests > busiest {
			row.Hostname, busiest = name, figures.requests
		}
	}
	return rows
}

// name returns the name of a host, empty for parquet.Absent.
func (s *stats) name(host int32) []byte {
	if host == parquet.Absent {
		return nil
	}
	return s.hosts.At(host)
}
