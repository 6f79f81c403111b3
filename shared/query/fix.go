package query

import (
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/filter"
)

// fail records a mistake in the condition at hand.
func (b *binder) fail(e filter.Error) {
	if b.filter.Form == filter.JSON && b.pointer != "" {
		e.Pointer = strings.TrimSuffix(b.pointer+"/"+e.Pointer, "/")
	} else {
		e.Pointer = ""
	}
	b.problems = append(b.problems, e)
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
	text, ok := applyFixes(b.filter.Text, b.problems)
	if !ok {
		return ""
	}
	f := filter.Parse(text)
	if f.Form != b.filter.Form {
		f = filter.ParseQueryString(text)
	}
	if b.misplaced {
		f = periodFirst(f)
		text = filter.FormatJSON(f)
		f = filter.ParseJSON(text)
	}
	if _, err := Bind(f, shape, append(slices.Clone(opts), whileFixing)...); err != nil {
		return ""
	}
	return text
}

// whileFixing keeps the trial binding of a corrected filter from correcting in turn.
func whileFixing(b *binder) { b.fixing = true }

// applyFixes makes every correction at once; ok is false when a mistake has none or two overlap.
func applyFixes(text string, problems filter.Errors) (fixed string, ok bool) {
	edits := make([]filter.Edit, 0, len(problems))
	for _, e := range problems {
		switch {
		case e.Code == codePeriodNotFirst:
		case e.Fix == nil:
			return "", false
		case !slices.Contains(edits, *e.Fix):
			edits = append(edits, *e.Fix)
		}
	}
	slices.SortStableFunc(edits, func(a, b filter.Edit) int { return a.Span.Offset - b.Span.Offset })
	var out strings.Builder
	at := 0
	for _, edit := range edits {
		if edit.Span.Offset < at || edit.Span.End() > len(text) {
			return "", false
		}
		out.WriteString(text[at:edit.Span.Offset])
		out.WriteString(edit.Text)
		at = edit.Span.End()
	}
	out.WriteString(text[at:])
	return out.String(), true
}

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
