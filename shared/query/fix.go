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
