package inquiry

import (
	"context"
	"errors"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
)

// Placing returns a source whose errors about lists of values are at the places in the filter of the request that
// ListsOf finds.
func Placing(from Source, syntax filter.Syntax, filters string) Source {
	return placing{from, syntax, filters}
}

type placing struct {
	from    Source
	syntax  filter.Syntax
	filters string
}

func (p placing) Ask(ctx context.Context, route string, params map[string]string) ([]byte, error) {
	body, err := p.from.Ask(ctx, route, params)
	if err == nil {
		return body, nil
	}
	if wrong := ListsOf(err, p.syntax.Parse(p.filters)); wrong != nil {
		return nil, wrong
	}
	return nil, err
}

// ListsOf finds the mistakes about lists of values in the error of a question, and returns those that a filter of the
// request makes too, at their places in that filter. The places in the error are those in the question, which has the
// filter's conditions in canonical form and others beside them. ListsOf returns nil if there are none.
func ListsOf(err error, f filter.Filter) *query.FilterError {
	var wrong *query.FilterError
	if !errors.As(err, &wrong) {
		return nil
	}
	mistakes := map[listUse]filter.Error{}
	for use, at := range listUses(filter.ParseQueryString(wrong.Text)) {
		for _, e := range wrong.Errors {
			if e.Span == at[0].Span {
				mistakes[use] = e
			}
		}
	}
	var placed filter.Errors
	for use, at := range listUses(f) {
		e, made := mistakes[use]
		for _, place := range at {
			if made {
				e.Span, e.Pointer = place.Span, place.Pointer
				placed = append(placed, e)
			}
		}
	}
	if len(placed) == 0 {
		return nil
	}
	return &query.FilterError{Text: f.Text, Errors: placed.Sorted()}
}

// listUse is a field that is compared with a list of values, which decides whether the list is right.
type listUse struct{ field, list string }

type listPlace struct {
	filter.Span
	Pointer string // in the JSON form
}

// listUses returns the places of the names of lists in a filter.
func listUses(f filter.Filter) map[listUse][]listPlace {
	uses := map[listUse][]listPlace{}
	for _, c := range f.Conditions {
		if name := c.Values; len(name) == 1 && name[0].Kind == filter.ListName {
			place := listPlace{Span: name[0].Span}
			if c.Pointer != "" {
				place.Pointer = c.Pointer + "/list"
			}
			use := listUse{c.Field.Text, name[0].Text}
			uses[use] = append(uses[use], place)
		}
	}
	return uses
}
