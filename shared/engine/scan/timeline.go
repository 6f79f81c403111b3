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
func (r *run) timeline(ctx context.Context, days []rolledUpDay, groups []*group) ([]query.TimelineRow, error) {
	t, err := r.countTimeline(ctx, days, groups)
	if err != nil {
		return nil, err
	}
	return t.rows(), nil
}

// countTimeline counts row groups and the days that are rolled up. If the texts of shared segments need more memory
// than there is, it begins again, and counts a part of them in each pass.
func (r *run) countTimeline(ctx context.Context, days []rolledUpDay, groups []*group) (*timeline, error) {
	for bits := uint(0); ; bits += 2 {
		t := r.newTimeline(groups, bits)
		err := t.countAll(ctx, days, groups)
		if !isShort(err) || bits == maxTextBits {
			return t, err
		}
		t.forget()
	}
}

func (r *run) newTimeline(groups []*group, bits uint) *timeline {
	division := r.segments()
	return &timeline{
		run: r, division: division, shared: overlaps(groups, division), segments: map[int64]*segment{}, bits: bits,
	}
}

// countTimelines counts timelines with segments of several lengths in the same passes, each as countTimeline does.
func (r *run) countTimelines(ctx context.Context, groups []*group, lengths []int64) ([]*timeline, error) {
	for bits := uint(0); ; bits += 2 {
		all := make([]*timeline, len(lengths))
		for i, seconds := range lengths {
			r.query.Shape = query.Timeline{SegmentSeconds: seconds}
			all[i] = r.newTimeline(groups, bits)
		}
		var err error
		for part := uint64(0); part < 1<<bits && err == nil; part++ {
			for _, t := range all {
				t.forget()
				t.part = part
			}
			err = r.scan(ctx, groups, func(w *worker, _ int) error { return w.countIn(all) })
		}
		if !isShort(err) || bits == maxTextBits {
			return all, err
		}
		for _, t := range all {
			t.forget()
		}
	}
}

// countIn counts a row group in timelines.
func (w *worker) countIn(all []*timeline) error {
	rows, err := w.chosen()
	if err != nil || len(rows) == 0 {
		return err
	}
	for _, t := range all {
		p, err := t.count(w, rows)
		if err == nil {
			err = t.join(p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// maxTextBits limits the parts of the texts of a timeline to 256.
const maxTextBits = 8

// countAll counts everything, in a pass for each part of the texts.
func (t *timeline) countAll(ctx context.Context, days []rolledUpDay, groups []*group) error {
	seconds := t.run.query.Shape.(query.Timeline).SegmentSeconds
	for _, day := range days {
		found := t.ofDay(day.Day, seconds)
		if day.together != nil {
			if err := t.unite(found, &day, seconds); err != nil {
				return err
			}
		}
		if err := t.join(found); err != nil {
			return err
		}
	}
	how := counting[*segmentsOfRows]{question: t.run.questions()[0], usable: t.usable, count: t.count, join: t.join}
	if t.bits > 0 {
		how.question = "" // a part of the texts is not worth keeping
	}
	for t.part = 0; t.part < 1<<t.bits; t.part++ {
		if t.part > 0 {
			t.forget()
		}
		if err := how.run(ctx, t.run, groups); err != nil {
			return err
		}
	}
	return nil
}

// forget forgets the texts of shared segments.
func (t *timeline) forget() {
	t.run.unreserve(t.reserved)
	t.ips, t.sessions, t.reserved = distinct{}, distinct{}, 0
}

// counts reports whether a text is counted in this pass.
func (t *timeline) counts(text textHash) bool { return text.hash>>(64-t.bits) == t.part }

// timeline holds the figures counted so far.
type timeline struct {
	run      *run
	division query.Segmentation
	shared   []span

	mu            sync.Mutex
	segments      map[int64]*segment
	ips, sessions distinct
	reserved      int64 // bytes of these

	bits uint   // the texts of shared segments are in 1<<bits parts, by the first bits of their hashes
	part uint64 // that is counted; figures other than those of shared segments are counted with the first one
}

// segment holds the figures of one segment in all row groups.
type segment struct {
	securityCounts
	statuses, origins statusCounts
}

// statusCounts are counts of statuses. Most segments are in one row group only.
type statusCounts struct {
	first []query.StatusCount // of the first row group, in the order of answers
	sums  map[int64]int64     // of all; nil if there is only one
}

func (c *statusCounts) add(counts []query.StatusCount) {
	if len(counts) == 0 {
		return
	}
	if c.first == nil {
		c.first = counts
		return
	}
	if c.sums == nil {
		c.sums = map[int64]int64{}
		c.sum(c.first)
	}
	c.sum(counts)
}

func (c *statusCounts) sum(counts []query.StatusCount) {
	for _, of := range counts {
		c.sums[of.Status] += of.Count
	}
}

// sorted returns the counts in the order of answers. They must not be changed.
func (c *statusCounts) sorted() []query.StatusCount {
	if c.sums != nil {
		return query.SortedStatuses(c.sums)
	}
	return c.first
}

// securityCounts are the figures of a segment that add up.
type securityCounts struct {
	requests, blocked, challenges, human, originBlocked int64
	ips, sessions                                       int64
	bytesSent                                           sum
}

// segmentsOfRows are the segments of a row group with their figures.
type segmentsOfRows struct {
	segments      []segmentOfRows
	ips, sessions textSets // of the shared segments
}

// segmentOfRows holds the figures of a segment in one row group.
type segmentOfRows struct {
	start  int64
	shared bool // the texts of its addresses and sessions are in the sets of the row group
	securityCounts
	statuses, origins []query.StatusCount // in the order of answers
}

// bytes implements partial.
func (p *segmentsOfRows) bytes() int64 {
	const segmentBytes, statusBytes = 144, 16
	bytes := int64(cap(p.segments))*segmentBytes + p.ips.bytes() + p.sessions.bytes()
	for i := range p.segments {
		bytes += int64(cap(p.segments[i].statuses)+cap(p.segments[i].origins)) * statusBytes
	}
	return bytes
}

// usable reports whether the texts of all shared segments are known.
func (t *timeline) usable(p *segmentsOfRows) bool {
	return !slices.ContainsFunc(p.segments, func(s segmentOfRows) bool { return !s.shared && within(t.shared, s.start) })
}

// count counts rows of a row group.
func (t *timeline) count(w *worker, rows []int32) (*segmentsOfRows, error) {
	columns, err := w.all("ts_ms", "ip", "session", "status",
		"blocked", "challenge", "ichallenge", "human", "bytes_sent", "upstream_status")
	if err != nil {
		return nil, err
	}
	ts, ip, session, status := columns[0].Ints, columns[1], columns[2], columns[3]
	blocked, challenge, ichallenge, human := columns[4].Flags, columns[5].Flags, columns[6].Flags, columns[7].Flags
	sent, origin := columns[8].Ints, columns[9]

	found := &segmentsOfRows{}
	ips, sessions := newSeen(ip), newSeen(session)
	var ipSets, sessionSets [][]int32 // the different codes of each shared segment
	statuses, origins := make([]int64, status.Entries()), make([]int64, origin.Entries())
	var s *segmentOfRows
	var ipSet, sessionSet *[]int32 // of s
	end := int64(0)                // of s, in milliseconds
	flush := func() {
		if s != nil {
			s.statuses, s.origins = countsOf(status.Ints, statuses), countsOf(origin.Ints, origins)
		}
	}
	for _, row := range rows {
		if s == nil || ts[row] >= end {
			flush()
			start := t.division.Start(ts[row])
			end = t.division.EndMs(start)
			found.segments = append(found.segments, segmentOfRows{start: start, shared: within(t.shared, start)})
			if s = &found.segments[len(found.segments)-1]; s.shared {
				ipSets, sessionSets = append(ipSets, nil), append(sessionSets, nil)
				ipSet, sessionSet = &ipSets[len(ipSets)-1], &sessionSets[len(sessionSets)-1]
			}
		}
		s.requests++
		if blocked[row] == 1 {
			s.blocked++
		}
		if challenge[row] == 1 || ichallenge[row] == 1 {
			s.challenges++
		}
		if human[row] == 1 {
			s.human++
		}
		s.bytesSent.add(sent[row])
		if code := status.Codes[row]; code != parquet.Absent {
			statuses[code]++
		}
		from, to := origin.Starts[row], origin.Starts[row+1]
		for _, code := range origin.Codes[from:to] {
			origins[code]++
		}
		if from < to && origin.Ints[origin.Codes[to-1]] >= 400 {
			s.originBlocked++
		}
		if code := ip.Codes[row]; ips.first(code, int32(len(found.segments))) {
			s.ips++
			if s.shared {
				*ipSet = append(*ipSet, code)
			}
		}
		if code := session.Codes[row]; sessions.first(code, int32(len(found.segments))) {
			s.sessions++
			if s.shared {
				*sessionSet = append(*sessionSet, code)
			}
		}
	}
	flush()
	found.ips, found.sessions = textSetsOf(t, ip, ipSets), textSetsOf(t, session, sessionSets)
	return found, nil
}

// countsOf returns the statuses that occur and how often, given the counts of their codes, which it clears.
func countsOf(statuses, codes []int64) (counts []query.StatusCount) {
	for code, n := range codes {
		if n > 0 {
			counts = append(counts, query.StatusCount{Status: statuses[code], Count: n})
			codes[code] = 0
		}
	}
	query.SortStatuses(counts)
	return counts
}

// join adds the figures of a row group to the figures of the other row groups.
func (t *timeline) join(p *segmentsOfRows) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.ips.bytes() + t.sessions.bytes()
	ips, sessions := t.ips.numbers(&p.ips), t.sessions.numbers(&p.sessions)
	set := 0 // of the next shared segment
	for i := range p.segments {
		of := &p.segments[i]
		s, known := t.segments[of.start]
		if !known {
			s = &segment{}
			t.segments[of.start] = s
		}
		counts := of.securityCounts
		if t.part > 0 {
			counts = securityCounts{}
		}
		if of.shared {
			counts.ips = t.ips.add(of.start, p.ips.sets[set], ips)
			counts.sessions = t.sessions.add(of.start, p.sessions.sets[set], sessions)
			set++
		}
		s.join(&counts)
		if t.part == 0 {
			s.statuses.add(of.statuses)
			s.origins.add(of.origins)
		}
	}
	more := t.ips.bytes() + t.sessions.bytes() - before
	err := t.run.reserve(more)
	if err == nil {
		t.reserved += more
	}
	return err
}

func (c *securityCounts) join(other *securityCounts) {
	c.requests += other.requests
	c.blocked += other.blocked
	c.challenges += other.challenges
	c.human += other.human
	c.originBlocked += other.originBlocked
	c.ips += other.ips
	c.sessions += other.sessions
	c.bytesSent.join(other.bytesSent)
}

func (t *timeline) rows() []query.TimelineRow {
	var rows []query.TimelineRow
	for start, s := range t.segments {
		rows = append(rows, query.TimelineRow{
			Segment: start, Requests: s.requests, Blocked: s.blocked, Challenges: s.challenges, Human: s.human,
			OriginBlocked: s.originBlocked, IPs: s.ips, Sessions: s.sessions, BytesSent: s.bytesSent.whole(),
			Statuses: s.statuses.sorted(), OriginStatuses: s.origins.sorted(),
		})
	}
	slices.SortFunc(rows, func(a, b query.TimelineRow) int { return cmp.Compare(a.Segment, b.Segment) })
	return rows
}
