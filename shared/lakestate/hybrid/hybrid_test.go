package hybrid_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/blobtest"
	"github.com/orrery/orrery/shared/blob/s3"
	"github.com/orrery/orrery/shared/blob/s3/s3test"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/lakestate/hybrid"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/search/pending/pendingtest"
	"github.com/orrery/orrery/shared/testkit/faulttest"
	"github.com/orrery/orrery/shared/testkit/reference"
)

// service answers with the reference evaluation.
type service struct {
	enginetest.Oracle
	asked atomic.Int64

	mu      sync.Mutex
	queries []query.Query
}

func (s *service) Name() string { return "service" }

func (s *service) Run(ctx context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	s.asked.Add(1)
	if err := ctx.Err(); err != nil {
		return query.Answer{}, engine.Cost{}, engine.ContextError(ctx, err)
	}
	answer, cost, err := s.Oracle.Run(ctx, q)
	if logs, ok := q.Shape.(query.Logs); ok && logs.Fields == nil {
		for i, r := range answer.Logs { // engines read log_rest only if a query names it
			record := *r
			record.LogRest = nil
			answer.Logs[i] = &record
		}
	}
	return answer, cost, err
}

func (s *service) Start(_ context.Context, q query.Query) (engine.Execution, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queries = append(s.queries, q)
	return engine.Execution(strconv.Itoa(len(s.queries) - 1)), nil
}

func (s *service) Wait(_ context.Context, x engine.Execution, _ query.Query) (engine.Execution, error) {
	return x, nil
}

func (s *service) Poll(
	_ context.Context, x engine.Execution, _ query.Query,
) (engine.Execution, engine.Progress, error) {
	return x, engine.Progress{Done: true}, nil
}

func (s *service) Result(ctx context.Context, x engine.Execution, _ query.Query) (query.Answer, engine.Cost, error) {
	i, err := strconv.Atoi(string(x))
	if err != nil {
		return query.Answer{}, engine.Cost{}, err
	}
	s.mu.Lock()
	q := s.queries[i]
	s.mu.Unlock()
	return s.Run(ctx, q)
}

func (s *service) Stop(context.Context, engine.Execution) error { return nil }

func (s *service) Version(context.Context) (string, error) { return "1", nil }

func (s *service) CompleteThrough(context.Context) (time.Time, error) { return time.Time{}, nil }

func (s *service) Estimate(ctx context.Context, q query.Query) (engine.Estimate, error) {
	extent, err := s.Extent(ctx)
	e := engine.Estimate{
		By: s.Name(), Partitions: engine.HoursOf(q.Clamp(extent)), Warnings: []string{"not known"},
		USD: &engine.USD{Low: 5e-5, High: 1e-3},
	}
	for _, name := range q.Columns() {
		e.Columns = append(e.Columns, engine.ColumnSize{Name: name})
	}
	return e, err
}

func (s *service) Explain(ctx context.Context, q query.Query) (engine.Plan, error) {
	extent, err := s.Extent(ctx)
	return engine.Plan{
		By: s.Name(), SQL: []engine.Statement{{Title: "query", SQL: "SELECT"}}, Columns: q.Columns(),
		Partitions: engine.HoursOf(q.Clamp(extent)),
	}, err
}

// world is a lake in a bucket, whose earlier hours are compacted.
type world struct {
	t       *testing.T
	rows    []*lake.Row
	network *faulttest.Transport
	bucket  bucket
	state   engine.State
	service *service

	mu     sync.Mutex
	failed []error // of scans
}

// State implements engine.States.
func (w *world) State(context.Context) (engine.State, error) { return w.state, nil }

// bucket is a bucket whose objects can be read by ranges.
type bucket interface {
	blob.Store
	blob.Ranges
}

// newWorld returns a world over a server of S3's protocol.
func newWorld(t *testing.T, rows []lake.Row) *world {
	t.Helper()
	network := &faulttest.Transport{Script: faulttest.Never}
	w := newWorldIn(t, rows, s3.New(s3test.New(t, network, "lake"), "lake"))
	w.network = network
	return w
}

func newWorldIn(t *testing.T, rows []lake.Row, b bucket) *world {
	t.Helper()
	return newCompacted(t, rows, b, lake.PartitionOf(enginetest.Start.UnixMilli())+2)
}

// newCompacted returns a world in which the hours before a watermark are compacted.
func newCompacted(t *testing.T, rows []lake.Row, b bucket, watermark lake.Partition) *world {
	t.Helper()
	w := &world{t: t, bucket: b}
	for i := range rows {
		w.rows = append(w.rows, &rows[i])
	}
	w.service = &service{Oracle: enginetest.Oracle{Rows: w.rows}}
	extent, err := w.service.Extent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.state = engine.State{Extent: extent, Watermark: watermark, Version: 1}
	store := enginetest.StoreOf(t.TempDir(), nil)
	store.Fill(t, rows, watermark)
	w.putAll(store, lake.PartitionOf(extent.MinTsMs), lake.PartitionOf(extent.MaxTsMs))
	return w
}

// putAll puts the objects of hours of a store into the bucket.
func (w *world) putAll(store *enginetest.Store, from, to lake.Partition) {
	w.t.Helper()
	objects, err := store.Objects(w.t.Context(), from, to)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, o := range objects {
		name, err := filepath.Rel(store.Dir, o.Path)
		if err != nil {
			w.t.Fatal(err)
		}
		content, err := os.ReadFile(o.Path)
		if err != nil {
			w.t.Fatal(err)
		}
		w.put("lake/"+filepath.ToSlash(name), content)
	}
}

func (w *world) put(name string, content []byte) {
	w.t.Helper()
	if err := w.bucket.Put(w.t.Context(), name, bytes.NewReader(content), blob.Always); err != nil {
		w.t.Fatal(err)
	}
}

// engine returns an engine without footers in memory. If change is not nil, it changes the configuration.
func (w *world) engine(change func(*hybrid.Config)) *hybrid.Engine {
	w.t.Helper()
	c := hybrid.Config{
		Service: w.service, States: w, Bucket: w.bucket, Listing: lakestate.NewListing(w.bucket),
		MostBytes: 100 << 20, Longest: time.Hour, Patience: time.Hour,
		Now: func() time.Time { return enginetest.Start.Add(enginetest.Length) },
		Failed: func(err error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.failed = append(w.failed, err)
		},
	}
	if change != nil {
		change(&c)
	}
	e, err := hybrid.New(c)
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

// keeping configures an engine that keeps figures, as functions have.
func keeping(c *hybrid.Config) { c.Kept = scan.NewPartials(64 << 20) }

// TestEngine runs the suite over a server whose responses to requests for ranges are often faulty. The scan answers all
// questions for figures but a few, which it does not support. With -short, the bucket is in memory.
func TestEngine(t *testing.T) {
	var scanned, other atomic.Int64
	enginetest.Run(t, func(rows []lake.Row) engine.Engine {
		if testing.Short() {
			return counting{newWorldIn(t, rows, &blobtest.Memory{}).engine(keeping), &scanned, &other}
		}
		w := newWorld(t, rows)
		faults := faulttest.Sometimes(1, 0.05, faulttest.Throttle, faulttest.Fail, faulttest.Break, faulttest.Cut)
		w.network.Script = func(n int, r *http.Request) faulttest.Fault {
			if isRange(r) {
				return faults(n, r)
			}
			return faulttest.None
		}
		return counting{w.engine(keeping), &scanned, &other}
	})
	if scanned.Load() == 0 || other.Load() > scanned.Load()/50 {
		t.Errorf("the scan answered %d questions, and the service %d", scanned.Load(), other.Load())
	}
}

// counting counts the answers to questions that scans support.
type counting struct {
	*hybrid.Engine
	scanned, other *atomic.Int64
}

func (c counting) Run(ctx context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	answer, cost, err := c.Engine.Run(ctx, q)
	switch {
	case err != nil || !scan.Supports(q) && !scan.SupportsNewest(q):
	case cost.By == "scan":
		c.scanned.Add(1)
	default:
		c.other.Add(1)
	}
	return answer, cost, err
}

const period = "timestamp between 2026-01-01 21:00 and 2026-01-02 03:00"

var shapes = []query.Shape{
	query.Stats{SegmentSeconds: 60},
	query.Timeline{SegmentSeconds: 3600},
	query.TopX{Limit: 9},
	query.Logs{Limit: 20},
	query.Facets{Limit: 9, By: querytest.Dimensions(querytest.MixedDimensions)},
	query.Diff{
		Least: 1, By: querytest.Dimensions(querytest.MixedDimensions), Select: querytest.Selection("status>=400"),
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

// ask checks the answers of an engine to questions of all shapes, and returns how many the scan gave.
func (w *world) ask(e *hybrid.Engine) (scanned int) {
	w.t.Helper()
	for _, shape := range shapes {
		q := bind(w.t, period, shape)
		answer, cost, err := e.Run(w.t.Context(), q)
		if err != nil {
			w.t.Fatal(err)
		}
		if diff := enginetest.Diff(reference.Evaluate(&q, w.rows), answer); diff != "" {
			w.t.Errorf("%T: %s", shape, diff)
		}
		if cost.By == "scan" {
			scanned++
			if cost.BytesScanned == 0 || cost.USD == nil || *cost.USD <= 0 || cost.Objects != nil {
				w.t.Errorf("%T: cost %+v", shape, cost)
			}
		}
	}
	return scanned
}

// TestKept: an engine that has answered a question reads only new objects for it.
func TestKept(t *testing.T) {
	w := newWorldIn(t, enginetest.Records(t, 2000, 33), &blobtest.Memory{})
	e := w.engine(keeping)
	answered := func(q query.Query) int64 {
		t.Helper()
		answer, cost, ok := e.TryDirect(t.Context(), q)
		if !ok {
			t.Fatalf("%T: not answered", q.Shape)
		}
		if diff := enginetest.Diff(reference.Evaluate(&q, w.rows), answer); diff != "" {
			t.Errorf("%T: %s", q.Shape, diff)
		}
		if estimate, err := e.Estimate(t.Context(), q); err != nil || estimate.Bytes.Low > 0 {
			t.Errorf("%T: the estimate is %+v, %v, although an instance may read nothing", q.Shape, estimate.Bytes, err)
		}
		return cost.BytesScanned
	}
	for _, shape := range shapes {
		if _, logs := shape.(query.Logs); logs {
			continue
		}
		whole, shorter := bind(t, period, shape), bind(t, "timestamp between 2026-01-01 22:00 and 2026-01-02 03:00", shape)
		first, again := answered(whole), answered(whole)
		if first == 0 || again != 0 {
			t.Errorf("%T: %d bytes were read the first time, and %d the second", shape, first, again)
		}
		_, ranks := shape.(query.TopX) // it reads the figures of keys that come first for the first time
		if n := answered(shorter); n > 0 && !ranks {
			t.Errorf("%T: %d bytes were read for a part of the period", shape, n)
		}
	}
}

func isRange(r *http.Request) bool { return r.Method == http.MethodGet && r.Header.Get("Range") != "" }

// TestFaults: the answers are right whatever happens to the objects and to the requests for their ranges. If the scan
// cannot recover, the service answers.
func TestFaults(t *testing.T) {
	every := func(f faulttest.Fault) faulttest.Script {
		return func(_ int, r *http.Request) faulttest.Fault {
			if isRange(r) {
				return f
			}
			return faulttest.None
		}
	}
	third := func(f faulttest.Fault) faulttest.Script {
		var n atomic.Int64
		return func(_ int, r *http.Request) faulttest.Fault {
			if isRange(r) && n.Add(1)%3 == 0 {
				return f
			}
			return faulttest.None
		}
	}
	all := len(shapes)
	for name, c := range map[string]struct {
		script faulttest.Script
		want   int
	}{
		"none":                {faulttest.Never, all},
		"refused with 503":    {every(faulttest.Throttle), 0},
		"cut":                 {every(faulttest.Cut), 0},
		"broken":              {every(faulttest.Break), 0},
		"often refused":       {third(faulttest.Throttle), -1},
		"often cut":           {third(faulttest.Cut), -1},
		"the list is refused": {func(int, *http.Request) faulttest.Fault { return faulttest.Throttle }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, enginetest.Records(t, 400, 31))
			w.network.Script = c.script
			got := w.ask(w.engine(nil))
			if c.want >= 0 && got != c.want || c.want < 0 && got == 0 {
				t.Errorf("the scan answered %d questions, want %d: %v", got, c.want, w.failed)
			}
			if got < all && len(w.failed) == 0 {
				t.Error("no failure is reported")
			}
		})
	}
}

// TestObjectsChangeMeanwhile replaces or deletes objects after the requests for footers.
func TestObjectsChangeMeanwhile(t *testing.T) {
	for name, change := range map[string]func(w *world, name string){
		"replaced": func(w *world, name string) { w.put(name, []byte(strings.Repeat("x", 1<<20))) },
		"deleted": func(w *world, name string) {
			if err := w.bucket.Delete(w.t.Context(), name); err != nil {
				w.t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, enginetest.Records(t, 2000, 32))
			var infos []blob.Info
			for info, err := range w.bucket.List(t.Context(), "lake/", "") {
				if err != nil {
					t.Fatal(err)
				}
				infos = append(infos, info)
			}
			var footers atomic.Int64
			var once sync.Once
			w.network.Before = func(_ int, r *http.Request) {
				if isRange(r) && footers.Add(1) > int64(len(infos)) {
					once.Do(func() {
						for _, info := range infos {
							change(w, info.Name)
						}
					})
				}
			}
			if got := w.ask(w.engine(nil)); got != 0 || len(w.failed) == 0 {
				t.Errorf("the scan answered %d questions: %v", got, w.failed)
			}
			if footers.Load() <= int64(len(infos)) {
				t.Error("the objects were not changed")
			}
		})
	}
}

// TestLimits: the service answers questions that are too large.
func TestLimits(t *testing.T) {
	w := newWorld(t, enginetest.Records(t, 400, 33))
	for name, c := range map[string]struct {
		change func(*hybrid.Config)
		want   int
	}{
		"none":           {nil, len(shapes)},
		"no scan":        {func(c *hybrid.Config) { c.MostBytes = 0 }, 0},
		"few objects":    {func(c *hybrid.Config) { c.MostObjects = 2 }, 1}, // the newest logs are found in them
		"large columns":  {func(c *hybrid.Config) { c.Columns = sizes(1 << 40) }, 1},
		"small columns":  {func(c *hybrid.Config) { c.Columns = sizes(1) }, len(shapes)},
		"no time":        {func(c *hybrid.Config) { c.Longest = time.Nanosecond }, 0},
		"unknown sizes":  {func(c *hybrid.Config) { c.Columns = sizes(0) }, len(shapes)},
		"sizes not read": {func(c *hybrid.Config) { c.Columns = sizes(-1) }, 0},
	} {
		if got := w.ask(w.engine(c.change)); got != c.want {
			t.Errorf("%s: the scan answered %d questions, want %d: %v", name, got, c.want, w.failed)
		}
	}
}

// TestLogsOfTheNewestHours: if the objects are too many, the scan looks for logs in the newest hours. The estimate allows both
// ways, and the service answers if the hours have too few records.
func TestLogsOfTheNewestHours(t *testing.T) {
	w := newWorld(t, enginetest.Records(t, 400, 38))
	e := w.engine(func(c *hybrid.Config) { c.MostObjects = 2 })
	for _, c := range []struct {
		text  string
		shape query.Shape
		low   float64
		by    string
	}{
		{period, query.Logs{Limit: 20}, 0, "scan"},
		{period + ", status=99999", query.Logs{Limit: 20}, 0, ""},
		{period, query.Timeline{SegmentSeconds: 3600}, 5e-5, ""},
	} {
		q := bind(t, c.text, c.shape)
		estimate, err := e.Estimate(t.Context(), q)
		if err != nil || estimate.USD == nil || estimate.USD.Low != c.low || estimate.USD.High != 1e-3 {
			t.Errorf("%T%s: %+v, %v", c.shape, c.text, estimate.USD, err)
		}
		answer, cost, err := e.Run(t.Context(), q)
		if err != nil || cost.By != c.by || cost.USD != nil && *cost.USD > 1e-3 {
			t.Errorf("%T%s: %+v, %v", c.shape, c.text, cost, err)
		}
		if diff := enginetest.Diff(reference.Evaluate(&q, w.rows), answer); diff != "" {
			t.Errorf("%T%s: %s", c.shape, c.text, diff)
		}
	}
}

// sizes are the bytes of each column: 0 if they are not known, and less if they cannot be read.
type sizes int64

func (s sizes) Columns(
	context.Context, lake.Partition, map[lake.Partition]engine.Sizes,
) (engine.ColumnBytes, map[lake.Partition]engine.ColumnBytes, error) {
	if s < 0 {
		return nil, nil, fault.New(fault.Unavailable, "the table cannot be reached")
	}
	if s == 0 {
		return nil, nil, nil
	}
	all := engine.ColumnBytes{}
	for _, c := range lake.Columns {
		all[c.Name] = int64(s)
	}
	return all, nil, nil
}

// TestFootersAreReadOnce: a second question reads only columns, and the listing of the estimate is used again.
func TestFootersAreReadOnce(t *testing.T) {
	w := newWorld(t, enginetest.Records(t, 2000, 34))
	e := w.engine(nil)
	q := bind(t, period, query.Timeline{SegmentSeconds: 3600})
	before := w.network.Requests()
	estimate, err := e.Estimate(t.Context(), q)
	if err != nil || estimate.By != "scan" {
		t.Fatalf("%+v, %v", estimate, err)
	}
	lists := w.network.Requests() - before
	var costs [2]engine.Cost
	for i := range costs {
		var ok bool
		if _, costs[i], ok = e.TryDirect(t.Context(), q); !ok {
			t.Fatal(w.failed)
		}
	}
	if costs[0].BytesScanned <= costs[1].BytesScanned {
		t.Errorf("the first answer read %d bytes, the second one %d", costs[0].BytesScanned, costs[1].BytesScanned)
	}
	gets := int(1e7*(*costs[0].USD+*costs[1].USD)+0.5) / 4
	if got := w.network.Requests() - before; got != lists+gets {
		t.Errorf("%d requests, of which %d are for lists and %d for ranges", got, lists, gets)
	}
}

// TestLostObjects: the answer names objects that were set aside.
func TestLostObjects(t *testing.T) {
	w := newWorld(t, enginetest.Records(t, 100, 35))
	w.state.Lost = []engine.LostObject{{Name: "fresh/a.parquet", Partition: lake.PartitionOf(enginetest.Start.UnixMilli())}}
	_, cost, ok := w.engine(nil).TryDirect(t.Context(), bind(t, period, query.Timeline{SegmentSeconds: 3600}))
	if !ok || len(cost.Skipped) != 1 {
		t.Errorf("%t, %+v, %v", ok, cost, w.failed)
	}
}

// TestSearch: a caller who waits gets the answer of the scan, and one who does not wait the answer of the service, both
// with the right estimate.
func TestSearch(t *testing.T) {
	w := newWorld(t, enginetest.Records(t, 100, 37))
	e := w.engine(nil)
	s, err := search.New(e, search.Options{Store: pendingtest.NewMemory(), Now: e.Now})
	if err != nil {
		t.Fatal(err)
	}
	r := search.Request{Route: search.Timeline, Filters: period, Segment: "3600", Caller: "a"}
	got, err := s.Search(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if m := got.Meta; m.Engine != "scan" || m.Estimate.Bytes == nil || m.BytesScanned > m.Estimate.Bytes.High {
		t.Errorf("%+v", m)
	}
	if n := w.service.asked.Load(); n != 0 {
		t.Errorf("the service was asked %d times", n)
	}
	id, err := s.Begin(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	status, err := s.Status(t.Context(), id, search.Asker{Caller: r.Caller})
	if err != nil {
		t.Fatal(err)
	}
	if m := status.Result.Meta; m.Engine != "service" || m.Estimate.Bytes != nil || !status.Done {
		t.Errorf("%+v", m)
	}
	if diff := cmp.Diff(got.Timeline, status.Result.Timeline); diff != "" {
		t.Error(diff)
	}
}

// TestNewVersion: records that were published after the last question are in the next answer.
func TestNewVersion(t *testing.T) {
	w := newWorld(t, enginetest.Records(t, 100, 36))
	e := w.engine(nil)
	w.ask(e)
	if err := w.remove(1); err != nil {
		t.Fatal(err)
	}
	w.state.Version++
	if got := w.ask(e); got != len(shapes) {
		t.Errorf("the scan answered %d questions: %v", got, w.failed)
	}
}

// remove removes some objects with their records.
func (w *world) remove(n int) error {
	for info, err := range w.bucket.List(w.t.Context(), "lake/fresh/", "") {
		if err != nil {
			return err
		}
		hour, ok := lakestate.HourOf(info.Name)
		if !ok {
			return errors.New(info.Name)
		}
		if err := w.bucket.Delete(w.t.Context(), info.Name); err != nil {
			return err
		}
		var left []*lake.Row
		for _, r := range w.rows {
			if lake.PartitionOf(r.TsMs) != hour || info.Name != "lake/"+lake.ObjectName(hour, r.Source, 0) {
				left = append(left, r)
			}
		}
		if len(left) == len(w.rows) {
			return fmt.Errorf("%s has no records", info.Name)
		}
		w.rows = left
		if n--; n == 0 {
			return nil
		}
	}
	return errors.New("there are too few objects")
}
