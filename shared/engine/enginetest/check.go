package enginetest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/testkit/reference"
)

// check fails the test if the engine's answer differs from the reference evaluation.
func check(t *testing.T, e engine.Engine, q query.Query, rows []*lake.Row) {
	t.Helper()
	diff, err := difference(t.Context(), e, q, reference.Evaluate(&q, rows))
	switch {
	case err != nil:
		t.Errorf("%s of %s: %v", shapeName(q.Shape), filter.Format(q.Filter), err)
	case diff != "":
		t.Errorf("%s of %s differs (-reference +%s):\n%s", shapeName(q.Shape), filter.Format(q.Filter), e.Name(), diff)
	}
}

// difference runs a query and returns the difference between its answer and the wanted one, or "" if they are equal.
func difference(ctx context.Context, e engine.Engine, q query.Query, want query.Answer) (string, error) {
	got, _, err := e.Run(ctx, q)
	if err != nil {
		return "", err
	}
	if logs, ok := q.Shape.(query.Logs); ok && logs.Fields != nil {
		columns := outputColumns(logs.Fields)
		got.Logs, want.Logs = project(got.Logs, columns), project(want.Logs, columns)
		return diff(want, got), nil
	}
	return Diff(want, got), nil
}

// Diff returns the difference between a reference answer and another one, or "" if they are equal. Both answers have
// whole records. Engines read log_rest only if a query names it, so the other answer must not have it.
func Diff(want, got query.Answer) string {
	want.Logs = slices.Clone(want.Logs)
	for i, r := range want.Logs {
		if r.LogRest != nil {
			whole := *r
			whole.LogRest = nil
			want.Logs[i] = &whole
		}
	}
	return diff(want, got)
}

// diff describes only answers that differ, because a description of hundreds of records takes seconds.
func diff(want, got query.Answer) string {
	want.Sequences, got.Sequences = querytest.Numbered(want.Sequences), querytest.Numbered(got.Sequences)
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got, emptyAnswers)
}

// emptyAnswers makes nil and an empty list of rows equal. Within a record, nil and an empty list differ.
var emptyAnswers = cmp.FilterPath(func(p cmp.Path) bool { return len(p) == 2 }, cmpopts.EquateEmpty())

// outputColumns returns the columns that contain the given fields.
func outputColumns(fields []string) []string {
	var columns []string
	for _, name := range fields {
		if f, ok := catalog.Lookup(name); ok {
			columns = append(columns, f.Output()...)
		}
	}
	return columns
}

// project returns the rows with only the given columns.
func project(rows []*lake.Row, columns []string) []*lake.Row {
	out := make([]*lake.Row, len(rows))
	for i, r := range rows {
		out[i] = &lake.Row{}
		from, to := reflect.ValueOf(r).Elem(), reflect.ValueOf(out[i]).Elem()
		for n := range from.NumField() {
			if slices.Contains(columns, columnOf(from.Type(), n)) {
				to.Field(n).Set(from.Field(n))
			}
		}
	}
	return out
}

// columnOf returns the column that stores field n of a row or of one of its structs.
func columnOf(t reflect.Type, n int) string {
	name, _, _ := strings.Cut(t.Field(n).Tag.Get("parquet"), ",")
	return name
}

func shapeName(s query.Shape) string { return strings.TrimPrefix(fmt.Sprintf("%T", s), "query.") }

// bind binds a filter in the query-string form. It fails the test if the filter is not valid.
func bind(t testing.TB, text string, shape query.Shape) query.Query {
	t.Helper()
	q, err := query.Bind(filter.ParseQueryString(text), shape)
	if err != nil {
		t.Fatalf("bind %s: %v", text, err)
	}
	return q
}

func pointers(rows []lake.Row) []*lake.Row {
	out := make([]*lake.Row, len(rows))
	for i := range rows {
		out[i] = &rows[i]
	}
	return out
}
