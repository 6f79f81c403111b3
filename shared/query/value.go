package query

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/pattern"
)

// boundValues holds the bound values of a condition and their canonical form.
type boundValues struct {
	op        filter.Op
	list      bool
	terms     []Term
	canonical []filter.Value
}

// bindValues converts the values of a condition to their types. It makes one term for every source that has the
// operator and accepts the values.
func (b *binder) bindValues(
	field *catalog.Field, sources []catalog.Source, op filter.Op, c *filter.Condition,
) (boundValues, bool) {
	if !b.checkCount(op, c) || !b.checkTexts(c.Values) {
		return boundValues{}, false
	}
	if c.Values[0].Kind == filter.ListName {
		return b.bindList(field, sources, c)
	}
	if lacks := func(s catalog.Source) bool { return !takes(s, op) }; slices.ContainsFunc(sources, lacks) {
		sources = slices.DeleteFunc(slices.Clone(sources), lacks)
	}
	if op == filter.Regex {
		return b.bindPatterns(field, sources, c.Values)
	}
	return b.bindTyped(field, sources, op, c.Values)
}

// checkCount reports too few or too many values for the operator.
func (b *binder) checkCount(op filter.Op, c *filter.Condition) bool {
	n := len(c.Values)
	switch {
	case op == filter.Between && n != 2, n == 0:
		b.fail(valueCount(op, c))
		return false
	case op == filter.In, op == filter.Regex, op == filter.Between:
		return true
	case n > 1:
		b.fail(valueCount(op, c))
		return false
	}
	return true
}

// checkTexts reports values that no engine accepts.
func (b *binder) checkTexts(values []filter.Value) bool {
	ok := true
	for i, v := range values {
		ok = b.checkText(v.Text, v.Span, valueMember(i, len(values))) && ok
	}
	return ok
}

// checkText reports a text with a NUL or invalid UTF-8.
func (b *binder) checkText(text string, span filter.Span, member string) bool {
	for i := range len(text) {
		if text[i] == 0 {
			if !b.hasReportedNUL(span) {
				b.fail(nulInText(span, member))
			}
			return false
		}
	}
	if !utf8.ValidString(text) {
		b.fail(notUTF8(span, member))
		return false
	}
	return true
}

// hasReportedNUL reports whether the parser has already reported a NUL in the span.
func (b *binder) hasReportedNUL(span filter.Span) bool {
	return slices.ContainsFunc(b.filter.Problems, func(e filter.Error) bool {
		return e.Code == codeNul && e.Span.Offset >= span.Offset && e.Span.End() <= span.End()
	})
}

// checkValues reports mistakes in values that do not depend on the field.
func (b *binder) checkValues(c *filter.Condition) {
	if !b.checkTexts(c.Values) || c.Op != filter.Regex {
		return
	}
	for i, v := range c.Values {
		if v.Kind == filter.Text {
			b.parsePattern(v, false, valueMember(i, len(c.Values)))
		}
	}
}

// bindPatterns binds the patterns of a regex condition. Patterns that match only whole texts become these texts.
func (b *binder) bindPatterns(
	field *catalog.Field, sources []catalog.Source, values []filter.Value,
) (boundValues, bool) {
	bound := boundValues{op: filter.Regex}
	var patterns []*pattern.Regex
	var exact []string
	written := map[string]bool{}
	ok := true
	for i, v := range values {
		if v.Kind != filter.Text {
			b.fail(notText(field, v, valueMember(i, len(values))))
			ok = false
			continue
		}
		if written[v.Text] {
			continue
		}
		written[v.Text] = true
		pattern, texts, parsed := b.parsePattern(v, false, valueMember(i, len(values)))
		if !parsed {
			ok = false
			continue
		}
		if texts != nil {
			exact = append(exact, texts...)
		} else {
			patterns = append(patterns, pattern)
		}
		bound.canonical = append(bound.canonical, textValue(v.Text))
	}
	bound.list = len(values) > 1 && len(bound.canonical) != 1
	for _, s := range sources {
		if len(exact) > 0 {
			bound.terms = append(bound.terms, Term{Source: s, Test: TextIn{Values: distinct(exact)}})
		}
		if len(patterns) > 0 {
			bound.terms = append(bound.terms, Term{Source: s, Test: Matches{Patterns: patterns}})
		}
	}
	return bound, ok
}

// operand is a value of a condition, and the number that it is, if it is one.
type operand struct {
	filter.Value
	member  string // JSON member of the condition that has the value, for the error's pointer
	number  decimal
	numeric bool // the value is a number
}

// literal reports whether the value is a number without leading zeros, as in JSON. Leading zeros are allowed only for
// sources of type catalog.Any, where any text that catalog.NumericText matches is a number.
func (v operand) literal() bool { return v.numeric && withoutZeros(v.Text) == v.Text }

func (v operand) boolean() bool {
	return v.Kind != filter.Number && (v.isTrue() || strings.EqualFold(v.Text, "false"))
}

// isTrue reports whether the value is true. The case of a boolean does not matter.
func (v operand) isTrue() bool { return strings.EqualFold(v.Text, "true") }

// bindTyped binds the values of every operator except regex. Where members differ in type, a value is wrong only if no
// member accepts it.
func (b *binder) bindTyped(
	field *catalog.Field, sources []catalog.Source, op filter.Op, written []filter.Value,
) (boundValues, bool) {
	values := readValues(op, written)
	mixed := slices.ContainsFunc(sources, func(s catalog.Source) bool { return s.Type != sources[0].Type })
	if op == filter.Eq && allBoolean(sources, values) {
		op = filter.Is
	}
	var terms []Term
	first := make([]*filter.Error, len(values)) // the error of each value at the first member
	accepted := make([]bool, len(values))
	for i, s := range sources {
		t := typedTest{field: field, source: s, op: op, values: values, mixed: mixed}
		test := t.build()
		if test != nil {
			terms = append(terms, Term{Source: s, Test: test})
		}
		if len(t.networks) > 0 {
			terms = append(terms, Term{Source: s, Test: networkIn(t.networks)})
		}
		for j, refusal := range t.refusals {
			if i == 0 {
				first[j] = refusal
			}
			accepted[j] = accepted[j] || refusal == nil
		}
	}
	ok := true
	for j, v := range values {
		switch {
		case accepted[j]:
			continue
		case len(sources) > 1:
			b.fail(noMemberTakes(field, sources, v))
		default:
			b.fail(*first[j])
		}
		ok = false
	}
	if !ok {
		return boundValues{}, false
	}
	canonical := canonicalValues(sources, op, values)
	return boundValues{op: op, list: op == filter.In, terms: terms, canonical: canonical}, true
}

// readValues parses numbers and orders the bounds of between.
func readValues(op filter.Op, written []filter.Value) []operand {
	values := make([]operand, len(written))
	for i, v := range written {
		values[i] = operand{Value: v, member: valueMember(i, len(written))}
		if v.Kind != filter.Bool {
			values[i].number, values[i].numeric = parseDecimal(v.Text)
		}
	}
	if op == filter.Between && values[0].numeric && values[1].numeric {
		if values[0].number.compare(values[1].number) > 0 {
			values[0], values[1] = values[1], values[0]
		}
	}
	return values
}

// withoutZeros drops the leading zeros of a number, except the last digit before the decimal point.
func withoutZeros(text string) string {
	rest, negative := strings.CutPrefix(text, "-")
	for len(rest) > 1 && rest[0] == '0' && '0' <= rest[1] && rest[1] <= '9' {
		rest = rest[1:]
	}
	if negative {
		return "-" + rest
	}
	return rest
}

func allBoolean(sources []catalog.Source, values []operand) bool {
	return !slices.ContainsFunc(sources, func(s catalog.Source) bool { return s.Type != catalog.Bool }) &&
		!slices.ContainsFunc(values, func(v operand) bool { return !v.boolean() })
}

// typedTest builds the test of one source from the values of a condition.
type typedTest struct {
	field    *catalog.Field
	source   catalog.Source
	op       filter.Op
	values   []operand
	mixed    bool            // the members of the field differ in type
	networks []netip.Prefix  // the values that are networks, which the test leaves out
	refusals []*filter.Error // for every value, why the source refuses it; nil if it accepts it
}

// build returns the test, or nil when the source accepts none of the values. It sets networks and refusals.
func (t *typedTest) build() Test {
	t.refusals = make([]*filter.Error, len(t.values))
	kind, op, first := t.source.Type, t.op, t.values[0]
	switch {
	case kind == catalog.Time:
		return t.timeTest()
	case kind == catalog.Reference:
		return t.refTest()
	case kind == catalog.Bool && (op == filter.Is || op == filter.Eq && (t.source.Name == "" || first.boolean())):
		if !first.boolean() {
			t.refusals[0] = notBoolean(t.field, first)
			return nil
		}
		return BoolIs{Want: first.isTrue()}
	case kind == catalog.String, kind == catalog.Any && (op == filter.Eq || op == filter.In):
		return t.textTest()
	case kind == catalog.Any:
		return t.numberTest()
	case op == filter.Eq, op == filter.In:
		return t.integerTest()
	}
	return t.rangeTest()
}

// refusesAny reports whether the source refuses any of the values.
func (t *typedTest) refusesAny() bool {
	return slices.ContainsFunc(t.refusals, func(e *filter.Error) bool { return e != nil })
}

// textTest returns a test for texts. A JSON number or boolean is not a text, except where members of other types accept
// it: there its literal is the text. A network of a single address is the text of that address.
func (t *typedTest) textTest() Test {
	var texts []string
	for i, v := range t.values {
		if v.Kind != filter.Text && t.source.Type == catalog.String && !t.mixed {
			e := notText(t.field, v.Value, v.member)
			t.refusals[i] = &e
			continue
		}
		if t.source.HasNetworks() && namesNetwork(v.Text) {
			switch network, ok := parseNetwork(v.Text); {
			case !ok:
				t.refusals[i] = invalidNetwork(v)
			case network.IsSingleIP():
				texts = append(texts, network.Addr().String())
			default:
				t.networks = append(t.networks, network)
			}
			continue
		}
		texts = append(texts, v.Text)
	}
	if texts == nil {
		return nil
	}
	return TextIn{Values: distinct(texts)}
}

// scale returns the number of decimal places in the stored integers of a type.
func scale(t catalog.Type) int {
	if t == catalog.Float {
		return 6
	}
	return 0
}

// integerTest returns a test for integers, or for durations rounded to whole microseconds.
func (t *typedTest) integerTest() Test {
	var ints []int64
	for i, v := range t.values {
		stored := v.number.scaled(scale(t.source.Type))
		n, inRange := stored.round()
		switch {
		case !v.literal(), t.source.Type != catalog.Float && !stored.integral():
			t.refusals[i] = notNumber(t.field, t.source, t.op, v)
		case !inRange:
			t.refusals[i] = outOfRange(t.field, v)
		default:
			ints = append(ints, n)
		}
	}
	if ints == nil {
		return nil
	}
	return IntIn{Values: distinct(ints)}
}

// rangeTest returns a test for integers or durations between bounds. A bound between two integers moves to the next
// integer inside the range.
func (t *typedTest) rangeTest() Test {
	var r IntRange
	op := t.op
	for i, v := range t.values {
		stored := v.number.scaled(scale(t.source.Type))
		if t.source.Type == catalog.Float {
			stored = stored.rounded()
		}
		floor, floorFits := stored.floor()
		ceil, ceilFits := stored.ceil()
		switch {
		case !v.literal():
			t.refusals[i] = notNumber(t.field, t.source, op, v)
		case !floorFits || !ceilFits:
			t.refusals[i] = outOfRange(t.field, v)
		}
		switch {
		case op == filter.Gt && floor == math.MaxInt64, op == filter.Lt && ceil == math.MinInt64:
			r = nothing()
		case op == filter.Gt:
			floor++
			r.Min = &floor
		case op == filter.Lt:
			ceil--
			r.Max = &ceil
		case op == filter.Gte, op == filter.Between && i == 0:
			r.Min = &ceil
		case op == filter.Lte, op == filter.Between:
			r.Max = &floor
		default:
			panic(fmt.Sprintf("query: operator %s has no range", op))
		}
	}
	if t.refusesAny() {
		return nil
	}
	return r
}

// nothing returns a range that contains no integer.
func nothing() IntRange {
	low, high := int64(math.MinInt64), int64(math.MaxInt64)
	return IntRange{Min: &high, Max: &low}
}

// numberTest returns a test for texts that are numbers between bounds.
func (t *typedTest) numberTest() Test {
	var r NumberRange
	op := t.op
	for i, v := range t.values {
		n, inRange := v.number.float()
		switch {
		case !v.numeric:
			t.refusals[i] = notNumber(t.field, t.source, op, v)
		case !inRange:
			t.refusals[i] = outOfRange(t.field, v)
		}
		switch {
		case op == filter.Gt, op == filter.Gte, op == filter.Between && i == 0:
			r.Min, r.MinOpen = &n, op == filter.Gt
		case op == filter.Lt, op == filter.Lte, op == filter.Between:
			r.Max, r.MaxOpen = &n, op == filter.Lt
		default:
			panic(fmt.Sprintf("query: operator %s has no range", op))
		}
	}
	if t.refusesAny() {
		return nil
	}
	return r
}

// timeTest returns a test for instants between two times.
func (t *typedTest) timeTest() Test {
	p, refusals := readPeriod(t.values)
	t.refusals = refusals
	if t.refusesAny() {
		return nil
	}
	return IntRange{Min: &p.FromMs, Max: &p.ToMs}
}

// distinct drops repeated values. It keeps the order.
func distinct[T comparable](values []T) []T {
	if len(values) < 2 {
		return values
	}
	seen := make(map[T]bool, len(values))
	kept := make([]T, 0, len(values))
	for _, v := range values {
		if !seen[v] {
			seen[v] = true
			kept = append(kept, v)
		}
	}
	return kept
}

// valueMember returns the JSON member of the i-th of n values.
func valueMember(i, n int) string {
	if n == 1 {
		return "value"
	}
	return "value/" + strconv.Itoa(i)
}
