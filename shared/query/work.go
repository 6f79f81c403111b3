package query

import "slices"

// PatternWork returns the work of all patterns of the query for each byte of a text, as pattern.WorkOf counts it.
func (q Query) PatternWork() (work int64) {
	for _, c := range q.allConditions() {
		for _, t := range c.AllTerms() {
			names, values := t.PatternWork()
			work += names + values
		}
	}
	return work
}

// allConditions returns the conditions of the query and of its selections.
func (q Query) allConditions() []Condition {
	all := q.Conditions
	for _, s := range q.Selections() {
		all = slices.Concat(all, s.Conditions)
	}
	return all
}

// WithPatterns returns the conditions that have patterns, of the query and of its selections.
func (q Query) WithPatterns() []Condition {
	return slices.DeleteFunc(slices.Clone(q.allConditions()), func(c Condition) bool { return !c.HasPatterns() })
}

// HasPatterns reports whether a condition has patterns.
func (c Condition) HasPatterns() bool {
	return slices.ContainsFunc(c.AllTerms(), func(t Term) bool {
		_, matches := t.Test.(Matches)
		return matches || t.Key != nil && t.Key.Pattern != nil
	})
}

// PatternWork returns the work of the patterns of a term for each byte of the names and of the values at its source.
func (t Term) PatternWork() (names, values int64) {
	if t.Key != nil && t.Key.Pattern != nil {
		names = int64(t.Key.Pattern.Work())
	}
	if test, ok := t.Test.(Matches); ok {
		for _, p := range test.Patterns {
			values += int64(p.Work())
		}
	}
	return names, values
}
