package query

import (
	"math"
	"slices"
	"strconv"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/lake"
)

// Group is several conditions on the same values as one, so that an engine prints it once, with the values as
// data. All groups of a query must hold. A group is one of
//
//   - a condition, when Every is empty: it holds when any of the terms holds, or, negated, when none does.
//     The terms of negated conditions and the value sets of positive ones over single values have been merged.
//   - a list of demands, when Every is not: it is not negated, Terms has one term, and for every test in Every
//     some value that the term looks at must pass that test (the term's own Test is nil). All tests are of one
//     type. This is how many positive conditions over a multi-valued field, or many patterns, are one.
type Group struct {
	Field   *catalog.Field
	Negated bool
	Terms   []Term
	Every   []Test
}

// PairIn holds for an element of a name/value field whose name and value are one of the pairs. Only Groups
// makes it, out of conditions with many exact keys. With Fold names compare without regard to ASCII case, and
// those in Pairs are in lower case.
type PairIn struct {
	Pairs []lake.Pair
	Fold  bool
}

func (PairIn) test() {}

// Groups merges conditions that differ only in their values. The groups hold for exactly the records for which
// the conditions hold; their order is that of the first condition of each.
func Groups(conditions []Condition) []Group {
	g := grouper{index: map[string]int{}}
	for _, c := range conditions {
		if c.Negated {
			g.addNegated(c)
		} else {
			g.addPositive(c)
		}
	}
	g.finish()
	return g.groups
}

type grouper struct {
	groups []Group
	index  map[string]int // of each group by what its conditions have in common
}

// addNegated uses that not A and not B is not (A or B): the terms of all negated conditions on a field go into
// one group, and terms that differ only in their values into one term.
func (g *grouper) addNegated(c Condition) {
	i := g.group("not "+c.Field.Name, Group{Field: c.Field, Negated: true})
	g.groups[i].Terms = append(g.groups[i].Terms, pairTerms(c.Terms)...)
}

// addPositive merges conditions of one term that look at the same values with the same kind of test. A condition of
// several terms stays alone, unless it has been said before.
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

// group finds the group that is called so, or begins it.
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
			group.settle()
		}
	}
}

// settle turns what is asked of the same values into one condition where it can be: a single demand always, and
// demands on a single value by intersection.
func (g *Group) settle() {
	t := &g.Terms[0]
	if t.Source.Layout == catalog.Scalar {
		g.Every = intersect(g.Every)
	}
	if len(g.Every) == 1 {
		t.Test, g.Every = g.Every[0], nil
		return
	}
	t.Test = nil
}

// pairTerms replaces tests for texts under an exact key by tests for pairs, so that conditions with different
// keys look alike.
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

// termID tells terms apart that look at different values or test them differently.
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
	case TrueFalse:
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
	}
	panic("query: unknown test")
}

// uniteTerms merges alternatives: the sets of terms that look at the same values are united.
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
		}
	}
	return united
}

// unite makes one test of two of the same type that holds when either does, if there is such a test.
func unite(a, b Test) (Test, bool) {
	switch a := a.(type) {
	case TextIn:
		return TextIn{Values: append(a.Values, b.(TextIn).Values...)}, true
	case IntIn:
		return IntIn{Values: append(a.Values, b.(IntIn).Values...)}, true
	case Matches:
		return Matches{Patterns: append(a.Patterns, b.(Matches).Patterns...)}, true
	case PairIn:
		return PairIn{Fold: a.Fold, Pairs: append(a.Pairs, b.(PairIn).Pairs...)}, true
	}
	return nil, false
}

// clip takes the room behind the set of a test, so that growing it never writes into an array that belongs to
// a condition, which others may be reading.
func clip(test Test) Test {
	switch test := test.(type) {
	case TextIn:
		return TextIn{Values: slices.Clip(test.Values)}
	case IntIn:
		return IntIn{Values: slices.Clip(test.Values)}
	case Matches:
		return Matches{Patterns: slices.Clip(test.Patterns)}
	case PairIn:
		return PairIn{Fold: test.Fold, Pairs: slices.Clip(test.Pairs)}
	}
	return test
}

// intersect merges demands on one and the same value. Sets of texts or integers become their common elements
// (none: nothing passes), ranges their common range; patterns and truths stay as they are.
func intersect(demands []Test) []Test {
	switch demands[0].(type) {
	case TextIn:
		return []Test{TextIn{Values: common(demands, func(t Test) []string { return t.(TextIn).Values })}}
	case IntIn:
		return []Test{IntIn{Values: common(demands, func(t Test) []int64 { return t.(IntIn).Values })}}
	case IntRange:
		low, high := int64(math.MinInt64), int64(math.MaxInt64)
		var r IntRange
		for _, t := range demands {
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
	return demands
}

// common lists the elements of the first set that are in all others.
func common[T comparable](demands []Test, set func(Test) []T) []T {
	in := map[T]int{}
	for _, d := range demands {
		for _, v := range distinct(set(d)) {
			in[v]++
		}
	}
	var all []T
	for _, v := range distinct(set(demands[0])) {
		if in[v] == len(demands) {
			all = append(all, v)
		}
	}
	return all
}
