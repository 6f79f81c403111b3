package filter

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The functions below make the mistakes of the JSON form: first mistakes in the syntax of JSON, then mistakes in the
// content.

func notJSON(span Span) Error {
	return Error{Code: "not_json", Span: span, Message: `the JSON form begins with { or [, as in {"AND":[…]}`}
}

func listAndValue(name Word) Error {
	return Error{Code: "list_and_value", Span: name.Span,
		Message: `a condition has either value or list, the name of a list of values`}
}

func listOperator(name Word, op Op) Error {
	return Error{Code: "list_operator", Span: name.Span, Expected: []string{"in", "not in"},
		Message: fmt.Sprintf("operator %s takes value; only in takes list, the name of a list of values", op)}
}

func listNameMark(span Span, name string) Error {
	return Error{Code: "wrong_list_name", Span: span, Suggestion: name, Fix: &Edit{span, jsonString(name)},
		Message: fmt.Sprintf("the name of a list of values has no @ here: %s", quotation(name))}
}

func jsonError(span Span, message string, args ...any) Error {
	return Error{Code: "json_syntax", Span: span, Message: fmt.Sprintf(message, args...)}
}

// withFix returns e with the correction that replaces span by text.
func (e Error) withFix(span Span, text string) Error {
	e.Fix = &Edit{span, text}
	return e
}

func jsonComma(span Span) Error {
	return Error{Code: "extra_comma", Span: span, Fix: &Edit{span, ""},
		Message: "this comma separates nothing"}
}

func jsonMissingComma(text string, at int) Error {
	return Error{Code: "missing_comma", Span: characterAt(text, at), Fix: &Edit{Span{at, 0}, ","},
		Message: "a comma is missing here"}
}

func jsonSemicolon(span Span) Error {
	return jsonError(span, "JSON uses commas as separators, not semicolons").withFix(span, ",")
}

// jsonExpected reports that the character at an offset is not what the syntax of JSON requires there.
func jsonExpected(text string, at int, expected string) Error {
	span := characterAt(text, at)
	return jsonError(span, "expected %s; found %s", expected, quotation(span.of(text)))
}

func jsonAfterEnd(text string, at int) Error {
	return jsonExpected(text, at, "the end of the filter")
}

func jsonUnexpected(text string, at int) Error {
	return jsonExpected(text, at, "a comma or a closing bracket")
}

func jsonExpectedValue(text string, at int) Error {
	return jsonExpected(text, at, "a value")
}

func jsonExpectedName(text string, at int) Error {
	return jsonExpected(text, at, "the name of a member in quotes")
}

func jsonTooDeep(span Span) Error {
	return Error{Code: "too_deep", Span: span,
		Message: fmt.Sprintf("brackets are nested more than %d levels deep here", MaxDepth)}
}

func jsonUnclosed(text string, closers []byte) Error {
	var missing strings.Builder
	for i := len(closers) - 1; i >= 0; i-- {
		missing.WriteByte(closers[i])
	}
	end := Span{len(strings.TrimRight(text, " \t\r\n")), 0}
	return jsonError(end, "the filter ends too early; %s is missing", missing.String()).withFix(end, missing.String())
}

func jsonMissingCloser(at int, closer byte) Error {
	return jsonError(Span{at, 1}, "%c is missing before this bracket", closer).withFix(Span{at, 0}, string(closer))
}

func jsonWrongCloser(span Span, closer byte) Error {
	return jsonError(span, "the closing bracket here must be %c", closer).withFix(span, string(closer))
}

func jsonEquals(span Span) Error {
	return jsonError(span, "a member's name and value are separated by a colon").withFix(span, ":")
}

func jsonMissingColon(text string, at int) Error {
	return jsonError(characterAt(text, at), "a colon is missing before the value").withFix(Span{at, 0}, ":")
}

func jsonNoValue(name Word) Error {
	return Error{Code: "missing_value", Span: name.Span,
		Message: fmt.Sprintf("member %s has no value", quotation(name.Text))}
}

func jsonUnquotedName(text string, span Span) Error {
	return jsonError(span, "the name of a member needs quotes").withFix(span, jsonString(span.of(text)))
}

func jsonUnquotedText(text string, span Span) Error {
	return jsonError(span, "text needs quotes: %s", truncate(jsonString(text))).withFix(span, jsonString(text))
}

func jsonUnclosedString(text string, at int) Error {
	return Error{Code: "unclosed_string", Span: characterAt(text, at), Message: "this quote is never closed"}
}

func jsonEscape(text string, span Span) Error {
	escape := span.of(text)
	e := Error{Code: "bad_escape", Span: span, Message: fmt.Sprintf(`JSON has no escape %s`, escape)}
	switch {
	case strings.HasPrefix(escape, `\u`) && len(escape) == 6:
		e.Message = escape + " is half of a surrogate pair: a character beyond U+FFFF takes two escapes, or none"
	case strings.HasPrefix(escape, `\u`):
		e.Message = `\u takes four hexadecimal digits`
	default:
		e.Message += `; a backslash is written \\`
		e.Fix = &Edit{span, `\` + escape}
	}
	return e
}

func jsonControl(span Span, c byte) Error {
	if c == 0 {
		return nulCharacter(span)
	}
	escape := strings.Trim(jsonString(string(rune(c))), `"`)
	const message = "a JSON string cannot contain line breaks or other control characters; write %s"
	return jsonError(span, message, escape).withFix(span, escape)
}

// jsonNumber reports text that is not a JSON number. It suggests the number meant, or, if that is "", corrects the
// text by quotes.
func jsonNumber(text string, span Span, meant string) Error {
	e := Error{Code: "bad_number", Span: span, Message: fmt.Sprintf("%s is not a JSON number", quotation(text))}
	if meant == "" {
		e.Message += "; text and times need quotes"
		e.Fix = &Edit{span, jsonString(text)}
		return e
	}
	e.Message += "; did you mean " + truncate(meant) + "?"
	e.Suggestion, e.Fix = meant, &Edit{span, meant}
	return e
}

func jsonLiteral(text string, span Span, meant string) Error {
	e := jsonError(span, "in JSON write %s, not %s", meant, text).withFix(span, meant)
	e.Suggestion = meant
	return e
}

func expectedCondition(text string, span Span) Error {
	return Error{Code: "expected_condition", Span: span,
		Message: "a condition is an object with field, op and value, as in " +
			`{"field":"status","op":"eq","value":404}; found ` + quotation(span.of(text))}
}

func expectedConditions(text string, span Span) Error {
	return Error{Code: "expected_condition", Span: span,
		Message: fmt.Sprintf("AND takes an array of conditions; found %s", quotation(span.of(text)))}
}

func andWithoutArray(text string, span Span) Error {
	return Error{Code: "expected_condition", Span: span, Fix: &Edit{span, "[" + span.of(text) + "]"},
		Message: "AND takes an array of conditions, even for a single one"}
}

func wrongGroup(name Word, meant string) Error {
	return Error{Code: "unknown_member", Span: name.Span, Suggestion: meant, Fix: &Edit{name.Span, meant},
		Message: fmt.Sprintf("unknown member %s; did you mean %s?", quotation(name.Text), quotation(meant))}
}

func mixedGroup(span Span) Error {
	return Error{Code: "mixed_group", Span: span,
		Message: "an object is one condition, or it has AND or NOT as its only member; combine them in one AND array"}
}

func notSeveral(span Span) Error {
	return Error{Code: "not_several", Span: span,
		Message: "NOT over several conditions would be an OR, which is not part of this API; " +
			"negate one condition at a time, with NOT or with not before its op"}
}

func notNothing(span Span) Error {
	return Error{Code: "expected_condition", Span: span, Message: "NOT takes one condition"}
}

func missingMembers(span Span, missing []string) Error {
	return Error{Code: "missing_member", Span: span, Expected: missing,
		Message: "the condition has no " + strings.Join(missing, " and no ")}
}

func repeatedMember(name Word) Error {
	return Error{Code: "repeated_member", Span: name.Span,
		Message: fmt.Sprintf("member %s appears twice in this object", quotation(name.Text))}
}

func unknownMember(name Word, meant string) Error {
	e := Error{Code: "unknown_member", Span: name.Span, Expected: memberNames,
		Message: fmt.Sprintf("unknown member %s; a condition has field, key, op and value", quotation(name.Text))}
	if meant != "" {
		e.Message = fmt.Sprintf("unknown member %s; did you mean %s?", quotation(name.Text), quotation(meant))
		e.Suggestion, e.Fix = meant, &Edit{name.Span, meant}
	}
	return e
}

// jsonDottedField reports a field written as field.member. key is nil if the condition also has a member key.
func jsonDottedField(span Span, field string, key *Key) Error {
	if key == nil {
		return Error{Code: "dotted_field", Span: span,
			Message: "a member is named by key alone, not by field as well"}
	}
	meant := MemberText(JSON, field, key.Text)
	e := Error{Code: "dotted_field", Span: span, Suggestion: `"field":"` + meant + `"`, Fix: &Edit{span, meant}}
	e.Message = "a member is named by key: " + truncate(e.Suggestion)
	return e
}

func wrongField(span Span, name string) Error {
	return Error{Code: "expected_field", Span: span,
		Message: fmt.Sprintf("%s is not the name of a field: a name consists of letters, digits and _",
			quotation(name))}
}

func wrongJSONOperator(op string, span Span, meant string) Error {
	e := Error{Code: "unknown_operator", Span: span, Expected: jsonOperatorNames, Suggestion: meant,
		Message: fmt.Sprintf("unknown operator %s; the operators are %s, each also with not before it",
			quotation(op), strings.Join(jsonOperatorNames, ", "))}
	if meant != "" {
		e.Message = fmt.Sprintf("unknown operator %s; did you mean %s?", quotation(op), quotation(meant))
		e.Fix = &Edit{span, meant}
	}
	return e
}

func wrongMemberType(text string, m *member) Error {
	span := m.value.span
	return Error{Code: "wrong_type", Span: span,
		Message: fmt.Sprintf("%s must be a text in quotes, not %s", m.name.Text, quotation(span.of(text)))}
}

func numberKey(n node) Error {
	return Error{Code: "wrong_type", Span: n.span, Fix: &Edit{n.span, jsonString(n.text)},
		Message: "key must be a text in quotes, even if it is a number"}
}

func wrongValueType(text string, span Span) Error {
	return Error{Code: "wrong_type", Span: span,
		Message: fmt.Sprintf("a value is a text, a number, true or false, or an array of these; found %s",
			quotation(span.of(text)))}
}

func betweenTwo(span Span) Error {
	return Error{Code: "wrong_between", Span: span, Message: "between takes an array of two values"}
}

func inOneJSON(text string, span Span) Error {
	return Error{Code: "expected_list", Span: span, Fix: &Edit{span, "[" + span.of(text) + "]"},
		Message: "in takes an array of values"}
}

func oneValue(op Op, span Span) Error {
	return Error{Code: "expected_one", Span: span, Message: fmt.Sprintf("%s takes one value, not a list", op)}
}

// characterAt returns the span of the character at an offset. At the end of the text the span is empty.
func characterAt(text string, at int) Span {
	_, size := utf8.DecodeRuneInString(text[at:])
	return Span{at, size}
}
