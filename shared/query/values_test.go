package query_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
)

// TestFoldIsEqualFold: two letters are equal after folding if and only if strings.EqualFold takes them for equal.
func TestFoldIsEqualFold(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		text := string(r)
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			if query.Fold(text) != query.Fold(string(next)) {
				t.Errorf("%q and %q differ after folding", r, next)
			}
		}
		if folded := query.Fold(text); !strings.EqualFold(folded, text) {
			t.Errorf("%q becomes %q", text, folded)
		}
	}
}

func TestFind(t *testing.T) {
	values := []string{"Germany", "germ", "New Germany", "GERMANY", "Österreich", "ger", "İzmir", ""}
	for _, c := range []struct {
		name string
		find query.Find
		want []string
	}{
		{"a prefix in any case", query.Beginning("GERM"), []string{"GERMANY", "Germany", "germ"}},
		{
			"a text anywhere, those that begin with it first", query.Containing("germ"),
			[]string{"GERMANY", "Germany", "germ", "New Germany"},
		},
		{"letters outside ASCII in any case", query.Beginning("ö"), []string{"Österreich"}},
		{"the whole value", query.Beginning("new germany"), []string{"New Germany"}},
		{"no value that is shorter than the prefix", query.Beginning("germanys"), nil},
		{"every value contains the empty text", query.Containing(""), []string{
			"", "GERMANY", "Germany", "New Germany", "ger", "germ", "Österreich", "İzmir",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, v := range values {
				if c.find.Passes(v) {
					got = append(got, v)
				}
			}
			slices.SortFunc(got, c.find.Compare)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestFirstValues: the collection has the first values of the order, whatever the order in which they are added.
func TestFirstValues(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		shape := query.Values{
			By: querytest.Dimensions("path")[0], Find: query.Containing(strings.Repeat("a", r.IntN(2))),
			Limit: 1 + r.IntN(4),
		}
		first := query.NewFirstValues(shape)
		var all []string
		for range r.IntN(12) {
			value := string([]byte{"abAB"[r.IntN(4)], "abAB"[r.IntN(4)]})
			first.Add(value)
			if shape.Find.Passes(value) {
				all = append(all, value)
			}
		}
		slices.SortFunc(all, shape.Find.Compare)
		all = slices.Compact(all)
		want := query.ValuesAnswer{More: len(all) > shape.Limit}
		for _, value := range all[:min(len(all), shape.Limit)] {
			want.Values = append(want.Values, query.FacetValue{Value: value})
		}
		if diff := cmp.Diff(want, first.Answer()); diff != "" {
			t.Fatalf("limit %d: %s", shape.Limit, diff)
		}
		if first.Full() != (len(all) >= shape.Limit) {
			t.Fatalf("%d of %d values: full is %t", len(all), shape.Limit, first.Full())
		}
	}
}
