package search

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-faster/jx"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
)

// SequencesOf says which sequences a question is about; the parameter of has it in JSON.
type SequencesOf struct {
	Key  []string `json:"key,omitempty"`  // fields
	With []string `json:"with,omitempty"` // fields of the further values
	Of   []string `json:"of,omitempty"`   // conditions of the selections
	Over int64    `json:"over,omitempty"` // only keys with more requests
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
	}{{s.Key, query.MaxKeyParts, &shape.Key}, {s.With, query.MaxWith, &shape.With}} {
		if len(list.names) > list.most {
			return shape, &ParamError{Param: "by", Message: fmt.Sprintf("%d fields are more than %d", len(list.names), list.most)}
		}
		for _, name := range list.names {
			found, err := dimensionsOf("by", name)
			if err != nil {
				return shape, err
			}
			if len(found) != 1 || !found[0].Single() {
				return shape, &ParamError{
					Param: "by", Message: name + " can have several values in a request; use a field with one, such as ip, session or path",
				}
			}
			*list.into = append(*list.into, found[0])
		}
	}
	for _, text := range s.Of {
		selection, err := query.BindSelection(filter.ParseQueryString(text), opts...)
		if err != nil {
			return shape, err
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
	var conditions []query.Condition
	for _, list := range readAnyOf(text) {
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

// SequencesResult is the result of sequences in JSON: an object with the values and, for each sequence, its key and the
// times, selections and further values of its requests.
type SequencesResult struct {
	Answer query.SequencesAnswer
	With   int // further values of each request
}

// MarshalJSON writes each time as nanoseconds after the one before.
func (r SequencesResult) MarshalJSON() ([]byte, error) {
	values, err := json.Marshal(r.Answer.Values)
	if err != nil {
		return nil, err
	}
	out := append(append([]byte(`{"values":`), values...), `,"sequences":[`...)
	for i, s := range r.Answer.Sequences {
		if i > 0 {
			out = append(out, ',')
		}
		key, err := json.Marshal(s.Key)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, `{"key":`...), key...), `,"requests":[`...)
		before := int64(0)
		for j, request := range s.Requests {
			if j > 0 {
				out = append(out, ',')
			}
			out = strconv.AppendInt(out, request.TsNs-before, 10)
			before = request.TsNs
			out = strconv.AppendInt(append(out, ','), int64(request.Selected), 10)
			for _, value := range request.With[:r.With] {
				out = strconv.AppendInt(append(out, ','), int64(value), 10)
			}
		}
		out = append(out, "]}"...)
	}
	return append(out, "]}"...), nil
}

// ReadSequences reads the results of sequences with so many further values. There are none in the answer of a dry run.
func ReadSequences(results []byte, with int) (query.SequencesAnswer, error) {
	var a query.SequencesAnswer
	d := jx.DecodeBytes(results)
	if d.Next() == jx.Null {
		return a, nil
	}
	err := d.Arr(func(d *jx.Decoder) error {
		return d.ObjBytes(func(d *jx.Decoder, name []byte) error {
			if string(name) == "values" {
				return readTexts(d, &a.Values)
			}
			return d.Arr(func(d *jx.Decoder) error {
				s, err := readSequence(d, with)
				a.Sequences = append(a.Sequences, s)
				return err
			})
		})
	})
	return a, err
}

func readSequence(d *jx.Decoder, with int) (s query.Sequence, err error) {
	return s, d.ObjBytes(func(d *jx.Decoder, name []byte) error {
		if string(name) == "key" {
			return readTexts(d, &s.Key)
		}
		at, before, request := 0, int64(0), query.SequenceRequest{}
		return d.Arr(func(d *jx.Decoder) error {
			n, err := d.Int64()
			switch at {
			case 0:
				before += n
				request = query.SequenceRequest{TsNs: before, With: query.NoValues}
			case 1:
				request.Selected = uint32(n)
			default:
				request.With[at-2] = int32(n)
			}
			if at++; at == 2+with {
				s.Requests, at = append(s.Requests, request), 0
			}
			return err
		})
	})
}

// readTexts reads a list of texts, which may be null.
func readTexts(d *jx.Decoder, into *[]string) error {
	if d.Next() == jx.Null {
		return d.Null()
	}
	return d.Arr(func(d *jx.Decoder) error {
		text, err := d.Str()
		*into = append(*into, strings.Clone(text))
		return err
	})
}
