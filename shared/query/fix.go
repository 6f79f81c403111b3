package query

import (
	"slices"
	"strconv"
	"strings"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
)

// fail records a mistake in the condition at hand.
func (b *binder) fail(e filter.Error) {
	if e.Pointer != "field" && e.Pointer != "" && b.amend(e) {
		return
	}
	if b.filter.Form == filter.JSON && b.pointer != "" {
		e.Pointer = strings.TrimSuffix(b.pointer+"/"+e.Pointer, "/")
	} else {
		e.Pointer = ""
	}
	b.problems = append(b.problems, e)
}

// amend adds a mistake to the parser's own about the same key, operator or value, if there is one: what the parser
// took it for is no correction then.
func (b *binder) amend(e filter.Error) bool {
	i := slices.IndexFunc(b.problems, func(p filter.Error) bool { return p.Span == e.Span && p.Span.Length > 0 })
	if i < 0 || i >= b.parsed {
		return false
	}
	p := &b.problems[i]
	what, _, _ := strings.Cut(p.Message, "; did you mean")
	p.Message = what + "; " + e.Message
	p.Expected, p.Suggestion, p.Fix = e.Expected, "", nil
	return true
}

// undot makes one mistake of field.member and of what the catalogue says of its field or member: both are
// about the same text.
func (b *binder) undot(c *filter.Condition, e filter.Error) filter.Error {
	if c.Key == nil || !c.Key.Dotted {
		return e
	}
	whole := filter.Span{Offset: c.Field.Span.Offset, Length: c.Key.Span.End() - c.Field.Span.Offset}
	if i := slices.IndexFunc(b.problems[:b.parsed], func(p filter.Error) bool { return p.Code == "dotted_field" && p.Span == whole }); i >= 0 {
		b.problems = slices.Delete(b.problems, i, i+1)
		b.parsed--
		b.before-- // so that as many of the binder's own mistakes are reported
	}
	e.Span, e.Pointer, e.Fix = whole, "field", nil
	field, member := c.Field.Text, c.Key.Text
	switch e.Code {
	case codeUnknownField:
		field = e.Suggestion
	case codeUnknownKey:
		member = e.Suggestion
	}
	if meant, ok := catalog.Lookup(field); ok && meant.Keys != catalog.NoKey && member != "" {
		text := filter.MemberText(b.filter.Form, field, member)
		was := e.Suggestion
		e.Suggestion, e.Fix = text, &filter.Edit{Span: whole, Text: text}
		if b.filter.Form == filter.JSON {
			e.Suggestion = `"field":"` + text + `"`
		}
		e.Message = strings.Replace(e.Message, strconv.Quote(was), e.Suggestion, 1)
	}
	return e
}

// failure is the error of a filter with mistakes.
func (b *binder) failure(shape Shape, opts []Option) *FilterError {
	return &FilterError{Text: b.filter.Text, Errors: b.problems.Sorted(), Fixed: b.fixed(shape, opts)}
}

// fixed is the filter with every mistake corrected, or "". It is offered only if it binds: a correction that
// leads to the next mistake is no help.
func (b *binder) fixed(shape Shape, opts []Option) string {
	if b.fixing || len(b.problems) > filter.MaxErrors {
		return ""
	}
	text := b.filter.Text
	mendable := slices.DeleteFunc(slices.Clone(b.problems), func(e filter.Error) bool { return e.Code == codePeriodNotFirst })
	if len(mendable) > 0 {
		var ok bool
		if text, ok = mendable.Fixed(text); !ok {
			return ""
		}
	}
	f := parseAs(b.filter.Form, text)
	if b.misplaced {
		if len(f.Problems) > 0 {
			return "" // printing it anew would lose what could not be read
		}
		f = periodFirst(f)
		text = filter.FormatJSON(f)
		f = filter.ParseJSON(text)
	}
	if _, err := Bind(f, shape, append(slices.Clone(opts), whileFixing)...); err != nil {
		return ""
	}
	return text
}

func parseAs(form filter.Form, text string) filter.Filter {
	if form == filter.JSON {
		return filter.ParseJSON(text)
	}
	return filter.ParseQueryString(text)
}

// whileFixing keeps the trial binding of a corrected filter from correcting in turn.
func whileFixing(b *binder) { b.fixing = true }

// periodFirst moves the period to the front.
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
