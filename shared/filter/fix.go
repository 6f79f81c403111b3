package filter

import (
	"cmp"
	"slices"
	"strings"
)

// Fixed returns text with the corrections of all mistakes applied. text is the text in which the mistakes were
// found. ok is false if a mistake has no correction or if two corrections overlap. The result may still contain
// mistakes that could not be found before.
func (e Errors) Fixed(text string) (fixed string, ok bool) {
	edits := make([]Edit, 0, len(e))
	for _, one := range e {
		if one.Fix == nil {
			return "", false
		}
		edits = append(edits, *one.Fix)
	}
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Compare(a.Span.Offset, b.Span.Offset) })
	edits = slices.Compact(edits)
	var b strings.Builder
	at := 0
	for _, edit := range edits {
		if edit.Span.Offset < at || edit.Span.End() > len(text) {
			return "", false
		}
		b.WriteString(text[at:edit.Span.Offset])
		b.WriteString(edit.Text)
		at = edit.Span.End()
	}
	b.WriteString(text[at:])
	return b.String(), len(edits) > 0
}
