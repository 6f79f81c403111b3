package filter

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Error is one mistake in a filter, worded for the person who wrote the filter. The lexer, the parser and the
// binder report mistakes.
type Error struct {
	Code       string   // stable, documented in README.md
	Message    string   // what is wrong, in plain English, without the position
	Span       Span     // the place, in bytes of Filter.Text
	Pointer    string   // JSON pointer to the place, in the JSON form
	Expected   []string // what is valid at this place, if that is a short list
	Suggestion string   // the text that was most likely meant ("host"), or ""
	Fix        *Edit    // the mechanical correction, or nil if there is no safe one
}

func (e Error) Error() string { return e.Message }

// Edit replaces a part of the filter's text.
type Edit struct {
	Span Span
	Text string
}

// MaxErrors is the maximum number of mistakes that are reported at once.
const MaxErrors = 20

// Errors is the list of the mistakes in a filter. Call Sorted before showing it.
type Errors []Error

func (e Errors) Error() string {
	parts := make([]string, len(e))
	for i, one := range e {
		parts[i] = one.Message
	}
	return strings.Join(parts, "; ")
}

// Sorted returns the first MaxErrors mistakes in the order of the text.
func (e Errors) Sorted() Errors {
	s := slices.Clone(e)
	slices.SortStableFunc(s, func(a, b Error) int { return cmp.Compare(a.Span.Offset, b.Span.Offset) })
	return s[:min(len(s), MaxErrors)]
}

// The functions below make the mistakes of both forms. Codes are stable, because programs branch on them.

func textTooLong(text string) Error {
	return Error{Code: "too_long", Span: Span{MaxText, 0},
		Message: fmt.Sprintf("the filter is %d bytes long; the limit is %d", len(text), MaxText)}
}

func notUTF8(text string) Error {
	at := 0
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return Error{Code: "invalid_utf8", Span: Span{at, 1},
		Message: fmt.Sprintf("the filter is not UTF-8: byte %#02x at offset %d does not begin a character",
			text[at], at)}
}

func nulCharacter(span Span) Error {
	return Error{Code: "nul", Span: span, Message: "a value cannot contain the NUL character"}
}

func wrongQuotes(span Span, quoted string) Error {
	return Error{Code: "wrong_quotes", Span: span, Fix: &Edit{span, quoted},
		Message: `text needs straight double quotes: ` + truncate(quoted)}
}

func emptyKey(span Span) Error {
	return Error{Code: "empty_key", Span: span,
		Message: "the key is empty; omit it to match every member"}
}

func emptyList(span Span) Error {
	return Error{Code: "empty_list", Span: span, Message: "the list is empty; it needs at least one value"}
}

func expectedBoolean(text string, op, span Span) Error {
	if span.Length == 0 {
		return missingValue(text, op)
	}
	return Error{Code: "expected_boolean", Span: span, Expected: []string{"true", "false"},
		Message: fmt.Sprintf("is takes true or false, not %s", quotation(span.of(text)))}
}

const insteadOfOr = "OR is not part of this API: for several values of one field use in, " +
	"for several patterns use one list; otherwise send one request for each alternative"

func orUnsupported(span Span) Error {
	return Error{Code: "or_unsupported", Span: span, Message: insteadOfOr}
}

// The functions below make the mistakes of the query-string form.

func jsonHere(span Span) Error {
	return Error{Code: "json_here", Span: span,
		Message: "a condition of the query-string form begins with a field, as in status=404; " +
			"text that begins with { or [ is the JSON form"}
}

func expectedField(text string, span Span) Error {
	return Error{Code: "expected_field", Span: span,
		Message: fmt.Sprintf("a condition begins with the name of a field, as in status=404; found %s",
			found(text, span))}
}

func quotedField(text string, span Span) Error {
	name := strings.Trim(span.of(text), `"`)
	return Error{Code: "expected_field", Span: span, Suggestion: name, Fix: &Edit{span, name},
		Message: fmt.Sprintf("the name of a field is written without quotes: %s", name)}
}

func dottedField(span Span, field, member string) Error {
	meant := MemberText(QueryString, field, member)
	return Error{Code: "dotted_field", Span: span, Suggestion: meant, Fix: &Edit{span, meant},
		Message: "a member is named in brackets: " + truncate(meant)}
}

func wrongNot(span Span) Error {
	return Error{Code: "wrong_not", Span: span, Suggestion: "not", Fix: &Edit{span, "not "},
		Message: "a condition is negated by the word not: not status=404, country not in (...)"}
}

func doubleNot(span Span, count int) Error {
	meant := ""
	if count%2 == 1 {
		meant = "not"
	}
	return Error{Code: "wrong_not", Span: span, Fix: &Edit{span, meant},
		Message: "write not only once before a condition"}
}

func unclosedKey(span Span) Error {
	e := Error{Code: "wrong_key", Span: span,
		Message: `the key is not closed; write ["name"], or [~"pattern"] for a pattern`}
	if span.Length > 1 {
		e.Fix = &Edit{Span{span.End(), 0}, "]"}
	}
	return e
}

func unquotedKey(text string, whole, inside Span) Error {
	meant := Quote(inside.of(text))
	return Error{Code: "wrong_key", Span: whole, Suggestion: meant, Fix: &Edit{whole, meant},
		Message: "a key is written in double quotes: [" + truncate(meant) + "]"}
}

func expectedOperator(text string, after int, span Span) Error {
	word := text[:after]
	word = word[strings.LastIndexAny(word, ", \t\n")+1:]
	return Error{Code: "expected_operator", Span: span,
		Expected: []string{"=", "!=", ">", "<", ">=", "<=", "~", "!~", "between", "in", "is", "not"},
		Message: fmt.Sprintf("an operator is missing after %s; found %s. A value that contains a comma needs quotes",
			quotation(word), found(text, span))}
}

func wrongOperator(text string, span Span, meant string) Error {
	e := Error{Code: "unknown_operator", Span: span, Suggestion: meant,
		Message: fmt.Sprintf("unknown operator %s", quotation(span.of(text)))}
	if meant != "" {
		e.Message += fmt.Sprintf("; did you mean %s?", quotation(meant))
		e.Fix = &Edit{span, meant}
	}
	return e
}

func missingValue(text string, op Span) Error {
	return Error{Code: "missing_value", Span: op,
		Message: fmt.Sprintf(`a value is missing after %s; write "" for the empty text`, quotation(op.of(text)))}
}

func bareStart(text string, span Span) Error {
	first, _ := utf8.DecodeRuneInString(span.of(text))
	meant := Quote(span.of(text))
	return Error{Code: "bare_start", Span: span, Suggestion: meant, Fix: &Edit{span, meant},
		Message: fmt.Sprintf("a value that begins with %c needs quotes: %s", first, truncate(meant))}
}

func bareComma(span Span, value string) Error {
	meant := Quote(value)
	return Error{Code: "bare_comma", Span: span, Suggestion: meant, Fix: &Edit{span, meant},
		Message: "a pattern that contains a comma needs quotes: " + truncate(meant)}
}

func unclosedString(open Span, end int) Error {
	return Error{Code: "unclosed_string", Span: open, Fix: &Edit{Span{end, 0}, `"`},
		Message: "this quote is never closed"}
}

func strayQuote(text string, span Span) Error {
	value := span.of(text)
	e := Error{Code: "stray_quote", Span: span,
		Message: `a quote is unmatched; a value that contains a quote needs quotes itself, with \" for the inner one`}
	if strings.HasSuffix(value, `"`) && strings.Count(value, `"`) == 1 {
		e.Fix = &Edit{Span{span.Offset, 0}, `"`}
	}
	return e
}

func betweenComma(text string, comma Span) Error {
	and := " and"
	if spaceAt(text[comma.End():]) == 0 {
		and = " and "
	}
	return Error{Code: "wrong_between", Span: comma, Suggestion: "and", Fix: &Edit{comma, and},
		Message: "between takes two values joined by and: between 1 and 5"}
}

func betweenOne(text string, span Span) Error {
	return Error{Code: "wrong_between", Span: span, Expected: []string{"and"},
		Message: fmt.Sprintf("between takes two values joined by and; the word and is missing after %s",
			quotation(span.of(text)))}
}

// betweenEnd reports a missing second value, at the place where it is expected.
func betweenEnd(at int) Error {
	return Error{Code: "missing_value", Span: Span{at, 0},
		Message: "the second value of between is missing here: between 1 and 5"}
}

func betweenBrackets(span Span, meant string) Error {
	e := Error{Code: "wrong_between", Span: span,
		Message: "between takes its two values without brackets: between 1 and 5"}
	if meant != "" {
		e.Suggestion, e.Fix = meant, &Edit{span, meant}
	}
	return e
}

func equalsList(op Span, negated bool) Error {
	meant := "in"
	if negated {
		meant = "not in"
	}
	return Error{Code: "expected_one", Span: op, Suggestion: meant, Fix: &Edit{op, " " + meant + " "},
		Message: fmt.Sprintf("this operator takes one value; write %s for a list, "+
			"or put quotes around text that begins with a bracket", meant)}
}

func inBrackets(text string, span Span) Error {
	inside := text[span.Offset+1 : span.End()-1]
	return Error{Code: "expected_list", Span: span, Fix: &Edit{span, "(" + inside + ")"},
		Message: "in takes its list in round brackets: in (1, 2)"}
}

func inOne(text string, span Span) Error {
	return Error{Code: "expected_list", Span: span, Fix: &Edit{span, "(" + span.of(text) + ")"},
		Message: "in takes a list in round brackets: in (1, 2)"}
}

func wrongListName(span Span, name string) Error {
	return Error{Code: "wrong_list_name", Span: span,
		Message: fmt.Sprintf("%s is not the name of a list of values; write @tor, @staging/tor for a list of the "+
			"configuration staging, or @tor:3 for its version 3", quotation(name))}
}

func bracketedListName(span Span, name string) Error {
	return Error{Code: "wrong_list_name", Span: span, Suggestion: "@" + name, Fix: &Edit{span, "@" + name},
		Message: fmt.Sprintf("the name of a list of values takes no brackets: in @%s; text that begins with @ needs quotes",
			truncate(name))}
}

func listComma(at, last int, second bool) Error {
	comma := Span{last - 1, 1}
	if second {
		comma = Span{at, 1}
	}
	return Error{Code: "extra_comma", Span: comma, Fix: &Edit{comma, ""},
		Message: "a value is missing beside this comma"}
}

func expectedListComma(text string, span Span) Error {
	return Error{Code: "expected_comma", Span: span, Expected: []string{",", ")"},
		Message: fmt.Sprintf("expected a comma or a closing bracket after a value of the list; found %s",
			found(text, span))}
}

func unclosedList(open Span, end int, some bool) Error {
	e := Error{Code: "unclosed_list", Span: open, Message: "this bracket is never closed"}
	if some {
		e.Fix = &Edit{Span{end, 0}, ")"}
	}
	return e
}

func isNot(whole Span, text string, value Span) Error {
	meant := "not is " + value.of(text)
	return Error{Code: "wrong_not", Span: whole, Suggestion: meant, Fix: &Edit{whole, meant},
		Message: "write not before the operator: " + meant}
}

func extraComma(run, cut Span, meant string) Error {
	return Error{Code: "extra_comma", Span: run, Fix: &Edit{cut, meant},
		Message: "write exactly one comma between two conditions, and none before the first or after the last"}
}

func missingComma(text string, end int, span Span) Error {
	return Error{Code: "missing_comma", Span: span, Fix: &Edit{Span{end, 0}, ","},
		Message: fmt.Sprintf("a comma is missing before %s", quotation(span.of(text)))}
}

func expectedComma(text string, span Span) Error {
	return Error{Code: "expected_comma", Span: span, Expected: []string{","},
		Message: fmt.Sprintf("expected a comma or the end of the filter after a condition; found %s",
			found(text, span))}
}

// wrongJoiner reports and, or, && and the like. If comma is set, a comma is expected in place of the word;
// otherwise the word follows a comma and is not needed.
func wrongJoiner(text string, span Span, comma bool) Error {
	word := strings.ToLower(span.of(text))
	if word == "or" || word[0] == '|' {
		return orUnsupported(span)
	}
	e := Error{Code: "wrong_separator", Span: span}
	before := strings.TrimRight(text[:span.Offset], " \t\r\n")
	if comma {
		e.Suggestion, e.Fix = ",", &Edit{between(len(before), span.End()), ","}
		e.Message = fmt.Sprintf("conditions are separated by commas, not by %s; text that contains it needs quotes",
			quotation(word))
		return e
	}
	e.Fix = &Edit{between(len(before), span.End()), ""}
	e.Message = fmt.Sprintf("%s is not needed after a comma", quotation(word))
	return e
}

func grouped(text string, span Span) Error {
	lower := strings.ToLower(span.of(text))
	if strings.Contains(lower, " or ") || strings.Contains(lower, "||") {
		return orUnsupported(span)
	}
	return Error{Code: "grouping", Span: span,
		Message: "conditions are not grouped by brackets: all of them must hold, " +
			"and not is written before each condition that it negates"}
}

// found describes the text at a span for a message.
func found(text string, span Span) string {
	if span.Length == 0 {
		return "the end of the filter"
	}
	return quotation(span.of(text))
}

// quotation returns a part of the filter, truncated and in quotes, for use in a message.
func quotation(s string) string { return `"` + truncate(s) + `"` }

// truncate shortens s to at most 40 characters and marks the cut with an ellipsis.
func truncate(s string) string {
	const longest = 40
	if utf8.RuneCountInString(s) <= longest {
		return s
	}
	return string([]rune(s)[:longest-1]) + "…"
}
