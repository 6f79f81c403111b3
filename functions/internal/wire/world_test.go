package wire

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awsathena "github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/orrery/orrery/functions/internal/counting"
	"github.com/orrery/orrery/functions/internal/doctor"
	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/functions/internal/searching"
	"github.com/orrery/orrery/functions/internal/writing"
	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/api/page"
	"github.com/orrery/orrery/shared/api/reportapi"
	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/blobtest"
	"github.com/orrery/orrery/shared/blob/s3"
	"github.com/orrery/orrery/shared/blob/s3/s3test"
	"github.com/orrery/orrery/shared/completionindex"
	"github.com/orrery/orrery/shared/console"
	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/athena"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/fakeaws/athenatest"
	"github.com/orrery/orrery/shared/fakeaws/emulator"
	"github.com/orrery/orrery/shared/fakeaws/iamproxytest"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/gzipped"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/lakestate/hybrid"
	"github.com/orrery/orrery/shared/lakestate/lists"
	jobs "github.com/orrery/orrery/shared/lakestate/parts"
	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/permissions"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/record"
	"github.com/orrery/orrery/shared/report/runs"
	"github.com/orrery/orrery/shared/rollup/rollupblob"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/search/pending/pendingtest"
	"github.com/orrery/orrery/shared/table/tabledynamo"
	"github.com/orrery/orrery/shared/table/tabletest"
	"github.com/orrery/orrery/shared/valuelist"
)

// at returns the time of the events.
func at() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// exampleKey is the API key in the events.
const exampleKey = "orr_example"

// world is a deployment in this process for the events of one test: the real handlers and the real client of Athena,
// over servers and stores in this process. Its functions share state like those of a deployment. The name of the case
// decides which of its services fail.
type world struct {
	t     *testing.T
	event string // under test
	log   *slog.Logger
	logs  bytes.Buffer
	ctx   *deadline

	cancel    func() // is called when a query waits; nil: nothing is
	preparing bool   // an earlier event is being sent, which does not wait for its query

	iam        *iamproxytest.Network // functions have their permissions of the deployment
	table      *dynamodb.Client
	raw, lake  blob.Store
	ledger     lakestate.Table
	athena     *emulator.Server
	release    chan struct{} // closed to let queries leave Athena's queue
	once       sync.Once     // closes release
	client     *awsathena.Client
	engine     *hybrid.Engine
	service    *search.Service
	planets    document.Store
	filters    *document.Items // all documents but planets
	valueLists *s3.Store       // nil: no function has used it
	runs       runs.Store
	sent       sent      // messages of report-tick
	delivered  delivered // objects of report
}

func newWorld(t *testing.T, event string) *world {
	ctx := &deadline{Context: t.Context(), exceeded: make(chan struct{})}
	w := &world{t: t, ledger: lakestate.Over(&tabletest.Memory{}), event: event, release: make(chan struct{}), ctx: ctx}
	w.log = slog.New(slog.NewJSONHandler(&w.logs, nil))
	w.iam = iamproxytest.New(t, names(t), nil)
	w.table = tableServer(t, w.iam, w.is("-table-down"))
	w.filters, w.runs = document.Over(&tabletest.Memory{}), runs.Over(&tabletest.Memory{}, &blobtest.Memory{})
	w.planets = planet.Over(w.filters, at)
	return w
}

// is reports whether the case of the event has the suffix.
func (w *world) is(suffix string) bool { return strings.HasSuffix(w.event, suffix) }

// stuck reports whether queries never leave Athena's queue.
func (w *world) stuck() bool {
	return w.is("-asynchronous") || w.is("-running") || w.is("-cancelled")
}

// names are the examples of the variables of the environment.
func names(t *testing.T) permissions.Names {
	t.Helper()
	var all function.Environment
	reports := ""
	for _, name := range []string{"topx", "ingest", "report"} {
		f, _ := lambdas.Named(name)
		e, err := environmentOf(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Table, all.LakeBucket = e.Table, e.LakeBucket
		all.RawBucket = cmp.Or(e.RawBucket, all.RawBucket)
		if name == "report" {
			reports = e.Workgroup
			continue
		}
		all.Workgroup, all.Database = cmp.Or(e.Workgroup, all.Workgroup), cmp.Or(e.Database, all.Database)
	}
	part, _ := lambdas.Named(lambdas.Part)
	e, err := environmentOf(part)
	if err != nil {
		t.Fatal(err)
	}
	results, _ := e.ResultsFolder()
	return permissions.Names{
		ResultBucket: results, PartFunction: lambdas.PartFunction.Default,
		Table: all.Table, RawBucket: all.RawBucket, LakeBucket: all.LakeBucket,
		Workgroup: all.Workgroup, Database: all.Database, ReportsWorkgroup: reports,
	}
}

// function returns a function, which acts from then on: events are sent to one function at a time.
func (w *world) function(f lambdas.Function) *function.Function {
	w.t.Helper()
	w.iam.As(f.Name)
	e, err := environmentOf(f)
	if err != nil {
		w.t.Fatal(err)
	}
	switch {
	case f.Name == lambdas.Part:
		return w.counter(f, e)
	case f.Name == "report-tick" || f.Name == "report":
		return w.reporter(f, e)
	case f.Serves == nil:
		return w.writer(f, e)
	}
	parts := api.Config{Keys: keys.OneKey(exampleKey), Now: at}
	if w.is("-table-down") {
		parts.Keys = keys.NewCache(keys.Over(tabledynamo.New(w.table, e.Table)), at)
	}
	checks := tableChecks(w.table, e, at)
	switch {
	case f.Name == "not-found":
		parts.Page, checks = page.Files, nil
		parts = describing(parts)
	case f.Name == "console":
		parts.Console, checks = console.Files, nil
	case strings.HasPrefix(f.Name, "planet-"):
		parts.Planets = w.planets
	case strings.HasPrefix(f.Name, "filter-"):
		parts.Documents = w.filters
	case strings.HasPrefix(f.Name, "list-"):
		parts.Documents, parts.Lists = w.filters, valuelist.In(w.bucketOfLists(e))
	case f.Name == "report-get" || f.Name == "report-put":
		rules, err := rulesOf(e)
		if err != nil {
			w.t.Fatal(err)
		}
		parts.Documents, parts.Definitions, parts.Runs = w.filters, rules, w.runs
	case f.Name == "status":
		table, bucket := w.described(e)
		parts.Status = newDeployed(table, bucket, e)
		parts = describing(parts)
		checks = append(checks, statusChecks(lakestate.NewStates(table, at), bucket, e, at)...)
	case f.Name == lambdas.Older:
		parts, checks = w.older(e, parts, checks)
	case f.Name == "values":
		finder, state := w.finder(e)
		parts.Search = w.finding(finder)
		checks = append(checks, valueChecks(state, finder, at)...)
	case f.Name != "parse" && f.Name != "fields":
		w.searching(e)
		parts.Search, parts.Queries = w.service, w.service
		checks = append(checks, searching.Checks(w.client, constant(stateOf(records(w.t))), w.engine, ready, e, at)...)
		if w.is("-engine-down") {
			parts.Search = unavailable{}
		}
		switch f.Name {
		case "timeline", "histogram":
			parts.Planets = w.planets
		case "report-now":
			parts.Reports, parts.Planets = reportapi.Maker{Sender: "Orrery <orrery@localhost>"}, w.planets
		}
		parts = together(e, parts)
	}
	function, err := newHTTP(f, e, w.log, parts, checks)
	if err != nil {
		w.t.Fatal(err)
	}
	return function
}

// counter returns the function that counts parts, over the objects with the records of testdata/records.ndjson.
func (w *world) counter(f lambdas.Function, e function.Environment) *function.Function {
	w.t.Helper()
	rows := records(w.t)
	bucket, _ := e.ResultsFolder()
	objects := w.listsOf(rows, stateOf(rows).Watermark, e.LakeBucket)
	end := w.iam.As("") // the test makes the key
	key := strings.NewReader("a key of hashes ")
	if err := objects.Put(w.t.Context(), rollupblob.Root+"hash-key", key, blob.Always); err != nil {
		w.t.Fatal(err)
	}
	end()
	results := s3.New(s3test.New(w.t, w.iam, bucket), bucket)
	return counting.Over(f, e, &jobs.Worker{
		Lake: objects, Results: results, Version: e.Version, Memory: 64 << 20, Patience: time.Minute, Now: at,
	})
}

// ready answers the doctor in the place of another function.
func ready(context.Context, string, []byte) (answer []byte, failed bool, _ error) {
	return []byte(`{"ok":true}`), false, nil
}

// older returns the parts of the function that stands for others, and its checks.
func (w *world) older(e function.Environment, parts api.Config, checks []doctor.Check) (api.Config, []doctor.Check) {
	w.t.Helper()
	w.searching(e)
	rules, err := rulesOf(e)
	if err != nil {
		w.t.Fatal(err)
	}
	finder, _ := w.finder(e)
	table, bucket := w.described(e)
	search := byRoute{values: w.finding(finder), others: w.service}
	if w.is("-engine-down") {
		search.others = unavailable{}
	}
	parts.Search, parts.Queries, parts.Status = search, w.service, newDeployed(table, bucket, e)
	parts.Planets, parts.Documents, parts.Definitions, parts.Runs = w.planets, w.filters, rules, w.runs
	parts.Lists = valuelist.In(w.bucketOfLists(e))
	parts.Reports = reportapi.Maker{Sender: "Orrery <orrery@localhost>"}
	checks = append(checks, searching.Checks(w.client, constant(stateOf(records(w.t))), w.engine, ready, e, at)...)
	checks = append(checks, doctor.Bucket("lake bucket", bucket, e.LakeBucket, "lake/"), doctor.ValueLists(finder))
	return together(e, parts), checks
}

// deadline is the context of an event. A test calls exceed when the event's time is over.
type deadline struct {
	context.Context
	once     sync.Once
	exceeded chan struct{}
}

func (d *deadline) exceed() { d.once.Do(func() { close(d.exceeded) }) }

func (d *deadline) Done() <-chan struct{} { return d.exceeded }

func (d *deadline) Err() error {
	select {
	case <-d.exceeded:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// unavailable is a read path that does not reach its engine.
type unavailable struct{}

func (unavailable) Search(context.Context, search.Request) (search.Result, error) {
	return search.Result{}, fault.Wrap(fault.Unavailable, io.ErrUnexpectedEOF, "Athena cannot be reached")
}

// damagedObject is the object at which the queries of damaged fail.
const damagedObject = "fresh/2026/01/01/11/1f2e3d4c5b6a7988-0.parquet"

// damaged is a backend that fails at a damaged object, in the words of Trino 476.
type damaged struct{}

func (damaged) Run(context.Context, emulator.Statement, func(int64)) (emulator.Result, error) {
	return emulator.Result{}, &emulator.Failure{Category: 3, Type: 1500, Reason: "HIVE_BAD_DATA: Malformed Parquet file. " +
		"Expected magic number: PAR1 got:  all [s3://orrery-lake-123456789012/lake/" + damagedObject + "]"}
}

// tableServer returns a client of a DynamoDB with the empty table, or of one that is down.
func tableServer(t *testing.T, network http.RoundTripper, down bool) *dynamodb.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", at().Format(http.TimeFormat))
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		body := `{}`
		switch {
		case down:
			w.WriteHeader(http.StatusInternalServerError)
			body = `{"__type":"InternalServerError","message":"The request processing has failed"}`
		case strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".Query"):
			body = `{"Items":[],"Count":0}`
		}
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return dynamodb.New(dynamodb.Options{
		HTTPClient:   &http.Client{Transport: network},
		BaseEndpoint: &server.URL, Region: "us-east-1", Credentials: staticCredentials, Retryer: aws.NopRetryer{},
	})
}

// staticCredentials are for servers that check no signature.
var staticCredentials = credentials.NewStaticCredentialsProvider("k", "s", "")

// announcer is an engine that announces every query to its backend before it starts it.
type announcer struct {
	*athena.Engine
	backend *athenatest.Reference
	state   engine.State
}

func (a announcer) Start(ctx context.Context, q query.Query) (engine.Execution, error) {
	known := q
	known.Scope.Watermark = a.state.Watermark
	a.backend.Register(known)
	return a.Engine.Start(ctx, q)
}

// constant is a lake whose state does not change.
type constant engine.State

func (s constant) State(context.Context) (engine.State, error) { return engine.State(s), nil }

// searching sets up the read path over Athena's protocol, with the records of testdata/records.ndjson.
func (w *world) searching(e function.Environment) {
	w.t.Helper()
	if w.service != nil {
		return
	}
	rows := records(w.t)
	state := stateOf(rows)
	backend := athenatest.NewReference(rows)
	cutoff := int64(100_000_000_000)
	if w.is("-scans-too-much") {
		cutoff = 100
	}
	config := emulator.Config{
		Backend: backend, Now: at,
		Workgroups: map[string]emulator.Workgroup{e.Workgroup: {Output: e.Results, CutoffBytes: cutoff}},
	}
	if w.is("-damaged") {
		config.Backend = damaged{}
	}
	config.Queue = func(ctx context.Context) error {
		select {
		case <-w.release:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	config.Tables = lake.Tables("s3://"+e.LakeBucket+"/lake/", e.Database, e.ProjectionFrom)
	var err error
	if w.athena, err = emulator.New(config); err != nil {
		w.t.Fatal(err)
	}
	server := httptest.NewServer(w.athena)
	w.t.Cleanup(server.Close)
	w.client = awsathena.New(awsathena.Options{
		HTTPClient:   &http.Client{Transport: w.iam},
		BaseEndpoint: &server.URL, Region: "us-east-1", Credentials: staticCredentials, Retryer: aws.NopRetryer{},
	})
	scans := w.is("-scanned") || strings.Contains(w.event, "-doctor")
	objects := w.objectsOf(rows, state.Watermark, e.LakeBucket)
	if scans {
		objects = w.listsOf(rows, state.Watermark, e.LakeBucket)
	}
	listing, columns := lakestate.NewListing(objects), lakestate.NewColumns(w.ledger, at)
	athenaEngine, err := athena.New(athena.Config{
		Client: w.client, States: constant(state), Workgroup: e.Workgroup, Database: e.Database,
		FromYear: e.ProjectionFrom, DamageReports: lakestate.NewDamageReports(w.ledger, at), Now: at, Sleep: w.sleep,
		Sizes: lakestate.NewSizes(w.ledger, listing), Columns: columns,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	most := int64(0)
	if scans {
		most = 1 << 20
	}
	w.engine, err = hybrid.New(hybrid.Config{
		Service: announcer{athenaEngine, backend, state}, States: constant(state), Listing: listing, Columns: columns,
		Bucket: objects, Now: at, MostBytes: most, Failed: func(err error) { w.t.Error(err) },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.service, err = search.New(w.engine, search.Options{
		Store: pendingtest.NewMemory(), Now: at, NewID: w.queryID,
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// queryID returns the ID of a query. Only reports have several queries.
func (w *world) queryID() search.QueryID {
	if strings.HasPrefix(w.event, "report") {
		return search.QueryID(rand.Text())
	}
	return "3f1c0a9be2d84c57a6f0d1e2b3c4a596"
}

// objectsOf returns the bucket of a lake with the rows, 200 bytes each. Queries list it.
func (w *world) objectsOf(rows []lake.Row, watermark lake.Partition, bucket string) *s3.Store {
	w.t.Helper()
	store := s3.New(s3test.New(w.t, w.iam, bucket), bucket)
	sizes := map[string]int{}
	for _, row := range rows {
		hour := lake.PartitionOf(row.TsMs)
		name := "lake/" + lake.ObjectName(hour, row.Source, 1)
		if hour < watermark {
			name = "lake/" + lake.CompactName(hour, row.Source)
		}
		sizes[name] += 200
	}
	end := w.iam.As("") // the test puts the objects
	defer end()
	for name, bytes := range sizes {
		if err := store.Put(w.t.Context(), name, strings.NewReader(strings.Repeat("x", bytes)), blob.Always); err != nil {
			w.t.Fatal(err)
		}
	}
	return store
}

// bucketOfLists returns the bucket of lists of values, which all functions of this world share.
func (w *world) bucketOfLists(e function.Environment) *s3.Store {
	w.t.Helper()
	if w.valueLists == nil {
		w.valueLists = s3.New(s3test.New(w.t, w.iam, e.LakeBucket), e.LakeBucket)
	}
	return w.valueLists
}

// finder returns an engine over the lists of values of the records of testdata/records.ndjson, and the state of the
// lake.
func (w *world) finder(e function.Environment) (*lists.Engine, engine.States) {
	w.t.Helper()
	rows := records(w.t)
	state := stateOf(rows)
	return lists.New(w.listsOf(rows, state.Watermark, e.LakeBucket), constant(state), at), constant(state)
}

func (w *world) finding(finder *lists.Engine) *search.Service {
	w.t.Helper()
	service, err := search.New(finder, search.Options{Now: at})
	if err != nil {
		w.t.Fatal(err)
	}
	return service
}

// listsOf returns the bucket of a lake with the rows and the lists of their values.
func (w *world) listsOf(rows []lake.Row, watermark lake.Partition, bucket string) *s3.Store {
	w.t.Helper()
	store := s3.New(s3test.New(w.t, w.iam, bucket), bucket)
	objects := &enginetest.Store{Dir: w.t.TempDir()}
	objects.Fill(w.t, rows, watermark)
	all, err := objects.Objects(w.t.Context(), -1<<40, 1<<40)
	if err != nil {
		w.t.Fatal(err)
	}
	defer w.iam.As("")() // the test puts the objects
	for _, o := range all {
		content, err := os.ReadFile(o.Path)
		if err != nil {
			w.t.Fatal(err)
		}
		values, err := scan.ValueLists(w.t.Context(), o.Path)
		if err != nil {
			w.t.Fatal(err)
		}
		name := lake.NameOf(o.Path)
		for name, content := range map[string][]byte{name: content, completionindex.Name(name): values} {
			if err := store.Put(w.t.Context(), "lake/"+name, bytes.NewReader(content), blob.Always); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	return store
}

// sleep replaces the waiting of Athena's client and takes no time. It lets the query run, or, if the case is one of a
// query that keeps running, ends the time of the event. Repeated calls after an error sleep, too, and change nothing.
func (w *world) sleep(ctx context.Context, _ time.Duration) error {
	if w.cancel != nil {
		w.cancel()
	}
	waits := !w.preparing && strings.ContainsAny(strings.Join(w.athena.States(), ""), "QR") // queued or running
	switch {
	case waits && w.is("-still-running"):
		w.ctx.exceed()
		<-ctx.Done()
		return ctx.Err()
	case waits && !w.stuck():
		return w.settle(ctx)
	}
	return ctx.Err()
}

// settle lets queries run and waits until all have finished, unless they are stuck.
func (w *world) settle(ctx context.Context) error {
	if w.athena == nil || w.stuck() {
		return nil
	}
	w.once.Do(func() { close(w.release) })
	for strings.ContainsAny(strings.Join(w.athena.States(), ""), "QR") {
		if err := ctx.Err(); err != nil {
			return err
		}
		runtime.Gosched()
	}
	return nil
}

// stateOf returns the state of a lake with the rows. The first hour is compacted.
func stateOf(rows []lake.Row) engine.State {
	return engine.State{
		Extent:    lake.Extent{MinTsMs: rows[0].TsMs, MaxTsMs: rows[len(rows)-1].TsMs, Rows: int64(len(rows))},
		Watermark: lake.PartitionOf(rows[1].TsMs),
		Version:   7,

		CompleteThrough: at().Add(-20 * time.Minute),
	}
}

func records(t *testing.T) []lake.Row {
	t.Helper()
	text, err := os.ReadFile("testdata/records.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	var rows []lake.Row
	decoder := record.NewDecoder()
	for line := range strings.Lines(string(text)) {
		row := lake.Row{Source: "events", Line: int64(len(rows) + 1)}
		if _, err := decoder.Decode([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// writer returns a function that writes the lake, over buckets and a table of this process.
func (w *world) writer(f lambdas.Function, e function.Environment) *function.Function {
	w.t.Helper()
	if w.raw == nil {
		client := s3test.New(w.t, w.iam, e.RawBucket, e.LakeBucket)
		w.raw, w.lake = s3.New(client, e.RawBucket), s3.New(client, e.LakeBucket)
		end := w.iam.As("") // the test puts the logs
		w.putLogs()
		end()
	}
	table := w.ledger
	if w.is("-table-down") {
		table = lakestate.Over(tabledynamo.New(w.table, e.Table))
	}
	scratch := filepath.Join(w.t.TempDir(), "work")
	stores := writing.Stores{
		Raw: w.raw, Lake: w.lake, Table: table, Queue: oneMessage{}, DeadLetters: oneMessage{}, Scratch: scratch,
	}
	now := at
	if f.Name == "reconcile" && w.is("-lost") { // the bucket has the clock of the machine
		now = func() time.Time { return time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC) }
	}
	function, err := writing.Over(f, e, w.log, w.table, stores, now)
	if err != nil {
		w.t.Fatal(err)
	}
	return function
}

// oneMessage is a queue with one message. It accepts every request.
type oneMessage struct{}

func (oneMessage) Send(context.Context, string, time.Time) error { return nil }

func (oneMessage) Hide(context.Context, string, time.Duration) error { return nil }

func (oneMessage) Waiting(context.Context) (int, error) { return 1, nil }

// environmentOf returns an environment with the examples of a function's variables.
func environmentOf(f lambdas.Function) (function.Environment, error) {
	examples := map[string]string{}
	for _, v := range f.Variables {
		examples[v.Name] = v.Example
	}
	return lookupIn(examples).Read(f)
}

func lookupIn(variables map[string]string) function.Lookup {
	return func(name string) (string, bool) {
		value, set := variables[name]
		return value, set
	}
}

// putLogs puts the logs that the events name into the bucket, in the order of their names.
func (w *world) putLogs() {
	text, err := os.ReadFile("testdata/records.ndjson")
	if err != nil {
		w.t.Fatal(err)
	}
	logs := map[string]string{
		"raw/2026/01/01/edge 1.ndjson": string(text),
		"raw/2026/01/01/edge 2.ndjson": strings.ReplaceAll(string(text), `"request_id":"r-`, `"request_id":"s-`),
		"raw/2026/01/01/edge 3.ndjson": strings.ReplaceAll(string(text), `"request_id":"r-`, `"request_id":"t-`) +
			"this is no record\n",
		"raw/poisoned.ndjson":     strings.Repeat("\x00\x01 no log at all\n", 1000),
		"raw/cut-short.ndjson.gz": cutShort(text),
	}
	for _, name := range slices.Sorted(maps.Keys(logs)) {
		if err := w.raw.Put(w.t.Context(), name, strings.NewReader(logs[name]), blob.Always); err != nil {
			w.t.Fatal(err)
		}
	}
}

// cutShort returns a truncated compressed log.
func cutShort(text []byte) string {
	whole := gzipped.Of(text)
	return string(whole[:len(whole)*2/3])
}
