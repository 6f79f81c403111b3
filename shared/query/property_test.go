package query_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/testkit/reference"
)

// eachFilter calls test with n random bound filters and the random records from which they were made.
func eachFilter(t *testing.T, n int, test func(t *testing.T, text string, q query.Query, rows []*lake.Row)) {
	t.Helper()
	const seed = 20260101
	r := rand.New(rand.NewPCG(seed, 0))
	rows := querytest.Rows(r, 120)
	for range n {
		text := querytest.Filter(r, rows)
		q, err := query.Bind(filter.Parse(text), query.Logs{})
		if err != nil {
			t.Fatalf("seed %d: a generated filter does not bind\n%s", seed, querytest.Explain(err))
		}
		if test(t, text, q, rows); t.Failed() {
			t.Fatalf("seed %d, filter %s", seed, text)
		}
	}
}

func matching(q query.Query, rows []*lake.Row) []*lake.Row {
	var found []*lake.Row
	for _, r := range rows {
		if query.Match(&q, r) {
			found = append(found, r)
		}
	}
	return found
}

// TestCanonicalFormRoundTrip checks that string form = JSON form = parse(print(x)).
func TestCanonicalFormRoundTrip(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	eachFilter(t, 3000, func(t *testing.T, text string, q query.Query, _ []*lake.Row) {
		for _, printed := range []string{filter.Format(q.Filter), filter.FormatJSON(q.Filter)} {
			again, err := query.Bind(filter.Parse(printed), query.Logs{})
			if err != nil {
				t.Fatalf("the canonical form does not bind\n%s", querytest.Explain(err))
			}
			if again.Fingerprint() != q.Fingerprint() {
				t.Errorf("%s\nbecomes %s\nand then %s", text, printed, filter.FormatJSON(again.Filter))
			}
			if diff := cmp.Diff(q.String(), again.String()); diff != "" {
				t.Errorf("the canonical form %s means something else (-written +canonical):\n%s", printed, diff)
			}
		}
	})
}

// TestNegationIsComplement checks that n(p) + n(not p) = n(all) for every condition p.
func TestNegationIsComplement(t *testing.T) {
	hits := 0
	eachFilter(t, 800, func(t *testing.T, text string, q query.Query, rows []*lake.Row) {
		for i := range q.Conditions {
			one := q
			one.Conditions = []query.Condition{q.Conditions[i]}
			positive := len(matching(one, rows))
			one.Conditions = []query.Condition{q.Conditions[i]}
			one.Conditions[0].Negated = !one.Conditions[0].Negated
			negative := len(matching(one, rows))
			one.Conditions = nil
			if all := len(matching(one, rows)); positive+negative != all {
				t.Errorf("%d + %d records, of %d", positive, negative, all)
			}
			if positive > 0 && negative > 0 {
				hits++
			}
		}
	})
	if hits < 300 {
		t.Errorf("only %d conditions hold for some records and not for others; the generator is too weak", hits)
	}
}

// TestBetweenIgnoresOrder checks that between(a,b) = between(b,a).
func TestBetweenIgnoresOrder(t *testing.T) {
	eachFilter(t, 1000, func(t *testing.T, text string, q query.Query, _ []*lake.Row) {
		f := filter.Parse(text)
		swapped := slices.Clone(f.Conditions)
		for i, c := range swapped {
			if c.Op == filter.Between {
				swapped[i].Values = []filter.Value{c.Values[1], c.Values[0]}
			}
		}
		f.Conditions = swapped
		again, err := query.Bind(f, query.Logs{})
		if err != nil {
			t.Fatal(querytest.Explain(err))
		}
		if again.Fingerprint() != q.Fingerprint() {
			t.Errorf("swapped bounds give %s, not %s", filter.Format(again.Filter), filter.Format(q.Filter))
		}
	})
}

// TestSegmentsSumToTotal checks that Σ segments = total, and that two halves of a period sum to the whole.
func TestSegmentsSumToTotal(t *testing.T) {
	eachFilter(t, 300, func(t *testing.T, text string, q query.Query, rows []*lake.Row) {
		found := matching(q, rows)
		q.Shape = query.Stats{SegmentSeconds: 3600}
		sum := func(q query.Query) (requests int64) {
			for _, row := range reference.Evaluate(&q, rows).Stats {
				requests += row.Requests
			}
			return requests
		}
		total := sum(q)
		if total != int64(len(found)) {
			t.Errorf("the segments have %d requests, %d match", total, len(found))
		}
		q.Shape = query.Timeline{SegmentSeconds: 60}
		timeline := int64(0)
		for _, row := range reference.Evaluate(&q, rows).Timeline {
			timeline += row.Requests
		}
		if timeline != total {
			t.Errorf("timeline has %d requests, stats %d", timeline, total)
		}
		if len(found) == 0 {
			return
		}
		q.Shape = query.Stats{SegmentSeconds: 3600}
		left, right := q, q
		left.Scope.ToMs = found[len(found)/2].TsMs
		right.Scope.FromMs = left.Scope.ToMs + 1
		if cut := sum(left) + sum(right); cut != total {
			t.Errorf("the two halves have %d requests, the whole %d", cut, total)
		}
	})
}

// TestGeneratorCoversCatalog checks that the generator of filters reaches every operator of every field, plain and
// negated. The differential tests depend on it.
func TestGeneratorCoversCatalog(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	type cell struct {
		field   string
		op      filter.Op
		negated bool
	}
	seen := map[cell]bool{}
	eachFilter(t, 12000, func(_ *testing.T, _ string, q query.Query, _ []*lake.Row) {
		for _, c := range q.Conditions {
			seen[cell{c.Field.Name, c.Op, c.Negated}] = true
		}
	})
	for i := range catalog.Fields {
		for _, op := range catalog.Fields[i].Ops() {
			for _, negated := range []bool{false, true} {
				if c := (cell{catalog.Fields[i].Name, op, negated}); !seen[c] {
					t.Errorf("the generator never makes %+v", c)
				}
			}
		}
	}
}
