package scan

import (
	"context"
	"math"
	"slices"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/rollup"
)

// minutes are the counts of all minutes by the values of a field, of all records or of a subset. Counts are answered
// from them if each other condition holds for all records of a minute and value or for none. Rollups have them, and
// different questions use the same minutes that are kept of row groups.
type minutes struct {
	question string             // that asks for them
	name     string             // of their section in a rollup
	each     query.Segmentation // minutes
	segments query.Segmentation // of the query
	source   catalog.Source     // of the values
	values   []query.Condition  // on them
	times    []query.Condition  // on times: spans of minutes
	others   []query.Condition  // those that select the subsets
	subsets  []rollup.Subset    // whose rollups have the minutes
	cut      bool               // the period begins or ends within a minute
}

const minuteMs = rollup.Minute * 1000

// newMinutes returns the minutes from which the query is answered, or nil.
func newMinutes(r *run) *minutes {
	shape, ok := r.query.Shape.(query.Counts)
	if !ok || r.partials == nil && r.rollups == nil || !rollup.CountsBy(shape.By) {
		return nil
	}
	m := &minutes{name: rollup.CountsName(shape), segments: r.segments(), source: shape.By.Sources[0]}
	for _, c := range r.query.Conditions {
		not := func(holds func(query.Term) bool) func(query.Term) bool {
			return func(t query.Term) bool { return !holds(t) }
		}
		switch {
		case c.Any != nil:
			return nil
		case !slices.ContainsFunc(c.Terms, not(m.isOfValue)):
			m.values = append(m.values, c)
		case !slices.ContainsFunc(c.Terms, not(isOfMinutes)):
			m.times = append(m.times, c)
		default:
			m.others = append(m.others, c)
		}
	}
	var rest [][]rollup.Subset
	m.subsets, rest, ok = rollup.SubsetsOf(m.others)
	lacks := func(s rollup.Subset) bool { return !s.HasCounts() }
	if !ok || rest != nil || slices.ContainsFunc(m.subsets, lacks) {
		return nil
	}
	for _, span := range r.reach.Spans() {
		m.cut = m.cut || !isMinute(span.FromMs) || !isMinute(span.ToMs+1)
	}
	shape.SegmentSeconds = rollup.Minute
	m.question = r.countsQuestion(shape, m.others)
	m.each = query.Query{Shape: shape}.Segmentation(r.query.Scope.Period)
	return m
}

// isOfValue reports whether a term tests the values.
func (m *minutes) isOfValue(t query.Term) bool {
	return t.Source.Column == m.source.Column && t.Source.Member == m.source.Member
}

// isOfMinutes reports whether a term is a span of whole minutes.
func isOfMinutes(t query.Term) bool {
	span, ok := t.Test.(query.IntRange)
	return ok && t.Source.Type == catalog.Time &&
		(span.Min == nil || isMinute(*span.Min)) && (span.Max == nil || isMinute(*span.Max+1))
}

func isMinute(ms int64) bool { return ms%minuteMs == 0 }

// regrouping adds up the counts of minutes by the segments of the query. It leaves out values and minutes for which the
// conditions do not hold.
type regrouping struct {
	*minutes
	into   *numbered
	minute int64 // that was added last
	holds  bool  // whether the conditions on times hold for it
	start  int64 // of its segment
	endMs  int64 // of its segment
}

func (m *minutes) regroup(into *numbered) regrouping {
	return regrouping{minutes: m, into: into, minute: math.MinInt64, endMs: math.MinInt64}
}

// during reports whether the conditions on times hold for a time.
func (m *minutes) during(ms int64) bool {
	return !slices.ContainsFunc(m.times, func(c query.Condition) bool {
		holds := slices.ContainsFunc(c.Terms, func(t query.Term) bool {
			least, most := t.Test.(query.IntRange).Bounds()
			return least <= ms && ms <= most
		})
		return holds == c.Negated
	})
}

// value reports whether the conditions on values hold for a value, or for records without one.
func (m *minutes) value(text []byte, hasValue bool) bool {
	passes := func(t query.Term) bool { return t.PassesText(string(text)) }
	return !slices.ContainsFunc(m.values, func(c query.Condition) bool {
		holds := hasValue && slices.ContainsFunc(c.Terms, passes)
		return holds == c.Negated
	})
}

// add adds the numbers of a minute and value.
func (g *regrouping) add(minute int64, value int32, n []int64) {
	if minute != g.minute {
		ms := minute * 1000
		if minute < g.minute || ms >= g.endMs {
			g.start = g.segments.Start(ms)
			g.endMs = g.segments.EndMs(g.start)
		}
		g.minute, g.holds = minute, g.during(ms)
	}
	if !g.holds {
		return
	}
	key := segmentValue{g.start, value}
	if last := len(g.into.groups) - 1; last >= 0 && g.into.groups[last] == key {
		for i, more := range n {
			g.into.n[last*g.into.width+i] += more
		}
		return
	}
	g.into.groups, g.into.n = append(g.into.groups, key), append(g.into.n, n...)
}

// ofGroup adds up the minutes of a row group to the counts of the query.
func (m *minutes) ofGroup(all *numbered) *numbered {
	found := &numbered{width: all.width, values: all.values}
	g := m.regroup(found)
	holds := make([]bool, all.values.Len()+1) // for which the conditions hold, by code plus one
	holds[0] = m.value(nil, false)
	for code := range int32(all.values.Len()) {
		holds[code+1] = m.value(all.values.At(code), true)
	}
	for i, key := range all.groups {
		if holds[key.value+1] {
			g.add(key.segment, key.value, all.n[i*all.width:][:all.width])
		}
	}
	return found
}

// ofDay returns the counts of the query in a day, from its rollup.
func (m *minutes) ofDay(r *run, w *worker, day rolledUpDay, width int) (*numbered, error) {
	content, err := r.section(day, m.name, w.sections[0])
	if err != nil {
		return nil, err
	}
	w.sections[0] = content
	found := &numbered{width: width}
	g := m.regroup(found)
	value, holds := int32(parquet.Absent), false
	first, last := r.reach.Spans()[0].FromMs, r.reach.Spans()[0].ToMs
	err = rollup.EachCount(content, day.Start, width, func(text []byte, hasValue bool) {
		if holds = m.value(text, hasValue); holds && hasValue {
			value = found.values.Code(text, parquet.Hash(text))
		} else {
			value = parquet.Absent
		}
	}, func(minute int64, n []int64) {
		if at := minute * 1000; holds && at <= last && at+minuteMs > first {
			g.add(minute, value, n)
		}
	})
	return found, unusable(err)
}

// ofRollup is the number of a row group in the key of a partial that is of a rollup.
const ofRollup = -1

// keptOfDay is like ofDay, but keeps the counts for the next time that the question is asked about as much of the day.
func (m *minutes) keptOfDay(r *run, w *worker, day rolledUpDay, width int, question string) (*numbered, error) {
	if r.partials == nil {
		return m.ofDay(r, w, day, width)
	}
	period := r.reach.Spans()[0]
	first, last := day.Times()
	part := query.Period{FromMs: max(period.FromMs, first), ToMs: min(period.ToMs, last)}
	key := partialKey{groupID{day.version, ofRollup}, part, question}
	if p, known := r.partials.kept.find(key); known {
		return p.(*numbered), nil
	}
	found, err := m.ofDay(r, w, day, width)
	if err == nil && r.isOfItsShare(found.bytes()) {
		r.partials.kept.add(key, found, found.bytes()+partialKeyBytes)
	}
	return found, err
}

// countMinutes adds the minutes that rollups have, and those that earlier scans have kept. question names what the
// query asks for. It returns the row groups that must be read.
func (t *numbering) countMinutes(
	ctx context.Context, days []rolledUpDay, groups []*group, question string,
) (left []*group, _ error) {
	m := t.run.minutes
	ofDays := make([]*numbered, len(days))
	err := t.run.each(ctx, len(days), func(w *worker, i int) (err error) {
		ofDays[i], err = m.keptOfDay(t.run, w, days[i], t.width, question)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, of := range ofDays { // in their order, so that the segments of each value are sorted
		if err := t.join(of); err != nil {
			return nil, err
		}
	}
	kept, left := keptOf[*numbered](t.run, groups, m.question, nil)
	return left, t.run.each(ctx, len(kept), func(_ *worker, i int) error { return t.join(m.ofGroup(kept[i])) })
}

// listCounts adds the counts of the minutes of a day to its lists.
func (r *run) listCounts(
	ctx context.Context, groups []*group, start int64, shape query.Counts, lists *rollup.Lists,
) error {
	shape.SegmentSeconds = rollup.Minute
	r.query.Shape = shape
	rows, err := r.countRows(ctx, groups, shape, rollup.MaxCounts)
	if areTooMany(err) {
		lists.AddNoCounts(shape)
		return nil
	}
	if err != nil {
		return err
	}
	lists.AddCounts(shape, start, rows)
	return nil
}
