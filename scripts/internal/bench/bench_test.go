package bench

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/api/answering"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/lake/parquet/parquettest"
	"github.com/orrery/orrery/shared/logformat"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/record"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/testkit/reference"
	"github.com/orrery/orrery/shared/whatif/asking"
)

// TestRun measures a small product that uses the reference evaluation, and so compares the hand-written SQL with it.
func TestRun(t *testing.T) {
	var opened atomic.Int32
	o := Options{
		Dir: t.TempDir(), Records: 2_000, Runs: 1, Days: 2, Week: 1, Clients: len(mix()), Duration: time.Millisecond,
		Progress: io.Discard,
		Open: func(ctx context.Context, dir string) (Product, error) {
			opened.Add(1)
			return openReference(dir)
		},
	}
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	checkReport(t, r)

	opened.Store(0)
	again, err := ensureData(t.Context(), o)
	if err != nil || !reflect.DeepEqual(again, r.Import) || opened.Load() != 0 {
		t.Errorf("the second time: %+v, %v, opened %d times", again, err, opened.Load())
	}
	t.Run("over an object store", func(t *testing.T) {
		var table strings.Builder
		if err := RunRemote(t.Context(), o, Network{BytesPerSecond: 1e12}, &table); err != nil {
			t.Fatal(err)
		}
		lines, want := strings.Count(table.String(), "\n"), 4+len(remoteGoals)
		if lines != want || !strings.Contains(table.String(), "logs, newest 200") {
			t.Errorf("%d lines, want %d:\n%s", lines, want, &table)
		}
	})
	t.Run("a part that an older benchmark did not make is made", func(t *testing.T) {
		older := again
		older.Texts, older.Long, older.Full = older.Texts[:2], 0, 0
		if err := writeImport(o, older); err != nil {
			t.Fatal(err)
		}
		made, err := ensureData(t.Context(), o)
		if err != nil || len(made.Texts) != len(textFormats) || made.Long != 2_000 || made.Full != 4_000 ||
			made.PerSecond != again.PerSecond {
			t.Errorf("%v: %+v", err, made)
		}
	})
	t.Run("a part that was interrupted continues", func(t *testing.T) {
		interrupted := again
		interrupted.Full = 0
		if err := writeImport(o, interrupted); err != nil {
			t.Fatal(err)
		}
		checkContinues(t, o, fullDir(o))
	})
	for _, other := range []Options{{Records: 100, Days: o.Days}, {Records: o.Records, Days: 3}, {Records: o.Records, Days: o.Days, Uniform: true}} {
		other.Dir, other.Open, other.Progress = o.Dir, o.Open, o.Progress
		if _, err := ensureData(t.Context(), other); err == nil || !strings.Contains(err.Error(), "choose another folder") {
			t.Errorf("other data: %v", err)
		}
	}
}

// checkContinues interrupts the import of a folder, and checks that the next benchmark imports the same log into what
// is there, and announces nothing but that.
func checkContinues(t *testing.T, o Options, dir string) {
	t.Helper()
	var steps strings.Builder
	o.Progress = &steps
	open := o.Open
	halfway := filepath.Join(dir, "halfway")
	o.Open = func(ctx context.Context, dir string) (Product, error) {
		product, err := open(ctx, dir)
		product.Import = func(context.Context, string, string, io.Reader) error {
			return errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(halfway, nil, 0o644), context.Canceled)
		}
		return product, err
	}
	if _, err := ensureData(t.Context(), o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	o.Open = open
	steps.Reset()
	made, err := ensureData(t.Context(), o)
	if err != nil || made.Full != 4_000 {
		t.Fatalf("%+v, %v", made, err)
	}
	if _, err := os.Stat(halfway); err != nil {
		t.Error(err)
	}
	if first, _, _ := strings.Cut(steps.String(), "\n"); !strings.HasPrefix(first, "importing full-") {
		t.Errorf("the first step is %q", first)
	}
	if logs, err := filepath.Glob(filepath.Join(o.Dir, "*"+logSuffix)); err != nil || len(logs) > 0 {
		t.Errorf("logs are left: %q, %v", logs, err)
	}
}

func checkReport(t *testing.T, r Report) {
	t.Helper()
	if r.Records != 2_000 || r.Objects == 0 || r.Bytes == 0 {
		t.Errorf("report %+v", r)
	}
	if i := r.Import; i.PerSecond <= 0 || i.PerSecondOne <= 0 || i.Objects != r.Objects || i.BytesPerRecord < 2_000 {
		t.Errorf("import %+v", i)
	}
	unmeasured := func(i TextImport) bool { return i.PerSecond <= 0 }
	if len(r.Import.Texts) != len(textFormats) || slices.ContainsFunc(r.Import.Texts, unmeasured) {
		t.Errorf("imports of text %+v", r.Import.Texts)
	}
	if e := r.Export; e.Records != 2_000 || e.Bytes < 1_000_000 || e.Seconds <= 0 {
		t.Errorf("export %+v", e)
	}
	var names []string
	for _, q := range r.Questions {
		names = append(names, q.Name)
		if q.Results == 0 {
			t.Errorf("%s has no results to compare", q.Name)
		}
		if q.Ours.Min <= 0 || q.Ours.Median < q.Ours.Min || q.Bare.Min <= 0 || q.Ratio <= 0 || q.BytesSent == 0 {
			t.Errorf("%s: %+v", q.Name, q)
		}
	}
	if want := []string{
		"topx", "facets", "diff", "histogram_status", "histogram_country", "values", "timeline", "stats", "logs",
		"needle", "needle_hour", "timeline_long", "logs_first", "logs_page", "logs_many",
	}; !slices.Equal(names, want) {
		t.Errorf("questions %v, want %v", names, want)
	}
	for _, route := range r.Load.Routes {
		if route.Answers == 0 {
			t.Errorf("no answer to %s under load", route.What)
		}
	}
	if r.Load.Answers < len(mix()) || len(r.Load.Routes) != len(mix()) || r.Load.P99 < r.Load.P50 || r.Load.P50 <= 0 {
		t.Errorf("load %+v", r.Load)
	}
	for _, row := range r.Rows() {
		if !strings.Contains(row.What, "errors") && !strings.Contains(row.What, "estimated") && row.Met != nil {
			t.Errorf("a verdict on small data: %+v", row)
		}
	}

	var table strings.Builder
	if err := r.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"bare DuckDB", "topx, 12 labels", "usual way", "overhead around the engine: stats", "storage",
		"import, one core", "import of combined, one core", "export as CSV", "no verdict",
	} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, table.String())
		}
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var decoded struct {
		Records int64
		Table   []Row
	}
	err = json.Unmarshal(text, &decoded)
	if err != nil || decoded.Records != 2_000 || len(decoded.Table) != len(r.Rows()) {
		t.Errorf("%v: %s", err, text)
	}
}

// TestVerdicts checks the verdicts on data of full size.
func TestNetwork(t *testing.T) {
	for text, want := range map[string]Network{
		"25ms,90MB/s": {25 * time.Millisecond, 90e6}, "0s,0.5": {0, 0.5e6}, "": {}, "25ms": {}, "90MB/s": {}, "-1s,1MB/s": {}, "1s,0": {},
	} {
		var n Network
		if err := n.UnmarshalText([]byte(text)); (err == nil) != (want != Network{}) || err == nil && n != want {
			t.Errorf("%q: %+v, %v", text, n, err)
		}
	}
}

func TestVerdicts(t *testing.T) {
	q := Comparison{
		Name: "topx", What: "topx", goal: goal{ms: 700, mb: 36, naive: 4, memory: 100},
		MemoryBytes: 101 << 20, Ours: Times{600, 650}, Bare: Times{500, 550}, Engine: Times{590, 600}, Overhead: Times{10, 50},
		Naive: &Times{3000, 3100}, Faster: 5, BytesScanned: 35e6,
	}
	r := Report{
		Records: FullRecords, Bytes: 161 * FullRecords, Questions: []Comparison{q},
		Import: Import{
			PerSecondOne: 46_000, PerSecond: 50_000, Cores: 2, PeakBytes: 700 << 20,
			Texts: []TextImport{{Name: "fast", PerSecond: 60_000}, {Name: "slow", PerSecond: 59_999}},
		},
		Export: Export{Records: FullRecords, Seconds: 17, PeakBytes: 511e6},
		Week:   WeekReport{Days: 10, Timeline: Times{788, 790}, TimelineMemoryBytes: 99e6},
		Load:   Load{Clients: 32, Different: 1},
	}
	want := map[string]bool{
		"topx": true, "topx, the usual way to write it": true,
		"overhead around the engine: topx": false, "bytes of touched columns: topx": true,
		"memory for one answer: topx": false, "export as CSV": false, "export as CSV, peak memory": true,
		"import of fast, one core": true, "import of slow, one core": false,
		"storage": false, "import, one core": true, "import, 2 cores": false,
		"import, peak memory":                                                     true,
		"timeline, exact distincts, hours of 10 such days":                        false,
		"memory for one answer: timeline, exact distincts, hours of 10 such days": true,
		"32 clients, 0 s: errors, answers unlike the single-client ones":          false,
	}
	for _, row := range r.Rows() {
		if row.Met == nil {
			continue
		}
		if verdict, known := want[row.What]; !known || verdict != *row.Met {
			t.Errorf("%s: met %v", row.What, *row.Met)
		}
		delete(want, row.What)
	}
	if len(want) > 0 {
		t.Errorf("no verdict on %v", want)
	}
	r.Export.Records--
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "under load") ||
		!strings.Contains(err.Error(), "the export has 999999 records") {
		t.Errorf("error %v", err)
	}
}

// TestEstimateRow: the goal is met if the bytes read are within the estimate, both ends included.
func TestEstimateRow(t *testing.T) {
	for scanned, want := range map[int64]bool{99: false, 100: true, 150: true, 200: true, 201: false} {
		q := Comparison{Name: "topx", BytesScanned: scanned, Estimated: &search.BytesEstimate{Low: 100, High: 200}}
		r := Report{Records: 1, Questions: []Comparison{q}}
		found := false
		for _, row := range r.Rows() {
			if row.What == "bytes read, estimated: topx" {
				found = true
				if *row.Met != want {
					t.Errorf("%d bytes: met %v", scanned, *row.Met)
				}
			}
		}
		if !found {
			t.Error("the table has no row")
		}
	}
}

// TestDifferences checks that a wrong answer is found.
func TestDifferences(t *testing.T) {
	for _, test := range []struct {
		want, got []string
		text      string
	}{
		{[]string{"a"}, []string{"a"}, ""},
		{[]string{"a", "b"}, []string{"a", "c"}, `result 1: API has "c", SQL "b"`},
		{[]string{"a"}, []string{"a", "b"}, "API has 2 results, SQL 1"},
		{[]string{"a", "b"}, []string{"a"}, "API has 1 results, SQL 2"},
	} {
		if got := differenceOf("API", test.want, test.got); got != test.text {
			t.Errorf("%v and %v: %q, want %q", test.want, test.got, got, test.text)
		}
	}
}

// TestLoadReportsErrors checks that the load test reports failed requests and different answers.
func TestLoadReportsErrors(t *testing.T) {
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		switch n := int(requests.Add(1)); {
		case n <= len(mix()): // alone
			_, _ = fmt.Fprint(w, `{"data":{"results":[1]},"meta":{}}`)
		case n%2 == 0:
			_, _ = fmt.Fprint(w, `{"data":{"results":[2]},"meta":{}}`)
		default:
			http.Error(w, "out of order", http.StatusInternalServerError)
		}
	}))
	defer server.Close()
	o := Options{Clients: 4, Duration: time.Millisecond}.withDefaults()
	load, err := runLoad(t.Context(), o, client{base: server.URL, http: server.Client()})
	if err != nil {
		t.Fatal(err)
	}
	if load.Errors == 0 || load.Different == 0 || load.Different != load.Answers ||
		!strings.Contains(load.Error, "out of order") {
		t.Errorf("load %+v", load)
	}
}

func TestPercentile(t *testing.T) {
	var list []time.Duration
	for i := range 200 {
		list = append(list, time.Duration(200-i)*time.Millisecond)
	}
	for percent, want := range map[int]float64{50: 100, 99: 198, 100: 200} {
		if got := percentile(list, percent); got != want {
			t.Errorf("percentile %d: %v, want %v", percent, got, want)
		}
	}
	if got := percentile(nil, 50); got != 0 {
		t.Errorf("without answers: %v", got)
	}
}

// inMemory is a product that answers with the reference evaluation.
type inMemory struct {
	dir     string
	rows    []*lake.Row
	objects []lake.Object
}

func openReference(dir string) (Product, error) {
	r := &inMemory{dir: dir}
	if err := r.load(); err != nil {
		return Product{}, err
	}
	service, err := search.New(r, search.Options{Now: time.Now})
	if err != nil {
		return Product{}, err
	}
	return Product{
		Import: r.importLog, Compact: func(context.Context) (int64, error) { return 0, nil },
		Export: r.export, Index: r, Handler: r.handler(service), Close: func() error { return nil },
	}, nil
}

func (r *inMemory) load() error {
	paths, err := filepath.Glob(filepath.Join(r.dir, "*.parquet"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		object, err := parquet.Verify(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			return err
		}
		object.Path, object.Partition = path, lake.PartitionOf(object.MinTsMs)
		r.objects = append(r.objects, object)
		rows, err := parquettest.Rows(text)
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		for i := range rows {
			r.rows = append(r.rows, &rows[i])
		}
	}
	return nil
}

// export prints the records as CSV with a single column.
func (r *inMemory) export(_ context.Context, _ string, w io.Writer) error {
	text := []byte("record\n")
	for _, row := range r.rows {
		text = append(record.AppendJSON(text, row, nil), '\n')
	}
	_, err := w.Write(text)
	return err
}

func (r *inMemory) importLog(_ context.Context, name, format string, log io.Reader) error {
	as, err := logformat.ByName(format)
	if err != nil {
		return err
	}
	plain, err := gzip.NewReader(log)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(plain)
	if err != nil {
		return err
	}
	hours := map[lake.Partition][]lake.Row{}
	decoder := record.NewDecoder()
	for n, line := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		var row lake.Row
		text, err := as.Convert(nil, line)
		if err != nil {
			return err
		}
		if _, err := decoder.Decode(text, &row); err != nil {
			return err
		}
		row.Source, row.Line = name, int64(n+1)
		p := lake.PartitionOf(row.TsMs)
		hours[p] = append(hours[p], row)
	}
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return err
	}
	for p, rows := range hours {
		var object bytes.Buffer
		w := parquet.NewWriter(&object)
		parquettest.Sort(rows)
		if err := errors.Join(w.Write(rows), w.Close()); err != nil {
			return err
		}
		name := filepath.Join(r.dir, strings.ReplaceAll(p.String(), "/", "-")+".parquet")
		if err := os.WriteFile(name, object.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (r *inMemory) Name() string { return "reference" }

func (r *inMemory) Objects(_ context.Context, from, to lake.Partition) ([]lake.Object, error) {
	outside := func(o lake.Object) bool { return o.Partition < from || o.Partition > to }
	return slices.DeleteFunc(slices.Clone(r.objects), outside), nil
}

func (r *inMemory) Extent(context.Context) (lake.Extent, error) {
	last := r.objects[len(r.objects)-1]
	return lake.Extent{MinTsMs: r.objects[0].MinTsMs, MaxTsMs: last.MaxTsMs, Rows: int64(len(r.rows))}, nil
}

func (r *inMemory) Run(_ context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	return reference.Evaluate(&q, r.rows), engine.Cost{BytesScanned: 1}, nil
}

func (r *inMemory) FindValues(
	_ context.Context, q query.Query, _ func() bool,
) (engine.FoundValues, engine.Cost, error) {
	return engine.FoundValues{ValuesAnswer: reference.Evaluate(&q, r.rows).Values}, engine.Cost{BytesScanned: 1}, nil
}

func (r *inMemory) Explain(context.Context, query.Query) (engine.Plan, error) {
	return engine.Plan{}, errors.New("not asked for")
}

// handler is the part of the API that the benchmark needs.
func (r *inMemory) handler(service *search.Service) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		p := req.URL.Query()
		route := search.Route(strings.TrimPrefix(req.URL.Path, "/api/v4.0/data/"))
		r := search.Request{Route: route}
		for name := range p {
			r.Set(name, p.Get(name))
		}
		if route == search.WhatIf {
			tried, err := asking.Run(req.Context(), answering.TryAs(service, nil, "", nil), asking.Request{
				Filters: p.Get("filters"), Rule: p.Get("rule"), Attack: p.Get("attack"),
			})
			if err = cmp.Or(err, json.NewEncoder(w).Encode(map[string]any{"data": tried.Results, "meta": tried.Meta})); err != nil {
				panic(err)
			}
			return
		}
		found, err := service.Search(req.Context(), r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		results := map[search.Route]any{
			search.Logs: found.Logs, search.Stats: found.Stats, search.Timeline: found.Timeline, search.TopX: found.TopX,
			search.Facets: found.Facets, search.Histogram: found.Histogram, search.Values: found.Values,
			search.Diff: found.Diff,
		}[route]
		answer := map[string]any{"data": map[string]any{"results": results}, "meta": found.Meta}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			panic(err)
		}
	})
}
