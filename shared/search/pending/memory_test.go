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
