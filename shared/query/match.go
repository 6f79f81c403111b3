package query

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/lake"
)

// Match reports whether a stored record belongs to the answer of q. It is the oracle that every engine is
// compared with, so it is written to be obviously right, not fast, and shares nothing with the SQL.
func Match(q *Query, r *lake.Row) bool {
	if r.TsMs < q.Scope.FromMs || r.TsMs > q.Scope.ToMs {
		return false
	}
	for _, c := range q.Conditions {
		if !holds(c, r) {
			return false
		}
	}
	return true
}

// holds gives the two-valued verdict of a condition: any term, or negated, none.
func holds(c Condition, r *lake.Row) bool {
	any := slices.ContainsFunc(c.Terms, func(t Term) bool { return termHolds(t, r) })
	return any != c.Negated
}

// termHolds reports whether any value at the term's source passes its test. What is absent has no values.
func termHolds(t Term, r *lake.Row) bool {
	for _, v := range valuesAt(r, t.Source) {
		if named(t, v.name) && passes(t.Test, v) {
			return true
		}
	}
	return false
}

func named(t Term, name string) bool {
	if t.Key == nil {
		return true
	}
	if t.Fold && t.Key.Pattern == nil {
		name = lowerASCII(name)
	}
	return t.Key.Names(name)
}

// Chooses reports whether the term looks at values of that name in a name/value field.
func (t Term) Chooses(name string) bool { return named(t, name) }

// PassesText reports whether a text at the term's source passes its test; this and the following are for engines
// that decide about a value once, however many records have it.
func (t Term) PassesText(text string) bool {
	return passes(t.Test, value{kind: t.Source.Type, text: text})
}

// PassesInt is PassesText for integers, durations and times.
func (t Term) PassesInt(n int64) bool { return passes(t.Test, value{kind: t.Source.Type, int: n}) }

// PassesBool is PassesText for truths.
func (t Term) PassesBool(truth bool) bool {
	return passes(t.Test, value{kind: t.Source.Type, truth: truth})
}

// passes reports whether one value passes a test.
func passes(test Test, v value) bool {
	switch test := test.(type) {
	case TrueFalse:
		return v.kind == catalog.Bool && v.truth == test.Want
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
		return slices.ContainsFunc(test.Patterns, func(p *Regex) bool { return p.Compiled.MatchString(v.text) })
	case PairIn:
		return slices.Contains(test.Pairs, lake.Pair{Name: v.name, Value: v.text}) ||
			slices.Contains(test.Pairs, lake.Pair{Name: lowerASCII(v.name), Value: v.text}) && test.Fold
	}
	panic(fmt.Sprintf("query: no verdict for %T", test))
}

func numberPasses(test NumberRange, text string) bool {
	if !catalog.NumericText.MatchString(text) {
		return false
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(fmt.Sprintf("query: numeric text %q is no number: %v", text, err))
	}
	switch {
	case test.Min != nil && (n < *test.Min || test.MinOpen && n == *test.Min):
		return false
	case test.Max != nil && (n > *test.Max || test.MaxOpen && n == *test.Max):
		return false
	}
	return true
}
