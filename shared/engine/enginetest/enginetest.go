// Package enginetest has the tests that every engine must pass: a suite with the rules of engine.Engine as cases, and a
// comparison with the reference evaluation on any number of generated filters.
package enginetest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/record"
	"github.com/orrery/orrery/shared/testkit/reference"
	"github.com/orrery/orrery/shared/testkit/testlevel"
)

// Run runs the suite. The function open returns an engine over rows, which are in no order. Of the truth table and of the
// cases, ordinary tests use every tenth filter, those with -short every hundredth, and long ones all.
func Run(t *testing.T, open func(rows []lake.Row) engine.Engine) {
	run(t, testlevel.Of(100, 10, 1), open)
}

// openFunc returns an engine over rows. sampleFunc returns the texts that the level of the tests uses.
type (
	openFunc   = func(rows []lake.Row) engine.Engine
	sampleFunc = func(texts []string) []string
)

// RunSome is like Run with every twentieth filter in ordinary tests, for an engine that does not evaluate filters itself.
func RunSome(t *testing.T, open func(rows []lake.Row) engine.Engine) {
	run(t, testlevel.Of(100, 20, 1), open)
}

var sampleEvery = flag.Int("suite.every", 0, "use every n-th filter of the suite; 0: by the level of the tests")

func run(t *testing.T, every int, open func(rows []lake.Row) engine.Engine) {
	if *sampleEvery > 0 {
		every = *sampleEvery
	}
	sample := func(texts []string) (some []string) {
		for i := 0; i < len(texts); i += every {
			some = append(some, texts[i])
		}
		return some
	}
	t.Run("truth table", func(t *testing.T) { testTruthTable(t, open, sample) })
	t.Run("cases", func(t *testing.T) { testCases(t, open, sample) })
	t.Run("empty lake", func(t *testing.T) { testEmptyLake(t, open) })
	t.Run("pruning does not change answers", func(t *testing.T) { testPruning(t, open) })
	t.Run("sums of parts equal the whole", func(t *testing.T) { testSums(t, open) })
	t.Run("periods of a diff", func(t *testing.T) { testDiffPeriods(t, open) })
	t.Run("all pages are the whole answer", func(t *testing.T) { testPages(t, open) })
	t.Run("references find their records", func(t *testing.T) { testReferences(t, open) })
	t.Run("networks have their addresses", func(t *testing.T) { testNetworks(t, open, sample) })
	t.Run("lists have their values", func(t *testing.T) { testLists(t, open) })
	t.Run("addresses are grouped by their networks", func(t *testing.T) { testNetworkDimensions(t, open, sample) })
	t.Run("percentiles", func(t *testing.T) { testPercentiles(t, open) })
	t.Run("segments by local clocks", func(t *testing.T) { testZones(t, open) })
	t.Run("many conditions", func(t *testing.T) { testManyConditions(t, open) })
	t.Run("a sum of more than 64 bits is the nearest integer of 64 bits", func(t *testing.T) { testLargeSums(t, open) })
	t.Run("the end of the context stops a query", func(t *testing.T) { testContext(t, open) })
	t.Run("explain", func(t *testing.T) { testExplain(t, open) })
	t.Run("the cost is within the estimate", func(t *testing.T) { testEstimate(t, open) })
}

// testTruthTable runs a sample of the truth table's filters over all its records at once.
func testTruthTable(t *testing.T, open openFunc, sample sampleFunc) {
	var rows []lake.Row
	lines := map[string]int64{}
	d := record.NewDecoder()
	filters := map[string][]querytest.Case{}
	var order []string
	for _, c := range querytest.Cases() {
		if lines[c.Record] == 0 {
			var row lake.Row
			if _, err := d.Decode([]byte(c.Record), &row); err != nil {
				t.Fatalf("decode %s: %v", c.Record, err)
			}
			querytest.SetPlace(&row, c.Record)
			rows, lines[c.Record] = append(rows, row), row.Line
		}
		if filters[c.Filter] == nil {
			order = append(order, c.Filter)
		}
		filters[c.Filter] = append(filters[c.Filter], c)
	}
	e := open(rows)
	concurrently(t, sample(order), func(text string) {
		q := bind(t, text, query.Logs{Limit: len(rows), Fields: []string{"request_id"}})
		answer, _, err := e.Run(t.Context(), q)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			return
		}
		matching := map[int64]bool{}
		for _, r := range answer.Logs {
			matching[r.Line] = true
		}
		for _, c := range filters[text] {
			if got := matching[lines[c.Record]]; got != c.Want {
				t.Errorf("%v: %v, want %v for %s", c, got, c.Want, c.Record)
			}
		}
	})
}

// few reports whether Run uses only some inputs.
func few() bool { return testing.Short() || *sampleEvery > 1 }

// concurrently calls do with each text, with several texts at a time, because engines must support concurrent calls.
// After the test has failed, it makes no further calls.
func concurrently(t *testing.T, texts []string, do func(text string)) {
	next := make(chan string)
	var workers sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for text := range next {
				if !t.Failed() {
					do(text)
				}
			}
		})
	}
	for _, text := range texts {
		next <- text
	}
	close(next)
	workers.Wait()
}

// testCases runs a sample of the case filters in all shapes over hand-made and generated records. With -suite.every, each
// shape is asked of one of the two.
func testCases(t *testing.T, open openFunc, sample sampleFunc) {
	for i, set := range []struct {
		name string
		rows []lake.Row
	}{
		{"hand-made", handMade()},
		{"generated", Records(t, 400, 7)},
	} {
		t.Run(set.name, func(t *testing.T) {
			e, rows := open(set.rows), pointers(set.rows)
			concurrently(t, sample(caseFilters), func(text string) {
				for n, shape := range caseShapes {
					if n%2 == i || *sampleEvery <= 1 {
						check(t, e, bind(t, text, shape), rows)
					}
				}
			})
		})
	}
}

const hours = "timestamp between 2026-01-01 21:00 and 2026-01-02 03:00"

// caseFilters have bounds at the exact times of records, and conditions on values that engines get wrong.
var caseFilters = []string{
	hours,
	"timestamp between 2026-01-01 22:00:00.000 and 2026-01-01 22:00:00.000",
	"timestamp between 2026-01-01 22:00:00.001 and 2026-01-01 22:59:59.999",
	"timestamp between 2026-01-01 21:59:59.999 and 2026-01-01 23:00:00.000",
	"timestamp between 2025-06-01 and 2025-06-02",
	"timestamp between 1969-12-31 23:00 and 1970-01-01 01:00",
	hours + `, timestamp between 2026-01-01 22:00 and 2026-01-01 22:10`,
	hours + `, not timestamp between 2026-01-01 22:00 and 2026-01-01 23:10`,
	hours + `, timestamp between 2026-01-01 22:00 and 2026-01-01 22:10` +
		`, timestamp between 2026-01-01 22:20 and 2026-01-01 22:30`,
	hours + `, status>=400`,
	hours + `, status between 500 and 200, status!=404`,
	hours + `, blocked is true`,
	hours + `, not blocked is true`,
	hours + `, url~"'|\\\\|%"`,
	hours + `, url="it's \"quoted\" \\ % _"`,
	hours + `, headers["X-CASE"]="a"`,
	hours + `, headers["x-kelvin"]="a"`,
	hours + `, headers~"^a$"`,
	hours + `, arguments["n"]>1.5`,
	hours + `, arguments["n"]>=-1e3, arguments["n"]<1e3`,
	hours + `, tags="a", tags="b"`,
	hours + `, tags in ("a", "z"), tags!="c"`,
	hours + `, upstream_status=502, upstream_status=200`,
	hours + `, upstream_status>=500`,
	hours + `, upstream_data["response_time"]>0.5`,
	hours + `, security_config["acl_active"]>0`,
	hours + `, trigger_counters>0`,
	hours + `, reason~"(?i)^BLOCK", reason~"acl|rate"`,
	hours + `, request_time between 0.1 and 0.2`,
	hours + `, ip=""`,
	hours + `, log_rest["n"]>1`,
	hours + `, not log_rest~"x"`,
	hours + `, log_rest["a.b"]="x"`,
	hours + `, log_rest[""]~"timeout"`,
	fmt.Sprintf(`record_ref=%q`, lake.RefTo(tenOClock, "a", 3)),
	fmt.Sprintf(`record_ref in (%q, %q, %q)`,
		lake.RefTo(tenOClock, "a", 2), lake.RefTo(tenOClock+3_600_000, "a", 9), lake.RefTo(tenOClock, "c", 1)),
	hours + fmt.Sprintf(`, record_ref!=%q`, lake.RefTo(tenOClock, "b", 1)),
}

// tenOClock is the time of several hand-made records.
const tenOClock = 1767304800000

var caseShapes = []query.Shape{
	query.Logs{Limit: 2500},
	query.Logs{Limit: 1},
	query.Logs{Limit: 3, Fields: []string{"timestamp", "tags", "gf_triggers", "upstream_response_time"}},
	query.Logs{Limit: 4, Fields: []string{"record_ref"}},
	query.Logs{Limit: 6, Fields: []string{"log_rest", "status"}},
	query.Stats{SegmentSeconds: 60},
	query.Stats{SegmentSeconds: 300, GroupByHostname: true},
	query.Stats{SegmentSeconds: 86_400},
	query.Stats{SegmentSeconds: 300, Percentiles: true},
	query.Stats{SegmentSeconds: 86_400, GroupByHostname: true, Percentiles: true},
	query.Stats{SegmentSeconds: 3600, By: dimension("status")},
	query.Stats{SegmentSeconds: 86_400, By: dimension("tags"), Percentiles: true},
	query.Timeline{SegmentSeconds: 60},
	query.Timeline{SegmentSeconds: 2 * 86_400},
	query.TopX{Limit: 1},
	query.TopX{Limit: 80},
	query.TopX{Limit: 3, Labels: []string{"reason"}},
	query.TopX{Limit: 3, Labels: []string{"reason", "total_time", "url"}, Percentiles: true},
	query.TopX{Limit: 2, Percentiles: true},
	query.TopX{Limit: 3, Labels: []string{"country", "svc_time"}},
	query.Facets{Limit: 80, By: querytest.Dimensions(query.DefaultFacets)},
	query.Facets{Limit: 2, By: querytest.Dimensions(querytest.MixedDimensions), ByBlocked: true},
	query.Facets{Limit: 3, By: querytest.Dimensions("ip," + allNetworks)},
	query.Stats{SegmentSeconds: 3600, By: dimension("ip/16"), Percentiles: true},
	query.Histogram{SegmentSeconds: 60, Measure: query.MeasureBlocked},
	query.Histogram{SegmentSeconds: 3600, Measure: query.MeasureRequests, Limit: 2, By: dimension("status")},
	query.Histogram{SegmentSeconds: 300, Measure: query.MeasureBytesSent, Limit: 20, By: dimension("tags")},
	query.Histogram{SegmentSeconds: 86_400, Measure: query.MeasureMonitored, Limit: 1, By: dimension("blocked")},
	query.Diff{
		Least: 5, By: querytest.Dimensions(query.DefaultDiff),
		Select: querytest.Selection(`headers["x"]!="1", upstream_status>=200`),
	},
	query.Diff{
		Least: 1, By: querytest.Dimensions(querytest.MixedDimensions), Select: querytest.Selection(`method="GET"`),
	},
}

// allNetworks are all dimensions of networks.
const allNetworks = "ip/24,ip/16,ip/48,ip/64"

// dimension parses one dimension.
func dimension(text string) *query.Dimension { return &querytest.Dimensions(text)[0] }

// testEmptyLake tests an engine without data.
func testEmptyLake(t *testing.T, open func(rows []lake.Row) engine.Engine) {
	e := open(nil)
	extent, err := e.Extent(t.Context())
	if err != nil || extent.Rows != 0 {
		t.Errorf("extent %+v, %v; want no rows", extent, err)
	}
	for _, shape := range caseShapes {
		q := bind(t, hours, shape)
		check(t, e, q, nil)
		check(t, e, q.Clamp(extent), nil)
	}
}

// testPruning compares a query with a short period with a query with a long period that has the short one as a
// condition. The hours that an engine does not read must not contain matching records.
func testPruning(t *testing.T, open func(rows []lake.Row) engine.Engine) {
	rows := Records(t, 600, 11)
	e := open(rows)
	extent, err := e.Extent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	step := 1
	if few() {
		step = 4
	}
	for i := 0; i < 12; i += step {
		from := Start.Add(time.Duration(i) * 31 * time.Minute)
		to := from.Add(time.Duration(i*i) * time.Minute)
		narrow := "timestamp between " + instant(from) + " and " + instant(to)
		wide := "timestamp between 1970-01-01 and 2100-01-01, " + narrow
		for _, shape := range []query.Shape{query.Logs{Limit: 50}, query.Stats{SegmentSeconds: 60}} {
			want, _, err := e.Run(t.Context(), bind(t, narrow, shape).Clamp(extent))
			if err != nil {
				t.Fatal(err)
			}
			q := query.Query{
				Scope:      query.Scope{Period: query.Period{FromMs: 0, ToMs: 1 << 42}},
				Conditions: bind(t, wide, counting).Conditions,
				Shape:      shape,
			}
			diff, err := difference(t.Context(), e, q, want)
			if err != nil || diff != "" {
				t.Errorf("%s as a condition differs: %v\n%s", narrow, err, diff)
			}
		}
	}
}

func instant(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000") }

// testSums checks that the counts of all segments, of a condition and its negation, and of both halves of a period add
// up to the number of all records.
func testSums(t *testing.T, open func(rows []lake.Row) engine.Engine) {
	rows := Records(t, 600, 13)
	e := open(rows)
	count := func(text string, shape query.Shape) int64 {
		t.Helper()
		answer, _, err := e.Run(t.Context(), bind(t, text, shape))
		if err != nil {
			t.Fatal(err)
		}
		var n int64
		for _, s := range answer.Stats {
			n += s.Requests
		}
		for _, s := range answer.Timeline {
			n += s.Requests
		}
		return n
	}
	all := int64(len(rows))
	for _, shape := range []query.Shape{
		counting,
		query.Stats{SegmentSeconds: 60},
		query.Stats{SegmentSeconds: 300, GroupByHostname: true},
		query.Timeline{SegmentSeconds: 60},
	} {
		if got := count(hours, shape); got != all {
			t.Errorf("segments of %+v count %d of %d records", shape, got, all)
		}
	}
	for _, condition := range []string{
		`status=200`,
		`tags~"a"`,
		`headers["user-agent"]~"."`,
		`blocked is false`,
		`upstream_response_time>0.01`,
	} {
		yes, no := count(hours+", "+condition, counting), count(hours+", not "+condition, counting)
		if yes+no != all {
			t.Errorf("%s is true for %d records and false for %d of %d", condition, yes, no, all)
		}
	}
	cut := Start.Add(97 * time.Minute)
	first := count("timestamp between 2026-01-01 21:00 and "+instant(cut), counting)
	second := count("timestamp between "+instant(cut.Add(time.Millisecond))+" and 2026-01-02 03:00", counting)
	if first+second != all {
		t.Errorf("the two halves of the period have %d + %d records of %d", first, second, all)
	}
}

// testManyConditions runs queries with 5,000 conditions of one kind, or fewer with -short. The specification sets no
// limit.
func testManyConditions(t *testing.T, open func(rows []lake.Row) engine.Engine) {
	set, conditions := Records(t, 24, 17), 5_000
	if testing.Short() {
		conditions = 200
	}
	e, rows := open(set), pointers(set)
	for name, condition := range map[string]func(i int) string{
		"string is not equal":           func(i int) string { return fmt.Sprintf(`ip!="192.0.2.%d"`, i) },
		"string does not match":         func(i int) string { return fmt.Sprintf(`path!~"/never%d$"`, i) },
		"header is not equal":           func(i int) string { return fmt.Sprintf(`headers["x-%d"]!="%d"`, i%90, i) },
		"number is not equal":           func(i int) string { return fmt.Sprintf(`status!=%d`, 1000+i) },
		"no element of a list is equal": func(i int) string { return fmt.Sprintf(`tags!="never-%d"`, i) },
		"string matches":                func(i int) string { return fmt.Sprintf(`url~"(?:never%d)?"`, i) },
		"argument does not match":       func(i int) string { return fmt.Sprintf(`arguments["a%d"]!~"^%d$"`, i%60, i) },
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Builder{}
			text.WriteString(hours)
			for i := range conditions {
				text.WriteString(", " + condition(i))
			}
			q := bind(t, text.String(), counting)
			diff, err := difference(t.Context(), e, q, reference.Evaluate(&q, rows))
			if err != nil || diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

// testContext checks the error kinds of queries with a cancelled context and with a deadline that has passed. The
// engine must answer further queries.
func testContext(t *testing.T, open func(rows []lake.Row) engine.Engine) {
	e := open(Records(t, 100, 19))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	for _, shape := range caseShapes {
		_, _, err := e.Run(cancelled, bind(t, hours, shape))
		if fault.KindOf(err) != fault.Canceled || !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a cancelled context: %v, want kind Canceled", shapeName(shape), err)
		}
		if _, _, err := e.Run(late, bind(t, hours, shape)); fault.KindOf(err) != fault.Timeout {
			t.Errorf("%s after its deadline: %v, want kind Timeout", shapeName(shape), err)
		}
		check(t, e, bind(t, hours+", status=99999", shape), nil)
	}
}

// testExplain compares the plan of a query with the cost of its answer, as far as the engine can know it in advance.
func testExplain(t *testing.T, open func(rows []lake.Row) engine.Engine) {
	e := open(Records(t, 400, 23))
	asked := map[string]bool{} // an engine may keep the figures of these shapes
	for _, shape := range caseShapes {
		q := bind(t, `timestamp between 2026-01-01 22:15 and 2026-01-02 00:15, headers["x"]!="1"`, shape)
		plan, err := e.Explain(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		_, cost, err := e.Run(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.SQL) == 0 || len(plan.Columns) == 0 {
			t.Errorf("%s: the plan has no SQL or no columns: %+v", shapeName(shape), plan)
		}
		if len(plan.Partitions) != 3 {
			t.Errorf("%s: the plan has partitions %v", shapeName(shape), plan.Partitions)
		}
		known := plan.Objects > 0 // engines that do not list objects know the bytes only after a query has run
		if known != (cost.Objects != nil) || known != (cost.RowsConsidered != nil) {
			t.Errorf("%s: the plan has %d objects, but the answer read %v objects with %v rows",
				shapeName(shape), plan.Objects, cost.Objects, cost.RowsConsidered)
		}
		_, logs := shape.(query.Logs) // an engine may find the newest records without reading all objects
		if known && (*cost.Objects > plan.Objects || *cost.Objects < plan.Objects && !logs) {
			t.Errorf("%s: the plan has %d objects, the answer read %d", shapeName(shape), plan.Objects, *cost.Objects)
		}
		if cost.BytesScanned == 0 && !asked[shapeName(shape)] || known && cost.BytesScanned > plan.Bytes {
			t.Errorf("%s: the plan has %d bytes, the answer read %d", shapeName(shape), plan.Bytes, cost.BytesScanned)
		}
		asked[shapeName(shape)] = true
	}
}
