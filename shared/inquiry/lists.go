package inquiry

import (
	"errors"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
)

// ListsOf finds the mistakes about lists of values in the error of a question, and returns those about lists that a filter
// of the request names, at their places in that filter. The places in the error are those in the question, which has the
// filter's conditions in canonical form and others beside them. It returns nil if there are none. bind binds the filter
// with an option.
func ListsOf(err error, bind func(query.Option) error) *query.FilterError {
	var wrong, named *query.FilterError
	if !errors.As(err, &wrong) || !errors.As(bind(query.WithLists(nil)), &named) { // without lists, every name is a mistake
		return nil
	}
	var mistakes filter.Errors
	for _, place := range named.Errors {
		i := slices.IndexFunc(wrong.Errors, func(e filter.Error) bool {
			return textOf(wrong.Text, e.Span) == textOf(named.Text, place.Span)
		})
		if i < 0 {
			continue
		}
		place.Code, place.Message = wrong.Errors[i].Code, wrong.Errors[i].Message
		mistakes = append(mistakes, place)
	}
	if len(mistakes) == 0 {
		return nil
	}
	return &query.FilterError{Text: named.Text, Errors: mistakes}
}

// textOf returns the name of a list that a filter has at a place.
func textOf(text string, at filter.Span) string {
	if at.Offset < 0 || at.End() > len(text) {
		return ""
	}
	return strings.Trim(text[at.Offset:at.End()], `@"`)
}
