package pendingdynamo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/dynamotable/dynamotest"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/athena"
	"github.com/orrery/orrery/shared/engine/athena/athenatest"
	"github.com/orrery/orrery/shared/engine/athena/emulator"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/faulttest"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/search/pending"
	"github.com/orrery/orrery/shared/search/pending/pendingdynamo"
	"github.com/orrery/orrery/shared/search/pending/pendingtest"
)

// deployment is an Athena and a table of queries, which instances of a function share and know of each other by.
type deployment struct {
	t       *testing.T
	server  *emulator.Server
	url     string
	backend *patient
	state   engine.State
	memory  *pendingtest.Memory // where no DynamoDB is there
	table   string
	seconds atomic.Int64 // since the deployment began
}

// now goes on when a test says so.
func (d *deployment) now() time.Time { return at().Add(time.Duration(d.seconds.Load()) * time.Second) }

// patient answers statements when it is let.
type patient struct {
	*athenatest.Reference
	once sync.Once
	let  chan struct{}
}

func (p *patient) Run(ctx context.Context, s emulator.Statement, scanned func(int64)) (emulator.Result, error) {
	select {
	case <-p.let:
		return p.Reference.Run(ctx, s, scanned)
	case <-ctx.Done():
		return emulator.Result{}, ctx.Err()
	}
}

func (p *patient) answer() { p.once.Do(func() { close(p.let) }) }

// tables makes deployments that share what takes long to make: records and a table. Each has a version of the data
// that no other has, so that they know nothing of each other's queries.
func tables(t *testing.T) func(t *testing.T) *deployment {
	rows := enginetest.Records(t, 60, 3)
	extent := lake.Extent{MinTsMs: rows[0].TsMs, MaxTsMs: rows[0].TsMs, Rows: int64(len(rows))}
	for _, r := range rows {
		extent.MinTsMs, extent.MaxTsMs = min(extent.MinTsMs, r.TsMs), max(extent.MaxTsMs, r.TsMs)
	}
	var table string
	if os.Getenv(dynamotest.Variable) != "" {
		_, table = dynamotest.Client(t)
	}
	version := int64(0)
	return func(t *testing.T) *deployment {
		t.Helper()
		version++
		d := &deployment{t: t, table: table, memory: pendingtest.NewMemory(), backend: &patient{Reference: athenatest.NewReference(rows), let: make(chan struct{})}}
		d.state = engine.State{Extent: extent, Watermark: lake.PartitionOf(enginetest.Start.UnixMilli()) + 2, Version: version}
		var err error
		d.server, err = emulator.New(emulator.Config{Backend: d.backend, Now: d.now, Workgroups: map[string]emulator.Workgroup{"interactive": {Output: "s3://results/"}}})
		if err != nil {
			t.Fatal(err)
		}
		web := httptest.NewServer(d.server)
		t.Cleanup(web.Close)
		d.url = web.URL
		return d
	}
}

// State implements engine.States.
func (d *deployment) State(context.Context) (engine.State, error) { return d.state, nil }

// over waits until no execution runs: those that nobody stopped, until they have their answer.
func (d *deployment) over() {
	d.backend.answer()
	for {
		states := fmt.Sprint(d.server.States())
		if !strings.Contains(states, "QUEUED") && !strings.Contains(states, "RUNNING") {
			return
		}
		if err := d.t.Context().Err(); err != nil {
			d.t.Fatal(err)
		}
	}
}

// told is an engine whose backend is told of every query before it is asked.
type told struct {
	*athena.Engine
	d *deployment
}

func (e told) Start(ctx context.Context, q query.Query) (engine.Execution, error) {
	known := q
	known.Scope.Watermark = e.d.state.Watermark
	e.d.backend.Register(known)
	return e.Engine.Start(ctx, q)
}

// instance is a process of the function, which reaches Athena and the table over its own network. Queries run until
// somebody waits for them.
func (d *deployment) instance(network *faulttest.Transport) http.Handler {
	client := sdk.New(sdk.Options{
		BaseEndpoint: &d.url, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("k", "s", ""),
		HTTPClient: &http.Client{Transport: network}, Retryer: aws.NopRetryer{},
	})
	asked, err := athena.New(athena.Config{
		Client: client, States: d, Workgroup: "interactive", Database: "traffic", Now: d.now,
		Sleep: func(ctx context.Context, _ time.Duration) error { d.over(); return ctx.Err() },
	})
	if err != nil {
		d.t.Fatal(err)
	}
	service, err := search.New(told{asked, d}, search.Options{Store: d.queries(network), Now: d.now})
	if err != nil {
		d.t.Fatal(err)
	}
	handler, err := api.New(api.Config{
		Search: service, Queries: service, Serves: []string{"stats", "query-status", "query-cancel"},
		Keys: keys.OneKey("key"), Log: slog.New(slog.DiscardHandler), Now: d.now,
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return handler
}

func (d *deployment) calm() http.Handler {
	return d.instance(&faulttest.Transport{Script: faulttest.Never})
}

func (d *deployment) queries(network *faulttest.Transport) pending.Store {
	if d.table == "" {
		return remote{d.memory, network}
	}
	client := dynamotest.Connect(d.t, func(o *dynamodb.Options) { o.HTTPClient = &http.Client{Transport: network} })
	return pendingdynamo.New(client, d.table, 2*century, d.now)
}

// remote is a memory of queries behind a network, asked again as a client of DynamoDB does.
type remote struct {
	memory  *pendingtest.Memory
	network *faulttest.Transport
}

// served carries out what a request's context says.
type served struct{ http.RoundTripper }

type work struct{}

func (s served) RoundTrip(r *http.Request) (*http.Response, error) {
	do, ok := r.Context().Value(work{}).(func())
	if !ok {
		return http.DefaultTransport.RoundTrip(r)
	}
	do()
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("{}"))}, nil
}

func (r remote) ask(ctx context.Context, operation string, do func() error) error {
	r.network.Base = served{}
	var result error
	for range 4 {
		if ctx.Err() != nil {
			kind := fault.Canceled
			if ctx.Err() == context.DeadlineExceeded {
				kind = fault.Timeout
			}
			return fault.Wrap(kind, ctx.Err(), "%s", operation)
		}
		request, err := http.NewRequestWithContext(context.WithValue(ctx, work{}, func() { result = do() }), http.MethodPost, "http://queries", nil)
		if err != nil {
			return err
		}
		request.Header.Set("X-Amz-Target", "Queries."+operation)
		response, err := r.network.RoundTrip(request)
		if err != nil {
			continue
		}
		_, err = io.ReadAll(response.Body)
		if err := errors.Join(err, response.Body.Close()); err == nil && response.StatusCode == http.StatusOK {
			return result
		}
	}
	return fault.New(fault.Unavailable, "%s", operation)
}

func (r remote) Keep(ctx context.Context, p pending.Query) (kept pending.Query, err error) {
	err = r.ask(ctx, "Keep", func() (err error) { kept, err = r.memory.Keep(ctx, p); return err })
	return kept, err
}

func (r remote) Find(ctx context.Context, key string) (p pending.Query, err error) {
	err = r.ask(ctx, "Find", func() (err error) { p, err = r.memory.Find(ctx, key); return err })
	return p, err
}

func (r remote) Get(ctx context.Context, id pending.ID) (p pending.Query, err error) {
	err = r.ask(ctx, "Get", func() (err error) { p, err = r.memory.Get(ctx, id); return err })
	return p, err
}

func (r remote) Move(ctx context.Context, id pending.ID, to engine.Execution) error {
	return r.ask(ctx, "Move", func() error { return r.memory.Move(ctx, id, to) })
}

func (r remote) Forget(ctx context.Context, p pending.Query) error {
	return r.ask(ctx, "Forget", func() error { return r.memory.Forget(ctx, p) })
}

const dataPath = "/api/v4.0/data/"

func (d *deployment) ask(ctx context.Context, instance http.Handler, method, path string, header ...string) *httptest.ResponseRecorder {
	d.t.Helper()
	if path == "stats" {
		path += "?segment=1h&filters=timestamp+between+2026-01-01+21:00+and+2026-01-02+03:00"
	}
	r := httptest.NewRequestWithContext(ctx, method, "http://api.example"+dataPath+path, nil)
	r.Header.Set("x-api-key", "key")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	instance.ServeHTTP(w, r)
	return w
}

// operation is what one process of the function does before it is harmed or dies. Prepared by a calm one: place is
// where the query is that it has begun, for operations on one.
type operation struct {
	onOne bool
	ask   func(ctx context.Context, d *deployment, instance http.Handler, place string) *httptest.ResponseRecorder
	done  int // the status of success
}

var operations = map[string]operation{
	"search": {false, func(ctx context.Context, d *deployment, instance http.Handler, _ string) *httptest.ResponseRecorder {
		return d.ask(ctx, instance, "GET", "stats")
	}, http.StatusOK},
	"begin": {false, func(ctx context.Context, d *deployment, instance http.Handler, _ string) *httptest.ResponseRecorder {
		return d.ask(ctx, instance, "GET", "stats", "Prefer", "respond-async")
	}, http.StatusAccepted},
	"join": {true, func(ctx context.Context, d *deployment, instance http.Handler, _ string) *httptest.ResponseRecorder {
		return d.ask(ctx, instance, "GET", "stats")
	}, http.StatusOK},
	"status": {true, func(ctx context.Context, d *deployment, instance http.Handler, place string) *httptest.ResponseRecorder {
		d.over()
		return d.ask(ctx, instance, "GET", place)
	}, http.StatusOK},
	"cancel": {true, func(ctx context.Context, d *deployment, instance http.Handler, place string) *httptest.ResponseRecorder {
		return d.ask(ctx, instance, "DELETE", place)
	}, http.StatusNoContent},
}

// harm is what happens to a process at its n-th request.
type harm struct {
	script   func(n int) faulttest.Script
	timeOver bool // the time of the function is over at that request
	passes   bool // the caller notices nothing
	stops    bool // what the process does at its end, stopping what it began, still arrives
}

var harms = map[string]harm{
	"throttled once":  {script: once(faulttest.Throttle), passes: true},
	"failing once":    {script: once(faulttest.Fail), passes: true},
	"broken once":     {script: once(faulttest.Break), passes: true},
	"lost once":       {script: once(faulttest.Lose), passes: true},
	"misled once":     {script: once(faulttest.Mislead), passes: true},
	"cut once":        {script: once(faulttest.Cut), passes: true},
	"duplicated":      {script: once(faulttest.Duplicate), passes: true},
	"throttled":       {script: forGood(faulttest.Throttle)},
	"failing":         {script: forGood(faulttest.Fail)},
	"answers lost":    {script: forGood(faulttest.Lose), stops: true},
	"killed before":   {script: forGood(faulttest.Break)},
	"killed after":    {script: then(faulttest.Lose, faulttest.Break)},
	"killed, late":    {script: then(faulttest.Delay, faulttest.Break)},
	"slow, time over": {script: func(int) faulttest.Script { return faulttest.Never }, timeOver: true, stops: true},
}

func once(f faulttest.Fault) func(int) faulttest.Script {
	return func(n int) faulttest.Script { return faulttest.At(n, f) }
}

func forGood(f faulttest.Fault) func(int) faulttest.Script {
	return func(n int) faulttest.Script { return faulttest.From(n, f) }
}

// then is one fault at the n-th request and another at all after it.
func then(one, other faulttest.Fault) func(int) faulttest.Script {
	return func(n int) faulttest.Script {
		return func(i int, r *http.Request) faulttest.Fault {
			if i == n {
				return one
			}
			return faulttest.From(n, other)(i, r)
		}
	}
}

// TestQueriesUnderFaults lets every request of every operation on queries meet every fault: a function that is killed
// or out of time between beginning a query and remembering it is one of them. Its caller hears what the contract
// promises. Whoever asks the same afterwards has the answer, joining what was begun or beginning it anew, and from then
// on nothing runs again.
func TestQueriesUnderFaults(t *testing.T) {
	deploy := tables(t)
	for name, op := range operations {
		for harmed, harm := range harms {
			t.Run(name+", "+harmed, func(t *testing.T) {
				n := 0
				for reached := true; reached; n++ {
					reached = disturb(t, deploy(t), op, harm, n)
				}
				if least := 3; n <= least {
					t.Errorf("only %d requests", n)
				}
			})
		}
	}
}

// disturb does an operation with harm at the n-th request, and the same request again in peace. It says whether there
// was such a request.
func disturb(t *testing.T, d *deployment, op operation, harm harm, n int) (reached bool) {
	t.Helper()
	place := ""
	if op.onOne {
		place = d.ask(t.Context(), d.calm(), "GET", "stats", "Prefer", "respond-async").Header().Get("Location")
	}
	network := &faulttest.Transport{Script: harm.script(n)}
	ctx := &ending{Context: t.Context(), ended: make(chan struct{})}
	if harm.timeOver {
		network.Before = func(i int, _ *http.Request) {
			if i == n {
				ctx.end()
			}
		}
	}
	got := op.ask(ctx, d, d.instance(network), place)
	reached = network.Requests() > n
	what := fmt.Sprintf("request %d", n)
	switch {
	case got.Code == op.done && (harm.passes || !reached || harm.timeOver):
	case harm.passes || !reached:
		t.Errorf("%s: %d %s, want %d", what, got.Code, got.Body, op.done)
	case harm.timeOver:
		refused(t, what, got, http.StatusGatewayTimeout)
	default:
		refused(t, what, got, http.StatusServiceUnavailable)
	}
	most := 1
	if harm.stops || op.done == http.StatusNoContent {
		most = 2 // what was stopped begins once more
	}
	d.settled(what, most)
	if late, err := network.Deliver(); err != nil {
		t.Fatal(err)
	} else if late > 0 {
		d.settled(what+" came late", most)
	}
	if where := got.Header().Get("Location"); where != "" && op.done != http.StatusNoContent {
		if r := d.ask(t.Context(), d.calm(), "GET", where); r.Code != http.StatusOK || data(t, r) != d.want() {
			t.Errorf("%s: where it was to be: %d %s", what, r.Code, r.Body)
		}
	}
	if t.Failed() {
		t.Fatalf("%s: executions %v", what, d.server.States())
	}
	return reached
}

// TestQueriesRaceUnderFaults lets processes begin, ask for, ask about and cancel the same query at once, while a fifth
// of all their requests is harmed. Nobody hears anything wrong, and in the end there is the answer.
func TestQueriesRaceUnderFaults(t *testing.T) {
	deploy := tables(t)
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			d := deploy(t)
			d.want() // of a deployment of its own
			var processes sync.WaitGroup
			for process := range uint64(4) {
				script := faulttest.Sometimes(seed*100+process, 0.2, faulttest.Throttle, faulttest.Fail, faulttest.Break, faulttest.Lose, faulttest.Mislead, faulttest.Cut, faulttest.Duplicate)
				instance := d.instance(&faulttest.Transport{Script: script})
				processes.Go(func() {
					for i := range 6 {
						d.seconds.Add(3)
						d.race(instance, (int(process)+i)%3 == 0)
					}
				})
			}
			processes.Wait()
			d.seconds.Add(60)
			d.settled("after all", math.MaxInt)
		})
	}
}

// race does what one caller may do: ask and wait, or ask, ask about it, and cancel it.
func (d *deployment) race(instance http.Handler, cancels bool) {
	ctx := d.t.Context()
	if got := d.ask(ctx, instance, "GET", "stats"); got.Code == http.StatusOK {
		if data(d.t, got) != wanted {
			d.t.Errorf("a wrong answer: %s", got.Body)
		}
	} else {
		refused(d.t, "search", got, http.StatusServiceUnavailable)
	}
	begun := d.ask(ctx, instance, "GET", "stats", "Prefer", "respond-async")
	if begun.Code != http.StatusAccepted {
		refused(d.t, "begin", begun, http.StatusServiceUnavailable)
		return
	}
	steps := []string{"GET"}
	if cancels {
		steps = []string{"GET", "DELETE", "GET"}
	}
	for _, method := range steps {
		got := d.ask(ctx, instance, method, begun.Header().Get("Location"))
		switch got.Code {
		case http.StatusOK, http.StatusAccepted, http.StatusNoContent, http.StatusNotFound:
		default:
			refused(d.t, method, got, http.StatusServiceUnavailable)
		}
	}
}

// settled wants the answer for who asks now, by other processes, and nothing to run again for it.
func (d *deployment) settled(what string, most int) {
	d.t.Helper()
	first := d.ask(d.t.Context(), d.calm(), "GET", "stats")
	if first.Code != http.StatusOK || data(d.t, first) != d.want() {
		d.t.Fatalf("%s: asked again: %d %s", what, first.Code, first.Body)
	}
	d.over()
	begun := len(d.server.States())
	if begun > most {
		d.t.Errorf("%s: executions %v, want at most %d", what, d.server.States(), most)
	}
	for range 2 {
		if again := d.ask(d.t.Context(), d.calm(), "GET", "stats"); again.Code != http.StatusOK || data(d.t, again) != data(d.t, first) {
			d.t.Errorf("%s: asked once more: %d %s", what, again.Code, again.Body)
		}
	}
	if now := len(d.server.States()); now != begun {
		d.t.Errorf("%s: it runs for ever: %v", what, d.server.States())
	}
}

// want is the answer, of a deployment on which nothing ever goes wrong.
func (d *deployment) want() string {
	d.t.Helper()
	answers.Do(func() {
		calm := tables(d.t)(d.t)
		calm.state.Version = -1
		wanted = data(d.t, calm.ask(d.t.Context(), calm.calm(), "GET", "stats"))
	})
	return wanted
}

var (
	answers sync.Once
	wanted  string
)

func data(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var body struct{ Data json.RawMessage }
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || len(body.Data) < 100 {
		t.Errorf("%d %s: %v", w.Code, w.Body, err)
	}
	return string(body.Data)
}

// refused wants an error as the contract has it, which tells nothing of what is behind.
func refused(t *testing.T, what string, w *httptest.ResponseRecorder, status int) {
	t.Helper()
	var e api.Error
	if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || w.Code != status || e.Code != status || e.RequestID == "" || w.Header().Get("Retry-After") == "" {
		t.Errorf("%s: status %d, want %d, %v: %v %s", what, w.Code, status, err, w.Header(), w.Body)
	}
	for _, secret := range []string{"ynamo", "thena", "aulty", "fault", "http", "Keep"} {
		if bytes.Contains(w.Body.Bytes(), []byte(secret)) {
			t.Errorf("%s: the answer tells of %q: %s", what, secret, w.Body)
		}
	}
}

// ending is a context whose time is over when a test says so.
type ending struct {
	context.Context
	mu    sync.Mutex
	ended chan struct{}
	after map[*int]func()
}

func (e *ending) end() {
	e.mu.Lock()
	after := e.after
	e.after = nil
	close(e.ended)
	e.mu.Unlock()
	for _, f := range after {
		f()
	}
}

func (e *ending) Done() <-chan struct{} { return e.ended }

func (e *ending) Err() error {
	select {
	case <-e.ended:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// AfterFunc lets contexts made of this one end with it at once, and not some time later.
func (e *ending) AfterFunc(f func()) (stop func() bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.Err() != nil {
		go f()
		return func() bool { return false }
	}
	if e.after == nil {
		e.after = map[*int]func(){}
	}
	key := new(int)
	e.after[key] = f
	return func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		_, waiting := e.after[key]
		delete(e.after, key)
		return waiting
	}
}
