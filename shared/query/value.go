package query

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
)

// boundValues is what the values of a condition mean, and how they are written canonically.
type boundValues struct {
	op        filter.Op
	list      bool
	terms     []Term
	canonical []filter.Value
}

// bindValues gives the values of a condition their types: one term for every source that has the operator and
// can take them.
func (b *binder) bindValues(field *catalog.Field, sources []catalog.Source, op filter.Op, c *filter.Condition) (boundValues, bool) {
	if !b.checkCount(op, c) || !b.checkTexts(c.Values) {
		return boundValues{}, false
	}
	if lacks := func(s catalog.Source) bool { return !takes(s, op) }; slices.ContainsFunc(sources, lacks) {
		sources = slices.DeleteFunc(slices.Clone(sources), lacks)
	}
	v := boundValues{op: op, list: op == filter.In || op == filter.Regex && len(c.Values) > 1}
	var ok bool
	if op == filter.Regex {
		v.terms, v.canonical, ok = b.bindPatterns(field, sources, c.Values)
	} else {
		v.op, v.terms, v.canonical, ok = b.bindTyped(field, sources, op, c.Values)
	}
	if v.list && len(v.canonical) == 1 && op == filter.Regex {
		v.list = false
	}
	return v, ok
}

// checkCount refuses too few or too many values for the operator.
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

// checkTexts refuses what no engine can be given as a value.
func (b *binder) checkTexts(values []filter.Value) bool {
	ok := true
	for i, v := range values {
		ok = b.checkText(v.Text, v.Span, valueMember(i, len(values))) && ok
	}
	return ok
}

func (b *binder) checkText(text string, span filter.Span, member string) bool {
	for i := range len(text) {
		if text[i] == 0 {
			if !b.toldOfNUL(span) {
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

// toldOfNUL reports whether the parser has already reported a NUL in the span.
func (b *binder) toldOfNUL(span filter.Span) bool {
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

// bindPatterns binds the patterns of a regex condition. Those that stand for whole texts become these texts.
func (b *binder) bindPatterns(field *catalog.Field, sources []catalog.Source, values []filter.Value) ([]Term, []filter.Value, bool) {
	var patterns []*Regex
	var exact []string
	var canonical []filter.Value
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
		canonical = append(canonical, filter.Value{Kind: filter.Text, Text: v.Text, Quoted: true})
	}
	var terms []Term
	for _, s := range sources {
		if len(exact) > 0 {
			terms = append(terms, Term{Source: s, Test: TextIn{Values: distinct(exact)}})
		}
		if len(patterns) > 0 {
			terms = append(terms, Term{Source: s, Test: Matches{Patterns: patterns}})
		}
	}
	return terms, canonical, ok
}

// operand is a value of a condition, with what it can be read as.
type operand struct {
	filter.Value
	member  string // of the condition, for the error's pointer
	number  decimal
	numeric bool
}

// literal reports whether the value is a number as JSON writes it, which has no leading zeros. Only values of no
// documented type may have them: there any text that reads as a number counts.
func (v operand) literal() bool { return v.numeric && withoutZeros(v.Text) == v.Text }

func (v operand) boolean() bool {
	return v.Kind != filter.Number && (v.Text == "true" || v.Text == "false")
}

// bindTyped binds the values of every operator but regex. Where members differ in type, a value is wrong only
// when no member can take it.
func (b *binder) bindTyped(field *catalog.Field, sources []catalog.Source, op filter.Op, written []filter.Value) (filter.Op, []Term, []filter.Value, bool) {
	values := readValues(op, written)
	mixed := slices.ContainsFunc(sources, func(s catalog.Source) bool { return s.Type != sources[0].Type })
	if op == filter.Eq && allBoolean(sources, values) {
		op = filter.Is
	}
	var terms []Term
	first := make([]*filter.Error, len(values)) // what the first member says of each value
	accepted := make([]bool, len(values))
	for i, s := range sources {
		test, refusals := b.test(field, s, op, values, mixed)
		if test != nil {
			terms = append(terms, Term{Source: s, Test: test})
		}
		for j, refusal := range refusals {
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
		return op, nil, nil, false
	}
	return op, terms, canonicalValues(sources, op, values), true
}

// readValues reads numbers and puts the bounds of between in order.
func readValues(op filter.Op, written []filter.Value) []operand {
	values := make([]operand, len(written))
	for i, v := range written {
		values[i] = operand{Value: v, member: valueMember(i, len(written))}
		if v.Kind != filter.Bool {
			values[i].number, values[i].numeric = parseDecimal(v.Text)
		}
	}
	if op == filter.Between && values[0].numeric && values[1].numeric && values[0].number.compare(values[1].number) > 0 {
		values[0], values[1] = values[1], values[0]
	}
	return values
}

// withoutZeros drops the zeros that a text has before its first other digit.
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

// test makes the test of one source, nil when it can take none of the values, and says for every value why it
// is refused, if it is.
func (b *binder) test(field *catalog.Field, s catalog.Source, op filter.Op, values []operand, mixed bool) (Test, []*filter.Error) {
	refusals := make([]*filter.Error, len(values))
	switch {
	case s.Type == catalog.Time:
		return b.timeTest(values, refusals)
	case s.Type == catalog.Bool && (op == filter.Is || op == filter.Eq && (s.Name == "" || values[0].boolean())):
		if !values[0].boolean() {
			refusals[0] = notBoolean(field, values[0])
			return nil, refusals
		}
		return TrueFalse{Want: values[0].Text == "true"}, refusals
	case s.Type == catalog.String, s.Type == catalog.Any && (op == filter.Eq || op == filter.In):
		return textTest(field, s, values, mixed, refusals)
	case s.Type == catalog.Any:
		return numberTest(field, s, op, values, refusals)
	case op == filter.Eq, op == filter.In:
		return integerTest(field, s, op, values, refusals)
	}
	return rangeTest(field, s, op, values, refusals)
}

// textTest holds for the texts. A JSON number or boolean is not text, except where members of other types
// take it and it stands for its literal.
func textTest(field *catalog.Field, s catalog.Source, values []operand, mixed bool, refusals []*filter.Error) (Test, []*filter.Error) {
	var texts []string
	for i, v := range values {
		if v.Kind != filter.Text && s.Type == catalog.String && !mixed {
			e := notText(field, v.Value, v.member)
			refusals[i] = &e
			continue
		}
		texts = append(texts, v.Text)
	}
	if texts == nil {
		return nil, refusals
	}
	return TextIn{Values: distinct(texts)}, refusals
}

// scale is how many decimal places the stored integers of a type carry.
func scale(t catalog.Type) int {
	if t == catalog.Float {
		return 6
	}
	return 0
}

// integerTest holds for the integers, or for durations rounded to whole microseconds.
func integerTest(field *catalog.Field, s catalog.Source, op filter.Op, values []operand, refusals []*filter.Error) (Test, []*filter.Error) {
	var ints []int64
	for i, v := range values {
		stored := v.number.scaled(scale(s.Type))
		n, inRange := stored.round()
		switch {
		case !v.literal(), s.Type != catalog.Float && !stored.integral():
			refusals[i] = notNumber(field, s, op, v)
		case !inRange:
			refusals[i] = outOfRange(field, v)
		default:
			ints = append(ints, n)
		}
	}
	if ints == nil {
		return nil, refusals
	}
	return IntIn{Values: distinct(ints)}, refusals
}

// rangeTest holds between bounds. A bound between two integers moves to the next one inside the range.
func rangeTest(field *catalog.Field, s catalog.Source, op filter.Op, values []operand, refusals []*filter.Error) (Test, []*filter.Error) {
	var r IntRange
	ok := true
	for i, v := range values {
		stored := v.number.scaled(scale(s.Type))
		if s.Type == catalog.Float {
			stored = stored.rounded()
		}
		floor, floorFits := stored.floor()
		ceil, ceilFits := stored.ceil()
		switch {
		case !v.literal():
			refusals[i] = notNumber(field, s, op, v)
		case !floorFits || !ceilFits:
			refusals[i] = outOfRange(field, v)
		}
		ok = ok && refusals[i] == nil
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
			panic(fmt.Sprintf("query: no range for operator %s", op))
		}
	}
	if !ok {
		return nil, refusals
	}
	return r, refusals
}

// nothing is the range of no integer.
func nothing() IntRange {
	low, high := int64(math.MinInt64), int64(math.MaxInt64)
	return IntRange{Min: &high, Max: &low}
}

// numberTest holds for text that reads as a number within bounds.
func numberTest(field *catalog.Field, s catalog.Source, op filter.Op, values []operand, refusals []*filter.Error) (Test, []*filter.Error) {
	var r NumberRange
	ok := true
	for i, v := range values {
		n, inRange := v.number.float()
		switch {
		case !v.numeric:
			refusals[i] = notNumber(field, s, op, v)
		case !inRange:
			refusals[i] = outOfRange(field, v)
		}
		ok = ok && refusals[i] == nil
		switch {
		case op == filter.Gt, op == filter.Gte, op == filter.Between && i == 0:
			r.Min, r.MinOpen = &n, op == filter.Gt
		case op == filter.Lt, op == filter.Lte, op == filter.Between:
			r.Max, r.MaxOpen = &n, op == filter.Lt
		default:
			panic(fmt.Sprintf("query: no range for operator %s", op))
		}
	}
	if !ok {
		return nil, refusals
	}
	return r, refusals
}

// timeTest holds for instants between two times.
func (b *binder) timeTest(values []operand, refusals []*filter.Error) (Test, []*filter.Error) {
	p, refusals := readPeriod(values, refusals)
	if slices.ContainsFunc(refusals, func(e *filter.Error) bool { return e != nil }) {
		return nil, refusals
	}
	return IntRange{Min: &p.FromMs, Max: &p.ToMs}, refusals
}

// distinct drops repeated values and keeps the order.
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

// valueMember is the JSON member that holds the i-th of n values.
func valueMember(i, n int) string {
	if n == 1 {
		return "value"
	}
	return "value/" + strconv.Itoa(i)
}
