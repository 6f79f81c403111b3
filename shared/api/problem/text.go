package problem

import (
	"fmt"
	"strings"

	"github.com/orrery/orrery/shared/filter"
)

// Text returns the error as plain text. Mistakes of a filter are marked under its lines.
func (e Error) Text() []byte {
	var b strings.Builder
	if len(e.Errors) > 0 {
		if of := e.Errors[0].Parameter; of != "" {
			b.WriteString(of + ":\n")
		}
		drawn := make(filter.Errors, len(e.Errors))
		for i, m := range e.Errors {
			drawn[i] = filter.Error{
				Code:       m.Code,
				Message:    m.Message,
				Span:       filter.Span{Offset: m.Offset, Length: m.Length},
				Suggestion: m.Suggestion,
			}
		}
		b.WriteString(strings.TrimRight(filter.Draw(e.filter, drawn), "\n"))
		b.WriteByte('\n')
	} else {
		b.WriteString(e.Message + "\n")
	}
	if e.FixedFilter != "" {
		b.WriteString("\ncorrected:\n  " + e.FixedFilter + "\n")
	}
	if len(e.Errors) > 0 || len(e.Detail) == 1 && strings.Contains(e.Message, e.Detail[0].Msg) {
		e.Detail = nil // the same mistakes
	}
	for _, d := range e.Detail {
		fmt.Fprintf(&b, "  %s: %s\n", locText(d.Loc), d.Msg)
	}
	fmt.Fprintf(&b, "\nrequest id: %s\n", e.RequestID)
	return []byte(b.String())
}

func locText(loc []any) string {
	parts := make([]string, len(loc))
	for i, part := range loc {
		parts[i] = fmt.Sprint(part)
	}
	return strings.Join(parts, ".")
}
