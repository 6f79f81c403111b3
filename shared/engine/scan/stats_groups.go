package scan

import (
	"bytes"
	"cmp"
	"math"
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
	limited     bool                               // to most groups
	most        int
	part        partOfGroups // that is counted
	expected    int          // groups of days that are rolled up, about
	shared      []span       // segments with records of several row groups or days

	mu       sync.Mutex
	values   parquet.Dictionary
	index    map[segmentValue]int32 // in groups, of the shared segments
	groups   []groupOfRows
	reserved int64 // bytes of all
}

func newGrouping(r *run, keysOf func(*worker) (keyColumn, error), percentiles bool) *grouping {
	return &grouping{
		run: r, segments: r.segments(), percentiles: percentiles, keysOf: keysOf, shared: []span{anySegment},
	}
}

// anySegment is the span of all segments.
var anySegment = span{math.MinInt64, math.MaxInt64}

// forget forgets what has been counted.
func (g *grouping) forget() {
	g.run.unreserve(g.reserved)
	g.values, g.index, g.groups, g.reserved = parquet.Dictionary{}, nil, nil, 0
}

// partOfGroups holds all groups or, if it is divided, those of some segments. If these are only one, it may hold only the
// values whose hashes begin with the given bits.
type partOfGroups struct {
	divided  bool
	segments query.Segmentation
	span
	bits   uint
	prefix uint64
}

// allGroups returns the part with all groups of the query.
func (r *run) allGroups() partOfGroups {
	segments, reach := r.segments(), r.reach.Span()
	return partOfGroups{segments: segments, span: span{segments.Start(reach.FromMs), segments.Start(reach.ToMs)}}
}

// halves divides the part in two: by time if it has several segments. It returns false if that would not help.
func (p partOfGroups) halves() (first, second partOfGroups, ok bool) {
	p.divided = true
	first, second = p, p
	if p.first < p.last {
		first.last = p.segments.Start((p.first + p.last) / 2 * 1000)
		second.first = p.segments.Start(p.segments.EndMs(first.last))
		return first, second, true
	}
	first.bits, first.prefix = p.bits+1, 2*p.prefix
	second.bits, second.prefix = p.bits+1, 2*p.prefix+1
	return first, second, p.bits < maxPartBits
}

// rowGroups returns the row groups that can have records of the part.
func (p *partOfGroups) rowGroups(all []*group) (found []*group) {
	if !p.divided {
		return all
	}
	for _, g := range all {
		if p.segments.Start(g.MaxTsMs) >= p.first && p.segments.Start(g.MinTsMs) <= p.last {
			found = append(found, g)
		}
	}
	return found
}

// of returns the groups of a row group that belong to the part.
func (p *partOfGroups) of(r *run, all *groupsOfRows) (found []groupOfRows) {
	if !p.divided {
		return all.groups
	}
	hashes := make([]uint64, all.values.Len()+1) // of the values, by their numbers plus one; the first is of no value
	if p.bits > 0 {
		hashes[0] = r.textHash(nil).hash // so a host without a name belongs to the part of no host
		for value := range int32(all.values.Len()) {
			hashes[value+1] = r.textHash(all.values.At(value)).hash
		}
	}
	for _, group := range all.groups {
		if p.first <= group.segment && group.segment <= p.last && hashes[group.value+1]>>(64-p.bits) == p.prefix {
			found = append(found, group)
		}
	}
	return found
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

// groupsOfRows are the groups of a row group with their figures.
type groupsOfRows struct {
	values parquet.Dictionary
	groups []groupOfRows
}

// groupOfRows is a group in one row group, or in all. The number of its value is that in the row group, or in all.
type groupOfRows struct {
	segmentValue
	groupFigures
}

// bytes implements partial.
func (p *groupsOfRows) bytes() int64 {
	bytes := p.values.Memory() + int64(cap(p.groups))*groupFiguresBytes
	for i := range p.groups {
		bytes += p.groups[i].durations.bytes()
	}
	return bytes
}

// count counts rows of a row group.
func (g *grouping) count(w *worker, rows []int32) (*groupsOfRows, error) {
	columns, err := w.all("ts_ms", "bytes_sent", "request_length", "total_us")
	if err != nil {
		return nil, err
	}
	ts, sent, length, time := columns[0].Ints, columns[1].Ints, columns[2].Ints, columns[3]
	var timed []*parquet.ColumnValues
	if g.percentiles {
		if timed, err = w.all(durationColumns...); err != nil {
			return nil, err
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
		return nil, err
	}

	found := &groupsOfRows{}
	local := make([]localGroup, keys.entries.Len()+1) // of the current segment, by code plus one; 0: without a value
	numbers := make([]int32, keys.entries.Len())      // of the values in found, plus one; 0: not looked up yet
	var met []int32                                   // indexes in local that have records
	flush := func(segment int64) {
		for _, i := range met {
			key := segmentValue{segment, parquet.Absent}
			if entry := i - 1; entry != parquet.Absent {
				key.value, _ = addEntry(&found.values, keys.entries, entry, numbers)
			}
			of := &local[i]
			found.groups = append(found.groups, groupOfRows{key, groupFigures{of.traffic, of.durations.count()}})
			of.traffic = traffic{}
		}
		met = met[:0]
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
	eachValue(rows, ts, g.segments, keys, add, flush)
	return found, nil
}

// eachValue calls add with each row, for each of its values: the code of the value plus one, or 0 for a row without values.
// After the last row of a segment it calls flush.
func eachValue(
	rows []int32, ts []int64, segments query.Segmentation, keys keyColumn, add func(i, row int32), flush func(segment int64),
) {
	segment, end := int64(0), int64(math.MinInt64) // start in seconds and end in milliseconds of the current segment
	for at, row := range rows {
		if ts[row] >= end {
			if at > 0 {
				flush(segment)
			}
			segment = segments.Start(ts[row])
			end = segments.EndMs(segment)
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
	flush(segment)
}

// join adds the figures of a row group to the figures of the other row groups.
func (g *grouping) join(of *groupsOfRows) error {
	groups := g.part.of(g.run, of)
	numbers := make([]int32, of.values.Len()) // of the values in g.values, plus one; 0: not looked up yet
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.index == nil { // most row groups have about as many groups, and others
		expected := min(g.expected, int(g.run.memory/groupFiguresBytes)) + min(len(groups)*g.run.surveyed, 1<<16)
		g.groups = make([]groupOfRows, 0, expected)
		if !within(g.shared, anySegment.first) {
			expected = 0
		}
		g.index = make(map[segmentValue]int32, expected)
	}
	taken := int64(0)
	for i := range groups {
		key := groups[i].segmentValue
		if key.value != parquet.Absent {
			code, bytes := addEntry(&g.values, &of.values, key.value, numbers)
			key.value, taken = code, taken+bytes
		}
		at, known := int32(len(g.groups)), false
		if within(g.shared, key.segment) {
			if at, known = g.index[key]; !known {
				at = int32(len(g.groups))
				g.index[key] = at
			}
		}
		if !known {
			g.groups = append(g.groups, groupOfRows{segmentValue: key})
			taken += groupFiguresBytes
		}
		figures := &g.groups[at]
		figures.traffic.join(&groups[i].traffic)
		taken += figures.durations.join(groups[i].durations)
	}
	if g.limited && len(g.groups) > g.most {
		return engine.GroupsError(query.MaxStatsRows)
	}
	err := g.run.reserve(taken)
	if err == nil {
		g.reserved += taken
	}
	return err
}

// rows returns the figures by segment, then by value. The records without a value are the last of a segment.
func (g *grouping) rows() []query.StatsRow {
	places, texts := g.sorted(int32(g.values.Len()))
	rows := make([]query.StatsRow, len(places))
	for i, p := range places {
		of := &g.groups[p.group]
		rows[i].Segment = p.segment
		if rows[i].HasValue = of.value != parquet.Absent; rows[i].HasValue {
			rows[i].Value = texts[of.value]
		}
		of.fill(&rows[i])
	}
	return rows
}

// placeOfGroup is the place of a group in the order of the answer.
type placeOfGroup struct {
	segment int64
	rank    int32 // of the value in the order of texts
	group   int32
}

// sorted sorts the groups by segment, then by value. absent is the rank of the records without a value. It also returns
// the texts of the values.
func (g *grouping) sorted(absent int32) (places []placeOfGroup, texts []string) {
	values := make([]int32, g.values.Len())
	for value := range values {
		values[value] = int32(value)
	}
	slices.SortFunc(values, func(a, b int32) int { return bytes.Compare(g.values.At(a), g.values.At(b)) })
	ranks, texts := make([]int32, len(values)), make([]string, len(values))
	for rank, value := range values {
		ranks[value], texts[value] = int32(rank), string(g.values.At(value))
	}
	places = make([]placeOfGroup, len(g.groups))
	for i := range g.groups {
		places[i] = placeOfGroup{g.groups[i].segment, absent, int32(i)}
		if value := g.groups[i].value; value != parquet.Absent {
			places[i].rank = ranks[value]
		}
	}
	slices.SortFunc(places, func(a, b placeOfGroup) int {
		if a.segment != b.segment {
			return cmp.Compare(a.segment, b.segment)
		}
		return cmp.Compare(a.rank, b.rank)
	})
	return places, texts
}

// fill sets the figures of a row.
func (f *groupFigures) fill(row *query.StatsRow) {
	row.Requests, row.Timed = f.traffic.requests, f.traffic.timed
	row.Bandwidth, row.TimeUs = f.traffic.bandwidth.whole(), f.traffic.timeUs.whole()
	row.Percentiles = f.durations.percentiles()
}
