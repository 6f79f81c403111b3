package enginetest

import (
	"context"
	"flag"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/query/reference"
)

var (
	filterCount = flag.Int("differential.filters", 2_000, "how many generated filters an engine is compared on")
	filterSeed  = flag.Uint64("differential.seed", 1, "what the filters and records are generated from")
)

// differentialRecords is how many records each filter is asked about.
const differentialRecords = 3_000

// shortFilters is enough for -short, which is for the race detector.
const shortFilters = 25

// Differential compares an engine with the reference evaluation on generated filters over generated and hostile
// records. Every filter is asked for one of the four shapes, in turn, and for the number of records where the shape
// does not tell it.
func Differential(t *testing.T, open func(rows []lake.Row) engine.Engine) {
	filters := *filterCount
	if testing.Short() {
		filters = min(filters, shortFilters)
	}
	t.Logf("differential: %d filters, again with -differential.seed=%d", filters, *filterSeed)
	rows := Records(t, differentialRecords, *filterSeed)
	e := open(rows)
	all := pointers(rows)
	var some, none atomic.Int64
	queries := make(chan numbered)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for n := range queries {
				if t.Failed() {
					continue // one filter at a time is enough to read
				}
				q := n.query
				matching := matches(&q, all)
				if len(matching) > 0 && len(matching) < len(all) {
					some.Add(1)
				} else {
					none.Add(1)
				}
				q.Shape = shapes[n.number%len(shapes)]
				check(t, e, q, matching)
				switch q.Shape.(type) {
				case query.Logs, query.TopX:
					q.Shape = counting
					check(t, e, q, matching)
				}
			}
		})
	}
	forEachQuery(t, rows, filters, func(i int, q query.Query) { queries <- numbered{i, q} })
	close(queries)
	workers.Wait()
	t.Logf("differential: %d filters chose some of the records, %d all or none", some.Load(), none.Load())
	if some.Load() < none.Load()/4 {
		t.Errorf("only %d filters chose some of the records, %d all or none: the generator asks too little", some.Load(), none.Load())
	}
}

type numbered struct {
	number int
	query  query.Query
}

// counting is the cheapest shape: one figure for all matching records.
var counting = query.Stats{SegmentSeconds: 4096 * 86400}

var shapes = []query.Shape{
	query.Logs{Limit: 200},
	query.Stats{SegmentSeconds: 3600},
	query.Timeline{SegmentSeconds: 900},
	query.TopX{Limit: 10},
	query.Logs{Limit: 7, Fields: []string{"timestamp", "ip", "headers", "security_config", "cf_triggers"}},
	query.Stats{SegmentSeconds: 60, GroupByHostname: true},
	query.Timeline{SegmentSeconds: 21_600},
	query.TopX{Limit: 80},
}

// forEachQuery makes queries out of generated filters.
func forEachQuery(t *testing.T, rows []lake.Row, n int, do func(i int, q query.Query)) {
	t.Helper()
	random := rand.New(rand.NewPCG(*filterSeed, 0))
	all := pointers(rows)
	for i := range n {
		text := querytest.Filter(random, all)
		q, err := query.Bind(filter.Parse(text), counting)
		if err != nil {
			t.Fatalf("generated filter %d is refused:\n%s", i, querytest.Explain(err))
		}
		do(i, q)
	}
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

// Mutations proves that Differential can fail: each way of spoiling the reference must be noticed.
func Mutations(t *testing.T, open func(rows []lake.Row) engine.Engine) {
	if testing.Short() {
		t.Skip("finds out about the comparison, not about the engine")
	}
	rows := Records(t, 600, *filterSeed)
	e := open(rows)
	for _, m := range mutations {
		t.Run(strings.ReplaceAll(m.name, " ", "_"), func(t *testing.T) {
			noticed, spoiled := 0, 0
			forEachQuery(t, rows, 60, func(i int, q query.Query) {
				q.Shape = shapes[i%len(shapes)]
				wrong, ok := m.spoil(q, pointers(rows))
				if !ok {
					return
				}
				spoiled++
				diff, err := difference(context.Background(), e, q, wrong)
				if err != nil {
					t.Fatal(err)
				}
				if diff != "" {
					noticed++
				}
			})
			t.Logf("%d of %d spoiled answers noticed", noticed, spoiled)
			if spoiled == 0 || noticed < spoiled*9/10 {
				t.Errorf("only %d of %d spoiled answers were noticed", noticed, spoiled)
			}
		})
	}
}

// mutations spoil the reference answer; ok is false where a query leaves nothing to spoil.
var mutations = []struct {
	name  string
	spoil func(q query.Query, rows []*lake.Row) (wrong query.Answer, ok bool)
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
	{"one condition is turned round", func(q query.Query, rows []*lake.Row) (query.Answer, bool) {
		if len(q.Conditions) == 0 {
			return query.Answer{}, false
		}
		right := len(matches(&q, rows))
		q.Conditions = slices.Clone(q.Conditions)
		q.Conditions[0].Negated = !q.Conditions[0].Negated
		return reference.Evaluate(&q, rows), len(matches(&q, rows)) != right
	}},
	{"the period ends a record earlier", func(q query.Query, rows []*lake.Row) (query.Answer, bool) {
		newest := reference.Evaluate(&query.Query{Scope: q.Scope, Conditions: q.Conditions, Shape: query.Logs{Limit: 1}}, rows).Logs
		if len(newest) == 0 {
			return query.Answer{}, false
		}
		q.Scope.ToMs = newest[0].TsMs - 1
		return reference.Evaluate(&q, rows), true
	}},
}
