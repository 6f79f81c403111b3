// Package filter parses the two filter languages into conditions with positions, and prints conditions in
// either language. It does not know fields, types or SQL: names and values are text here, and package query
// gives them a meaning. The language reference is README.md in this folder.
package filter

import (
	"strings"
	"unicode/utf8"
)

// Filter is a parsed filter. Its spans refer to Text.
type Filter struct {
	Text       string
	Syntax     Syntax
	Conditions []Condition // the conditions that were parsed, in the order of the text
	Incomplete []Condition // conditions with only a field, and possibly a key, that a lookup can use
	Problems   Errors      // mistakes of syntax; query.Bind adds mistakes of meaning and reports all of them
}

// Parse parses a filter. Text whose first character is { or [ is the JSON form, any other text the query-string
// form.
func Parse(text string) Filter {
	if strings.HasPrefix(trimStart(text), "{") || strings.HasPrefix(trimStart(text), "[") {
		return ParseJSON(text)
	}
	return ParseQueryString(text)
}

// MaxText is the maximum length of a filter text in bytes.
const MaxText = 1 << 20

// MaxDepth is the maximum nesting depth of objects and arrays in the JSON form.
const MaxDepth = 64

// unreadable checks the requirements of both forms, length and UTF-8. It reports whether the text violates one.
func unreadable(text string) (Errors, bool) {
	if len(text) > MaxText {
		return Errors{textTooLong(text)}, true
	}
	if !utf8.ValidString(text) {
		return Errors{notUTF8(text)}, true
	}
	return nil, false
}

// Syntax is one of the two languages of a filter.
type Syntax uint8

const (
	QueryString Syntax = iota + 1 // status=404, timestamp between 2026-01-01 and 2026-01-02
	JSON                          // {"AND":[{"field":"status","op":"eq","value":404}, …]}
)

// Parse parses a filter of that syntax, or of either if s is 0: then the first character decides.
func (s Syntax) Parse(text string) Filter {
	switch s {
	case QueryString:
		return ParseQueryString(text)
	case JSON:
		return ParseJSON(text)
	}
	return Parse(text)
}

// Span is a part of the filter's text. Offset and Length count UTF-8 bytes.
type Span struct{ Offset, Length int }

// End returns the offset of the first byte after the span.
func (s Span) End() int { return s.Offset + s.Length }

// Condition is one condition of a filter: field, optional key, operator, values.
type Condition struct {
	Span    Span
	Pointer string // JSON pointer of the condition ("/AND/1"); "" in the query-string form
	Field   Word
	Key     *Key
	Negated bool
	Op      Op
	OpSpan  Span // the operator as written, including its "not", without quotes
	List    bool // the values were written as a list
	Values  []Value
}

// Word is a word and its place. The span excludes quotes, so that an Edit of it can replace the word in either
// form.
type Word struct {
	Text string
	Span Span
}

// Key selects the members of a multi-valued field that a condition tests.
type Key struct {
	Text  string
	Exact bool // Text is a name; otherwise it is an RE2 pattern that is searched in the names
	Span  Span // without the quotes

	Quoted bool // written in double quotes
	Dotted bool // written field.name or field:name, which Problems reports
}

// ValueKind is the notation of a value.
type ValueKind uint8

const (
	Text     ValueKind = iota + 1 // quoted or bare text; in the query-string form every value but the value of is
	Number                        // a JSON number; Value.Text is its literal
	Bool                          // a JSON boolean, or the value of is; Value.Text is "true" or "false"
	ListName                      // the name of a list of values, alone after in: tor, staging/tor, tor:3
)

// Value is one value of a condition, unescaped.
type Value struct {
	Kind   ValueKind
	Text   string
	Quoted bool // written in quotes
	Span   Span // including the quotes; Filter.Within returns the span of a part of Text
}

// Op is an operator of the specification. Negation is not part of the operator, see Condition.Negated.
type Op uint8

const (
	Is Op = iota + 1
	Eq
	Gt
	Lt
	Gte
	Lte
	In
	Regex
	Between
)

// Ops lists the operators in the specification's order.
var Ops = []Op{Is, Eq, Gt, Lt, Gte, Lte, In, Regex, Between}

var opNames = [...]string{
	Is: "is", Eq: "eq", Gt: "gt", Lt: "lt", Gte: "gte", Lte: "lte", In: "in", Regex: "regex", Between: "between",
}

// String returns the name of the operator in the JSON form.
func (o Op) String() string { return opNames[o] }
