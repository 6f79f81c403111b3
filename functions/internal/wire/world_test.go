package wire

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awsathena "github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/functions/internal/writing"
	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/api/page"
	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/blobtest"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/athena"
	"github.com/orrery/orrery/shared/engine/athena/athenatest"
	"github.com/orrery/orrery/shared/engine/athena/emulator"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/keys/keydynamo"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/lakestate/lakestatetest"
	"github.com/orrery/orrery/shared/lakestate/statedynamo"
	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/planet/planetsqlite"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/record"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/search/pending/pendingtest"
)

// at is when the events happen.
func at() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// exampleKey is the key that the events carry.
const exampleKey = "orr_example"

// world is what the events of one test meet: the real handlers and the real client of Athena, over servers and stores
// of this process. Its functions know of each other what those of a deployment do. What goes wrong in some events is
// done to the world at its beginning, by the name of the case.
type world struct {
	t     *testing.T
	event string // the one that the world is made for
	log   *slog.Logger
	logs  bytes.Buffer
	ctx   *ending

	preparing bool // an earlier event is sent, which waits for no query

	table     *dynamodb.Client
	raw, lake blob.Store
	ledger    lakestatetest.Table
	athena    *emulator.Server
	let       chan struct{} // closed: queries leave Athena's queue
	once      sync.Once     // closes it
	client    *awsathena.Client
	service   *search.Service
	planets   planet.Store
}

func newWorld(t *testing.T, event string) *world {
	w := &world{t: t, event: event, let: make(chan struct{}), ctx: &ending{Context: t.Context(), ended: make(chan struct{})}}
	w.log = slog.New(slog.NewJSONHandler(&w.logs, nil))
	w.table, w.planets = tableServer(t, w.is("-table-down")), planets(t)
	return w
}

// is tells what is done to the world.
func (w *world) is(suffix string) bool { return strings.HasSuffix(w.event, suffix) }

// stuck tells whether queries never leave Athena's queue.
func (w *world) stuck() bool {
	return w.is("-asynchronous") || w.is("-running") || w.is("-cancelled")
}

func (w *world) function(f lambdas.Function) *function.Function {
	w.t.Helper()
	e, err := environmentOf(f)
	if err != nil {
		w.t.Fatal(err)
	}
	if f.Serves == nil {
		return w.keeper(f, e)
	}
	parts := api.Config{Keys: keys.OneKey(exampleKey), Now: at}
	if w.is("-table-down") {
		parts.Keys = keys.NewCache(keydynamo.New(w.table, e.Table), at)
	}
	checks := tableChecks(w.table, e, at)
	switch {
	case f.Name == "not-found":
		parts.Page, checks = page.Files, nil
	case strings.HasPrefix(f.Name, "planet-"):
		parts.Planets = w.planets
	case f.Name != "parse" && f.Name != "fields":
		w.searching(e)
		parts.Search, parts.Queries = w.service, w.service
		checks = append(checks, queryChecks(w.client, fixed(stateOf(records(w.t))), e, at)...)
		if w.is("-engine-down") {
			parts.Search = down{}
		}
	}
	function, err := newHTTP(f, e, w.log, parts, checks)
	if err != nil {
		w.t.Fatal(err)
	}
	return function
}

// ending is the context of an event, whose time is over when a test says so.
type ending struct {
	context.Context
	once  sync.Once
	ended chan struct{}
}

func (e *ending) end() { e.once.Do(func() { close(e.ended) }) }

func (e *ending) Done() <-chan struct{} { return e.ended }

func (e *ending) Err() error {
	select {
	case <-e.ended:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// down is a read path whose engine cannot be reached.
type down struct{}

func (down) Search(context.Context, search.Request) (search.Result, error) {
	return search.Result{}, fault.Wrap(fault.Unavailable, io.ErrUnexpectedEOF, "Athena cannot be reached")
}

// tableServer is a DynamoDB that has the table, and nothing in it; or one that is down.
func tableServer(t *testing.T, down bool) *dynamodb.Client {
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
		BaseEndpoint: &server.URL, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("k", "s", ""), Retryer: aws.NopRetryer{},
	})
}

func planets(t *testing.T) planet.Store {
	t.Helper()
	store, err := planetsqlite.Open(t.Context(), filepath.Join(t.TempDir(), "planets.db"), at())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// told is an engine whose backend is told of every query before it is asked.
type told struct {
	*athena.Engine
	backend *athenatest.Reference
	state   engine.State
}

func (e told) know(q query.Query) {
	q.Scope.Watermark = e.state.Watermark
	e.backend.Register(q)
}

func (e told) Start(ctx context.Context, q query.Query) (engine.Execution, error) {
	e.know(q)
	return e.Engine.Start(ctx, q)
}

type fixed engine.State

func (s fixed) State(context.Context) (engine.State, error) { return engine.State(s), nil }

// searching makes the read path over Athena's protocol, with the records of testdata/records.ndjson behind it.
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
	config.Queue = func(ctx context.Context) error {
		select {
		case <-w.let:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for _, name := range lake.TableNames {
		config.Tables = append(config.Tables, lake.Table{Schema: e.Database, Name: name, Location: lake.TableLocation("s3://"+e.LakeBucket+"/lake/", name), FromYear: e.ProjectionFrom})
	}
	var err error
	if w.athena, err = emulator.New(config); err != nil {
		w.t.Fatal(err)
	}
	server := httptest.NewServer(w.athena)
	w.t.Cleanup(server.Close)
	w.client = awsathena.New(awsathena.Options{
		BaseEndpoint: &server.URL, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("k", "s", ""), Retryer: aws.NopRetryer{},
	})
	asked, err := athena.New(athena.Config{Client: w.client, States: fixed(state), Workgroup: e.Workgroup, Database: e.Database, Now: at, Sleep: w.sleep})
	if err != nil {
		w.t.Fatal(err)
	}
	w.service, err = search.New(told{asked, backend, state}, search.Options{
		Store: pendingtest.NewMemory(), Now: at, NewID: func() search.QueryID { return "3f1c0a9be2d84c57a6f0d1e2b3c4a596" },
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// sleep takes no time. A query that is waited for runs meanwhile; if it is stuck, the time of the event is over. Calls
// that are repeated after an error sleep, too: they change nothing.
func (w *world) sleep(ctx context.Context, _ time.Duration) error {
	waits := !w.preparing && strings.ContainsAny(strings.Join(w.athena.States(), ""), "QR") // queued or running
	switch {
	case waits && w.is("-still-running"):
		w.ctx.end()
		<-ctx.Done()
		return ctx.Err()
	case waits && !w.stuck():
		return w.settle(ctx)
	}
	return ctx.Err()
}

// settle lets queries run and waits until none does, unless they are stuck.
func (w *world) settle(ctx context.Context) error {
	if w.athena == nil || w.stuck() {
		return nil
	}
	w.once.Do(func() { close(w.let) })
	for strings.ContainsAny(strings.Join(w.athena.States(), ""), "QR") {
		if err := ctx.Err(); err != nil {
			return err
		}
		runtime.Gosched()
	}
	return nil
}

func stateOf(rows []lake.Row) engine.State {
	return engine.State{Extent: lake.Extent{MinTsMs: rows[0].TsMs, MaxTsMs: rows[len(rows)-1].TsMs, Rows: int64(len(rows))}, Watermark: lake.PartitionOf(rows[1].TsMs), Version: 7}
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

// keeper is a function that keeps the lake, over folders and a table in memory.
func (w *world) keeper(f lambdas.Function, e function.Environment) *function.Function {
	w.t.Helper()
	if w.raw == nil {
		w.raw, w.lake = &blobtest.Memory{}, &blobtest.Memory{}
		w.putLogs()
	}
	var table lakestate.Table = &w.ledger
	if w.is("-table-down") {
		table = statedynamo.New(w.table, e.Table)
	}
	stores := writing.Stores{Raw: w.raw, Lake: w.lake, Table: table, Scratch: filepath.Join(w.t.TempDir(), "work")}
	function, err := writing.Over(f, e, w.log, w.table, stores, at)
	if err != nil {
		w.t.Fatal(err)
	}
	return function
}

// environmentOf is the environment of the examples of a function's variables.
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

// putLogs puts the logs into the bucket that events speak of.
func (w *world) putLogs() {
	text, err := os.ReadFile("testdata/records.ndjson")
	if err != nil {
		w.t.Fatal(err)
	}
	for name, body := range map[string]string{
		"raw/2026/01/01/edge 1.ndjson": string(text),
		"raw/2026/01/01/edge 2.ndjson": strings.ReplaceAll(string(text), `"request_id":"r-`, `"request_id":"s-`),
		"raw/2026/01/01/edge 3.ndjson": strings.ReplaceAll(string(text), `"request_id":"r-`, `"request_id":"t-`) + "this is no record\n",
		"raw/poisoned.ndjson":          strings.Repeat("\x00\x01 no log at all\n", 1000),
		"raw/cut-short.ndjson.gz":      cutShort(w.t, string(text)),
	} {
		if err := w.raw.Put(w.t.Context(), name, strings.NewReader(body), blob.Always); err != nil {
			w.t.Fatal(err)
		}
	}
}

// cutShort is a compressed log that ends in the middle.
func cutShort(t *testing.T, text string) string {
	var whole bytes.Buffer
	z := gzip.NewWriter(&whole)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return whole.String()[:whole.Len()*2/3]
}
