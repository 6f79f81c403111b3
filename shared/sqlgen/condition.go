package sqlgen

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/pattern"
	"github.com/orrery/orrery/shared/query"
)

// conditions returns the query's conditions, which the caller joins to the bounds of the source with AND. Conditions
// that differ only in their values become one, so that thousands of conditions are a few expressions over many values.
//
// A condition has two truth values, but SQL has three. A positive condition is written as it is: if it is NULL, the
// record is dropped, as if it were false, and engines push only plain comparisons down to row groups, pages and bloom
// filters. A negated condition names the absent value.
func (p *printer) conditions() []block {
	parts, all := p.holding(p.query.Conditions)
	for _, s := range p.query.Selections() {
		_, selection := p.holding(s.Conditions)
		all.expressions += selection.expressions
		all.negated += selection.negated
	}
	if most := p.dialect.maxExpressions(all.expressions, all.negated); all.expressions > most {
		p.fail(&LimitError{What: "expressions that cannot be merged", Got: all.expressions, Limit: most})
	}
	out := make([]block, len(parts))
	for i, part := range parts {
		out[i] = lines(part)
	}
	return out
}

// load is the number of expressions that an engine has to compile, and how many of them are negated.
type load struct{ expressions, negated int }

// holding returns expressions. If all conditions hold, all expressions are true; otherwise one is false or NULL.
func (p *printer) holding(conditions []query.Condition) (out []fragment, all load) {
	for _, g := range query.Groups(conditions) {
		switch {
		case len(g.Any) > 0:
			any, its := p.anyOf(g.Any)
			if all.expressions += its.expressions; g.Negated {
				any, its.negated = "NOT coalesce("+any+", false)", its.expressions
			}
			all.negated += its.negated
			out = append(out, any)
		case len(g.Every) > 0:
			demands := p.demands(g.Terms[0], g.Every)
			all.expressions += len(demands)
			out = append(out, demands...)
		case g.Negated:
			all.negated += len(g.Terms)
			all.expressions += len(g.Terms)
			out = append(out, both(p.each(g.Terms, p.fails)))
		default:
			all.expressions += len(g.Terms)
			out = append(out, either(p.each(g.Terms, p.holds)))
		}
	}
	return out, all
}

// anyOf returns an expression that is true if all conditions of one of the alternatives hold, otherwise false or NULL.
func (p *printer) anyOf(alternatives [][]query.Condition) (any fragment, all load) {
	parts := make([]fragment, len(alternatives))
	for i, conditions := range alternatives {
		holding, its := p.holding(conditions)
		parts[i] = both(holding)
		all.expressions, all.negated = all.expressions+its.expressions, all.negated+its.negated
	}
	return either(parts), all
}

func (p *printer) each(terms []query.Term, print func(query.Term) fragment) []fragment {
	parts := make([]fragment, len(terms))
	for i, t := range terms {
		parts[i] = print(t)
	}
	return parts
}

// demands returns the conditions for tests that must all be passed, each by some value at the term's source.
func (p *printer) demands(t query.Term, tests []query.Test) []fragment {
	if all, ok := p.dialect.demands(p, t, tests); ok {
		return []fragment{all}
	}
	var out []fragment
	for _, test := range tests {
		t.Test = test
		out = append(out, p.holds(t))
	}
	return out
}

// element is the name of a list's element in the test of the element.
const element fragment = "x"

// holds is true if a value at the term's source passes the term's test, otherwise false or NULL.
func (p *printer) holds(t query.Term) fragment {
	column := name(t.Source.Column)
	switch t.Source.Layout {
	case catalog.Scalar:
		return p.test(scalar(t.Source, t.Test), t.Test)
	case catalog.List:
		return p.listHolds(column, t.Test)
	case catalog.Pairs:
		return p.pairsHold(column, t)
	case catalog.Structs:
		return p.dialect.anyElement(column, p.test(element+"."+name(t.Source.Member), t.Test))
	case catalog.Place:
		return p.refIn(t.Test.(query.RefIn))
	}
	panic(fmt.Sprintf("sqlgen: no rendering for layout %d", t.Source.Layout))
}

// fails is true if no value at the source passes the test, and is never NULL. A plain comparison becomes its opposite
// or an absent value, which engines can still use for pruning.
func (p *printer) fails(t query.Term) fragment {
	if t.Source.Layout == catalog.Scalar {
		value := scalar(t.Source, t.Test)
		if opposite, ok := p.opposite(value, t.Test); ok {
			return "(" + value + " IS NULL OR " + opposite + ")"
		}
	}
	return "NOT coalesce(" + p.holds(t) + ", false)"
}

// scalar returns the value of a scalar source in the type that the test needs: for numeric tests a boolean is 1 or 0.
func scalar(s catalog.Source, test query.Test) fragment {
	if _, boolean := test.(query.BoolIs); s.Type == catalog.Bool && !boolean {
		return "CAST(" + value(s) + " AS integer)"
	}
	return value(s)
}

// value returns the value of a scalar source.
func value(s catalog.Source) fragment {
	if s.Member == "" {
		return name(s.Column)
	}
	return name(s.Column) + "." + name(s.Member)
}

// test is true if the value passes the test.
func (p *printer) test(value fragment, test query.Test) fragment {
	switch t := test.(type) {
	case query.BoolIs:
		if t.Want {
			return value
		}
		return "NOT " + value
	case query.TextIn:
		return oneOf(value, p.texts(t.Values))
	case query.IntIn:
		return oneOf(value, integers(t.Values))
	case query.IntRange:
		return intRange(value, t)
	case query.NumberRange:
		return p.numberRange(value, t)
	case query.Matches:
		return p.matches(value, t.Patterns)
	case query.NetworkIn:
		return p.inNetworks(value, t)
	case query.InList:
		return p.dialect.inList(p, value, t)
	case query.PairIn:
		return p.pairIn(t)
	}
	panic(fmt.Sprintf("sqlgen: no rendering for test %T", test))
}

// opposite returns the complement of a plain comparison for values that are present. ok is false for other tests.
func (p *printer) opposite(value fragment, test query.Test) (complement fragment, ok bool) {
	switch t := test.(type) {
	case query.BoolIs:
		return p.test(value, query.BoolIs{Want: !t.Want}), true
	case query.TextIn:
		return noneOf(value, p.texts(t.Values)), true
	case query.IntIn:
		return noneOf(value, integers(t.Values)), true
	case query.IntRange:
		return outside(value, t), true
	}
	return "", false
}

// refIn is true for the records of the references. The comparison of the time comes first: engines prune by it, and
// compute the mark only of the records of that time. See lake.Ref for the mark.
func (p *printer) refIn(t query.RefIn) fragment {
	times := make([]int64, len(t.Refs))
	for i, ref := range t.Refs {
		times[i] = ref.TsMs
	}
	slices.Sort(times)
	digest := p.dialect.sha256("source || " + p.text(lake.RefSeparator) + " || CAST(line AS varchar)")
	mark := "substr(" + digest + ", 1, " + integer(lake.RefMarkHex) + ")"
	at := oneOf("ts_ms", integers(slices.Compact(times)))
	switch len(t.Refs) {
	case 0:
		return "false"
	case 1:
		return both([]fragment{at, mark + " = " + p.text(t.Refs[0].MarkHex())})
	}
	pairs := make([]fragment, len(t.Refs))
	for i, ref := range t.Refs {
		pairs[i] = "(" + integer(ref.TsMs) + ", " + p.text(ref.MarkHex()) + ")"
	}
	return both([]fragment{at, "(ts_ms, " + mark + ") IN (" + join(pairs, ", ") + ")"})
}

func oneOf(value fragment, values []fragment) fragment {
	switch len(values) {
	case 0:
		return "false"
	case 1:
		return value + " = " + values[0]
	}
	return value + " IN (" + join(values, ", ") + ")"
}

func noneOf(value fragment, values []fragment) fragment {
	switch len(values) {
	case 0:
		return "true"
	case 1:
		return value + " <> " + values[0]
	}
	return value + " NOT IN (" + join(values, ", ") + ")"
}

func intRange(value fragment, r query.IntRange) fragment {
	switch {
	case r.Min != nil && r.Max != nil:
		return value + " BETWEEN " + integer(*r.Min) + " AND " + integer(*r.Max)
	case r.Min != nil:
		return value + " >= " + integer(*r.Min)
	case r.Max != nil:
		return value + " <= " + integer(*r.Max)
	}
	return value + " IS NOT NULL"
}

func outside(value fragment, r query.IntRange) fragment {
	switch {
	case r.Min != nil && r.Max != nil:
		return value + " NOT BETWEEN " + integer(*r.Min) + " AND " + integer(*r.Max)
	case r.Min != nil:
		return value + " < " + integer(*r.Min)
	case r.Max != nil:
		return value + " > " + integer(*r.Max)
	}
	return "false"
}

// numberRange is true if the text is a number in the range. TRY_CAST alone would also accept texts that only one engine
// reads as numbers (' 1', 'NaN', '0x1p3'), so the text must match a pattern, too. The order of evaluation does not
// matter.
func (p *printer) numberRange(value fragment, r query.NumberRange) fragment {
	parts := []fragment{p.dialect.numeric(p, value)}
	number := "TRY_CAST(" + value + " AS double)"
	if r.Min != nil {
		parts = append(parts, number+compare(" > ", " >= ", r.MinOpen)+p.number(*r.Min))
	}
	if r.Max != nil {
		parts = append(parts, number+compare(" < ", " <= ", r.MaxOpen)+p.number(*r.Max))
	}
	return both(parts)
}

func compare(open, closed fragment, isOpen bool) fragment {
	if isOpen {
		return open
	}
	return closed
}

// matches is true if any of the patterns is found in the text.
func (p *printer) matches(value fragment, patterns []*pattern.Regex) fragment {
	if len(patterns) == 0 {
		return "false"
	}
	return p.dialect.foundAny(p, value, p.patterns(patterns))
}

func (p *printer) patterns(list []*pattern.Regex) []string {
	texts := make([]string, len(list))
	for i, r := range list {
		texts[i] = p.pattern(r)
	}
	return texts
}

// pattern returns a pattern in the engine's syntax of regular expressions and keeps the warning.
func (p *printer) pattern(r *pattern.Regex) string {
	text, warning := p.dialect.pattern(r)
	if warning != "" {
		p.warn(warning)
	}
	return text
}

// listHolds is true if an element of a plain list passes the test.
func (p *printer) listHolds(column fragment, test query.Test) fragment {
	var values []fragment
	switch t := test.(type) {
	case query.TextIn:
		values = p.texts(t.Values)
	case query.IntIn:
		values = integers(t.Values)
	default:
		return p.dialect.anyElement(column, p.test(element, test))
	}
	if len(values) == 0 {
		return "false"
	}
	return p.dialect.overlaps(column, values)
}

// pairsHold is true if a value of a name/value list passes the test. If the term has a key, only the names that the
// key selects count.
func (p *printer) pairsHold(column fragment, t query.Term) fragment {
	value := p.test(element+".value", t.Test)
	if t.Key == nil {
		return p.dialect.anyElement(column, value)
	}
	return p.dialect.anyElement(column, p.keyed(t)+" AND "+value)
}

// keyed is true for elements whose name the key selects. A pattern contains its own case folding.
func (p *printer) keyed(t query.Term) fragment {
	if t.Key.Pattern != nil {
		return p.matches(element+".name", []*pattern.Regex{t.Key.Pattern})
	}
	return p.named(t.Key.Name, t.Fold)
}

// named is true for elements of that name. Names of headers compare without regard to ASCII case, but neither engine
// has a fast function for that: lower also converts the Kelvin sign to k, and translate takes eight times as long on
// DuckDB. However, if lower returns ASCII text of the same length in bytes, its argument was ASCII, too.
func (p *printer) named(key string, fold bool) fragment {
	switch {
	case !fold:
		return element + ".name = " + p.text(key)
	case !isASCII(key):
		return foldedName + " = " + p.text(key)
	}
	sameName := "lower(" + element + ".name) = " + p.text(key)
	sameLength := p.dialect.bytes(element+".name") + " = " + integer(int64(len(key)))
	return sameName + " AND " + sameLength
}

// foldedName is an element's name with A to Z in lower case and all other characters unchanged.
const foldedName = "translate(" + element + ".name, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')"

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}

// pairIn is true for elements that are one of the pairs. If all pairs have the same name, only the values are listed.
func (p *printer) pairIn(t query.PairIn) fragment {
	var values []string
	ascii := true
	for _, pair := range t.Pairs {
		if pair.Name == t.Pairs[0].Name {
			values = append(values, pair.Value)
		}
		ascii = ascii && isASCII(pair.Name)
	}
	switch len(t.Pairs) {
	case 0:
		return "false"
	case len(values):
		return p.named(t.Pairs[0].Name, t.Fold) + " AND " + oneOf(element+".value", p.texts(values))
	}
	pairName, sameLength := element+".name", fragment("")
	switch {
	case t.Fold && ascii:
		pairName = "lower(" + element + ".name)"
		sameLength = " AND " + p.dialect.bytes(element+".name") + " = " + p.dialect.bytes(pairName)
	case t.Fold:
		pairName = foldedName
	}
	pairs := make([]fragment, len(t.Pairs))
	for i, pair := range t.Pairs {
		pairs[i] = "(" + p.text(pair.Name) + ", " + p.text(pair.Value) + ")"
	}
	return "(" + pairName + ", " + element + ".value) IN (" + join(pairs, ", ") + ")" + sameLength
}
