package scan

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// timeline sums up the segments. Most segments are in one row group, so codes are enough to count their addresses and
// sessions. A segment that several row groups share needs the texts.
func (r *run) timeline(ctx context.Context, groups []*group) ([]query.TimelineRow, error) {
	t := &timeline{run: r, division: r.segments(), segments: map[int64]*segment{}}
	t.shared = overlaps(groups, t.division)
	err := r.scan(ctx, groups, func(w *worker, _ int) error { return t.read(w) })
	if err != nil {
		return nil, err
	}
	return t.rows(), nil
}

// timeline holds the figures counted so far.
type timeline struct {
	run      *run
	division query.Segmentation
	shared   []span

	mu            sync.Mutex
	segments      map[int64]*segment
	ips, sessions distinct
}

// segment holds the figures of one segment, in one row group or in all.
type segment struct {
	start                                               int64
	shared                                              bool
	requests, blocked, challenges, human, originBlocked int64
	ips, sessions                                       int64
	bytesSent                                           sum
	statuses, origins                                   map[int64]int64
}

// partial holds the figures of a segment in one row group.
type partial struct {
	segment
	statusCodes, originCodes []int64 // how often each code occurs
	ipCodes, sessionCodes    []int32 // the different codes, for a shared segment only
}

// read counts a row group.
func (t *timeline) read(w *worker) error {
	rows, err := w.chosen()
	if err != nil || len(rows) == 0 {
		return err
	}
	columns, err := w.all("ts_ms", "ip", "session", "status",
		"blocked", "challenge", "ichallenge", "human", "bytes_sent", "upstream_status")
	if err != nil {
		return err
	}
	ts, ip, session, status := columns[0].Ints, columns[1], columns[2], columns[3]
	blocked, challenge, ichallenge, human := columns[4].Flags, columns[5].Flags, columns[6].Flags, columns[7].Flags
	sent, origin := columns[8].Ints, columns[9]

	ips, sessions := newSeen(ip), newSeen(session)
	var parts []*partial
	var p *partial
	end := int64(0) // end of p in milliseconds
	for _, row := range rows {
		if p == nil || ts[row] >= end {
			p = t.begin(ts[row], status.Entries(), origin.Entries())
			end = t.division.EndMs(p.start)
			parts = append(parts, p)
		}
		p.requests++
		if blocked[row] == 1 {
			p.blocked++
		}
		if challenge[row] == 1 || ichallenge[row] == 1 {
			p.challenges++
		}
		if human[row] == 1 {
			p.human++
		}
		p.bytesSent.add(sent[row])
		if code := status.Codes[row]; code != parquet.Absent {
			p.statusCodes[code]++
		}
		from, to := origin.Starts[row], origin.Starts[row+1]
		for _, code := range origin.Codes[from:to] {
			p.originCodes[code]++
		}
		if from < to && origin.Ints[origin.Codes[to-1]] >= 400 {
			p.originBlocked++
		}
		if code := ip.Codes[row]; ips.first(code, int32(len(parts))) {
			p.ips++
			if p.shared {
				p.ipCodes = append(p.ipCodes, code)
			}
		}
		if code := session.Codes[row]; sessions.first(code, int32(len(parts))) {
			p.sessions++
			if p.shared {
				p.sessionCodes = append(p.sessionCodes, code)
			}
		}
	}
	return t.join(parts, columns)
}

// begin returns an empty partial of the segment of a time. statuses and origins are the numbers of codes.
func (t *timeline) begin(ts int64, statuses, origins int) *partial {
	start := t.division.Start(ts)
	return &partial{
		segment:     segment{start: start, shared: within(t.shared, start)},
		statusCodes: make([]int64, statuses), originCodes: make([]int64, origins),
	}
}

// join adds the figures of a row group to the figures of the other row groups.
func (t *timeline) join(parts []*partial, columns []*parquet.ColumnValues) error {
	ip, session, status, origin := columns[1], columns[2], columns[3], columns[9]
	ips, sessions := t.ips.numbering(ip), t.sessions.numbering(session)
	for _, p := range parts {
		ips.hash(p.ipCodes)
		sessions.hash(p.sessionCodes)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.ips.bytes() + t.sessions.bytes()
	for _, p := range parts {
		s, known := t.segments[p.start]
		if !known {
			s = &segment{start: p.start, statuses: map[int64]int64{}, origins: map[int64]int64{}}
			t.segments[p.start] = s
		}
		s.requests += p.requests
		s.blocked += p.blocked
		s.challenges += p.challenges
		s.human += p.human
		s.originBlocked += p.originBlocked
		s.bytesSent.join(p.bytesSent)
		count(s.statuses, status.Ints, p.statusCodes)
		count(s.origins, origin.Ints, p.originCodes)
		if !p.shared {
			s.ips, s.sessions = s.ips+p.ips, s.sessions+p.sessions
			continue
		}
		s.ips += ips.add(p.start, p.ipCodes)
		s.sessions += sessions.add(p.start, p.sessionCodes)
	}
	return t.run.reserve(t.ips.bytes() + t.sessions.bytes() - before)
}

// count adds the counts of codes to the counts of their values.
func count(counts map[int64]int64, values, codes []int64) {
	for code, n := range codes {
		if n > 0 {
			counts[values[code]] += n
		}
	}
}

func (t *timeline) rows() []query.TimelineRow {
	var rows []query.TimelineRow
	for _, s := range t.segments {
		rows = append(rows, query.TimelineRow{
			Segment: s.start, Requests: s.requests, Blocked: s.blocked, Challenges: s.challenges, Human: s.human,
			OriginBlocked: s.originBlocked, IPs: s.ips, Sessions: s.sessions, BytesSent: s.bytesSent.whole(),
			Statuses: query.SortedStatuses(s.statuses), OriginStatuses: query.SortedStatuses(s.origins),
		})
	}
	slices.SortFunc(rows, func(a, b query.TimelineRow) int { return cmp.Compare(a.Segment, b.Segment) })
	return rows
}
