package scan

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/pattern"
	"github.com/orrery/orrery/shared/query"
)

// chosen returns the rows of the group that belong to the answer, ascending. They must not be changed. It reads the
// columns of further conditions only while rows are left.
func (w *worker) chosen() ([]int32, error) {
	ts, err := w.column("ts_ms", "")
	if err != nil {
		return nil, err
	}
	conditions := w.run.query.Conditions
	rows := w.inReach(ts.Ints)
	if len(conditions) > 0 {
		rows = slices.Clone(rows)
	}
	for _, c := range conditions {
		if len(rows) == 0 {
			return nil, nil
		}
		if w.ctx.Err() != nil {
			return nil, context.Cause(w.ctx)
		}
		if rows, err = w.matching(rows, c); err != nil {
			return nil, err
		}
	}
	return rows, w.inOrder(ts.Ints, rows)
}

// inReach returns the rows whose times are within the reach of the query. They must not be changed.
func (w *worker) inReach(ts []int64) []int32 {
	if w.run.covers(w.group) {
		return firstRows(len(ts)) // inOrder compares the times with the footer
	}
	spans := w.run.reach.Spans()
	first, last := spans[0], spans[len(spans)-1] // there are at most two
	rows := make([]int32, 0, len(ts))
	for row, ms := range ts {
		if first.FromMs <= ms && ms <= first.ToMs || last.FromMs <= ms && ms <= last.ToMs {
			rows = append(rows, int32(row))
		}
	}
	return rows
}

// ascending holds the numbers from 0 on, as many as the longest row group so far has rows. They are never changed.
var ascending atomic.Pointer[[]int32]

// ordinaryRows is more than the number of rows in any row group that this program writes.
const ordinaryRows = 1 << 17

// firstRows returns the numbers of the first n rows, which must not be changed.
func firstRows(n int) []int32 {
	known := ascending.Load()
	if known == nil || len(*known) < n {
		more := make([]int32, max(n, ordinaryRows))
		for row := range more {
			more[row] = int32(row)
		}
		known = &more
		ascending.Store(known)
	}
	return (*known)[:n:n]
}

// areFirstRows reports whether rows are in the memory of firstRows, which all scans share.
func areFirstRows(rows []int32) bool {
	known := ascending.Load()
	return known != nil && len(rows) > 0 && &rows[0] == &(*known)[0]
}

// matching returns the rows for which a condition holds, in the memory of rows. A condition holds if any of its terms
// holds, or, if it is negated, none does.
func (w *worker) matching(rows []int32, c query.Condition) ([]int32, error) {
	if c.Any != nil {
		return w.matchingAny(rows, c)
	}
	if len(c.Terms) == 1 && c.Terms[0].Source.Type == catalog.Bool && c.Terms[0].Source.Layout == catalog.Scalar {
		return w.flaggedRows(rows, c)
	}
	if len(c.Terms) == 1 && isOfEntries(c.Terms[0]) {
		values, err := w.columnOf(c.Terms[0], rows)
		if err != nil {
			return nil, err
		}
		if test := w.entryTest(values, c.Terms[0]); test != nil {
			return rowsOfEntries(rows, values, test, c.Negated), nil
		}
	}
	terms := make([]func(row int32) bool, len(c.Terms))
	for i, t := range c.Terms {
		var err error
		if terms[i], err = w.term(t, rows); err != nil {
			return nil, err
		}
	}
	kept := rows[:0]
	for _, row := range rows {
		holds := false
		for _, term := range terms {
			if holds = term(row); holds {
				break
			}
		}
		if holds != c.Negated {
			kept = append(kept, row)
		}
	}
	return kept, nil
}

// isOfEntries reports whether a term is a test of a single value of each row, which may be an entry of a dictionary.
func isOfEntries(t query.Term) bool {
	_, isOfRefs := t.Test.(query.RefIn)
	return t.Source.Layout == catalog.Scalar && !isOfRefs
}

// rowsOfEntries is matching for a test of the dictionary entries of a column. Most questions have a condition on the
// host of all rows, for which a function for each row would take most of the time.
func rowsOfEntries(rows []int32, values *parquet.ColumnValues, test func(entry int32) bool, negated bool) []int32 {
	const unknown, yes, no = 0, 1, 2
	verdicts := make([]uint8, values.Entries()+1) // by code plus one
	verdicts[parquet.Absent+1] = no
	kept := rows[:0]
	for _, row := range rows {
		entry := values.Codes[row]
		verdict := verdicts[entry+1]
		if verdict == unknown {
			if verdict = no; test(entry) {
				verdict = yes
			}
			verdicts[entry+1] = verdict
		}
		if verdict == yes != negated {
			kept = append(kept, row)
		}
	}
	return kept
}

// matchingAny is matching for alternatives. Each is tried on the rows that no earlier one has.
func (w *worker) matchingAny(rows []int32, c query.Condition) ([]int32, error) {
	held := make([]bool, w.group.Rows)
	left := slices.Clone(rows)
	for _, conditions := range c.Any {
		if w.ctx.Err() != nil {
			return nil, context.Cause(w.ctx)
		}
		met, err := w.meeting(left, conditions)
		if err != nil {
			return nil, err
		}
		for _, row := range met {
			held[row] = true
		}
		left = slices.DeleteFunc(left, func(row int32) bool { return held[row] })
	}
	return slices.DeleteFunc(rows, func(row int32) bool { return held[row] == c.Negated }), nil
}

// meeting returns the rows that meet all conditions. It does not change rows.
func (w *worker) meeting(rows []int32, conditions []query.Condition) ([]int32, error) {
	met := slices.Clone(rows)
	for _, c := range conditions {
		var err error
		if met, err = w.matching(met, c); err != nil {
			return nil, err
		}
	}
	return met, nil
}

// flaggedRows is matching for a condition on a single flag.
func (w *worker) flaggedRows(rows []int32, c query.Condition) ([]int32, error) {
	t := c.Terms[0]
	values, err := w.column(t.Source.Column, valueMember(t.Source))
	if err != nil {
		return nil, err
	}
	holds := [3]bool{c.Negated, t.PassesBool(false) != c.Negated, t.PassesBool(true) != c.Negated} // by flag, plus one
	kept := rows[:0]
	for _, row := range rows {
		if holds[values.Flags[row]+1] {
			kept = append(kept, row)
		}
	}
	return kept, nil
}

// valueMember returns the member of a source's structs that holds the values.
func valueMember(s catalog.Source) string {
	if s.Layout == catalog.Pairs {
		return "value"
	}
	return s.Member
}

// fewTexts is the largest number of texts in a row group on which patterns are tried, unless most texts occur many
// times. Go's engine takes two to six times as long as RE2 in C++. Trying a pattern only once on each text, or only on
// the rows that meet the other conditions, must make up for that.
const fewTexts = 4_000

// triesAllTexts reports whether patterns are tried on any number of texts. Another engine takes longer to return
// sequences than Go's engine to try a pattern on a text of each record.
func (r *run) triesAllTexts() bool {
	_, sequences := r.query.Shape.(query.Sequences)
	return sequences || r.noFallback
}

// isPattern reports whether a term tries patterns on texts or lists of texts. Patterns that only look for texts do not
// count: Go finds them as fast as another engine. Neither do name/value fields: DuckDB makes lists of them first, which
// takes longer than trying patterns.
func isPattern(t query.Term) bool {
	test, patterns := t.Test.(query.Matches)
	slow := func(p *pattern.Regex) bool { return !p.IsLiteral() }
	return patterns && t.Source.Layout != catalog.Pairs && slices.ContainsFunc(test.Patterns, slow)
}

// term returns a function that reports whether a term holds for one of rows: whether it holds for any value of the row.
func (w *worker) term(t query.Term, rows []int32) (func(row int32) bool, error) {
	if refs, ok := t.Test.(query.RefIn); ok {
		return w.refTerm(refs)
	}
	values, err := w.columnOf(t, rows)
	if err != nil {
		return nil, err
	}
	passes := w.passing(values, t)
	if t.Source.Layout == catalog.Pairs && t.Key != nil {
		names, err := w.column(t.Source.Column, "name")
		if err != nil {
			return nil, err
		}
		chosen := onEntries(names, func(entry int32) bool { return t.MatchesName(string(names.Texts.At(entry))) })
		value := passes
		passes = func(i int32) bool { return chosen(i) && value(i) }
	}
	if t.Source.Layout == catalog.Scalar {
		return passes, nil
	}
	return func(row int32) bool {
		for i := values.Starts[row]; i < values.Starts[row+1]; i++ {
			if passes(i) {
				return true
			}
		}
		return false
	}, nil
}

// columnOf returns the values of a term. It returns an error if another engine tries the patterns of the term faster.
func (w *worker) columnOf(t query.Term, rows []int32) (*parquet.ColumnValues, error) {
	values, err := w.column(t.Source.Column, valueMember(t.Source))
	if err != nil {
		return nil, err
	}
	n := values.Texts.Len()
	tried := n
	if t.Source.Layout == catalog.Scalar {
		tried = min(n, len(rows))
	}
	if tried > fewTexts && n > len(values.Codes)/8 && isPattern(t) && !w.run.triesAllTexts() {
		return nil, fmt.Errorf("%w: too many different texts of %s to try patterns on", ErrUnsupported, t.Source.Column)
	}
	return values, nil
}

// refTerm returns a function that reports whether a row is the record of one of the references. It computes the
// reference of a row only if one of them has the row's time.
func (w *worker) refTerm(test query.RefIn) (func(row int32) bool, error) {
	columns, err := w.all("ts_ms", "source", "line")
	if err != nil {
		return nil, err
	}
	ts, source, line := columns[0].Ints, columns[1], columns[2].Ints
	wanted := make(map[lake.Ref]bool, len(test.Refs))
	times := make(map[int64]bool, len(test.Refs))
	for _, ref := range test.Refs {
		wanted[ref], times[ref.TsMs] = true, true
	}
	return func(row int32) bool {
		return times[ts[row]] && wanted[lake.RefTo(ts[row], string(source.Texts.At(source.Codes[row])), line[row])]
	}, nil
}

// passing returns a function that reports whether value i of a column is present and passes the term's test.
func (w *worker) passing(values *parquet.ColumnValues, t query.Term) func(i int32) bool {
	switch {
	case len(values.Flags) > 0:
		yes, no := t.PassesBool(true), t.PassesBool(false)
		return func(i int32) bool { return values.Flags[i] == 1 && yes || values.Flags[i] == 0 && no }
	case len(values.Codes) > 0:
		return onEntries(values, w.entryTest(values, t))
	}
	if between, ok := t.Test.(query.IntRange); ok {
		least, most := between.Bounds()
		return func(i int32) bool {
			n := values.Ints[i]
			return least <= n && n <= most && (len(values.Present) == 0 || values.Present[i])
		}
	}
	return func(i int32) bool {
		return (len(values.Present) == 0 || values.Present[i]) && t.PassesInt(values.Ints[i])
	}
}

// entryTest returns a function that reports whether a dictionary entry passes the term's test, nil if the values are no
// entries.
func (w *worker) entryTest(values *parquet.ColumnValues, t query.Term) func(entry int32) bool {
	switch {
	case len(values.Flags) > 0 || len(values.Codes) == 0:
		return nil
	case values.Texts.Len() > 0:
		passes := w.textTest(t)
		return func(entry int32) bool { return passes(values.Texts.At(entry)) }
	}
	return func(entry int32) bool { return t.PassesInt(values.Ints[entry]) }
}

// textTest returns a function that reports whether a text passes the term's test. It finds the text among many others
// by its hash, and tries patterns once on a text that several row groups have.
func (w *worker) textTest(t query.Term) func(text []byte) bool {
	switch test := t.Test.(type) {
	case query.Matches:
		if len(test.Patterns) == 0 {
			break
		}
		known := w.tried.of(test)
		return func(text []byte) bool {
			if passes, tried := known[string(text)]; tried {
				return passes
			}
			passes := t.PassesText(string(text))
			if w.tried.remember(len(text)) {
				known[string(text)] = passes
			}
			return passes
		}
	case query.TextIn:
		if len(test.Values) < manyTexts {
			break
		}
		set := make(map[string]bool, len(test.Values))
		for _, value := range test.Values {
			set[value] = true
		}
		return func(text []byte) bool { return set[string(text)] }
	}
	return func(text []byte) bool { return t.PassesText(string(text)) }
}

// triedTexts are texts on which a worker has tried patterns, and whether they matched.
type triedTexts struct {
	known map[patternList]map[string]bool
	bytes int
}

// patternList identifies the patterns of a term.
type patternList struct {
	first **pattern.Regex
	n     int
}

// mostTried limits the bytes of the texts of a worker.
const mostTried = 4 << 20

// of returns the texts on which the patterns of a term, which has some, were tried.
func (t *triedTexts) of(test query.Matches) map[string]bool {
	if t.known == nil {
		t.known = map[patternList]map[string]bool{}
	}
	list := patternList{&test.Patterns[0], len(test.Patterns)}
	if t.known[list] == nil {
		t.known[list] = map[string]bool{}
	}
	return t.known[list]
}

// remember counts a text of so many bytes. It reports whether there is room for it.
func (t *triedTexts) remember(text int) bool {
	const perText = 48
	if t.bytes+text+perText > mostTried {
		return false
	}
	t.bytes += text + perText
	return true
}

// onEntries converts a test of dictionary entries to a test of values by their index. The result tests each entry that
// occurs only once.
func onEntries(values *parquet.ColumnValues, test func(entry int32) bool) func(i int32) bool {
	const unknown, yes, no = 0, 1, 2
	verdicts := make([]uint8, values.Entries())
	return func(i int32) bool {
		entry := values.Codes[i]
		if entry == parquet.Absent {
			return false
		}
		if verdicts[entry] == unknown {
			verdicts[entry] = no
			if test(entry) {
				verdicts[entry] = yes
			}
		}
		return verdicts[entry] == yes
	}
}
