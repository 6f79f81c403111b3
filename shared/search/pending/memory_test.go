package pending

import (
	"reflect"
	"testing"

	"github.com/orrery/orrery/shared/query"
)

// TestMemoryOfDiff: the values of a diff, which can be a hundred thousand, count like the values of other answers.
func TestMemoryOfDiff(t *testing.T) {
	values := func(texts ...string) (list []query.DiffValue) {
		for _, text := range texts {
			list = append(list, query.DiffValue{Value: text, Sides: query.Sides{Selected: 1}})
		}
		return list
	}
	for _, terms := range [][]query.DiffTerm{
		nil, {{}}, {{Values: values("", "a text")}}, {{Values: values("x")}, {Distinct: 3}, {Values: values("yy", "zzz")}},
	} {
		a := query.Answer{Diff: query.DiffAnswer{Terms: terms}}
		if got, want := memoryOf(a), sizeOf(reflect.ValueOf(a)); got != want {
			t.Errorf("%+v: %d bytes, want %d", terms, got, want)
		}
	}
}

// TestMemoryOfCounts: rows of counts, which can be a hundred thousand, count like the rows of other answers.
func TestMemoryOfCounts(t *testing.T) {
	a := query.Answer{Counts: []query.CountsRow{
		{N: []int64{1, 2, 3}}, {Segment: 60, Value: "a host", HasValue: true, N: []int64{4}}, {},
	}}
	if got, want := memoryOf(a), sizeOf(reflect.ValueOf(a)); got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
}
