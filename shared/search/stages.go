package search

import (
	"context"
	"fmt"
	"strings"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
)

// Stage is the result of one step of the read path, as text.
type Stage struct{ Name, Text string }

// Stages returns the results of every step from a request's text to the bound query that an engine runs. The names of
// the stages are tokens, conditions, query, canonical and canonical.json.
//
// The error is the one that Search returns before it runs the query.
func Stages(ctx context.Context, r Request) (query.Query, []Stage, error) {
	f := r.Syntax.Parse(r.Filters)
	q, err := bindFilter(ctx, r, f)
	if err != nil {
		return query.Query{}, nil, err
	}
	return q, []Stage{
		{"tokens", tokensText(f)},
		{"conditions", conditionsText(f)},
		{"query", q.String()},
		{"canonical", filter.Format(q.Filter) + "\n"},
		{"canonical.json", filter.FormatJSON(q.Filter) + "\n"},
	}, nil
}

func tokensText(f filter.Filter) string {
	var b strings.Builder
	for _, t := range filter.Tokens(f) {
		fmt.Fprintf(&b, "%-8s %s\n", t.Kind, f.Text[t.Span.Offset:t.Span.End()])
	}
	return b.String()
}

func conditionsText(f filter.Filter) string {
	var b strings.Builder
	for _, c := range f.Conditions {
		fmt.Fprintln(&b, c)
	}
	return b.String()
}
