package sqlgen

import (
	"github.com/orrery/orrery/shared/pattern"
	"github.com/orrery/orrery/shared/query"
)

// dialect is the SQL that differs between the engines. Every method is named for its meaning. Everything that the
// engines share (IN, BETWEEN, coalesce, TRY_CAST, lower, translate, window functions) is written once, elsewhere.
type dialect interface {
	// maxBytes returns the maximum length of a statement in bytes, 0 for no limit.
	maxBytes() int
	// maxExpressions returns how many of the given number of expressions fit in one statement. The number includes the
	// negated ones.
	maxExpressions(expressions, negated int) int
	// maxBranches returns the maximum number of branches of a CASE, 0 for no limit.
	maxBranches() int
	// quotient divides two integers and drops the remainder. a is not negative.
	quotient(a, b fragment) fragment
	// whole converts a sum of counts, which fits into a BIGINT, to a BIGINT.
	whole(sum fragment) fragment
	// total is the sum of a column, or 0 if it has no values. It has at least 126 bits, so it does not overflow.
	total(column fragment) fragment
	// limited converts a total, or a sum of totals, to the nearest BIGINT. It is not defined for NULL.
	limited(total fragment) fragment
	// countIf counts the records that satisfy the condition.
	countIf(condition fragment) fragment
	// pattern returns a regular expression in the engine's syntax, with a warning if it might overload the engine.
	pattern(r *pattern.Regex) (text, warning string)
	// foundAny is true if any of the patterns is found in the text. There is at least one pattern.
	foundAny(p *printer, text fragment, patterns []string) fragment
	// inList is true if the value is in the list of values, whose values the SQL does not have.
	inList(p *printer, value fragment, t query.InList) fragment
	// numeric is true if the text is a number.
	numeric(p *printer, text fragment) fragment
	// bytes is the length of the text in bytes of UTF-8.
	bytes(text fragment) fragment
	// sha256 is the SHA-256 of the text in lower-case hexadecimal digits.
	sha256(text fragment) fragment
	// anyElement is true if the condition on the element x holds for at least one element, otherwise NULL or false.
	anyElement(list, condition fragment) fragment
	// overlaps is true if at least one element is one of the values, otherwise NULL or false.
	overlaps(list fragment, values []fragment) fragment
	// demands is true if, for each of the tests, some value at the term's source passes it. ok is false if the engine
	// gains nothing over a condition for each test.
	demands(p *printer, t query.Term, tests []query.Test) (all fragment, ok bool)
	// length is the number of elements, or NULL for a NULL list.
	length(list fragment) fragment
	// last is the last element, or NULL if there is none.
	last(list fragment) fragment
	// filtered returns the elements x for which the condition holds.
	filtered(list, condition fragment) fragment
	// mapped returns the list of the values of an expression on each element x.
	mapped(list, value fragment) fragment
	// spaced joins the elements, which are texts, by spaces.
	spaced(list fragment) fragment
	// withElement returns the list, or an empty one if it is NULL, with one more element. NULL may be left out.
	withElement(list, value fragment) fragment
	// different returns each of the elements, which are texts, once. Whether NULL is among them depends on the engine.
	different(list fragment) fragment
	// orNull returns the list, or a list with only the element NULL if it is empty or NULL.
	orNull(list fragment) fragment
	// gathered is an aggregate of integers. atRank picks percentiles from its result. NULL does not count.
	gathered(rounded fragment) fragment
	// atRank picks the percentile number i of query.Percents, by nearest rank and with integers only. count is the
	// number of integers. If it is 0, the result is NULL.
	atRank(gathered, count fragment, i int) fragment
	// commonest is an aggregate: the most frequent text, of several the first, or NULL if there is none.
	commonest(text fragment) fragment
}
