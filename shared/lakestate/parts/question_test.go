package parts_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate/parts"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/testkit/reference"
)

// TestEncode: the text of a query selects the same records as the query, of those with the branches of the caller only.
// Equal queries have equal texts.
func TestEncode(t *testing.T) {
	rows := enginetest.Records(t, 300, 41)
	all := make([]*lake.Row, len(rows))
	for i := range rows {
		all[i] = &rows[i]
	}
	r := rand.New(rand.NewPCG(41, 41))
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	shapes := []query.Shape{
		query.Facets{Limit: 1, By: querytest.Dimensions(querytest.MixedDimensions)}, query.TopX{Limit: 3, Labels: []string{"ip"}},
		query.Stats{SegmentSeconds: 3600, Zone: berlin, GroupByHostname: true, Percentiles: true},
		query.Timeline{SegmentSeconds: 900},
		query.Histogram{SegmentSeconds: 3600, Measure: query.MeasureBlocked},
		query.Counts{SegmentSeconds: 60, By: querytest.Dimensions("host")[0], Of: []query.Selection{
			querytest.Selection("status>=400"), querytest.Selection(`not path~"^/a", country in ("DE", "FR")`),
		}},
	}
	matching, encoded := 0, 0
	for n := range 600 {
		shape := shapes[n%len(shapes)]
		bind := func(text string) (query.Query, error) {
			q, err := query.Bind(filter.Parse(text), shape, query.WithBranches([][]string{nil, {"prod"}}[n%2]))
			q.Scope.Period = q.Period
			return q, err
		}
		text := querytest.Filter(r, all)
		q, err := bind(text)
		if err != nil { // some values do not fit the field
			continue
		}
		sent, err := parts.Encode(q)
		if errors.Is(err, parts.ErrNoText) {
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		encoded++
		equal, err := bind(text)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := parts.Encode(equal); err != nil || string(again) != string(sent) {
			t.Errorf("%s has two texts: %v", q, err)
		}
		got, err := parts.Decode(sent)
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		want := reference.Evaluate(&q, all)
		if diff := enginetest.Diff(want, reference.Evaluate(&got, all)); diff != "" {
			t.Errorf("%s (-before +after):\n%s", q, diff)
		}
		if len(want.Facets.Facets)+len(want.TopX)+len(want.Stats)+len(want.Timeline)+len(want.Counts)+len(want.Histogram) > 0 {
			matching++
		}
	}
	if matching < 100 || encoded < 200 {
		t.Errorf("%d queries were sent, and %d had an answer", encoded, matching)
	}
}

// TestQueriesWithoutText: queries that another process could not answer have no text.
func TestQueriesWithoutText(t *testing.T) {
	for text, shape := range map[string]query.Shape{
		"":                     query.Logs{Limit: 1},
		", host=\"a\"":         query.Stats{SegmentSeconds: 60, By: &querytest.Dimensions("country")[0]},
		", status=200":         query.TopX{Limit: 1, Percentiles: true},
		", country in @nearby": query.TopX{Limit: 1},
	} {
		lists := map[string]query.List{"nearby": {
			Name: "nearby", Version: 1, Values: &query.ListValues{Digest: "d", Values: []string{"DE"}},
		}}
		q, err := query.Bind(filter.Parse("timestamp between 2026-01-01 and 2026-01-02"+text), shape, query.WithLists(lists))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parts.Encode(q); !errors.Is(err, parts.ErrNoText) {
			t.Errorf("%T%s: %v", shape, text, err)
		}
	}
}

// FuzzDecode: no text makes Decode panic, and what it accepts is the query of a text.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"Kind":"topx"}`, `{"Kind":"stats","Zone":"../x"}`, `{"Kind":"facets","By":["ip/24","headers[\"a\"]"]}`,
		`{"Kind":"topx","Conditions":[{"Field":"status","Terms":[{"Source":{"Column":"status"},"Test":{}}]}]}`,
		`{"Kind":"topx","Conditions":[{"Terms":[{"Test":{"Patterns":["(a"]}}]}]}`,
		`{"Kind":"topx","Conditions":[{"Any":[[{"Key":{"Pattern":"x"}}]],"Terms":[{"Test":{"Bool":{"Want":true}}}]}]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(_ *testing.T, text []byte) {
		if q, err := parts.Decode(text); err == nil {
			_, _ = parts.Encode(q)
		}
	})
}
