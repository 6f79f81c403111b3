package pending_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/athena"

	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/api/problem"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/athena"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/fakeaws/athenatest"
	"github.com/orrery/orrery/shared/fakeaws/emulator"
	"github.com/orrery/orrery/shared/fakeaws/iamproxytest"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/permissions"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/search/pending"
	"github.com/orrery/orrery/shared/table/tabletest"
	"github.com/orrery/orrery/shared/testkit/faulttest"
)

// deployment has an Athena and a table of queries, which the instances of a function share.
type deployment struct {
	t       *testing.T
	server  *emulator.Server
	url     string
	backend *gate
	state   engine.State
	memory  *tabletest.Memory     // stores the queries
	guard   *iamproxytest.Network // instances have the permissions of the function
	seconds atomic.Int64          // added to the start time by tests
}

// now returns the time of the deployment, which passes only when a test increases d.seconds.
func (d *deployment) now() time.Time { return at().Add(time.Duration(d.seconds.Load()) * time.Second) }

// gate is a backend that answers statements after release is called.
type gate struct {
	*athenatest.Reference
	once sync.Once
	open chan struct{}
}

func (g *gate) Run(ctx context.Context, s emulator.Statement, scanned func(int64)) (emulator.Result, error) {
	select {
	case <-g.open:
		return g.Reference.Run(ctx, s, scanned)
	case <-ctx.Done():
		return emulator.Result{}, ctx.Err()
	}
}

func (g *gate) release() { g.once.Do(func() { close(g.open) }) }

// deployments returns a function that makes deployments. They share their records, which take long to make.
// Each one has its own version of the data, so that deployments do not find each other's queries.
func deployments(t *testing.T) func(t *testing.T) *deployment {
	rows := enginetest.Records(t, 60, 3)
	extent := lake.Extent{MinTsMs: rows[0].TsMs, MaxTsMs: rows[0].TsMs, Rows: int64(len(rows))}
	for _, r := range rows {
		extent.MinTsMs, extent.MaxTsMs = min(extent.MinTsMs, r.TsMs), max(extent.MaxTsMs, r.TsMs)
	}
	version := int64(0)
	return func(t *testing.T) *deployment {
		t.Helper()
		version++
		d := &deployment{t: t, memory: &tabletest.Memory{}}
		d.backend = &gate{Reference: athenatest.NewReference(rows), open: make(chan struct{})}
		watermark := lake.PartitionOf(enginetest.Start.UnixMilli()) + 2
		d.state = engine.State{Extent: extent, Watermark: watermark, Version: version}
		var err error
		d.server, err = emulator.New(emulator.Config{
			Backend:    d.backend,
			Now:        d.now,
			Workgroups: map[string]emulator.Workgroup{"interactive": {Output: "s3://results/"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		web := httptest.NewServer(d.server)
		t.Cleanup(web.Close)
		d.url = web.URL
		d.guard = iamproxytest.New(t, permissions.Names{Table: "*", Workgroup: "interactive"}, nil)
		d.guard.As("query-status") // until the end of the test
		return d
	}
}

// State implements engine.States.
func (d *deployment) State(context.Context) (engine.State, error) { return d.state, nil }

// finish lets the backend answer and waits until no execution runs.
func (d *deployment) finish() {
	d.backend.release()
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

// registeringEngine registers every query with its backend before it starts the query.
type registeringEngine struct {
	*athena.Engine
	d *deployment
}

func (e registeringEngine) Start(ctx context.Context, q query.Query) (engine.Execution, error) {
	known := q
	known.Scope.Watermark = e.d.state.Watermark
	e.d.backend.Register(known)
	return e.Engine.Start(ctx, q)
}

// instance returns a process of the function that uses its own network for Athena and the table. Queries end when a
// caller waits for them.
func (d *deployment) instance(network *faulttest.Transport) http.Handler {
	network.Base = tabletest.Calls{Other: d.guard}
	client := sdk.New(sdk.Options{
		BaseEndpoint: &d.url, Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("k", "s", ""),
		HTTPClient: &http.Client{Transport: network}, Retryer: aws.NopRetryer{},
	})
	e, err := athena.New(athena.Config{
		Client: client, States: d, Workgroup: "interactive", Database: "traffic", Now: d.now,
		Sleep: func(ctx context.Context, _ time.Duration) error { d.finish(); return ctx.Err() },
	})
	if err != nil {
		d.t.Fatal(err)
	}
	store := pending.Over(tabletest.Remote{Table: d.memory, Network: network}, time.Hour, d.now)
	service, err := search.New(registeringEngine{e, d}, search.Options{Store: store, Now: d.now})
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

// reliable returns an instance with a network without faults.
func (d *deployment) reliable() http.Handler {
	return d.instance(&faulttest.Transport{Script: faulttest.Never})
}

const dataPath = "/api/v4.0/data/"

func (d *deployment) ask(
	ctx context.Context, instance http.Handler, method, path string, header ...string,
) *httptest.ResponseRecorder {
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

// operation is an operation on queries that one process of the function carries out.
type operation struct {
	existing bool // it is an operation on an existing query, which a reliable process has started
	ask      func(d *deployment, ctx context.Context, instance http.Handler, location string) *httptest.ResponseRecorder
	done     int // the status code of success
}

var operations = map[string]operation{
	"search": {false, (*deployment).search, http.StatusOK},
	"begin":  {false, (*deployment).begin, http.StatusAccepted},
	"join":   {true, (*deployment).search, http.StatusOK},
	"status": {true, (*deployment).status, http.StatusOK},
	"cancel": {true, (*deployment).cancel, http.StatusNoContent},
}

func (d *deployment) search(ctx context.Context, instance http.Handler, _ string) *httptest.ResponseRecorder {
	return d.ask(ctx, instance, "GET", "stats")
}

func (d *deployment) begin(ctx context.Context, instance http.Handler, _ string) *httptest.ResponseRecorder {
	return d.ask(ctx, instance, "GET", "stats", "Prefer", "respond-async")
}

func (d *deployment) status(ctx context.Context, instance http.Handler, location string) *httptest.ResponseRecorder {
	d.finish()
	return d.ask(ctx, instance, "GET", location)
}

func (d *deployment) cancel(ctx context.Context, instance http.Handler, location string) *httptest.ResponseRecorder {
	return d.ask(ctx, instance, "DELETE", location)
}

// disruption is a failure of a process at its n-th request.
type disruption struct {
	script   func(n int) faulttest.Script
	timeout  bool // the function times out at that request
	recovers bool // the operation succeeds
	stops    bool // the process can still stop the execution that it started
}

var disruptions = map[string]disruption{
	"throttled once":             {script: once(faulttest.Throttle), recovers: true},
	"failing once":               {script: once(faulttest.Fail), recovers: true},
	"broken once":                {script: once(faulttest.Break), recovers: true},
	"lost once":                  {script: once(faulttest.Lose), recovers: true},
	"executed, then failed once": {script: once(faulttest.FailLate), recovers: true},
	"cut once":                   {script: once(faulttest.Cut), recovers: true},
	"duplicated":                 {script: once(faulttest.Duplicate), recovers: true},
	"throttled":                  {script: permanent(faulttest.Throttle)},
	"failing":                    {script: permanent(faulttest.Fail)},
	"answers lost":               {script: permanent(faulttest.Lose), stops: true},
	"killed before":              {script: permanent(faulttest.Break)},
	"killed after":               {script: then(faulttest.Lose, faulttest.Break)},
	"killed, late":               {script: then(faulttest.Delay, faulttest.Break)},
	"timed out":                  {script: func(int) faulttest.Script { return faulttest.Never }, timeout: true, stops: true},
}

func once(f faulttest.Fault) func(int) faulttest.Script {
	return func(n int) faulttest.Script { return faulttest.At(n, f) }
}

func permanent(f faulttest.Fault) func(int) faulttest.Script {
	return func(n int) faulttest.Script { return faulttest.From(n, f) }
}

// then returns scripts with one fault at request n and another at all later requests.
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

// TestQueriesUnderFaults disrupts every operation on queries at each of its requests. For example, a function is killed
// or times out after it has started a query and before it has stored it. The caller must get a response that the API
// documents. An equal request afterwards must get the answer, from the running query or a new one. After that, no query
// may run again.
func TestQueriesUnderFaults(t *testing.T) {
	deploy := deployments(t)
	for name, op := range operations {
		for failure, disruption := range disruptions {
			t.Run(name+" "+failure, func(t *testing.T) {
				n := 0
				for reached := true; reached; n++ {
					reached = disrupt(t, deploy(t), op, disruption, n)
				}
				if least := 3; n <= least {
					t.Errorf("only %d requests", n)
				}
			})
		}
	}
}

// disrupt carries out an operation with a disruption at request n, and then checks equal requests without faults. It
// reports whether the operation had a request n.
func disrupt(t *testing.T, d *deployment, op operation, disruption disruption, n int) (reached bool) {
	t.Helper()
	location := ""
	if op.existing {
		location = d.ask(t.Context(), d.reliable(), "GET", "stats", "Prefer", "respond-async").Header().Get("Location")
	}
	network := &faulttest.Transport{Script: disruption.script(n)}
	ctx := &manualContext{Context: t.Context(), done: make(chan struct{})}
	if disruption.timeout {
		network.Before = func(i int, _ *http.Request) {
			if i == n {
				ctx.end()
			}
		}
	}
	got := op.ask(d, ctx, d.instance(network), location)
	reached = network.Requests() > n
	what := fmt.Sprintf("request %d", n)
	switch {
	case got.Code == op.done && (disruption.recovers || !reached || disruption.timeout):
	case disruption.recovers || !reached:
		t.Errorf("%s: %d %s, want %d", what, got.Code, got.Body, op.done)
	case disruption.timeout:
		checkError(t, what, got, http.StatusGatewayTimeout)
	default:
		checkError(t, what, got, http.StatusServiceUnavailable)
	}
	most := 1
	if disruption.stops || op.done == http.StatusNoContent {
		most = 2 // the stopped execution and a new one
	}
	d.checkSettled(what, most)
	if late, err := network.Deliver(); err != nil {
		t.Fatal(err)
	} else if late > 0 {
		d.checkSettled(what+" arrived late", most)
	}
	if where := got.Header().Get("Location"); where != "" && op.done != http.StatusNoContent {
		if r := d.ask(t.Context(), d.reliable(), "GET", where); r.Code != http.StatusOK || dataOf(t, r) != d.want() {
			t.Errorf("%s: answer at Location: %d %s", what, r.Code, r.Body)
		}
	}
	if t.Failed() {
		t.Fatalf("%s: executions %v", what, d.server.States())
	}
	return reached
}

// TestQueriesRaceUnderFaults starts, requests, polls and cancels the same query in several processes at the same time.
// A fifth of all requests have faults. No caller may get a wrong answer, and an equal request afterwards must get the
// right one.
func TestQueriesRaceUnderFaults(t *testing.T) {
	deploy := deployments(t)
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			d := deploy(t)
			d.want() // makes its own deployment, which must not happen in race
			var processes sync.WaitGroup
			for process := range uint64(4) {
				script := faulttest.Sometimes(seed*100+process, 0.2,
					faulttest.Throttle, faulttest.Fail, faulttest.Break, faulttest.Lose,
					faulttest.FailLate, faulttest.Cut, faulttest.Duplicate)
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
			d.checkSettled("after the race", math.MaxInt)
		})
	}
}

// race sends the requests of one caller: it searches, starts a query, polls it, and may cancel it.
func (d *deployment) race(instance http.Handler, cancels bool) {
	ctx := d.t.Context()
	if got := d.ask(ctx, instance, "GET", "stats"); got.Code == http.StatusOK {
		if dataOf(d.t, got) != wantData {
			d.t.Errorf("a wrong answer: %s", got.Body)
		}
	} else {
		checkError(d.t, "search", got, http.StatusServiceUnavailable)
	}
	started := d.ask(ctx, instance, "GET", "stats", "Prefer", "respond-async")
	if started.Code != http.StatusAccepted {
		checkError(d.t, "begin", started, http.StatusServiceUnavailable)
		return
	}
	steps := []string{"GET"}
	if cancels {
		steps = []string{"GET", "DELETE", "GET"}
	}
	for _, method := range steps {
		got := d.ask(ctx, instance, method, started.Header().Get("Location"))
		switch got.Code {
		case http.StatusOK, http.StatusAccepted, http.StatusNoContent, http.StatusNotFound:
		default:
			checkError(d.t, method, got, http.StatusServiceUnavailable)
		}
	}
}

// checkSettled checks that a new process gets the right answer, that at most the given number of executions were
// started, and that further requests do not start another one.
func (d *deployment) checkSettled(what string, most int) {
	d.t.Helper()
	first := d.ask(d.t.Context(), d.reliable(), "GET", "stats")
	if first.Code != http.StatusOK || dataOf(d.t, first) != d.want() {
		d.t.Fatalf("%s: next request: %d %s", what, first.Code, first.Body)
	}
	d.finish()
	started := len(d.server.States())
	if started > most {
		d.t.Errorf("%s: executions %v, want at most %d", what, d.server.States(), most)
	}
	for range 2 {
		again := d.ask(d.t.Context(), d.reliable(), "GET", "stats")
		if again.Code != http.StatusOK || dataOf(d.t, again) != dataOf(d.t, first) {
			d.t.Errorf("%s: repeated request: %d %s", what, again.Code, again.Body)
		}
	}
	if now := len(d.server.States()); now != started {
		d.t.Errorf("%s: repeated requests start new executions: %v", what, d.server.States())
	}
}

// want returns the right answer, which it gets from a deployment without faults.
func (d *deployment) want() string {
	d.t.Helper()
	wantOnce.Do(func() {
		other := deployments(d.t)(d.t)
		other.state.Version = -1
		wantData = dataOf(d.t, other.ask(d.t.Context(), other.reliable(), "GET", "stats"))
	})
	return wantData
}

var (
	wantOnce sync.Once
	wantData string
)

func dataOf(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var body struct{ Data json.RawMessage }
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || len(body.Data) < 100 {
		t.Errorf("%d %s: %v", w.Code, w.Body, err)
	}
	return string(body.Data)
}

// checkError checks that a response is an error as the API documents it and does not mention internals.
func checkError(t *testing.T, what string, w *httptest.ResponseRecorder, status int) {
	t.Helper()
	var e problem.Error
	err := json.Unmarshal(w.Body.Bytes(), &e)
	if err != nil || w.Code != status || e.Code != status || e.RequestID == "" || w.Header().Get("Retry-After") == "" {
		t.Errorf("%s: status %d, want %d, %v: %v %s", what, w.Code, status, err, w.Header(), w.Body)
	}
	for _, secret := range []string{"ynamo", "thena", "aulty", "fault", "http", "Keep"} {
		if bytes.Contains(w.Body.Bytes(), []byte(secret)) {
			t.Errorf("%s: the response mentions %q: %s", what, secret, w.Body)
		}
	}
}

// manualContext is a context that exceeds its deadline when a test calls end.
type manualContext struct {
	context.Context
	mu    sync.Mutex
	done  chan struct{}
	after map[*int]func()
}

func (c *manualContext) end() {
	c.mu.Lock()
	after := c.after
	c.after = nil
	close(c.done)
	c.mu.Unlock()
	for _, f := range after {
		f()
	}
}

func (c *manualContext) Done() <-chan struct{} { return c.done }

func (c *manualContext) Err() error {
	select {
	case <-c.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// AfterFunc makes contexts that are derived from this one end immediately with it, not some time later.
func (c *manualContext) AfterFunc(f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Err() != nil {
		go f()
		return func() bool { return false }
	}
	if c.after == nil {
		c.after = map[*int]func(){}
	}
	key := new(int)
	c.after[key] = f
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, waiting := c.after[key]
		delete(c.after, key)
		return waiting
	}
}
