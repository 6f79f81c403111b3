package query

import (
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/pattern"
)

// maxPrograms limits all patterns of a filter together, in instructions, and so the memory that one filter can use.
const maxPrograms = 4 * pattern.MaxProgram

// parsePattern parses a pattern of the filter, or records why it is refused and where it is in the filter's text.
func (b *binder) parsePattern(v filter.Value, fold bool, member string) (*pattern.Regex, []string, bool) {
	regex, exact, problem := pattern.Parse(v.Text, fold)
	if problem == nil {
		b.programs += regex.Size()
		if b.programs <= maxPrograms {
			return regex, exact, true
		}
		problem = pattern.Exceeded(v.Text, "the patterns of the filter together are too large once compiled")
	}
	span := v.Span
	if span.Length > 0 { // a filter that was not parsed has no text
		span = b.filter.Within(v, problem.Offset, problem.Offset+problem.Length)
	}
	b.fail(regexError(problem, span, member))
	return nil, nil, false
}
