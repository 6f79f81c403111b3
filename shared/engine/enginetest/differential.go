package enginetest

import (
	"context"
	"flag"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/testkit/reference"
	"github.com/orrery/orrery/shared/testkit/testlevel"
)

var (
	filterCount = flag.Int("differential.filters", 0,
		"number of generated filters with which an engine is tested; 0: by the level of the tests")
	filterSeed = flag.Uint64("differential.seed", 1, "seed of the generated filters and records")
)

// differentialRecords is the number of records to which each filter is applied.
const differentialRecords = 3_000

// Differential compares an engine with the reference evaluation on generated filters over generated and hostile
// records. The queries use the shapes one after the other. If the answer of a shape does not have the number of
// matching records, another query compares that number.
func Differential(t *testing.T, open func(rows []lake.Row) engine.Engine) {
	filters := *filterCount
	if filters == 0 {
		filters = testlevel.Of(10, 150, 500)
	}
	t.Logf("differential: %d filters; repeat with -differential.seed=%d", filters, *filterSeed)
	rows := Records(t, differentialRecords, *filterSeed)
	e := open(rows)
	all := pointers(rows)
	var some, allOrNone atomic.Int64
	queries := make(chan numberedQuery)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for n := range queries {
				if t.Failed() {
					continue // the report of one filter is long enough
				}
				q := n.query
				matching := matches(&q, all)
				if len(matching) > 0 && len(matching) < len(all) {
					some.Add(1)
				} else {
					allOrNone.Add(1)
				}
				q.Shape = shapes[n.number%len(shapes)]
				check(t, e, q, matching)
				switch q.Shape.(type) {
				case query.Logs, query.TopX, query.Facets, query.Histogram:
					q.Shape = counting
					check(t, e, q, matching)
				}
			}
		})
	}
	forEachQuery(t, rows, filters, func(i int, q query.Query) { queries <- numberedQuery{i, q} })
	close(queries)
	workers.Wait()
	t.Logf("differential: %d filters match some of the records, %d all or none", some.Load(), allOrNone.Load())
	if some.Load() < allOrNone.Load()/4 {
		t.Errorf("only %d filters match some of the records, %d all or none: the generated filters test too little",
			some.Load(), allOrNone.Load())
	}
}

type numberedQuery struct {
	number int
	query  query.Query
}

// counting is the cheapest shape. It counts all matching records in one segment.
var counting = query.Stats{SegmentSeconds: 4096 * 86400}

var shapes = []query.Shape{
	sequences("ip", "path,session", "path", 3),
	sequences("country,ip/24", "", "", 0),
	sequences("status", "blocked", "host,asn", 1),
	sequences("", "ip,path,session,method,asn", "country,session,organization,human", 0),
	sequences(`headers["accept"],ip`, `arguments["update"]`, `cookies["session"],headers["user-agent"]`, 0),
	counts(3600, "host"),
	counts(86_400, `headers["user-agent"]`),
	query.Logs{Limit: 200},
	query.Stats{SegmentSeconds: 3600},
	query.Timeline{SegmentSeconds: 900},
	query.TopX{Limit: 10},
	query.Logs{Limit: 7, Fields: []string{"timestamp", "ip", "headers", "security_config", "cf_triggers"}},
	query.Stats{SegmentSeconds: 60, GroupByHostname: true},
	query.Timeline{SegmentSeconds: 21_600},
	query.TopX{Limit: 80},
	query.Stats{SegmentSeconds: 900, Percentiles: true},
	query.Stats{SegmentSeconds: 60, GroupByHostname: true, Percentiles: true},
	query.Stats{SegmentSeconds: 86_400, By: dimension("method"), Percentiles: true},
	query.Stats{SegmentSeconds: 3600, By: dimension(`headers["user-agent"]`), Percentiles: true},
	query.TopX{Limit: 5, Percentiles: true},
	query.Facets{Limit: 80, By: querytest.Dimensions(querytest.MixedDimensions)},
	query.Facets{Limit: 5, By: querytest.Dimensions(`log_rest["unknown"],status`)},
	query.Facets{Limit: 5, By: querytest.Dimensions(`ip,tags,path,headers["user-agent"]`), ByBlocked: true},
	query.Facets{Limit: 80, By: querytest.Dimensions(allNetworks)},
	query.Histogram{SegmentSeconds: 900, Measure: query.MeasureBlocked, Limit: 3, By: dimension("ip/64")},
	query.Diff{Least: 1, By: querytest.Dimensions("path," + allNetworks), Select: querytest.Selection(`status>=400`)},
	query.Histogram{SegmentSeconds: 900, Measure: query.MeasureRequests, Limit: 5, By: dimension("country")},
	query.Histogram{
		SegmentSeconds: 300, Measure: query.MeasureChallenges, Limit: 3, By: dimension(`headers["user-agent"]`),
	},
	query.Histogram{SegmentSeconds: 3600, Measure: query.MeasureBytesSent, Limit: 9, By: dimension("svcid")},
	query.Diff{
		Least: 1, By: querytest.Dimensions(querytest.MixedDimensions),
		Select: querytest.Selection(`status>=400, not blocked is true`),
	},
	query.Diff{
		Least: 3, By: querytest.Dimensions(`ip,tags,path,headers["user-agent"]`),
		Select: querytest.Selection(`timestamp between 2026-01-01 22:15 and 2026-01-02 01:00, not tags~"a", url~"a|e"`),
	},
}

// counts asks for the numbers of three selections: the first has all records.
func counts(seconds int64, by string) query.Counts {
	return query.Counts{SegmentSeconds: seconds, By: *dimension(by), Of: []query.Selection{
		{},
		querytest.Selection("blocked not is true, challenge not is true"),
		querytest.Selection(`user_agent~"a|e", status in (200, 404)`),
	}}
}

// sequences asks for the requests of keys, with three selections.
func sequences(key, with, also string, over int64) query.Sequences {
	s := query.Sequences{Over: over, Of: counts(0, "host").Of}
	for _, list := range []struct {
		text string
		into *[]query.Dimension
	}{{key, &s.Key}, {with, &s.With}, {also, &s.Also}} {
		if list.text == "" {
			continue
		}
		for _, d := range querytest.Dimensions(list.text) {
			*list.into = append(*list.into, d.AsOne())
		}
	}
	return s
}

// forEachQuery calls do with n queries with generated filters. Every third one also has alternatives.
func forEachQuery(t *testing.T, rows []lake.Row, n int, do func(i int, q query.Query)) {
	t.Helper()
	random := rand.New(rand.NewPCG(*filterSeed, 0))
	all := pointers(rows)
	generated := func(i int) query.Query {
		q, err := query.Bind(filter.Parse(querytest.Filter(random, all)), counting)
		if err != nil {
			t.Fatalf("generated filter %d is refused:\n%s", i, querytest.Explain(err))
		}
		return q
	}
	for i := range n {
		q := generated(i)
		if i%3 == 0 {
			q.Conditions = append(q.Conditions, alternatives(random, generated(i).Conditions)...)
		}
		do(i, q)
	}
}

// alternatives returns conditions as alternatives of one or two, or nothing for none.
func alternatives(r *rand.Rand, conditions []query.Condition) []query.Condition {
	c := query.Condition{Negated: r.IntN(4) == 0}
	for len(conditions) > 0 {
		n := min(1+r.IntN(2), len(conditions))
		c.Any = append(c.Any, conditions[:n])
		conditions = conditions[n:]
	}
	if c.Any == nil {
		return nil
	}
	return []query.Condition{c}
}

func matches(q *query.Query, rows []*lake.Row) []*lake.Row {
	var matching []*lake.Row
	for _, r := range rows {
		if query.Match(q, r) {
			matching = append(matching, r)
		}
	}
	return matching
}

// Mutations tests that Differential can fail. It compares the engine's answers with wrong reference answers and checks
// that most differences are detected.
func Mutations(t *testing.T, open func(rows []lake.Row) engine.Engine) {
	if testing.Short() {
		t.Skip("tests the comparison, not the engine")
	}
	rows := Records(t, 600, *filterSeed)
	e := open(rows)
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			detected, mutated := 0, 0
			forEachQuery(t, rows, 60, func(i int, q query.Query) {
				q.Shape = shapes[i%len(shapes)]
				wrong, ok := m.mutate(q, pointers(rows))
				if !ok {
					return
				}
				mutated++
				diff, err := difference(context.Background(), e, q, wrong)
				if err != nil {
					t.Fatal(err)
				}
				if diff != "" {
					detected++
				}
			})
			t.Logf("%d of %d wrong answers detected", detected, mutated)
			if mutated == 0 || detected < mutated*9/10 {
				t.Errorf("only %d of %d wrong answers were detected", detected, mutated)
			}
		})
	}
}

// mutations return wrong reference answers. ok is false if the mutation does not change the answer of a query.
var mutations = []struct {
	name   string
	mutate func(q query.Query, rows []*lake.Row) (wrong query.Answer, ok bool)
}{
	{"one record is missing", func(q query.Query, rows []*lake.Row) (query.Answer, bool) {
		matching := matches(&q, rows)
		if len(matching) == 0 {
			return query.Answer{}, false
		}
		newest := reference.Evaluate(&query.Query{Scope: q.Scope, Shape: query.Logs{Limit: 1}}, matching).Logs[0]
		var others []*lake.Row
		for _, r := range matching {
			if r != newest {
				others = append(others, r)
			}
		}
		return reference.Evaluate(&q, others), true
	}},
	{"one condition is negated", func(q query.Query, rows []*lake.Row) (query.Answer, bool) {
		if len(q.Conditions) == 0 {
			return query.Answer{}, false
		}
		right := len(matches(&q, rows))
		q.Conditions = slices.Clone(q.Conditions)
		q.Conditions[0].Negated = !q.Conditions[0].Negated
		return reference.Evaluate(&q, rows), len(matches(&q, rows)) != right
	}},
	{"the period ends a record earlier", func(q query.Query, rows []*lake.Row) (query.Answer, bool) {
		one := query.Query{Scope: q.Scope, Conditions: q.Conditions, Shape: query.Logs{Limit: 1}}
		newest := reference.Evaluate(&one, rows).Logs
		if len(newest) == 0 {
			return query.Answer{}, false
		}
		q.Scope.ToMs = newest[0].TsMs - 1
		return reference.Evaluate(&q, rows), true
	}},
	{"absent times of requests are zero", func(q query.Query, rows []*lake.Row) (query.Answer, bool) {
		if _, ok := q.Shape.(query.Stats); !ok {
			return query.Answer{}, false
		}
		absent, zero := false, int64(0)
		matching := matches(&q, rows)
		for i, r := range matching {
			if r.TotalUs == nil {
				timed := *r
				timed.TotalUs = &zero
				matching[i], absent = &timed, true
			}
		}
		return reference.Evaluate(&query.Query{Scope: q.Scope, Shape: q.Shape}, matching), absent
	}},
}
