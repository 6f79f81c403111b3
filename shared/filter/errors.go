package filter

import (
	"cmp"
	"slices"
	"strings"
)

// Error is one mistake in a filter, told to the person who wrote it. Lexer, parser and binder all make them.
type Error struct {
	Code       string   // stable and documented in README.md
	Message    string   // what is wrong, in plain English, without the position
	Span       Span     // where, in bytes of Filter.Text
	Pointer    string   // JSON pointer, for the JSON form
	Expected   []string // what could stand there instead, when that is a short list
	Suggestion string   // the most likely meaning ("host"), or ""
	Fix        *Edit    // the mechanical correction, or nil when none is safe
}

func (e Error) Error() string { return e.Message }

// Edit replaces a stretch of the filter's text.
type Edit struct {
	Span Span
	Text string
}

// MaxErrors is how many mistakes are told at once.
const MaxErrors = 20

// Errors is every mistake of a filter. Use Sorted before showing them.
type Errors []Error

func (e Errors) Error() string {
	parts := make([]string, len(e))
	for i, one := range e {
		parts[i] = one.Message
	}
	return strings.Join(parts, "; ")
}

// Sorted gives the mistakes by place, at most MaxErrors of them.
func (e Errors) Sorted() Errors {
	s := slices.Clone(e)
	slices.SortStableFunc(s, func(a, b Error) int { return cmp.Compare(a.Span.Offset, b.Span.Offset) })
	return s[:min(len(s), MaxErrors)]
}
