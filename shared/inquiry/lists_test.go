package inquiry_test

import (
	"context"
	"errors"
	"testing"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/inquiry"
	"github.com/orrery/orrery/shared/query"
)

// withoutLists is a source that knows one list, of countries.
type withoutLists struct{}

func (withoutLists) Ask(_ context.Context, _ string, params map[string]string) ([]byte, error) {
	countries := query.NewListValues("1", []string{"Germany"})
	known := map[string]query.List{"ours": {Name: "ours", Version: 1, Values: countries}}
	_, err := query.BindSelection(filter.ParseQueryString(params["filters"]), query.WithLists(known))
	return nil, err
}

// TestPlacing: mistakes about lists are placed in the filter of the request, which need not be the one of the question.
func TestPlacing(t *testing.T) {
	const question = `human is true, country in @ours, ip in @ours, asn not in @none, path in @none`
	ask := func(filters string) ([]byte, error) {
		params := map[string]string{"filters": question}
		return inquiry.Placing(withoutLists{}, 0, filters).Ask(t.Context(), "timeline", params)
	}
	for _, c := range []struct {
		filter string
		want   []string // what the places have
	}{
		{`ip in @ours, country in @ours`, []string{"@ours"}},
		{`country in @ours`, nil},
		{`path in @none, method=GET, asn not in @none`, []string{"@none", "@none"}},
		{`asn in @other`, nil},
		{
			`{"AND":[{"field":"country","op":"in","list":"ours"},{"field":"ip","op":"in","list":"ours"}]}`,
			[]string{`"ours"`},
		},
	} {
		_, err := ask(c.filter)
		var wrong *query.FilterError
		if !errors.As(err, &wrong) {
			t.Fatalf("%s: error %v", c.filter, err)
		}
		if c.want == nil {
			if wrong.Text != question {
				t.Errorf("%s: the error is about %q", c.filter, wrong.Text)
			}
			continue
		}
		var got []string
		for _, e := range wrong.Errors {
			got = append(got, wrong.Text[e.Span.Offset:e.Span.End()])
		}
		if wrong.Text != c.filter || len(got) != len(c.want) || got[0] != c.want[0] {
			t.Errorf("%s: the error is about %q, at %q", c.filter, wrong.Text, got)
		}
	}
	_, err := ask(`{"AND":[{"field":"path","op":"in","list":"none"}]}`)
	var wrong *query.FilterError
	if !errors.As(err, &wrong) || wrong.Errors[0].Pointer != "/AND/0/list" {
		t.Errorf("error %v", err)
	}
}
