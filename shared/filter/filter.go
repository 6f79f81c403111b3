// Package filter turns the two filter languages into conditions with positions, and conditions back into
// either language. It knows nothing of fields, types or SQL: names and values are text here, package query
// gives them meaning. The language reference is README.md beside this file.
package filter

import (
	"strings"
	"unicode/utf8"
)

// Filter is a filter as it was written. Spans in it point into Text.
type Filter struct {
	Text       string
	Form       Form
	Conditions []Condition // those that could be read, in the order written
	Incomplete []Condition // those of which only the field, and perhaps the key, is sure: their names can be looked up
	Problems   Errors      // what could not be read; query.Bind adds what cannot be meant, and reports all
}

// Parse reads a filter in the form that its first character shows: { or [ begin the JSON form.
func Parse(text string) Filter {
	if strings.HasPrefix(trimStart(text), "{") || strings.HasPrefix(trimStart(text), "[") {
		return ParseJSON(text)
	}
	return ParseQueryString(text)
}

// MaxText is the longest filter text that is read, in bytes.
const MaxText = 1 << 20

// MaxDepth is how deep the objects and arrays of the JSON form may nest.
const MaxDepth = 64

// unreadable tells of a text that neither form can be read from at all.
func unreadable(text string) (Errors, bool) {
	if len(text) > MaxText {
		return Errors{textTooLong(text)}, true
	}
	if !utf8.ValidString(text) {
		return Errors{notUTF8(text)}, true
	}
	return nil, false
}

// Form tells which of the two languages a filter is written in.
type Form uint8

const (
	QueryString Form = iota + 1 // status=404, timestamp between 2026-01-01 and 2026-01-02
	JSON                        // {"AND":[{"field":"status","op":"eq","value":404}, …]}
)

// Span is a stretch of the filter's text, in UTF-8 bytes.
type Span struct{ Offset, Length int }

// End is the offset of the first byte after the span.
func (s Span) End() int { return s.Offset + s.Length }

// Condition is one condition of a filter: field, optional key, operator, values.
type Condition struct {
	Span    Span
	Pointer string // JSON pointer of the condition ("/AND/1"); "" in the query-string form
	Field   Word
	Key     *Key
	Negated bool
	Op      Op
	OpSpan  Span // the operator as written, with its "not", without quotes
	List    bool // values were written as a list
	Values  []Value
}

// Word is a piece of text and where it stands. The span leaves out quotes, so that an Edit of it may put
// another word there in either form.
type Word struct {
	Text string
	Span Span
}

// Key names the members of a multi-valued field that a condition looks at.
type Key struct {
	Text  string
	Exact bool // Text is a name; otherwise an RE2 pattern searched in the names
	Span  Span // without the quotes

	Quoted bool // written in double quotes
	Dotted bool // written field.name or field:name; Problems tells of that
}

// ValueKind is how a value was written.
type ValueKind uint8

const (
	Text   ValueKind = iota + 1 // quoted or bare text; in the query-string form every value but that of is
	Number                      // a JSON number; Value.Text is its literal
	Bool                        // a JSON boolean, or what follows is; Value.Text is "true" or "false"
)

// Value is one value of a condition, unescaped.
type Value struct {
	Kind   ValueKind
	Text   string
	Quoted bool // written in quotes
	Span   Span // with the quotes; Filter.Within finds a part of the text
}

// Op is an operator of the specification. Negation is not an operator: see Condition.Negated.
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

var opNames = [...]string{Is: "is", Eq: "eq", Gt: "gt", Lt: "lt", Gte: "gte", Lte: "lte", In: "in", Regex: "regex", Between: "between"}

// String is the operator's name in the JSON form.
func (o Op) String() string { return opNames[o] }
