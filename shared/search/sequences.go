package search

import (
	"encoding/json"
	"fmt"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
)

// SequencesOf says which sequences a question is about; the parameter of has it in JSON.
type SequencesOf struct {
	Key  []string `json:"key,omitempty"`  // fields
	With []string `json:"with,omitempty"` // fields of the further values
	Also []string `json:"also,omitempty"` // likewise, of query.Sequences.Also
	Of   []string `json:"of,omitempty"`   // conditions of the selections
	Over int64    `json:"over,omitempty"` // only keys with more requests

	// AnyOf is further conditions of the first selections: of each list of a selection, one must hold.
	AnyOf [][][]string `json:"any_of,omitempty"`
}

// Text returns the value of the parameter of.
func (s SequencesOf) Text() string {
	text, err := json.Marshal(s)
	if err != nil {
		panic("search: encode sequences: " + err.Error()) // texts can always be encoded
	}
	return string(text)
}

// Bind returns the shape. The error is a *ParamError or a *query.FilterError.
func (s SequencesOf) Bind(opts ...query.Option) (query.Sequences, error) {
	shape := query.Sequences{Over: s.Over}
	for _, list := range []struct {
		names []string
		most  int
		into  *[]query.Dimension
	}{{s.Key, query.MaxKeyParts, &shape.Key}, {s.With, query.MaxWith, &shape.With}, {s.Also, query.MaxAlso, &shape.Also}} {
		if len(list.names) > list.most {
			return shape, &ParamError{Param: "by", Message: fmt.Sprintf("%d fields are more than %d", len(list.names), list.most)}
		}
		for _, name := range list.names {
			found, err := dimensionsOf("by", name)
			if err != nil {
				return shape, err
			}
			if len(found) != 1 || !found[0].AsOne().Single() {
				return shape, &ParamError{
					Param: "by", Message: name + " can have several values in a request; use a field with one, such as ip, session " +
						`or path, or a header, cookie or argument by its name, such as headers["x-api-key"]`,
				}
			}
			*list.into = append(*list.into, found[0].AsOne())
		}
	}
	for i, text := range s.Of {
		selection, err := query.BindSelection(filter.ParseQueryString(text), opts...)
		if err != nil {
			return shape, err
		}
		if i < len(s.AnyOf) {
			alternatives, err := bindAnyOf(s.AnyOf[i], opts...)
			if err != nil {
				return shape, err
			}
			selection.Conditions = append(selection.Conditions, alternatives...)
		}
		shape.Of = append(shape.Of, selection)
	}
	return shape, nil
}

// AnyOfText returns the value of the parameter any_of for lists of filters, or "" for none.
func AnyOfText(lists [][]string) string {
	if len(lists) == 0 {
		return ""
	}
	text, err := json.Marshal(lists)
	if err != nil {
		panic("search: encode filters: " + err.Error()) // texts can always be encoded
	}
	return string(text)
}

// BindAnyOf returns a condition for each list of the parameter any_of. The error is a *ParamError or a *query.FilterError.
func BindAnyOf(text string, opts ...query.Option) ([]query.Condition, error) {
	return bindAnyOf(readAnyOf(text), opts...)
}

// bindAnyOf returns a condition for each list.
func bindAnyOf(lists [][]string, opts ...query.Option) ([]query.Condition, error) {
	var conditions []query.Condition
	for _, list := range lists {
		filters := make([]filter.Filter, len(list))
		for i, one := range list {
			filters[i] = filter.ParseQueryString(one)
		}
		c, err := query.BindAnyOf(filters, opts...)
		if err != nil {
			return nil, err
		}
		conditions = append(conditions, c)
	}
	return conditions, nil
}

// readAnyOf reads the text of AnyOfText.
func readAnyOf(text string) (lists [][]string) {
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), &lists); err != nil {
		panic("search: read filters: " + err.Error()) // only AnyOfText writes it
	}
	return lists
}

func (r Request) sequences() (query.Shape, error) {
	var of SequencesOf
	if err := json.Unmarshal([]byte(r.Of), &of); err != nil {
		return nil, &ParamError{Param: "of", Message: "it does not say which sequences are meant: " + err.Error()}
	}
	return of.Bind(r.listOptions()...)
}
