package scan_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/testkit/reference"
)

// The tests of engine/local compare the figures with the reference and with DuckDB. The tests here check which queries
// the scan does not support, and how it ends.

const hours = "timestamp between 2026-01-01 21:00 and 2026-01-02 03:00"

var shapes = []query.Shape{
	query.Stats{SegmentSeconds: 60},
	query.Timeline{SegmentSeconds: 60},
	query.TopX{Limit: 9},
	query.TopX{Limit: 9, Percentiles: true},
	query.Stats{SegmentSeconds: 60, Percentiles: true},
	query.Facets{Limit: 9, By: querytest.Dimensions(querytest.MixedDimensions)},
	query.Histogram{
		SegmentSeconds: 60, Measure: query.MeasureBytesSent, Limit: 5, By: &querytest.Dimensions("url")[0],
	},
	query.Diff{
		Least: 1, By: querytest.Dimensions(querytest.MixedDimensions), Select: querytest.Selection("status>=400"),
	},
	query.Counts{SegmentSeconds: 60, By: querytest.Dimensions("host")[0], Of: []query.Selection{{}}},
	query.Sequences{Key: querytest.Dimensions("ip"), With: querytest.Dimensions("path"), Also: querytest.Dimensions("url,host"), Of: []query.Selection{querytest.Selection("status>=400")}},
	query.Counts{
		SegmentSeconds: 60, By: querytest.Dimensions("url")[0],
		Of: []query.Selection{{}, querytest.Selection("blocked not is true"), querytest.Selection("status>=400, country~\"a\"")},
	},
}

func bind(t testing.TB, text string, shape query.Shape) query.Query {
	t.Helper()
	q, err := query.Bind(filter.Parse(text), shape)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestSupports(t *testing.T) {
	many := make([]string, 65)
	for i := range many {
		many[i] = fmt.Sprintf("%d", i)
	}
	for _, c := range []struct {
		condition string
		want      bool
	}{
		{"", true},
		{`, status>=500, ip!="192.0.2.1", blocked is true`, true},
		{`, url~"(?i)union", tags="bot", headers["accept"]="*/*"`, true},
		{`, upstream_data["response_time"]>1, security_config["acl_active"] is true`, true},
		{`, request_id="9f2c1d7e"`, false}, // no dictionary, but a bloom filter
		{`, ip="192.0.2.1"`, false},        // a bloom filter
		{`, ip="192.0.2.1/32"`, false},
		{`, ip="192.0.2.0/24", ip!="192.0.2.0/25"`, true},
		{`, ip in ("192.0.2.1", "2001:db8::/32")`, true},
		{`, not session in ("a", "b")`, true},
		{`, status in (` + strings.Join(many, ",") + `)`, false},
		{`, status in (` + strings.Join(many[1:], ",") + `)`, true},
		{`, ip in (` + strings.Join(many, ",") + `)`, true}, // they are hashed
		{`, ip in (` + strings.Join(many[:16], ",") + `)`, true},
		{`, ip in (` + strings.Join(many[:15], ",") + `)`, false},
		{`, request_id in (` + strings.Join(many, ",") + `)`, false},
	} {
		for _, shape := range shapes {
			if scan.SupportsNewest(bind(t, hours+c.condition, shape)) {
				t.Errorf("%T%s is supported as a query for logs", shape, c.condition)
			}
			if got := scan.Supports(bind(t, hours+c.condition, shape)); got != c.want {
				t.Errorf("%T%s: %v, want %v", shape, c.condition, got, c.want)
			}
		}
		if scan.Supports(bind(t, hours+c.condition, query.Logs{Limit: 1})) {
			t.Errorf("a query for logs%s is supported as one for figures", c.condition)
		}
		if got := scan.SupportsNewest(bind(t, hours+c.condition, query.Logs{Limit: 1})); got != c.want {
			t.Errorf("newest%s: %v, want %v", c.condition, got, c.want)
		}
	}
}

// TestSupportsInSpiteOfBloomFilters: bloom filters are no use for the selections of sequences, and for the records of a
// moment.
func TestSupportsInSpiteOfBloomFilters(t *testing.T) {
	const moment = "timestamp between 2026-01-01 21:00 and 2026-01-01 21:00:00.999"
	newest := query.Logs{Limit: 1}
	for _, c := range []struct {
		filter string
		shape  query.Shape
		want   bool
	}{
		{hours, query.Sequences{Of: []query.Selection{querytest.Selection(`ip="192.0.2.1"`)}}, true},
		{hours, query.Sequences{Of: []query.Selection{querytest.Selection(`request_id="a"`)}}, false}, // no dictionary
		{hours + `, ip="192.0.2.1"`, query.Sequences{}, false},
		{hours, query.Diff{Select: querytest.Selection(`ip="192.0.2.1"`), Least: 1}, false},
		{moment + `, ip="192.0.2.1"`, newest, true},
		{moment + `, request_id="a"`, newest, false},
		{"timestamp between 2026-01-01 21:00 and 2026-01-01 21:00:01" + `, ip="192.0.2.1"`, newest, false},
	} {
		q := bind(t, c.filter, c.shape)
		if got := scan.Supports(q) || scan.SupportsNewest(q); got != c.want {
			t.Errorf("%s: %v, want %v", q, got, c.want)
		}
	}
}

// answer answers a query about rows. It checks that the answer is the reference's, unless there is an error.
func answer(t *testing.T, q query.Query, rows []lake.Row, objects []lake.Object, o scan.Options) error {
	t.Helper()
	return answerTo(t.Context(), t, q, rows, objects, o)
}

// answerTo is answer for the caller of a context.
func answerTo(
	ctx context.Context, t *testing.T, q query.Query, rows []lake.Row, objects []lake.Object, o scan.Options,
) error {
	t.Helper()
	_, err := readBy(ctx, t, q, rows, objects, o)
	return err
}

// answerFrom is like answer, and returns the objects that were read.
func answerFrom(
	t *testing.T, q query.Query, rows []lake.Row, objects []lake.Object, o scan.Options,
) ([]lake.Object, error) {
	t.Helper()
	return readBy(t.Context(), t, q, rows, objects, o)
}

func readBy(
	ctx context.Context, t *testing.T, q query.Query, rows []lake.Row, objects []lake.Object, o scan.Options,
) ([]lake.Object, error) {
	t.Helper()
	got, read, err := scan.Answer(ctx, q, objects, o)
	if err != nil {
		return nil, err
	}
	all := make([]*lake.Row, len(rows))
	for i := range rows {
		all[i] = &rows[i]
	}
	if diff := enginetest.Diff(reference.Evaluate(&q, all), got); diff != "" {
		t.Errorf("%s (-reference +scan):\n%s", q, diff)
	}
	return read, nil
}

func stored(t *testing.T, rows []lake.Row) []lake.Object {
	t.Helper()
	objects, err := enginetest.NewStore(t, rows).Objects(t.Context(), -1<<40, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// TestMemoryLimit: at each limit, the answer is right, or the error is ErrUnsupported.
func TestMemoryLimit(t *testing.T) {
	rows := enginetest.Records(t, 600, 31)
	objects := stored(t, rows)
	for _, shape := range shapes {
		q := bind(t, hours, shape)
		tooLow := 0
		for limit := int64(1); limit < 1<<21; limit *= 4 {
			err := answer(t, q, rows, objects, scan.Options{Memory: limit, Workers: 2})
			if err != nil && !errors.Is(err, scan.ErrUnsupported) {
				t.Fatalf("%T in %d bytes: %v", shape, limit, err)
			}
			if err != nil {
				tooLow++
			}
		}
		if tooLow < 2 || tooLow > 10 {
			t.Errorf("%T: %d of 11 limits were too low", shape, tooLow)
		}
	}
}

// TestManyTextsOfASegment: a timeline counts the addresses of a segment in several passes if memory does not hold all.
func TestManyTextsOfASegment(t *testing.T) {
	start := enginetest.Start.UnixMilli()
	rows := make([]lake.Row, 40_000)
	for i := range rows {
		ip, session := fmt.Sprintf("10.%d.%d.%d", i%13, i/250%250, i%250), fmt.Sprint("session ", i/3)
		rows[i] = lake.Row{TsMs: start + int64(i)%3_600_000, Source: fmt.Sprint(i % 4), Line: int64(i), IP: &ip, Session: &session}
	}
	objects := stored(t, rows)
	shape := query.Timeline{SegmentSeconds: 3600}
	q := bind(t, hours, shape)
	for _, memory := range []int64{64 << 20, 800_000, 400_000} {
		o := scan.Options{Memory: memory, Workers: 2, Partials: scan.NewPartials(64 << 20)}
		for range 2 {
			if err := answer(t, q, rows, objects, o); err != nil {
				t.Errorf("in %d bytes: %v", memory, err)
			}
		}
	}
}

// TestLongTimes: the scan ranks by times whose sums have more than 64 bits, unless times are negative.
func TestLongTimes(t *testing.T) {
	huge, negative, url := int64(math.MaxInt64), int64(-3), "u"
	at := func(n *int64, line int64) lake.Row {
		start := enginetest.Start.UnixMilli() + line%2*3_600_000
		return lake.Row{TsMs: start, Source: "s", Line: line, URL: &url, TotalUs: n}
	}
	for _, c := range []struct {
		rule string
		rows []lake.Row
		want error
	}{
		{"in one row group", []lake.Row{at(&huge, 2), at(&huge, 4), at(nil, 6)}, nil},
		{"in several row groups", []lake.Row{at(&huge, 1), at(&huge, 2), at(&huge, 4)}, nil},
		{
			"with a negative sum of a row group",
			[]lake.Row{at(&huge, 2), at(&huge, 4), at(&negative, 1)}, scan.ErrUnsupported,
		},
	} {
		t.Run(c.rule, func(t *testing.T) {
			err := answer(t, bind(t, hours, query.TopX{Limit: 3}), c.rows, stored(t, c.rows), scan.Options{})
			if !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
		})
	}
}

// manyTexts returns n records with different URLs and few hosts.
func manyTexts(n int) []lake.Row {
	rows := make([]lake.Row, n)
	for i := range rows {
		url, host := fmt.Sprint("/", i), fmt.Sprint("h", i%100)
		rows[i] = lake.Row{TsMs: enginetest.Start.UnixMilli(), Source: "s", Line: int64(i), URL: &url, Host: &host}
	}
	return rows
}

// TestPatternsOnManyTexts: patterns are tried on texts that are few, that occur many times, or whose records meet the other
// conditions, and for sequences, but not on others. Patterns that only look for texts are tried on all.
func TestPatternsOnManyTexts(t *testing.T) {
	rows := manyTexts(4_500)
	objects := stored(t, rows)
	for _, c := range []struct {
		condition string
		want      error
	}{
		{`, url~"7"`, nil},
		{`, url~"7.*"`, scan.ErrUnsupported},
		{`, url~"7.*", host="h7"`, nil},
		{`, url~"7.*", host!="h7"`, scan.ErrUnsupported},
		{`, url="/7"`, nil},
		{`, host~"7"`, nil},
	} {
		for _, shape := range shapes {
			q, want := bind(t, hours+c.condition, shape), c.want
			if _, sequences := shape.(query.Sequences); sequences {
				want = nil
			}
			if err := answer(t, q, rows, objects, scan.Options{}); !errors.Is(err, want) {
				t.Errorf("%T%s: error %v, want %v", shape, c.condition, err, want)
			}
			if err := answer(t, q, rows, objects, scan.Options{NoFallback: true}); err != nil {
				t.Errorf("%T%s without another engine: error %v", shape, c.condition, err)
			}
		}
	}
}

// TestHistogramPasses checks histograms with many values and segments, which need a second pass, with few, which do
// not, and one of a column without any value.
func TestHistogramPasses(t *testing.T) {
	rows := enginetest.Records(t, 900, 37)
	for i, r := range manyTexts(1_500) {
		r.TsMs += int64(i) * 7_000
		rows = append(rows, r)
	}
	for i := range rows {
		rows[i].Version = nil
	}
	objects := stored(t, rows)
	fields, measures := []string{"url", "host", "status", "version", "tags", "bytes_sent"}, query.Measures
	if testing.Short() { // the race detector needs one of each pass
		fields, measures = fields[:2], measures[:1]
	}
	for _, by := range fields {
		for _, seconds := range []int64{60, 86_400} {
			for _, measure := range measures {
				q := bind(t, hours, query.Histogram{
					SegmentSeconds: seconds, Measure: measure, Limit: 3, By: &querytest.Dimensions(by)[0],
				})
				if err := answer(t, q, rows, objects, scan.Options{Workers: 2}); err != nil {
					t.Errorf("%s: %v", q, err)
				}
			}
		}
	}
}

// outOfOrder writes an object of four records that are not in the order of time, and returns its last time.
func outOfOrder(t *testing.T) (path string, last int64) {
	t.Helper()
	start := enginetest.Start.UnixMilli()
	path = filepath.Join(t.TempDir(), "x.parquet")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := parquet.NewWriter(file)
	err = w.Write([]lake.Row{{TsMs: start}, {TsMs: start + 120_000}, {TsMs: start + 1}, {TsMs: start + 130_000}})
	if err := errors.Join(err, w.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
	return path, start + 130_000
}

// TestObjectOutOfOrder: figures are counted in the order of time, so the scan does not answer from other objects.
func TestObjectOutOfOrder(t *testing.T) {
	path, _ := outOfOrder(t)
	objects := []lake.Object{{Path: path}}
	for _, shape := range shapes {
		_, _, err := scan.Answer(t.Context(), bind(t, hours, shape), objects, scan.Options{})
		if !errors.Is(err, scan.ErrUnsupported) {
			t.Errorf("%T: error %v, want ErrUnsupported", shape, err)
		}
	}
}

// TestUnreadableObjectIsNamed: the error names the object.
func TestUnreadableObjectIsNamed(t *testing.T) {
	objects := stored(t, enginetest.Records(t, 100, 41))
	if err := os.Truncate(objects[1].Path, 1000); err != nil {
		t.Fatal(err)
	}
	for _, shape := range shapes {
		_, _, err := scan.Answer(t.Context(), bind(t, hours, shape), objects, scan.Options{})
		var named *engine.ObjectError
		if !errors.As(err, &named) || named.Path != objects[1].Path {
			t.Errorf("%T: error %v, want one that names %s", shape, err, objects[1].Path)
		}
	}
}

// TestMemoryIsSharedBetweenCallers: while the queries of one caller hold a caller's whole share, a further query of
// this caller gets ErrBusy, and queries of other callers are answered. Every scan gives back all memory that it took.
func TestMemoryIsSharedBetweenCallers(t *testing.T) {
	rows := enginetest.Records(t, 600, 31)
	objects := stored(t, rows)
	const limit, share = 32 << 20, 16 << 20
	for _, shape := range shapes {
		q := bind(t, hours, shape)
		shared := engine.NewMemory(limit, share)
		if !shared.Take("a", share) {
			t.Fatal("the share of a caller cannot be taken")
		}
		for caller, want := range map[string]error{"a": scan.ErrBusy, "b": nil} {
			ctx := engine.WithCaller(t.Context(), caller)
			if _, _, err := scan.Answer(ctx, q, objects, scan.Options{Shared: shared}); !errors.Is(err, want) {
				t.Errorf("%T of %s: %v", shape, caller, err)
			}
		}
		if !errors.Is(scan.ErrBusy, scan.ErrUnsupported) {
			t.Error("another engine is not asked")
		}
		if !shared.Take("b", share) || shared.Take("c", 1) {
			t.Errorf("%T: a scan has not given back its memory", shape)
		}
	}
}

// TestScansAtTheSameTime: scans that share workers have the same answers as alone, whatever they ask, and one that
// fails fails alone.
func TestScansAtTheSameTime(t *testing.T) {
	rows := enginetest.Records(t, 600, 47)
	objects := stored(t, rows)
	pools := &scan.WorkerPools{}
	bad := damaged(t, objects, func(column string) bool { return column == "ts_ms" })
	var running sync.WaitGroup
	for _, shape := range shapes {
		for _, text := range []string{
			hours, hours + ", status>=400, blocked is false", "timestamp between 2026-01-01 23:10 and 2026-01-02 01:20",
		} {
			q := bind(t, text, shape)
			for _, caller := range []string{"a", "b"} {
				o := scan.Options{Workers: 2, Pools: pools}
				ctx := engine.WithCaller(t.Context(), caller)
				running.Go(func() {
					if err := answerTo(ctx, t, q, rows, objects, o); err != nil {
						t.Errorf("%s: %v", q, err)
					}
				})
				running.Go(func() {
					_, _, err := scan.Answer(ctx, q, bad, o)
					var named *engine.ObjectError
					if !errors.As(err, &named) {
						t.Errorf("%s of damaged objects: %v", q, err)
					}
				})
			}
		}
	}
	running.Wait()
}

// TestManyTexts: a long list of texts selects the same records as several short ones.
func TestManyTexts(t *testing.T) {
	rows := enginetest.Records(t, 500, 7)
	objects := stored(t, rows)
	var hosts []string
	for _, r := range rows {
		if r.Host != nil && len(hosts) < 40 {
			hosts = append(hosts, *r.Host)
		}
	}
	for len(hosts) < 60 {
		hosts = append(hosts, fmt.Sprintf("absent-%d", len(hosts)))
	}
	for _, condition := range []string{"host in (%s)", "host not in (%s)", "tags in (%s)"} {
		for _, n := range []int{15, 16, 60} {
			quoted := make([]string, n)
			for i := range quoted {
				quoted[i] = strconv.Quote(hosts[i])
			}
			for _, shape := range shapes {
				q := bind(t, hours+", "+fmt.Sprintf(condition, strings.Join(quoted, ", ")), shape)
				if err := answer(t, q, rows, objects, scan.Options{NoFallback: true}); err != nil {
					t.Errorf("%s: %v", q, err)
				}
			}
		}
	}
}
