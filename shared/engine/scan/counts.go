package scan

import (
	"bytes"
	"cmp"
	"context"
	"math/bits"
	"slices"
	"sync"
	"unsafe"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/rollup"
)

// counts counts the records of each segment and value, and how many of them are in each selection.
func (r *run) counts(
	ctx context.Context, shape query.Counts, days []rolledUpDay, groups []*group,
) (rows []query.CountsRow, err error) {
	t := newNumbering(r, shape, query.MaxStatsRows)
	pass := counting[*numbered]{question: r.questions()[0], count: t.count, join: t.join}
	for _, day := range days {
		if day.part != nil {
			if err := t.joinPart(day); err != nil {
				return nil, err
			}
		}
	}
	days = slices.DeleteFunc(slices.Clone(days), func(day rolledUpDay) bool { return day.part != nil })
	if m := r.minutes; m != nil {
		if groups, err = t.countMinutes(ctx, days, groups, pass.question); err != nil {
			return nil, err
		}
		if len(m.values) == 0 { // other questions will need the counts of all values
			r.query.Conditions, t.segments = m.others, m.each
			pass.question, pass.join = m.question, func(of *numbered) error { return t.join(m.ofGroup(of)) }
		}
	}
	if err := pass.run(ctx, r, groups); err != nil {
		return nil, err
	}
	return t.rows()
}

// countPart adds the counts of a part to its lists.
func (r *run) countPart(ctx context.Context, shape query.Counts, groups []*group, lists *rollup.Lists) error {
	rows, err := r.countRows(ctx, groups, shape, query.MaxStatsRows)
	lists.AddCounts(shape, 0, rows)
	return err
}

// countRows counts row groups. most is the most segments of all values.
func (r *run) countRows(
	ctx context.Context, groups []*group, shape query.Counts, most int,
) ([]query.CountsRow, error) {
	t := newNumbering(r, shape, most)
	if err := (counting[*numbered]{count: t.count, join: t.join}).run(ctx, r, groups); err != nil {
		return nil, err
	}
	return t.rows()
}

// joinPart adds the counts of a part, which are in the segments of the query.
func (t *numbering) joinPart(day rolledUpDay) error {
	content, err := t.run.section(day, rollup.CountsName(t.shape), nil)
	if err != nil {
		return err
	}
	found := &numbered{width: t.width}
	value := int32(parquet.Absent)
	err = rollup.EachCount(content, 0, t.width, func(text []byte, hasValue bool) {
		if value = parquet.Absent; hasValue {
			value = found.values.Code(text, parquet.Hash(text))
		}
	}, func(segment int64, n []int64) {
		found.groups, found.n = append(found.groups, segmentValue{segment, value}), append(found.n, n...)
	})
	if err != nil {
		return unusable(err)
	}
	return t.join(found)
}

// numbering adds up the numbers of all row groups.
type numbering struct {
	run      *run
	shape    query.Counts
	segments query.Segmentation // in which rows are counted
	width    int                // of numbers in a segment
	most     int                // segments of all values

	mu     sync.Mutex
	values parquet.Dictionary
	lists  []numberList // by code plus one
	length int          // of all lists
}

// numberList has the numbers of a value. It may have a segment several times until addUp is called.
type numberList struct {
	segments []int64
	n        []int64 // of each segment: all its records, then the numbers in the selections
}

func newNumbering(r *run, shape query.Counts, most int) *numbering {
	return &numbering{
		run: r, shape: shape, segments: r.segments(), width: len(shape.Of) + 1, most: most, lists: make([]numberList, 1),
	}
}

// numbered has the numbers of the groups of a row group.
type numbered struct {
	width  int // of numbers in a group
	values parquet.Dictionary
	groups []segmentValue
	n      []int64 // of each group: all its records, then the numbers in the selections
}

// numberedBytes is the memory of a group without its numbers.
const numberedBytes = int64(unsafe.Sizeof(segmentValue{}))

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
	found := &numbered{width: t.width}
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
	taken := int64(len(of.groups)) * t.bytesEach()
	for i, key := range of.groups {
		code := key.value
		if code != parquet.Absent {
			var bytes int64
			code, bytes = addEntry(&t.values, &of.values, code, known)
			taken += bytes
		}
		for len(t.lists) < t.values.Len()+1 {
			t.lists = append(t.lists, numberList{})
		}
		list := &t.lists[code+1]
		list.segments = append(list.segments, key.segment)
		list.n = append(list.n, of.n[i*of.width:][:of.width]...)
	}
	t.length += len(of.groups)
	if err := t.run.reserve(taken); err != nil {
		return err
	}
	if t.length > t.most+t.most/4 { // seldom, so that adding up takes a small part of the time
		return t.addUp()
	}
	return nil
}

// bytesEach is the memory of a segment of a value.
func (t *numbering) bytesEach() int64 { return int64(t.width+1) * int64(unsafe.Sizeof(int64(0))) }

// addUp sorts the segments of each list, and joins the numbers of equal ones.
func (t *numbering) addUp() error {
	before := t.length
	t.length = 0
	for i := range t.lists {
		t.lists[i].addUp(t.width)
		t.length += len(t.lists[i].segments)
	}
	t.run.unreserve(int64(before-t.length) * t.bytesEach())
	if t.length > t.most {
		return engine.GroupsError(t.most)
	}
	return nil
}

func (l *numberList) addUp(width int) {
	isAddedUp := true
	for i := 1; i < len(l.segments) && isAddedUp; i++ {
		isAddedUp = l.segments[i-1] < l.segments[i]
	}
	if isAddedUp {
		return
	}
	order := make([]int32, len(l.segments))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(l.segments[a], l.segments[b]) })
	sorted := numberList{make([]int64, 0, len(l.segments)), make([]int64, 0, len(l.n))}
	for _, i := range order {
		numbers := l.n[int(i)*width:][:width]
		last := len(sorted.segments) - 1
		if last < 0 || sorted.segments[last] != l.segments[i] {
			sorted.segments, sorted.n = append(sorted.segments, l.segments[i]), append(sorted.n, numbers...)
			continue
		}
		for n, more := range numbers {
			sorted.n[last*width+n] += more
		}
	}
	*l = sorted
}

// rows returns the numbers by value, then by segment. The absent value is the last.
func (t *numbering) rows() ([]query.CountsRow, error) {
	if err := t.addUp(); err != nil {
		return nil, err
	}
	codes := make([]int32, t.values.Len(), len(t.lists))
	for i := range codes {
		codes[i] = int32(i)
	}
	slices.SortFunc(codes, func(a, b int32) int { return bytes.Compare(t.values.At(a), t.values.At(b)) })
	rows := make([]query.CountsRow, 0, t.length)
	for _, code := range append(codes, parquet.Absent) {
		row := query.CountsRow{HasValue: code != parquet.Absent}
		if row.HasValue {
			row.Value = string(t.values.At(code))
		}
		list := t.lists[code+1]
		for i, segment := range list.segments {
			row.Segment, row.N = segment, list.n[i*t.width:][:t.width]
			rows = append(rows, row)
		}
	}
	return rows, nil
}
