package query

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/pattern"
)

// Match reports whether a stored record matches q. Tests compare every engine with it, so it is written to be obviously
// right, not fast, and shares no code with the SQL.
func Match(q *Query, r *lake.Row) bool {
	if r.TsMs < q.Scope.FromMs || r.TsMs > q.Scope.ToMs {
		return false
	}
	if d, ok := q.Shape.(Diff); ok && d.Against.Kind != AgainstNothing {
		if !q.Period.contains(r.TsMs) && !d.Baseline.contains(r.TsMs) {
			return false
		}
	}
	return allHold(q.Conditions, r)
}

func allHold(conditions []Condition, r *lake.Row) bool {
	return !slices.ContainsFunc(conditions, func(c Condition) bool { return !holds(c, r) })
}

// Selected reports whether a matching record is one of the selected ones.
func (s Diff) Selected(r *lake.Row) bool { return s.Select.Holds(r) }

func (p Period) contains(ms int64) bool { return p.FromMs <= ms && ms <= p.ToMs }

// holds reports whether a condition holds: any of its terms or alternatives does or, if it is negated, none does.
func holds(c Condition, r *lake.Row) bool {
	any := slices.ContainsFunc(c.Terms, func(t Term) bool { return termHolds(t, r) }) ||
		slices.ContainsFunc(c.Any, func(all []Condition) bool { return allHold(all, r) })
	return any != c.Negated
}

// termHolds reports whether any value at the term's source passes its test. An absent field has no values.
func termHolds(t Term, r *lake.Row) bool {
	for _, v := range valuesAt(r, t.Source) {
		if t.MatchesName(v.name) && passes(t.Test, v) {
			return true
		}
	}
	return false
}

// MatchesName reports whether the term tests values with this name in a name/value field.
func (t Term) MatchesName(name string) bool {
	if t.Key == nil {
		return true
	}
	if t.Fold && t.Key.Pattern == nil {
		name = lowerASCII(name)
	}
	return t.Key.Matches(name)
}

// PassesText reports whether a text at the term's source passes its test. PassesText, PassesInt and PassesBool are for
// engines that test each distinct value once, however many records have it.
func (t Term) PassesText(text string) bool {
	return passes(t.Test, value{kind: t.Source.Type, text: text})
}

// PassesInt is like PassesText, for integers, durations and times.
func (t Term) PassesInt(n int64) bool { return passes(t.Test, value{kind: t.Source.Type, int: n}) }

// PassesBool is like PassesText, for booleans.
func (t Term) PassesBool(boolean bool) bool {
	return passes(t.Test, value{kind: t.Source.Type, boolean: boolean})
}

// passes reports whether one value passes a test.
func passes(test Test, v value) bool {
	switch test := test.(type) {
	case BoolIs:
		return v.kind == catalog.Bool && v.boolean == test.Want
	case TextIn:
		return slices.Contains(test.Values, v.text)
	case IntIn:
		return slices.Contains(test.Values, v.integer())
	case IntRange:
		n := v.integer()
		return (test.Min == nil || n >= *test.Min) && (test.Max == nil || n <= *test.Max)
	case NumberRange:
		return numberPasses(test, v.text)
	case Matches:
		return slices.ContainsFunc(test.Patterns, func(p *pattern.Regex) bool { return p.MatchString(v.text) })
	case NetworkIn:
		return test.contains(v.text)
	case InList:
		if v.kind == catalog.Int {
			return test.set.integers[v.int]
		}
		return test.passesText(v.text)
	case RefIn:
		return slices.Contains(test.Refs, v.ref)
	case PairIn:
		return slices.Contains(test.Pairs, lake.Pair{Name: v.name, Value: v.text}) ||
			slices.Contains(test.Pairs, lake.Pair{Name: lowerASCII(v.name), Value: v.text}) && test.Fold
	}
	panic(fmt.Sprintf("query: unknown test %T", test))
}

func numberPasses(test NumberRange, text string) bool {
	if !catalog.NumericText.MatchString(text) {
		return false
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(fmt.Sprintf("query: numeric text %q is not a number: %v", text, err))
	}
	switch {
	case test.Min != nil && (n < *test.Min || test.MinOpen && n == *test.Min):
		return false
	case test.Max != nil && (n > *test.Max || test.MaxOpen && n == *test.Max):
		return false
	}
	return true
}
