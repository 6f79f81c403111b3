package local_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/local"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet/parquettest"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/testkit/reference"
	"github.com/orrery/orrery/shared/testkit/testlevel"
)

// twoWays answers as the engine does. If the scan answered, it asks DuckDB, too, and twice an engine that keeps figures:
// the answers must be equal.
type twoWays struct {
	*local.Engine
	t       *testing.T
	index   engine.Index
	sql     *local.Engine
	keeping *local.Engine

	figures, logs counter
}

// counter counts queries of a kind.
type counter struct {
	all     atomic.Int64
	scanned atomic.Int64 // queries that the scan answered
}

func bothWays(t *testing.T, index engine.Index) *twoWays {
	t.Helper()
	e := &twoWays{
		Engine: open(t, index), t: t, index: index, sql: open(t, index),
		keeping: newEngine(t, index, nil, scan.Options{Partials: scan.NewPartials(1 << 20)}),
	}
	e.sql.OnlySQL()
	return e
}

func (e *twoWays) Run(ctx context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	answer, cost, err := e.Engine.Run(ctx, q)
	if err != nil {
		return answer, cost, err
	}
	counter := &e.figures
	if _, logs := q.Shape.(query.Logs); logs {
		counter = &e.logs
	}
	counter.all.Add(1)
	scanned, err := e.scanned(ctx, q, answer)
	if err != nil || !scanned {
		return answer, cost, err
	}
	counter.scanned.Add(1)
	bySQL, _, err := e.sql.Run(ctx, q)
	if diff := difference(bySQL, answer); diff != "" || err != nil {
		e.t.Errorf("%s: DuckDB's own answer differs: %v (-DuckDB +scan):\n%s", q, err, diff)
	}
	for range 2 {
		kept, _, err := e.keeping.Run(ctx, q)
		if diff := difference(answer, kept); diff != "" || err != nil {
			e.t.Errorf("%s: the answer differs if figures are kept: %v (-answer +kept):\n%s", q, err, diff)
		}
	}
	return answer, cost, nil
}

// scanned reports whether the scan answers q. For figures, it compares the scan of all objects with the answer.
func (e *twoWays) scanned(ctx context.Context, q query.Query, answer query.Answer) (bool, error) {
	objects, err := e.index.Objects(ctx, -1<<40, 1<<40)
	if err != nil {
		return false, err
	}
	switch {
	case scan.SupportsNewest(q):
		found, err := scan.Newest(ctx, q, objects, scan.Options{})
		if errors.Is(err, scan.ErrUnsupported) {
			return false, nil
		}
		if len(found.Places) != len(answer.Logs) || err != nil {
			e.t.Errorf("%s: the scan of all objects finds %d records instead of %d: %v",
				q, len(found.Places), len(answer.Logs), err)
		}
		return true, nil
	case scan.Supports(q):
		scanned, _, err := scan.Answer(ctx, q, objects, scan.Options{})
		if errors.Is(err, scan.ErrUnsupported) {
			return false, nil
		}
		if diff := difference(scanned, answer); diff != "" || err != nil {
			e.t.Errorf("%s: the scan of all objects differs: %v (-scan +engine):\n%s", q, err, diff)
		}
		return true, nil
	}
	return false, nil
}

// difference returns how two answers differ. It does not take equal answers apart, because most are equal.
func difference(want, got query.Answer) string {
	want.Sequences, got.Sequences = querytest.Numbered(want.Sequences), querytest.Numbered(got.Sequences)
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got, cmpopts.EquateEmpty())
}

// TestScanOfAnyPages: the scan, DuckDB and the reference give the same answers over pages with and without
// dictionaries, pages of few values, many row groups and many objects of an hour.
func TestScanOfAnyPages(t *testing.T) {
	needDuckDB(t)
	random := rand.New(rand.NewPCG(1, 3))
	rows := append(enginetest.Records(t, 200, 29), sparse(random, 200)...)
	e := bothWays(t, scattered(t, random, rows))
	texts := []string{
		hours, // every record
		"timestamp between 2026-01-01 21:59:30 and 2026-01-01 23:00:00.000",
		hours + `, status!=200`,
		hours + `, status between 400 and 499, country!="Germany"`,
		hours + `, host in ("", "a"), not blocked is true`,
		hours + `, url~"a", user_agent!~"(?i)bot"`,
		hours + `, request_time between 0.01 and 0.2`,
		hours + `, upstream_response_time>=0`,
		hours + `, not upstream_status>=500`,
		hours + `, upstream_data["response_time"]>0.01`,
		hours + `, upstream_data["addr"]~"10"`,
		hours + `, monitor_reasons~"a"`,
		hours + `, tags!="b"`,
		hours + `, headers["X-CASE"]="a"`,
		hours + `, headers[~"(?i)^x-"]~"."`,
		hours + `, not arguments["n"]>0`,
		hours + `, security_config["acl_active"] is true`,
		hours + `, not security_config["acl_active"]>0`,
		hours + `, trigger_counters>0`,
		hours + `, processing_stage>=1`,
		hours + `, timestamp between 2026-01-01 22:10 and 2026-01-01 22:20`,
		hours + `, status=99999`,
	}
	unread := cmpopts.IgnoreFields(lake.Row{}, "LogRest") // whole records are without it
	for i, text := range texts {
		if i%testlevel.Of(5, 2, 1) > 0 {
			continue
		}
		for _, shape := range anyPagesShapes[i%len(anyPagesShapes)] {
			q := bind(t, text, shape)
			got, _, err := e.Run(t.Context(), q)
			want := reference.Evaluate(&q, pointers(rows))
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), unread); diff != "" || err != nil {
				t.Errorf("%s: %v (-reference +engine):\n%s", q, err, diff)
			}
		}
	}
	for _, c := range []*counter{&e.figures, &e.logs} {
		if scanned, all := c.scanned.Load(), c.all.Load(); scanned != all {
			t.Errorf("the scan answered %d of %d queries", scanned, all)
		}
	}
}

// anyPagesShapes are the shapes that TestScanOfAnyPages asks for, in turns.
var anyPagesShapes = [][]query.Shape{
	{
		query.Timeline{SegmentSeconds: 60},
		query.TopX{Limit: 80},
		query.Stats{SegmentSeconds: 300},
		query.Stats{SegmentSeconds: 300, Percentiles: true},
		query.Stats{SegmentSeconds: 3600, By: dimension("tags"), Percentiles: true},
		query.Logs{Limit: 2_500},
		query.Facets{Limit: 80, By: querytest.Dimensions(querytest.MixedDimensions)},
		query.Histogram{SegmentSeconds: 300, Measure: query.MeasureHuman, Limit: 2, By: dimension("url")},
		query.Histogram{SegmentSeconds: 60, Measure: query.MeasureBlocked},
		query.Counts{
			SegmentSeconds: 60, By: querytest.Dimensions("host")[0],
			Of: []query.Selection{{}, querytest.Selection("blocked not is true"), querytest.Selection(`user_agent~"a", not status=200`)},
		},
		query.Diff{
			Least: 1, By: querytest.Dimensions(querytest.MixedDimensions), Select: querytest.Selection(`blocked is true`),
		},
	},
	{
		query.Timeline{SegmentSeconds: 86_400},
		query.TopX{Limit: 2},
		query.Stats{SegmentSeconds: 3600, GroupByHostname: true},
		query.Stats{SegmentSeconds: 3600, GroupByHostname: true, Percentiles: true},
		query.Stats{SegmentSeconds: 60, By: dimension("status")},
		query.Logs{Limit: 1},
		query.Facets{Limit: 2, By: querytest.Dimensions(query.DefaultFacets)},
		query.Histogram{SegmentSeconds: 60, Measure: query.MeasureMonitored, Limit: 1, By: dimension("svcid")},
		query.Diff{Least: 2, Select: querytest.Selection(`tags="b", status>=200`), By: querytest.Dimensions("url,tags,ip")},
	},
	{
		query.Timeline{SegmentSeconds: 900},
		query.TopX{Limit: 3, Labels: []string{"svc_time", "reason"}},
		query.TopX{Limit: 2, Percentiles: true},
		query.Counts{
			SegmentSeconds: 86400, By: querytest.Dimensions("tags")[0],
			Of: []query.Selection{{}, querytest.Selection("blocked not is true"), querytest.Selection(`status in (200, 404), monitor is true`)},
		},
		query.Stats{SegmentSeconds: 900, By: dimension("bytes_sent"), Percentiles: true},
		query.Stats{SegmentSeconds: 60},
		query.Logs{Limit: 40},
		query.Facets{Limit: 1, By: querytest.Dimensions(querytest.MixedDimensions), ByBlocked: true},
		query.Histogram{
			SegmentSeconds: 900, Measure: query.MeasureChallenges, Limit: 20, By: dimension("upstream_status"),
		},
		query.Histogram{SegmentSeconds: 60, Measure: query.MeasureBytesSent, Limit: 3, By: dimension("bytes_sent")},
	},
}

func dimension(text string) *query.Dimension { return &querytest.Dimensions(text)[0] }

// sparse returns records whose fields are mostly absent, and otherwise empty, negative or repeated.
func sparse(random *rand.Rand, n int) []lake.Row {
	text := func() *string {
		return oneOf(random, nil, nil, new(string), ptr("a"), ptr("b"), ptr("\u00e4\n"))
	}
	number := func() *int64 {
		return oneOf(random, nil, nil, ptr(int64(0)), ptr(int64(-7)), ptr(int64(404)), ptr(int64(1)<<40))
	}
	flag := func() *bool { return oneOf(random, nil, ptr(true), ptr(false)) }
	rows := make([]lake.Row, n)
	for i := range rows {
		ms := enginetest.Start.UnixMilli() + random.Int64N(4*3600)*1000
		rows[i] = lake.Row{
			TsMs:            ms,
			TimePeriod:      ms / 1000,
			Source:          "sparse",
			Line:            int64(i + 1),
			IP:              text(),
			Host:            text(),
			Hostname:        text(),
			URL:             text(),
			Country:         text(),
			ASN:             text(),
			Organization:    text(),
			Session:         text(),
			Referer:         text(),
			UserAgent:       text(),
			SvcID:           text(),
			Reason:          text(),
			ProcessingStage: text(),
			Status:          number(),
			BytesSent:       number(),
			RequestLength:   number(),
			TotalUs:         number(),
			SvcUs:           number(),
			OriginUs:        number(),
			Blocked:         flag(),
			Bot:             flag(),
			Human:           flag(),
			Challenge:       flag(),
			IChallenge:      flag(),
			Monitor:         flag(),
			MonitorReasons:  oneOf(random, nil, []string{}, []string{"a"}, []string{"a", "a", ""}, []string{"", "b"}),
			UpstreamStatus:  oneOf(random, nil, []int64{}, []int64{200}, []int64{502, 200, 502}, []int64{-1, 400}),
			Tags:            oneOf(random, nil, []string{}, []string{"b", "b"}, []string{"a", "b"}),
			UpstreamData: oneOf(random,
				nil,
				[]lake.Upstream{},
				[]lake.Upstream{{}},
				[]lake.Upstream{{ResponseUs: ptr(int64(20_000))}, {Addr: ptr("10")}},
			),
			Headers: oneOf(random,
				nil,
				[]lake.Pair{{Name: "x-case", Value: "a"}},
				[]lake.Pair{{Name: "X-Case", Value: ""}, {Name: "", Value: "a"}},
			),
			SecurityConfig: oneOf(random, nil, &lake.SecurityConfig{}, &lake.SecurityConfig{ACLActive: flag()}),
		}
	}
	return rows
}

// oneOf returns one of the values.
func oneOf[T any](random *rand.Rand, values ...T) T { return values[random.IntN(len(values))] }

func ptr[T any](v T) *T { return &v }

// scattered writes rows as objects with small pages and row groups. Some objects have no dictionaries, others only
// until a few entries fill them.
func scattered(t *testing.T, random *rand.Rand, rows []lake.Row) *enginetest.Store {
	t.Helper()
	type place struct {
		partition lake.Partition
		part      int
	}
	parts := map[place][]lake.Row{}
	for _, r := range rows {
		p := place{lake.PartitionOf(r.TsMs), random.IntN(3)}
		parts[p] = append(parts[p], r)
	}
	dir := t.TempDir()
	var objects []lake.Object
	for p, rows := range parts {
		parquettest.Sort(rows)
		o := lake.Object{
			Path:      filepath.Join(dir, fmt.Sprintf("%d-%d.parquet", p.partition, p.part)),
			Partition: p.partition,
			Rows:      int64(len(rows)),
			MinTsMs:   rows[0].TsMs,
			MaxTsMs:   rows[len(rows)-1].TsMs,
		}
		file, err := os.Create(o.Path)
		if err != nil {
			t.Fatal(err)
		}
		w := parquet.NewGenericWriter[lake.Row](file, parquettest.PresentVersion(),
			parquet.Compression(&zstd.Codec{}), parquet.DataPageVersion(1), parquet.DataPageStatistics(true),
			parquet.DictionaryMaxBytes([]int64{0, 30, 300}[p.part]),
			parquet.PageBufferSize(100+random.IntN(600)), parquet.MaxRowsPerRowGroup(10+random.Int64N(30)))
		_, err = w.Write(rows)
		if err := errors.Join(err, w.Close(), file.Close()); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, o)
	}
	slices.SortFunc(objects, func(a, b lake.Object) int { return int(a.Partition - b.Partition) })
	return enginetest.StoreOf(dir, objects)
}
