package query

import (
	"math"
	"slices"
	"strconv"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/lake"
)

// Group combines several conditions on the same values, so that an engine prints them once, with the values as data.
// All groups of a query must hold. A group is one of
//
//   - a condition, when Every is empty: it holds when any of the terms holds, or, negated, when none does.
//     The terms of negated conditions and the value sets of positive ones over single values have been merged.
//   - a list of tests, when Every is not empty: the group is not negated, Terms has one term with Test nil, and
//     for every test in Every some value of the term must pass that test. All tests are of one type. Many positive
//     conditions over a multi-valued field, or many patterns, become such a group.
//   - alternatives, when Any is not empty: it holds when all conditions of any of them hold, or, negated, of none.
type Group struct {
	Field   *catalog.Field
	Negated bool
	Terms   []Term
	Every   []Test
	Any     [][]Condition
}

// PairIn holds for an element of a name/value field if Pairs contains its name and value. Only Groups makes it, from
// conditions with exact keys. With Fold, names compare without regard to ASCII case, and the names in Pairs are in
// lower case.
type PairIn struct {
	Pairs []lake.Pair
	Fold  bool
}

func (PairIn) test() {}

// Groups merges conditions that differ only in their values. The groups hold for exactly the records for which the
// conditions hold. They are in the order of the first condition of each.
func Groups(conditions []Condition) []Group {
	g := grouper{index: map[string]int{}}
	for _, c := range conditions {
		switch {
		case c.Any != nil:
			g.groups = append(g.groups, Group{Negated: c.Negated, Any: c.Any})
		case c.Negated:
			g.addNegated(c)
		default:
			g.addPositive(c)
		}
	}
	g.finish()
	return g.groups
}

// grouper collects the groups of a query.
type grouper struct {
	groups []Group
	index  map[string]int // of each group, by a text that its conditions have in common
}

// addNegated merges negated conditions: "not A and not B" equals "not (A or B)". The terms of all negated conditions
// on a field go into one group, and terms that differ only in their values become one term.
func (g *grouper) addNegated(c Condition) {
	i := g.group("not "+c.Field.Name, Group{Field: c.Field, Negated: true})
	g.groups[i].Terms = append(g.groups[i].Terms, pairTerms(c.Terms)...)
}

// addPositive merges conditions of one term that apply the same type of test to the same values. A condition of several
// terms stays a group of its own; Bind has removed repeated ones.
func (g *grouper) addPositive(c Condition) {
	terms := pairTerms(c.Terms)
	if len(terms) != 1 {
		g.groups = append(g.groups, Group{Field: c.Field, Terms: terms})
		return
	}
	t := terms[0]
	i := g.group("is "+termID(t), Group{Field: c.Field, Terms: []Term{t}})
	g.groups[i].Every = append(g.groups[i].Every, t.Test)
}

// group returns the index of the group with a name. It adds the group if there is none.
func (g *grouper) group(name string, empty Group) int {
	i, ok := g.index[name]
	if !ok {
		i = len(g.groups)
		g.index[name] = i
		g.groups = append(g.groups, empty)
	}
	return i
}

func (g *grouper) finish() {
	for i := range g.groups {
		switch group := &g.groups[i]; {
		case group.Negated:
			group.Terms = uniteTerms(group.Terms)
		case group.Every != nil:
			group.simplify()
		}
	}
}

// simplify turns the tests of a group into one condition where it can: a single test always, and several tests of a
// single value by intersection.
func (g *Group) simplify() {
	t := &g.Terms[0]
	if t.Source.Layout == catalog.Scalar || t.Source.Layout == catalog.Place {
		g.Every = intersect(g.Every)
	}
	if len(g.Every) == 1 {
		t.Test, g.Every = g.Every[0], nil
		return
	}
	t.Test = nil
}

// pairTerms replaces tests for texts under an exact key by tests for pairs, so that conditions with different keys can
// be merged.
func pairTerms(terms []Term) []Term {
	paired := slices.Clone(terms)
	for i, t := range paired {
		texts, ok := t.Test.(TextIn)
		if !ok || t.Source.Layout != catalog.Pairs || t.Key == nil || t.Key.Pattern != nil {
			continue
		}
		test := PairIn{Fold: t.Fold}
		for _, text := range texts.Values {
			test.Pairs = append(test.Pairs, lake.Pair{Name: t.Key.Name, Value: text})
		}
		paired[i].Key, paired[i].Test = nil, test
	}
	return paired
}

// termID returns a text that is equal for terms that apply the same type of test to the same values.
func termID(t Term) string {
	id := t.Source.Column + "." + t.Source.Member + "?" + strconv.Itoa(testKind(t.Test))
	switch {
	case t.Key == nil:
	case t.Key.Pattern != nil:
		id += "~" + t.Key.Pattern.Canonical
	default:
		id += "=" + t.Key.Name
	}
	return id
}

func testKind(test Test) int {
	switch test.(type) {
	case BoolIs:
		return 1
	case TextIn:
		return 2
	case IntIn:
		return 3
	case IntRange:
		return 4
	case NumberRange:
		return 5
	case Matches:
		return 6
	case PairIn:
		return 7
	case RefIn:
		return 8
	case NetworkIn:
		return 9
	case InList:
		return 10
	}
	panic("query: unknown test")
}

// uniteTerms merges alternative terms: terms that test the same values become one term with the union of their sets.
func uniteTerms(terms []Term) []Term {
	var united []Term
	index := map[string]int{}
	for _, t := range terms {
		id := termID(t)
		i, ok := index[id]
		if !ok {
			index[id] = len(united)
			t.Test = clip(t.Test)
			united = append(united, t)
		} else if union, ok := unite(united[i].Test, t.Test); ok {
			united[i].Test = union
		} else {
			united = append(united, t)
		}
	}
	for i, t := range united {
		switch test := t.Test.(type) {
		case TextIn:
			united[i].Test = TextIn{Values: distinct(test.Values)}
		case IntIn:
			united[i].Test = IntIn{Values: distinct(test.Values)}
		case RefIn:
			united[i].Test = RefIn{Refs: distinct(test.Refs)}
		case NetworkIn:
			united[i].Test = networkIn(test.Networks)
		}
	}
	return united
}

// unite returns a test that holds when a or b holds; both are of the same type. ok is false if there is no such test.
func unite(a, b Test) (union Test, ok bool) {
	switch a := a.(type) {
	case TextIn:
		return TextIn{Values: append(a.Values, b.(TextIn).Values...)}, true
	case IntIn:
		return IntIn{Values: append(a.Values, b.(IntIn).Values...)}, true
	case Matches:
		return Matches{Patterns: append(a.Patterns, b.(Matches).Patterns...)}, true
	case RefIn:
		return RefIn{Refs: append(a.Refs, b.(RefIn).Refs...)}, true
	case NetworkIn:
		return NetworkIn{Networks: append(a.Networks, b.(NetworkIn).Networks...)}, true
	case PairIn:
		return PairIn{Fold: a.Fold, Pairs: append(a.Pairs, b.(PairIn).Pairs...)}, true
	}
	return nil, false
}

// clip removes the spare capacity of the set of a test, so that appending to it never writes into the array of a
// condition, which other goroutines may be reading.
func clip(test Test) Test {
	switch test := test.(type) {
	case TextIn:
		return TextIn{Values: slices.Clip(test.Values)}
	case IntIn:
		return IntIn{Values: slices.Clip(test.Values)}
	case Matches:
		return Matches{Patterns: slices.Clip(test.Patterns)}
	case RefIn:
		return RefIn{Refs: slices.Clip(test.Refs)}
	case NetworkIn:
		return NetworkIn{Networks: slices.Clip(test.Networks)}
	case PairIn:
		return PairIn{Fold: test.Fold, Pairs: slices.Clip(test.Pairs)}
	}
	return test
}

// intersect merges tests that one single value must pass. Sets become their intersection (if it is
// empty, nothing passes), ranges their common range. Patterns and booleans stay as they are.
func intersect(tests []Test) []Test {
	switch tests[0].(type) {
	case TextIn:
		return []Test{TextIn{Values: common(tests, func(t Test) []string { return t.(TextIn).Values })}}
	case IntIn:
		return []Test{IntIn{Values: common(tests, func(t Test) []int64 { return t.(IntIn).Values })}}
	case RefIn:
		return []Test{RefIn{Refs: common(tests, func(t Test) []lake.Ref { return t.(RefIn).Refs })}}
	case NetworkIn:
		all := tests[0].(NetworkIn)
		for _, t := range tests[1:] {
			all = all.intersection(t.(NetworkIn))
		}
		return []Test{all}
	case IntRange:
		low, high := int64(math.MinInt64), int64(math.MaxInt64)
		var r IntRange
		for _, t := range tests {
			if t := t.(IntRange); t.Min != nil && (r.Min == nil || *t.Min > low) {
				low = *t.Min
				r.Min = &low
			}
			if t := t.(IntRange); t.Max != nil && (r.Max == nil || *t.Max < high) {
				high = *t.Max
				r.Max = &high
			}
		}
		return []Test{r}
	}
	return tests
}

// common lists the elements of the first set that are in all the other sets.
func common[T comparable](tests []Test, set func(Test) []T) []T {
	in := map[T]int{}
	for _, test := range tests {
		for _, v := range distinct(set(test)) {
			in[v]++
		}
	}
	var all []T
	for _, v := range distinct(set(tests[0])) {
		if in[v] == len(tests) {
			all = append(all, v)
		}
	}
	return all
}
