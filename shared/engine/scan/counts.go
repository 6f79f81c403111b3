package scan

import (
	"bytes"
	"cmp"
	"context"
	"math/bits"
	"slices"
	"sync"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// counts counts the records of each segment and value, and how many of them are in each selection.
func (r *run) counts(
	ctx context.Context, shape query.Counts, days []rolledUpDay, groups []*group,
) (rows []query.CountsRow, err error) {
	t := newNumbering(r, shape, query.MaxStatsRows)
	pass := counting[*numbered]{question: r.questions()[0], count: t.count, join: t.join}
	if m := r.minutes; m != nil {
		if groups, err = t.countMinutes(ctx, days, groups, pass.question); err != nil {
			return nil, err
		}
		if len(m.hosts.Conditions) == 0 { // other questions will need the counts of all hosts
			r.query.Conditions, t.segments = nil, m.each
			pass.question, pass.join = m.question, func(of *numbered) error { return t.join(m.ofGroup(of)) }
		}
	}
	if err := pass.run(ctx, r, groups); err != nil {
		return nil, err
	}
	return t.rows(), nil
}

// numbering adds up the numbers of all row groups.
type numbering struct {
	run      *run
	shape    query.Counts
	segments query.Segmentation // in which rows are counted
	most     int                // groups
	first    int64              // the start of the first segment

	mu    sync.Mutex
	index map[uint64]int32 // in all.groups, by place
	all   numbered
}

func newNumbering(r *run, shape query.Counts, most int) *numbering {
	segments := r.segments()
	return &numbering{
		run: r, shape: shape, segments: segments, most: most, first: segments.Start(r.query.Scope.Period.FromMs),
		index: map[uint64]int32{}, all: numbered{width: len(shape.Of) + 1},
	}
}

// numbered has the numbers of the groups of a row group, or of all.
type numbered struct {
	width  int // of numbers in a group
	values parquet.Dictionary
	groups []segmentValue
	n      []int64 // of each group: all its records, then the numbers in the selections
}

// numberedBytes is about the memory of a group, with its place in an index, without its numbers.
const numberedBytes = 64

// bytes implements partial.
func (t *numbered) bytes() int64 {
	return t.values.Memory() + int64(cap(t.groups))*numberedBytes + int64(cap(t.n))*8
}

// count counts rows of a row group.
func (t *numbering) count(w *worker, rows []int32) (*numbered, error) {
	ts, err := w.column("ts_ms", "")
	if err != nil {
		return nil, err
	}
	selected, err := w.selections(rows, t.shape.Of)
	if err != nil {
		return nil, err
	}
	keys, err := w.valuesOf(t.shape.By)
	if err != nil {
		return nil, err
	}
	found := &numbered{width: t.all.width}
	local := make([]int64, (keys.entries.Len()+1)*found.width) // of the current segment, by code plus one
	known := make([]int32, keys.entries.Len())
	var met []int32 // codes plus one that have records
	flush := func(segment int64) {
		for _, i := range met {
			key := segmentValue{segment, parquet.Absent}
			if code := i - 1; code != parquet.Absent {
				key.value, _ = addEntry(&found.values, keys.entries, code, known)
			}
			of := local[int(i)*found.width:][:found.width]
			found.groups, found.n = append(found.groups, key), append(found.n, of...)
			clear(of)
		}
		met = met[:0]
	}
	add := func(i, row int32) {
		of := local[int(i)*found.width:][:found.width]
		if of[0] == 0 {
			met = append(met, i)
		}
		of[0]++
		for left := selected[row]; left != 0; left &= left - 1 {
			of[bits.TrailingZeros64(left)+1]++
		}
	}
	eachValue(rows, ts.Ints, t.segments, keys, add, flush)
	return found, nil
}

// selections returns a bit of each selection for each row of the group: whether the selection has the row. It has only rows
// that are given.
func (w *worker) selections(rows []int32, of []query.Selection) ([]uint64, error) {
	selected := make([]uint64, w.group.Rows)
	for i, s := range of {
		meeting, err := w.meeting(rows, s.Conditions)
		if err != nil {
			return nil, err
		}
		for _, row := range meeting {
			selected[row] |= 1 << i
		}
	}
	return selected, nil
}

// join adds the numbers of a row group.
func (t *numbering) join(of *numbered) error {
	known := make([]int32, of.values.Len())
	t.mu.Lock()
	defer t.mu.Unlock()
	taken := int64(0)
	for i, key := range of.groups {
		if key.value != parquet.Absent {
			code, bytes := addEntry(&t.all.values, &of.values, key.value, known)
			key.value, taken = code, taken+bytes
		}
		numbers := of.n[i*of.width:][:of.width]
		place := t.place(key)
		at, met := t.index[place]
		if !met {
			t.index[place] = int32(len(t.all.groups))
			t.all.groups, t.all.n = append(t.all.groups, key), append(t.all.n, numbers...)
			taken += numberedBytes + int64(of.width)*8
			continue
		}
		for n, more := range numbers {
			t.all.n[int(at)*of.width+n] += more
		}
	}
	if len(t.all.groups) > t.most {
		return engine.GroupsError(t.most)
	}
	return t.run.reserve(taken)
}

// place returns a number that only this segment and value have: 32 bits for the seconds since the first segment, and
// the code. A map finds it sooner than the two.
func (t *numbering) place(of segmentValue) uint64 {
	return uint64(of.segment-t.first)<<32 | uint64(uint32(of.value))
}

// rows returns the numbers by segment, then by value. The records without a value are the last of a segment.
func (t *numbering) rows() []query.CountsRow {
	ranks := t.all.ranks()
	type placed struct {
		place uint64
		group int
	}
	order := make([]placed, len(t.all.groups))
	for i, key := range t.all.groups {
		order[i] = placed{t.place(segmentValue{key.segment, ranks[key.value+1]}), i}
	}
	slices.SortFunc(order, func(a, b placed) int { return cmp.Compare(a.place, b.place) })
	rows := make([]query.CountsRow, len(order))
	texts := make([]string, t.all.values.Len())
	for i := range texts {
		texts[i] = string(t.all.values.At(int32(i)))
	}
	for i, at := range order {
		key := t.all.groups[at.group]
		rows[i] = query.CountsRow{Segment: key.segment, N: t.all.n[at.group*t.all.width:][:t.all.width]}
		if key.value != parquet.Absent {
			rows[i].Value, rows[i].HasValue = texts[key.value], true
		}
	}
	return rows
}

// ranks returns the place of each value among all, by code plus one. The absent value is the last one.
func (t *numbered) ranks() []int32 {
	codes := make([]int32, t.values.Len())
	for i := range codes {
		codes[i] = int32(i)
	}
	slices.SortFunc(codes, func(a, b int32) int { return bytes.Compare(t.values.At(a), t.values.At(b)) })
	ranks := make([]int32, len(codes)+1)
	for rank, code := range codes {
		ranks[code+1] = int32(rank)
	}
	ranks[parquet.Absent+1] = int32(len(codes))
	return ranks
}
