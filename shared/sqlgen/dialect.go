package sqlgen

import "github.com/orrery/orrery/shared/query"

// dialect is where the engines' words differ. Every method is named for a meaning; everything they share (IN,
// BETWEEN, coalesce, TRY_CAST, lower, translate, window functions) is written once, elsewhere.
type dialect interface {
	// maxBytes is the longest statement the engine takes, 0 for no limit.
	maxBytes() int
	// maxExpressions is how many of that many expressions, of which some are negated, the engine takes beside one another.
	maxExpressions(expressions, negated int) int
	// quotient is a / b of integers, a not negative: the whole number of times.
	quotient(a, b fragment) fragment
	// whole is a sum of BIGINTs as a BIGINT.
	whole(sum fragment) fragment
	// countIf is how many records satisfy the condition.
	countIf(condition fragment) fragment
	// pattern is a regular expression in the engine's syntax, with a warning if it might overload the engine.
	pattern(r *query.Regex) (text, warning string)
	// foundAny is true when any of the patterns, of which there is at least one, is found in the text.
	foundAny(p *printer, text fragment, patterns []string) fragment
	// reads is true when the text reads as a number.
	reads(p *printer, text fragment) fragment
	// bytes is the length of the text in UTF-8.
	bytes(text fragment) fragment
	// anyElement is true when the condition on the element x holds for at least one; NULL or false if not.
	anyElement(list, condition fragment) fragment
	// overlaps is true when at least one element is one of the values; NULL or false if not.
	overlaps(list fragment, values []fragment) fragment
	// demands is true when for each of the tests some value at the term's source passes it; ok is false where the
	// engine is as well off with a condition for each.
	demands(p *printer, t query.Term, tests []query.Test) (all fragment, ok bool)
	// length is the number of elements, NULL for NULL.
	length(list fragment) fragment
	// last is the last element, NULL if there is none.
	last(list fragment) fragment
}
