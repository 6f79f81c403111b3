package query

import (
	"slices"
	"strconv"
	"strings"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
)

// fail records a mistake in the current condition.
func (b *binder) fail(e filter.Error) {
	if e.Pointer != "field" && e.Pointer != "" && b.addToParserError(e) {
		return
	}
	if b.filter.Syntax == filter.JSON && b.pointer != "" {
		e.Pointer = strings.TrimSuffix(b.pointer+"/"+e.Pointer, "/")
	} else {
		e.Pointer = ""
	}
	b.problems = append(b.problems, e)
}

// addToParserError adds a mistake to the parser's error about the same key, operator or value, if there is one. It
// removes the parser's suggestion, which would not correct the mistake.
func (b *binder) addToParserError(e filter.Error) bool {
	i := slices.IndexFunc(b.problems, func(p filter.Error) bool { return p.Span == e.Span && p.Span.Length > 0 })
	if i < 0 || i >= b.parserProblems {
		return false
	}
	p := &b.problems[i]
	what, _, _ := strings.Cut(p.Message, "; did you mean")
	p.Message = what + "; " + e.Message
	p.Expected, p.Suggestion, p.Fix = e.Expected, "", nil
	return true
}

// mergeDotted combines the parser's error about the notation field.member with the binder's error e about that field
// or member, because both are about the same text.
func (b *binder) mergeDotted(c *filter.Condition, e filter.Error) filter.Error {
	if c.Key == nil || !c.Key.Dotted {
		return e
	}
	whole := filter.Span{Offset: c.Field.Span.Offset, Length: c.Key.Span.End() - c.Field.Span.Offset}
	isDotted := func(p filter.Error) bool { return p.Code == "dotted_field" && p.Span == whole }
	if i := slices.IndexFunc(b.problems[:b.parserProblems], isDotted); i >= 0 {
		b.problems = slices.Delete(b.problems, i, i+1)
		b.parserProblems--
		b.problemsBefore-- // so that the binder still reports as many mistakes of its own
	}
	e.Span, e.Pointer, e.Fix = whole, "field", nil
	field, member := c.Field.Text, c.Key.Text
	switch e.Code {
	case codeUnknownField:
		field = e.Suggestion
	case codeUnknownKey:
		member = e.Suggestion
	}
	if found, ok := catalog.Lookup(field); ok && found.Keys != catalog.NoKey && member != "" {
		text := filter.MemberText(b.filter.Syntax, field, member)
		was := e.Suggestion
		e.Suggestion, e.Fix = text, &filter.Edit{Span: whole, Text: text}
		if b.filter.Syntax == filter.JSON {
			e.Suggestion = `"field":"` + text + `"`
		}
		e.Message = strings.Replace(e.Message, strconv.Quote(was), e.Suggestion, 1)
	}
	return e
}

// failure returns the error of a filter with mistakes. rebind binds a corrected filter without correcting it again.
func (b *binder) failure(rebind func(fixed filter.Filter) error) *FilterError {
	return &FilterError{Text: b.filter.Text, Errors: b.problems.Sorted(), Fixed: b.fixed(rebind)}
}

// fixed returns the filter with every mistake corrected, or "". It returns only a text that binds, because a
// correction that leads to the next mistake does not help.
func (b *binder) fixed(rebind func(fixed filter.Filter) error) string {
	if b.noFix || len(b.problems) > filter.MaxErrors {
		return ""
	}
	text := b.filter.Text
	isMisplacedPeriod := func(e filter.Error) bool { return e.Code == codePeriodNotFirst }
	fixable := slices.DeleteFunc(slices.Clone(b.problems), isMisplacedPeriod)
	if len(fixable) > 0 {
		var ok bool
		if text, ok = fixable.Fixed(text); !ok {
			return ""
		}
	}
	f := parseAs(b.filter.Syntax, text)
	if b.periodMisplaced {
		if len(f.Problems) > 0 {
			return "" // printing the filter would lose the part that the parser did not read
		}
		f = periodFirst(f)
		text = filter.FormatJSON(f)
		f = filter.ParseJSON(text)
	}
	if rebind(f) != nil {
		return ""
	}
	return text
}

func parseAs(syntax filter.Syntax, text string) filter.Filter {
	if syntax == filter.JSON {
		return filter.ParseJSON(text)
	}
	return filter.ParseQueryString(text)
}

// withoutFix is an Option that keeps Bind from correcting the filter: it is itself a correction.
func withoutFix(b *binder) { b.noFix = true }

// periodFirst returns the filter with the period moved to the front.
func periodFirst(f filter.Filter) filter.Filter {
	at := periodIndex(f.Conditions)
	if at < 0 {
		return f
	}
	moved := slices.Clone(f.Conditions)
	period := moved[at]
	copy(moved[1:at+1], f.Conditions[:at])
	moved[0] = period
	f.Conditions = moved
	return f
}
