package sqlgen

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/pattern"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
)

var hostile = []string{
	"", "'", "''", "'''", `\`, `\'`, `'\`, "--", "/* */", "';", "' OR 1=1 --", `"`,
	"a\nb", "\r\n", "\t", "\x01", "\u0085", "\u2028", "é", "😀", "\u202e", "\u0130", "\u212a",
	"U&'\\0041'", "E'\\n'", "x'00'", "$$", "${x}", "?", ":p", "{{", "}", "0", "-1", "NULL", strings.Repeat("'", 300),
}

// FuzzLiteral: the literal of any text is one token with that text as its value.
func FuzzLiteral(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Add("\x00")
	f.Add("\xff")
	f.Fuzz(func(t *testing.T, s string) {
		var p printer
		literal := string(p.text(s))
		if strings.Contains(s, "\x00") || !utf8.ValidString(s) {
			var refused *ValueError
			if !errors.As(p.err, &refused) {
				t.Fatalf("%q is not refused: %v", s, p.err)
			}
			return
		}
		if p.err != nil {
			t.Fatalf("%q is refused: %v", s, p.err)
		}
		if got := tokens(literal); !slices.Equal(got, []string{"text"}) {
			t.Fatalf("%q is printed as tokens %q: %s", s, got, literal)
		}
		if got := strings.ReplaceAll(literal[1:len(literal)-1], "''", "'"); got != s {
			t.Fatalf("%q is printed as %s, which means %q", s, literal, got)
		}
	})
}

// FuzzRender: the tokens of a statement do not depend on the values in it.
func FuzzRender(f *testing.F) {
	if testing.Short() {
		f.Skip("long and sequential: left out with -short, for the race detector")
	}
	for i, s := range hostile {
		f.Add(s, hostile[(i*7)%len(hostile)], int64(i-20), math.Ldexp(float64(i-20), i))
	}
	const number, float = int64(7), 1.5
	f.Fuzz(func(t *testing.T, a, b string, n int64, v float64) {
		texts := utf8.ValidString(a) && utf8.ValidString(b) && !strings.Contains(a+b, "\x00") && a != b+"!"
		if !texts || math.IsNaN(v) || math.IsInf(v, 0) {
			t.Skip()
		}
		text := "plain"
		if !isASCII(a) { // names beyond ASCII are compared in another way
			text = "plaïn"
		}
		overPath := func(q query.Query) (Script, error) { return DuckDB(q, []lake.Object{{Path: a}}) }
		for _, shape := range []func(name string) query.Shape{
			func(string) query.Shape { return query.Logs{Limit: 1} },
			func(source string) query.Shape {
				place := query.Place{TsMs: 9, Source: source, Line: 1}
				return query.Logs{Limit: 1, OlderThan: &place, NewerThan: &place}
			},
			func(string) query.Shape { return query.TopX{Limit: 1} },
			func(string) query.Shape { return query.TopX{Limit: 1, Percentiles: true} },
			func(name string) query.Shape {
				return query.Stats{SegmentSeconds: 60, By: &membersNamed(name)[0], Percentiles: true}
			},
			func(name string) query.Shape { return query.Facets{Limit: 1, By: membersNamed(name)} },
			func(name string) query.Shape {
				return query.Histogram{
					SegmentSeconds: 60, Measure: query.MeasureBlocked, Limit: 1, By: &membersNamed(name)[0],
				}
			},
			func(name string) query.Shape {
				selection := query.Selection{Conditions: valuesQuery(name, name+"2", number, float).Conditions}
				return query.Diff{Least: 1, By: membersNamed(name), Select: selection}
			},
			func(name string) query.Shape {
				selection := query.Selection{Conditions: valuesQuery(name, name+"2", number, float).Conditions}
				return query.Counts{SegmentSeconds: 60, By: membersNamed(name)[0], Of: []query.Selection{{}, selection}}
			},
			func(name string) query.Shape {
				selection := query.Selection{Conditions: valuesQuery(name, name+"2", number, float).Conditions}
				return query.Sequences{Key: querytest.Dimensions("ip"), Of: []query.Selection{{}, selection}}
			},
		} {
			plain, odd := valuesQuery(text, text+"2", number, float), valuesQuery(a, b, n, v)
			plain.Shape, odd.Shape = shape(text), shape(a)
			for _, print := range []func(query.Query) (Script, error){Athena, overPath} {
				want, err := print(plain)
				if err != nil {
					t.Fatal(err)
				}
				got, err := print(odd)
				if err != nil {
					t.Fatal(err)
				}
				if w, g := tokens(all(want)), tokens(all(got)); !slices.Equal(w, g) {
					t.Fatalf("values %q %q %d %v change the tokens of the statement:\n%s", a, b, n, v, all(got))
				}
			}
		}
	})
}

// membersNamed returns dimensions with a name in them.
func membersNamed(name string) []query.Dimension {
	var list []query.Dimension
	for _, field := range []string{"cookies", "headers"} {
		f, _ := catalog.Lookup(field)
		list = append(list, query.Dimension{
			Field: f, Key: &query.Key{Name: name}, Fold: f.Keys == catalog.FoldedKeys, Sources: f.Sources,
		})
	}
	return list
}

// valuesQuery returns a query with a condition for every kind of value in SQL.
func valuesQuery(a, b string, n int64, v float64) query.Query {
	q := query.Query{Scope: query.Scope{Period: query.Period{FromMs: 0, ToMs: 3_600_000}}}
	add := func(field string, negated bool, key *query.Key, tests ...query.Test) {
		f, _ := catalog.Lookup(field)
		c := query.Condition{Field: f, Negated: negated}
		for _, test := range tests {
			term := query.Term{Source: f.Sources[0], Key: key, Fold: f.Keys == catalog.FoldedKeys, Test: test}
			c.Terms = append(c.Terms, term)
		}
		q.Conditions = append(q.Conditions, c)
	}
	add("host", false, nil, query.TextIn{Values: []string{a}})
	add("url", true, nil, query.TextIn{Values: []string{a, b + "!"}})
	add("tags", false, nil, query.TextIn{Values: []string{a, b + "!"}})
	add("cookies", false, &query.Key{Name: a}, query.Matches{Patterns: []*pattern.Regex{{Canonical: "a"}}})
	add("headers", true, &query.Key{Name: a}, query.NumberRange{Min: &v, Max: &v})
	add("arguments", false, nil, query.PairIn{Pairs: []lake.Pair{{Name: "x", Value: a}, {Name: "y", Value: b}}})
	add("status", false, nil, query.IntIn{Values: []int64{n}})
	add("bytes_sent", true, nil, query.IntRange{Min: &n, Max: &n})
	add("upstream_status", true, nil, query.IntRange{Max: &n})
	refs := []lake.Ref{lake.RefTo(n, a, n), lake.RefTo(n+1, b, 1)}
	add(catalog.RecordRef, false, nil, query.RefIn{Refs: refs})
	add(catalog.RecordRef, true, nil, query.RefIn{Refs: refs[:1]})
	return q
}

func TestNumberMustBeFinite(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		var p printer
		p.number(v)
		if p.err == nil {
			t.Errorf("%v is not refused", v)
		}
	}
	var p printer
	for _, v := range []float64{0, -0.5, 1e300, math.SmallestNonzeroFloat64, math.MaxFloat64, 1.0 / 3} {
		if got, err := strconv.ParseFloat(string(p.number(v)), 64); err != nil || got != v {
			t.Errorf("%v is printed as %s", v, p.number(v))
		}
	}
}

// TestTooManyClockChanges: the statement has few branches, however many changes of a clock there are.
func TestTooManyClockChanges(t *testing.T) {
	p := query.Period{FromMs: 0, ToMs: 100 * 365 * 86_400_000}
	q := query.Query{
		Period: p, Scope: query.Scope{Period: p},
		Shape: query.Timeline{SegmentSeconds: 4 * 86_400, Zone: querytest.Zone("Europe/Berlin")},
	}
	var above *LimitError
	if _, err := Athena(q); !errors.As(err, &above) || above.Limit != athenaMaxBranches {
		t.Errorf("error %v, want the limit of branches", err)
	}
	q.Scope.ToMs = 25 * 365 * 86_400_000
	if _, err := Athena(q); err != nil {
		t.Error(err)
	}
}

func TestRefusedValuesAreReported(t *testing.T) {
	q := valuesQuery("a", "b\x00", 1, 1)
	q.Shape = query.TopX{Limit: 1}
	var refused *ValueError
	if _, err := Athena(q); !errors.As(err, &refused) || refused.Error() == "" {
		t.Errorf("Athena: %v, want a ValueError", err)
	}
	if _, err := DuckDB(q, nil); !errors.As(err, &refused) {
		t.Errorf("DuckDB: %v, want a ValueError", err)
	}
}
