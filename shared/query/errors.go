package query

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/pattern"
)

// FilterError is the error of a filter with mistakes in its syntax or its meaning.
type FilterError struct {
	Param  string // the parameter that has the filter, if it is not filters
	Text   string
	Errors filter.Errors // sorted by position, at most filter.MaxErrors
	Fixed  string        // the whole filter with every mistake corrected, or "" when there is no mechanical correction
}

func (e *FilterError) Error() string { return e.Errors.Error() }

// Unwrap returns an error of kind fault.Invalid, for callers that check only the kind.
func (e *FilterError) Unwrap() error { return fault.New(fault.Invalid, "the filter is unacceptable") }

// OnlyReferences reports whether all mistakes are references to records that are not valid. Then the filter is right,
// but what it refers to cannot be read.
func (e *FilterError) OnlyReferences() bool {
	return !slices.ContainsFunc(e.Errors, func(one filter.Error) bool { return one.Code != codeInvalidRef })
}

// Codes of the mistakes that binding finds. They are stable.
const (
	codeUnknownField    = "unknown_field"
	codeOperatorMissing = "operator_not_available"
	codeKeyNotTaken     = "key_not_taken"
	codeUnknownKey      = "unknown_key"
	codeValueCount      = "value_count"
	codeWrongType       = "wrong_type"
	codeOutOfRange      = "out_of_range"
	codeInvalidTime     = "invalid_time"
	codeInvalidRef      = "invalid_record_ref"
	codeInvalidNetwork  = "invalid_network"
	codeUnknownList     = "unknown_list"
	codeListNotTaken    = "list_not_taken"
	codeListKind        = "list_kind"
	codeRelativeTime    = "relative_time"
	codePeriodMissing   = "period_missing"
	codePeriodNotFirst  = "period_not_first"
	codeNul             = "nul"
	codeNotUTF8         = "invalid_utf8"
)

// Parts of messages.
const (
	regexLanguage   = "; the language is RE2"
	periodExample   = "timestamp between 2026-01-01 and 2026-01-02"
	timeIncomplete  = "must contain year, month and day, as in 2026-01-31 or 2026-01-31 23:59:59"
	timeUnreadable  = "is not a time; write 2026-01-31 23:59:59, with Z or an offset if it is not UTC"
	timeNoSuchDay   = "names a day that does not exist"
	timeNoSuchYear  = "is outside the years 0001 to 9999"
	timeNoSuchClock = "names a time of day or an offset that does not exist"

	relativeAlone = "has no time that it is relative to"
	relativeCase  = "is not in lower case"
	relativeDay   = "has a length of time, which only now takes; write a date, or a time before now, such as now-36h"
	relativeUnit  = "is not a time before or after now, which is a number and one of s, m, h, d and w, as in now-15m"
	relativeKept  = "is relative to the time of a question, and this filter is kept; write a date, such as 2026-01-31"
)

// Codes lists the codes of mistakes in meaning, and the meaning of each. The codes nul and invalid_utf8 are missing,
// because the parser reports them too and package filter documents them.
var Codes = []struct{ Code, Meaning string }{
	{codeUnknownField, "no field has that name"},
	{codeOperatorMissing, "the type of the field, or of its member, does not have the operator"},
	{codeKeyNotTaken, "the field has no members that a key could choose"},
	{codeUnknownKey, "the field's members are known, and the key matches none of them"},
	{codeValueCount, "too few or too many values for the operator"},
	{codeWrongType, "the value is not of the field's type"},
	{codeOutOfRange, "the number is larger than the field can hold"},
	{codeInvalidTime, "the text is not a time with year, month and day, or a relative one"},
	{codeInvalidRef, "the text is not a reference to a record, or only a part of one"},
	{codeInvalidNetwork, "the text is not an address and the length of a prefix"},
	{codeUnknownList, "there is no list of values, or no such version, with that name"},
	{codeListNotTaken, "the field cannot be compared with a list of values"},
	{codeListKind, "a value of the list cannot be a value of the field"},
	{codeRelativeTime, "the time is relative to the time of a question, and the filter is not one"},
	{codePeriodMissing, "no condition gives the period"},
	{codePeriodNotFirst, "in the JSON form the period must come first"},
	{pattern.Malformed, "the regular expression is malformed"},
	{pattern.Unsupported, "the regular expression uses a construct that RE2 does not have"},
	{pattern.TooLarge, "the regular expression is too long, or too large once compiled"},
}

func unknownField(word filter.Word) filter.Error {
	e := filter.Error{
		Code: codeUnknownField, Span: word.Span, Pointer: "field",
		Message: fmt.Sprintf("unknown field %q", word.Text),
	}
	e.Suggestion = nearestField(word.Text)
	if e.Suggestion != "" {
		e.Message += fmt.Sprintf("; did you mean %q?", e.Suggestion)
		e.Fix = &filter.Edit{Span: word.Span, Text: e.Suggestion}
	}
	return e
}

// operatorMissing names operators as the syntax of the filter does: > in a query string, gt in JSON.
func operatorMissing(
	syntax filter.Syntax, field *catalog.Field, sources []catalog.Source, op filter.Op, c *filter.Condition,
) filter.Error {
	where := fmt.Sprintf("field %q", field.Name)
	if c.Key != nil {
		where = fmt.Sprintf("%q of field %q", c.Key.Text, field.Name)
	}
	var names []string
	for _, has := range catalog.OpsOf(sources) {
		names = append(names, opText(syntax, has))
	}
	return filter.Error{
		Code: codeOperatorMissing, Span: c.OpSpan, Pointer: "op", Expected: names,
		Message: fmt.Sprintf("operator %s does not apply to %s (%s); it has %s",
			opText(syntax, op), where, typesOf(sources), strings.Join(names, ", ")),
	}
}

func opText(syntax filter.Syntax, op filter.Op) string {
	if syntax == filter.QueryString {
		return catalog.OperatorOf(op).Symbol
	}
	return op.String()
}

// typesOf returns the types of the sources as text: "integer", "boolean or string".
func typesOf(sources []catalog.Source) string {
	var names []string
	for _, s := range sources {
		if name := s.Type.String(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}

func unknownList(name filter.Value) filter.Error {
	return filter.Error{
		Code: codeUnknownList, Span: name.Span, Pointer: "list",
		Message: fmt.Sprintf("there is no list of values %q; correct the name, or write the list with PUT "+
			"/conf/CONFIGURATION/lists/NAME or orrery list put", name.Text),
	}
}

func listNotTaken(field *catalog.Field, name filter.Value) filter.Error {
	return filter.Error{
		Code: codeListNotTaken, Span: name.Span, Pointer: "list",
		Message: fmt.Sprintf("field %q takes no list of values, because a record can have several values in it, "+
			"or none that is an integer or a text; write the values in brackets", field.Name),
	}
}

func otherListKind(field *catalog.Field, name filter.Value, kind ListKind, wrong string) filter.Error {
	of := listKinds[kindNumber(kind)]
	return filter.Error{
		Code: codeListKind, Span: name.Span, Pointer: "list",
		Message: fmt.Sprintf("field %q needs a list of %s, such as %s; list %q has the value %s",
			field.Name, of.name, of.example, name.Text, quotedValue(wrong)),
	}
}

// quotedValue quotes a value of a list for a message. It shortens a long one.
func quotedValue(text string) string {
	const longest = 60
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest-1]) + "…"
	}
	return strconv.Quote(text)
}

func keyNotTaken(field *catalog.Field, key *filter.Key) filter.Error {
	return filter.Error{
		Code: codeKeyNotTaken, Span: key.Span, Pointer: "key",
		Message: fmt.Sprintf("field %q has no members, so it takes no key", field.Name),
	}
}

func unknownKey(syntax filter.Syntax, field *catalog.Field, key *filter.Key) filter.Error {
	members := field.Members()
	e := filter.Error{
		Code: codeUnknownKey, Span: key.Span, Pointer: "key", Expected: members,
		Message: fmt.Sprintf("field %q has no member %q", field.Name, key.Text),
	}
	if !key.Exact {
		e.Message = fmt.Sprintf("no member of field %q matches %q", field.Name, key.Text)
	}
	if e.Suggestion = filter.Nearest(strings.Trim(key.Text, "^$"), members); e.Suggestion != "" {
		e.Message += fmt.Sprintf("; did you mean %q?", e.Suggestion)
		fixed := e.Suggestion
		if syntax == filter.JSON || !key.Exact {
			fixed = "^" + fixed + "$"
		}
		e.Fix = &filter.Edit{Span: key.Span, Text: fixed}
	}
	e.Message += " Its members are " + strings.Join(members, ", ")
	if e.Suggestion == "" {
		e.Message = strings.Replace(e.Message, " Its members", "; its members", 1)
	}
	return e
}

func valueCount(op filter.Op, c *filter.Condition) filter.Error {
	expected := "one value"
	switch op {
	case filter.Between:
		expected = "two values"
	case filter.In, filter.Regex:
		expected = "at least one value"
	}
	span := c.Span
	if n := len(c.Values); n > 0 {
		span = filter.Span{Offset: c.Values[0].Span.Offset, Length: c.Values[n-1].Span.End() - c.Values[0].Span.Offset}
	}
	return filter.Error{
		Code: codeValueCount, Span: span, Pointer: "value",
		Message: fmt.Sprintf("operator %s takes %s, not %d", op, expected, len(c.Values)),
	}
}

func notText(field *catalog.Field, v filter.Value, member string) filter.Error {
	return filter.Error{
		Code: codeWrongType, Span: v.Span, Pointer: member, Fix: &filter.Edit{Span: v.Span, Text: `"` + v.Text + `"`},
		Message: fmt.Sprintf("field %q needs a string, %s is a %s; write it in quotes",
			field.Name, v.Text, kindNames[v.Kind]),
	}
}

var kindNames = [...]string{filter.Text: "string", filter.Number: "number", filter.Bool: "boolean"}

func notBoolean(field *catalog.Field, v operand) *filter.Error {
	e := filter.Error{
		Code: codeWrongType, Span: v.Span, Pointer: v.member, Expected: []string{"true", "false"},
		Message: fmt.Sprintf("field %q is true or false, not %s", field.Name, valueText(v.Value)),
	}
	switch strings.ToLower(v.Text) {
	case "true", "yes", "1", "on":
		e.Suggestion = "true"
	case "false", "no", "0", "off":
		e.Suggestion = "false"
	}
	if e.Suggestion != "" {
		e.Fix = &filter.Edit{Span: v.Span, Text: e.Suggestion}
	}
	return &e
}

func notNumber(field *catalog.Field, s catalog.Source, op filter.Op, v operand) *filter.Error {
	where, expected := fmt.Sprintf("field %q", field.Name), "a number"
	if s.Name != "" {
		where = fmt.Sprintf("%q of field %q", s.Name, field.Name)
	}
	switch s.Type {
	case catalog.Int:
		expected = "a whole number"
	case catalog.Bool:
		expected = "true, false, 1 or 0"
		if op != filter.Eq {
			expected = "1 for true or 0 for false with this operator"
		}
	}
	e := filter.Error{
		Code: codeWrongType, Span: v.Span, Pointer: v.member,
		Message: fmt.Sprintf("%s needs %s, not %s", where, expected, valueText(v.Value)),
	}
	plain := withoutZeros(v.Text)
	if _, number := parseDecimal(plain); number && plain != v.Text {
		e.Suggestion = plain
		e.Message += "; without leading zeros it is " + plain
	}
	if s.Type == catalog.Bool && v.boolean() {
		e.Suggestion = map[string]string{"true": "1", "false": "0"}[strings.ToLower(v.Text)]
	}
	if e.Suggestion != "" {
		e.Fix = &filter.Edit{Span: v.Span, Text: e.Suggestion}
	}
	return &e
}

func noMemberTakes(field *catalog.Field, sources []catalog.Source, v operand) filter.Error {
	return filter.Error{
		Code: codeWrongType, Span: v.Span, Pointer: v.member,
		Message: fmt.Sprintf("no member of field %q accepts %s; with this operator the members are %s",
			field.Name, valueText(v.Value), typesOf(sources)),
	}
}

func outOfRange(field *catalog.Field, v operand) *filter.Error {
	return &filter.Error{
		Code: codeOutOfRange, Span: v.Span, Pointer: v.member,
		Message: fmt.Sprintf("%s is more than field %q can hold", valueText(v.Value), field.Name),
	}
}

func invalidTime(v operand, problem string) *filter.Error {
	return &filter.Error{
		Code: codeInvalidTime, Span: v.Span, Pointer: v.member,
		Message: fmt.Sprintf("%s %s", valueText(v.Value), problem),
	}
}

// invalidRef is the mistake of a text that is not a reference to a record.
func invalidRef(v operand, otherVersion bool) *filter.Error {
	problem := "is not a reference to a record: a part is missing or changed; " +
		"copy the whole record_ref of an answer of logs"
	if otherVersion {
		problem = "is a reference to a record in a format that this version of Orrery does not know"
	}
	return &filter.Error{
		Code: codeInvalidRef, Span: v.Span, Pointer: v.member,
		Message: fmt.Sprintf("%s %s", valueText(v.Value), problem),
	}
}

// invalidNetwork is the mistake of a text that is written like a network and is none.
func invalidNetwork(v operand) *filter.Error {
	e := filter.Error{
		Code: codeInvalidNetwork, Span: v.Span, Pointer: v.member,
		Message: fmt.Sprintf("%s is not a network; write an address and the length of its prefix, without leading zeros "+
			"and zones, as in 192.0.2.0/24 or 2001:db8::/32", valueText(v.Value)),
	}
	if network := nearestNetwork(v.Text); network != "" {
		e.Suggestion = network
		e.Message = fmt.Sprintf("%s has a netmask; write the length of the prefix: %s", valueText(v.Value), network)
		e.Fix = &filter.Edit{Span: v.Span, Text: `"` + network + `"`}
	}
	return &e
}

// valueText prints a value for a message, at most 60 characters of it.
func valueText(v filter.Value) string {
	text := []rune(v.Text)
	if len(text) > 60 {
		text = append(text[:60:60], '…')
	}
	if v.Kind == filter.Text {
		return fmt.Sprintf("%q", string(text))
	}
	return string(text)
}

func periodMissing(text string) filter.Error {
	return filter.Error{
		Code: codePeriodMissing, Span: filter.Span{Length: len(text)}, Expected: []string{periodExample},
		Message: "the filter has no period: a condition such as " + periodExample + " is required",
	}
}

// noCondition is the mistake of a filter that needs no period and has no conditions. The parser has the same code.
func noCondition(text string) filter.Error {
	return filter.Error{
		Code: "expected_condition", Span: filter.Span{Length: len(text)}, Expected: []string{"status>=500"},
		Message: "the filter has no conditions",
	}
}

func periodNotFirst(c *filter.Condition) filter.Error {
	return filter.Error{
		Code: codePeriodNotFirst, Span: c.Span,
		Message: "in the JSON form the first condition must be the period, a timestamp between",
	}
}

func nulInText(span filter.Span, member string) filter.Error {
	return filter.Error{
		Code: codeNul, Span: span, Pointer: member,
		Message: "a filter cannot contain the character NUL",
	}
}

func notUTF8(span filter.Span, member string) filter.Error {
	return filter.Error{Code: codeNotUTF8, Span: span, Pointer: member, Message: "the text is not valid UTF-8"}
}

func regexError(p *pattern.Problem, span filter.Span, member string) filter.Error {
	e := filter.Error{Code: p.Code, Span: span, Pointer: member}
	switch p.Code {
	case pattern.TooLarge:
		e.Message = "regular expression too large: " + p.What + "; shorten it or its repeats"
	case pattern.Unsupported:
		e.Message = "unsupported regular expression: " + p.What + regexLanguage
	default:
		e.Message = "malformed regular expression: " + p.What + regexLanguage
	}
	return e
}
