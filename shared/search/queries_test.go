package search_test

import (
	"context"
	"errors"
	"reflect"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/search/pending"
	"github.com/orrery/orrery/shared/search/pending/pendingtest"
)

// gate is an oracle that answers when open is closed.
type gate struct {
	oracle
	open    chan struct{}
	stopped chan struct{} // receives a value for every run that is stopped

	mu   sync.Mutex
	runs int
}

func newGate(t *testing.T) *gate {
	return &gate{oracle: oracle{rows: rowsOf(t, traffic)}, open: make(chan struct{}), stopped: make(chan struct{}, 10)}
}

func (g *gate) Run(ctx context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	g.mu.Lock()
	g.runs++
	g.mu.Unlock()
	select {
	case <-g.open:
		return g.oracle.Run(ctx, q)
	case <-ctx.Done():
		g.stopped <- struct{}{}
		return query.Answer{}, engine.Cost{}, fault.Wrap(fault.Canceled, ctx.Err(), "stopped")
	}
}

func (g *gate) ran() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.runs
}

// starter is an engine.Starter over a gate. Every start is a new execution.
type starter struct {
	*gate
	version int

	mu         sync.Mutex
	executions map[engine.Execution]*execution
	started    int
}

type execution struct {
	cancel context.CancelFunc
	done   chan struct{}
	answer query.Answer
	err    error
}

func newStarter(t *testing.T) *starter {
	return &starter{gate: newGate(t), executions: map[engine.Execution]*execution{}}
}

func (a *starter) Version(context.Context) (string, error) { return strconv.Itoa(a.version), nil }

func (a *starter) Start(_ context.Context, q query.Query) (engine.Execution, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.started++
	x := engine.Execution(strconv.Itoa(a.started))
	ctx, cancel := context.WithCancel(context.Background())
	r := &execution{cancel: cancel, done: make(chan struct{})}
	a.executions[x] = r
	go func() {
		defer close(r.done)
		r.answer, _, r.err = a.gate.Run(ctx, q)
	}()
	return x, nil
}

func (a *starter) run(x engine.Execution) *execution {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.executions[x]
}

func (a *starter) Poll(
	_ context.Context, x engine.Execution, _ query.Query,
) (engine.Execution, engine.Progress, error) {
	select {
	case <-a.run(x).done:
		return x, engine.Progress{Done: true}, a.run(x).err
	default:
		return x, engine.Progress{}, nil
	}
}

func (a *starter) Wait(ctx context.Context, x engine.Execution, _ query.Query) (engine.Execution, error) {
	select {
	case <-a.run(x).done:
		return x, a.run(x).err
	case <-ctx.Done():
		return x, fault.Wrap(fault.Timeout, ctx.Err(), "time is over")
	}
}

func (a *starter) Result(_ context.Context, x engine.Execution, _ query.Query) (query.Answer, engine.Cost, error) {
	objects, rows := 1, int64(4)
	return a.run(x).answer, engine.Cost{Objects: &objects, BytesScanned: 10, RowsConsidered: &rows}, nil
}

func (a *starter) Stop(_ context.Context, x engine.Execution) error {
	a.run(x).cancel()
	return nil
}

var request = search.Request{
	Route:    search.Stats,
	Filters:  "timestamp between 2026-01-01 10:00 and 2026-01-01 10:02",
	Caller:   "c",
	Branches: []string{"main"},
}

var asker = search.Asker{Caller: "c", Branches: []string{"main"}}

func newService(t *testing.T, e engine.Engine, o search.Options) *search.Service {
	t.Helper()
	if o.Now == nil {
		o.Now = func() time.Time { return time.Unix(0, 0) }
	}
	s, err := search.New(e, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// bothRunners runs a test with queries in this process and with queries on an engine.Starter. The function another
// returns another instance of the service; for queries in this process it always returns the same one.
func bothRunners(t *testing.T, test func(t *testing.T, g *gate, another func(search.Options) *search.Service)) {
	t.Run("in this process", func(t *testing.T) {
		g := newGate(t)
		var one *search.Service
		test(t, g, func(o search.Options) *search.Service {
			if one == nil {
				one = newService(t, g, o)
			}
			return one
		})
	})
	t.Run("on a starter", func(t *testing.T) {
		a := newStarter(t)
		store := pendingtest.NewMemory()
		test(t, a.gate, func(o search.Options) *search.Service {
			o.Store = store
			return newService(t, a, o)
		})
	})
}

// result polls until the query has ended.
func result(t *testing.T, s *search.Service, id search.QueryID) (search.Status, error) {
	t.Helper()
	for {
		status, err := s.Status(t.Context(), id, asker)
		if err != nil || status.Done {
			return status, err
		}
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStatusHasTheQueue: a query in this process waits for its slot, and its status says for how long.
func TestStatusHasTheQueue(t *testing.T) {
	var seconds atomic.Int64
	limiter := pending.NewLimiter(pending.Limits{AtOnce: 1, Waiting: 2})
	g := newGate(t)
	s := newService(t, g, search.Options{
		Limiter: limiter, Now: func() time.Time { return time.Unix(seconds.Load(), 0) },
	})
	release, err := limiter.Acquire(t.Context(), "another caller")
	if err != nil {
		t.Fatal(err)
	}
	id, err := s.Begin(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	until := func(is func() bool) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for !is() {
			if err := ctx.Err(); err != nil {
				t.Fatal(err)
			}
			runtime.Gosched()
		}
	}
	check := func(at int64, want time.Duration) {
		t.Helper()
		seconds.Store(at)
		if status, err := s.Status(t.Context(), id, asker); err != nil || status.Done || status.Queue != want {
			t.Errorf("after %d s: %v in the queue, done %v, %v; want %v", at, status.Queue, status.Done, err, want)
		}
	}
	until(func() bool {
		_, waiting := limiter.Load()
		return waiting == 1
	})
	check(3, 3*time.Second)
	release()
	until(func() bool { return g.ran() == 1 })
	check(12, 3*time.Second)
	close(g.open)
	if status, err := result(t, s, id); err != nil || status.Queue != 0 {
		t.Errorf("at the end: %v in the queue, %v", status.Queue, err)
	}
}

func TestQueryContinuesAfterTimeout(t *testing.T) {
	bothRunners(t, func(t *testing.T, g *gate, another func(search.Options) *search.Service) {
		s := another(search.Options{Timeout: time.Nanosecond})
		_, err := s.Search(t.Context(), request)
		var running *search.TimeoutError
		if !errors.As(err, &running) || fault.KindOf(err) != fault.Timeout || running.RetryAfter <= 0 {
			t.Fatalf("error %v, want a TimeoutError", err)
		}
		if _, err = s.Search(t.Context(), request); !errors.As(err, &running) || g.ran() > 1 {
			t.Errorf("second request: %v after %d runs, want one run", err, g.ran())
		}
		status, err := another(search.Options{}).Status(t.Context(), running.ID, asker)
		if err != nil || status.Done || status.Request.Filters != request.Filters {
			t.Errorf("status %+v, %v; want a query that is not done", status, err)
		}
		close(g.open)
		if status, err = result(t, another(search.Options{}), running.ID); err != nil {
			t.Fatal(err)
		}
		want, err := service(t, g).Search(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, status.Result, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
			t.Errorf("answers differ (-searched +by status):\n%s", diff)
		}
	})
}

// TestEqualRelativeRequestsJoin: equal requests with relative times are one query within a step of time, which is a
// minute where the engine is a service that continues queries.
func TestEqualRelativeRequestsJoin(t *testing.T) {
	var now atomic.Int64
	clock := search.Options{Now: func() time.Time { return time.Unix(0, now.Load()) }}
	onStarter := clock
	onStarter.Store = pendingtest.NewMemory()
	for name, c := range map[string]struct {
		s           *search.Service
		last, later time.Duration // of the step, and of the next one
	}{
		"in this process": {newService(t, newGate(t), clock), 10*time.Second - 1, 10 * time.Second},
		"on a starter":    {newService(t, newStarter(t), onStarter), time.Minute - 1, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			begin := func(after time.Duration) search.QueryID {
				t.Helper()
				now.Store(time.Date(2026, 1, 1, 10, 2, 0, 0, time.UTC).Add(after).UnixNano())
				r := request
				r.Filters = "timestamp between now-2m and now"
				id, err := c.s.Begin(t.Context(), r)
				if err != nil {
					t.Fatal(err)
				}
				return id
			}
			first := begin(0)
			if last := begin(c.last); last != first {
				t.Errorf("at the end of the step the query is %q, want to join %q", last, first)
			}
			if later := begin(c.later); later == first {
				t.Error("in the next step the query is the same")
			}
		})
	}
}

func TestEqualRequestsJoin(t *testing.T) {
	bothRunners(t, func(t *testing.T, g *gate, another func(search.Options) *search.Service) {
		id, err := another(search.Options{}).Begin(t.Context(), request)
		if err != nil || len(id) != 32 {
			t.Fatalf("id %q, %v", id, err)
		}
		spelt := request
		spelt.Filters = `[{"field":"timestamp","op":"between","value":["2026-01-01 10:02","2026-01-01 10:00"]}]`
		if again, err := another(search.Options{}).Begin(t.Context(), spelt); err != nil || again != id {
			t.Errorf("the same filter in another form: %q, %v; want to join %q", again, err, id)
		}
		for name, other := range map[string]func(*search.Request){
			"another caller":   func(r *search.Request) { r.Caller = "d" },
			"other branches":   func(r *search.Request) { r.Branches = nil },
			"another route":    func(r *search.Request) { r.Route = search.Timeline },
			"another segment":  func(r *search.Request) { r.Segment = "5m" },
			"another period":   func(r *search.Request) { r.Filters = "timestamp between 2026-01-01 and 2026-01-02" },
			"a zone":           func(r *search.Request) { r.TZ = "UTC" },
			"a condition more": func(r *search.Request) { r.Filters += ", status=200" },
		} {
			r := request
			other(&r)
			if different, err := another(search.Options{}).Begin(t.Context(), r); err != nil || different == id {
				t.Errorf("%s: %q, %v; want a query of its own", name, different, err)
			}
		}
		close(g.open)
		if _, err := another(search.Options{}).Search(t.Context(), request); err != nil {
			t.Error(err)
		}
	})
}

// TestQueryHasTheZoneOfItsRequest: the answer of every route names the zone of the request, so requests with different
// zones have queries of their own, although the figures are the same.
func TestQueryHasTheZoneOfItsRequest(t *testing.T) {
	bothRunners(t, func(t *testing.T, g *gate, another func(search.Options) *search.Service) {
		ids := map[string]search.QueryID{}
		r := request
		r.Route, r.Segment = search.TopX, ""
		for _, zone := range []string{"", "Europe/Berlin", "Asia/Tokyo"} {
			r.TZ = zone
			id, err := another(search.Options{}).Begin(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			ids[zone] = id
		}
		close(g.open)
		for zone, id := range ids {
			status, err := result(t, another(search.Options{}), id)
			if err != nil {
				t.Fatal(err)
			}
			if got := status.Result.Meta.TZ; got != zone {
				t.Errorf("the zone is %q, want %q", got, zone)
			}
		}
	})
}

func TestQueryBelongsToItsCaller(t *testing.T) {
	bothRunners(t, func(t *testing.T, g *gate, another func(search.Options) *search.Service) {
		defer close(g.open)
		s := another(search.Options{})
		id, err := s.Begin(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		for name, by := range map[string]search.Asker{
			"another key":             {Caller: "d", Branches: asker.Branches},
			"no key":                  {},
			"the key, other branches": {Caller: "c", Branches: []string{"main", "shop"}},
		} {
			if _, err := s.Status(t.Context(), id, by); fault.KindOf(err) != fault.NotFound {
				t.Errorf("%s: status %v, want NotFound", name, err)
			}
			if err := s.Cancel(t.Context(), id, by); fault.KindOf(err) != fault.NotFound {
				t.Errorf("%s: cancel %v, want NotFound", name, err)
			}
		}
		_, err = s.Status(t.Context(), "0123456789abcdef0123456789abcdef", asker)
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("an unknown id: %v", err)
		}
		if _, err := s.Status(t.Context(), id, asker); err != nil {
			t.Errorf("its own caller: %v", err)
		}
	})
}

func TestCancelStopsAndRemovesQuery(t *testing.T) {
	bothRunners(t, func(t *testing.T, g *gate, another func(search.Options) *search.Service) {
		id, err := another(search.Options{}).Begin(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		if err := another(search.Options{}).Cancel(t.Context(), id, asker); err != nil {
			t.Fatal(err)
		}
		<-g.stopped
		if _, err := another(search.Options{}).Status(t.Context(), id, asker); fault.KindOf(err) != fault.NotFound {
			t.Errorf("status after cancelling: %v", err)
		}
		again, err := another(search.Options{}).Begin(t.Context(), request)
		if err != nil || again == id {
			t.Errorf("the next request has query %q, %v; want a new one", again, err)
		}
		close(g.open)
	})
}

func TestCancelledSearchStopsQuery(t *testing.T) {
	bothRunners(t, func(t *testing.T, g *gate, another func(search.Options) *search.Service) {
		defer close(g.open)
		ctx, leave := context.WithCancel(t.Context())
		failed := make(chan error)
		s := another(search.Options{})
		go func() {
			_, err := s.Search(ctx, request)
			failed <- err
		}()
		for g.ran() == 0 {
			if t.Context().Err() != nil {
				t.Fatal("the query does not start")
			}
		}
		leave()
		if err := <-failed; err == nil {
			t.Error("no error")
		}
		<-g.stopped
	})
}

// TestQueryStoppedByAnotherCallerIsRestarted stops an execution, as another caller with an equal query could do.
func TestQueryStoppedByAnotherCallerIsRestarted(t *testing.T) {
	a := newStarter(t)
	s := newService(t, a, search.Options{Store: pendingtest.NewMemory()})
	id, err := s.Begin(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Stop(t.Context(), "1"); err != nil {
		t.Fatal(err)
	}
	<-a.stopped
	close(a.open)
	if _, err := result(t, s, id); err != nil || a.started != 2 {
		t.Errorf("by its id: %v, started %d times", err, a.started)
	}
	if _, err := s.Search(t.Context(), request); err != nil || a.started != 2 {
		t.Errorf("second request: %v, started %d times; want the same answer", err, a.started)
	}
	a.version++
	if _, err := s.Search(t.Context(), request); err != nil || a.started != 3 {
		t.Errorf("request over newer data: %v, started %d times", err, a.started)
	}
}

// TestFailedQueryIsNotJoined checks that a request after a failed query starts a new query, which may succeed.
func TestFailedQueryIsNotJoined(t *testing.T) {
	bothRunners(t, func(t *testing.T, g *gate, another func(search.Options) *search.Service) {
		g.fail = fault.New(fault.Unavailable, "down")
		close(g.open)
		id, err := another(search.Options{}).Begin(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		failure := func() {
			t.Helper()
			status, err := result(t, another(search.Options{}), id)
			if fault.KindOf(err) != fault.Unavailable || !status.Done {
				t.Errorf("by its id: %v, done %v", err, status.Done)
			}
		}
		failure()
		again, err := another(search.Options{}).Begin(t.Context(), request)
		if err != nil || again == id {
			t.Errorf("the second request gets %q, %v; want a query of its own", again, err)
		}
		if _, err := another(search.Options{}).Search(t.Context(), request); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("third request: %v", err)
		}
		g.fail = nil
		if _, err := another(search.Options{}).Search(t.Context(), request); err != nil {
			t.Errorf("fourth request: %v", err)
		}
		failure() // whatever later requests find
	})
}

type panicEngine struct{ oracle }

func (panicEngine) Run(context.Context, query.Query) (query.Answer, engine.Cost, error) {
	panic("index out of range")
}

func TestPanicOfEngineIsError(t *testing.T) {
	_, err := newService(t, panicEngine{}, search.Options{}).Search(t.Context(), request)
	if err == nil || fault.KindOf(err) != fault.Internal {
		t.Errorf("error %v", err)
	}
}

func TestAnswerExpires(t *testing.T) {
	now := time.Unix(0, 0)
	g := newGate(t)
	close(g.open)
	s, err := search.New(g, search.Options{Now: func() time.Time { return now }, Keep: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	id, err := s.Begin(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := result(t, s, id); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Minute)
	if _, err := s.Status(t.Context(), id, asker); fault.KindOf(err) != fault.NotFound {
		t.Errorf("after a minute: %v", err)
	}
}

// TestAcceptedQueriesKeepTheirAnswers checks that a server refuses queries rather than forgetting their answers.
func TestAcceptedQueriesKeepTheirAnswers(t *testing.T) {
	g := newGate(t)
	s := newService(t, g, search.Options{})
	numbered := func(caller string, i int) search.Request {
		r := request
		r.Caller = caller
		r.Filters += ", status=" + strconv.Itoa(200+i)
		return r
	}
	var ids []search.QueryID
	for len(ids) < 200 {
		id, err := s.Begin(t.Context(), numbered("c", len(ids)))
		if err != nil {
			if fault.KindOf(err) != fault.TooMany {
				t.Fatalf("query %d: %v, want TooMany", len(ids), err)
			}
			break
		}
		ids = append(ids, id)
	}
	if len(ids) < 16 || len(ids) == 200 {
		t.Fatalf("%d queries of one caller are accepted", len(ids))
	}
	if again, err := s.Begin(t.Context(), numbered("c", 0)); err != nil || again != ids[0] {
		t.Errorf("an equal request gets %q, %v; want to join %q", again, err, ids[0])
	}
	close(g.open)
	for i := range 300 { // more than are kept
		if _, err := s.Search(t.Context(), numbered("another caller", i)); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range ids {
		if _, err := result(t, s, id); err != nil {
			t.Fatalf("an accepted query: %v", err)
		}
	}
	if _, err := s.Begin(t.Context(), numbered("c", 201)); err != nil {
		t.Errorf("after the answers were fetched: %v", err)
	}
}

// TestAcceptedQueriesAreAnswered: of many queries of one caller at the same time, those that cannot wait are refused at
// the start. All others are answered.
func TestAcceptedQueriesAreAnswered(t *testing.T) {
	g := newGate(t)
	const perCaller, waiting = 4, 64
	s := newService(t, g, search.Options{Limiter: pending.NewLimiter(pending.Limits{
		AtOnce: perCaller + 1, PerCaller: perCaller, Waiting: waiting, RetryAfter: 2 * time.Second,
	})})
	var ids []search.QueryID
	for i := range 80 {
		r := request
		r.Filters += ", status=" + strconv.Itoa(200+i)
		id, err := s.Begin(t.Context(), r)
		if err == nil {
			ids = append(ids, id)
			continue
		}
		var refused *fault.Error
		if !errors.As(err, &refused) || refused.Kind != fault.TooMany || refused.RetryAfter != 2*time.Second {
			t.Fatalf("query %d: %v, want TooMany with RetryAfter 2s", i, err)
		}
	}
	if want := perCaller + waiting/2; len(ids) != want {
		t.Errorf("%d queries are accepted, want %d", len(ids), want)
	}
	close(g.open)
	for i, id := range ids {
		if _, err := result(t, s, id); err != nil {
			t.Errorf("accepted query %d: %v", i, err)
		}
	}
}

// TestFiltersAreParsedInTheCallersShare: a request waits for a place, or is refused, before its filter is read. Other
// callers have places of their own.
func TestFiltersAreParsedInTheCallersShare(t *testing.T) {
	limiter := pending.NewLimiter(pending.Limits{AtOnce: 2, Preparing: 1})
	s := newService(t, newGate(t), search.Options{Limiter: limiter})
	release, err := limiter.Prepare(t.Context(), request.Caller)
	if err != nil {
		t.Fatal(err)
	}
	wrong := request
	wrong.Filters = "hots=x"
	ask := map[string]func(search.Request) error{
		"search": func(r search.Request) error { _, err := s.Search(t.Context(), r); return err },
		"begin":  func(r search.Request) error { _, err := s.Begin(t.Context(), r); return err },
		"values": func(r search.Request) error {
			r.Route, r.Field = search.Values, "path"
			_, err := s.Search(t.Context(), r)
			return err
		},
	}
	inFilter := func(err error) bool { return errors.As(err, new(*query.FilterError)) }
	for name, ask := range ask {
		if err := ask(wrong); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("%s without a place: %v, want Unavailable", name, err)
		}
		other := wrong
		other.Caller = "another"
		if err := ask(other); !inFilter(err) {
			t.Errorf("%s of another caller: %v", name, err)
		}
	}
	release()
	for name, ask := range ask {
		if err := ask(wrong); !inFilter(err) {
			t.Errorf("%s with a place: %v", name, err)
		}
	}
}

// TestFiltersOfCallersWhoAreGoneAreNotBound: binding a large filter takes time, which nobody needs any more.
func TestFiltersOfCallersWhoAreGoneAreNotBound(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	leave()
	wrong := request
	wrong.Filters = "hots=x"
	if _, err := newService(t, newGate(t), search.Options{}).Search(ctx, wrong); fault.KindOf(err) != fault.Canceled {
		t.Errorf("%v, want Canceled", err)
	}
}

// TestRunningQueriesCountWithTheirAnswers checks that a caller cannot have many large answers made at the same time.
func TestRunningQueriesCountWithTheirAnswers(t *testing.T) {
	g := newGate(t)
	s := newService(t, g, search.Options{})
	accepted := func(caller, limit string) (n int) {
		for ; n < 200; n++ {
			r := request
			r.Route, r.Limit, r.Caller = search.Logs, limit, caller
			r.Filters += ", status=" + strconv.Itoa(200+n)
			if _, err := s.Begin(t.Context(), r); fault.KindOf(err) == fault.TooMany {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		return n
	}
	small, large := accepted("one", "10"), accepted("another", strconv.Itoa(search.MaxLogs))
	if small != 64 || large < 2 || large > 16 {
		t.Errorf("%d queries of 10 records and %d of %d are accepted", small, large, search.MaxLogs)
	}
	close(g.open)
}

// TestRequestIsStored checks that a pending query has its request, with every byte of the filter.
func TestRequestIsStored(t *testing.T) {
	store := pendingtest.NewMemory()
	a := newStarter(t)
	defer close(a.open)
	want := search.Request{
		Route: search.Logs, Syntax: filter.QueryString, Limit: "7", Fields: "ip,host",
		Branches: []string{"main", ""}, Caller: "c", Now: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC),
		Filters: "timestamp between 2026-01-01 and 2026-01-02,\n host=\"ä\\\\ <&>\u2028\"",
	}
	id, err := newService(t, a, search.Options{Store: store}).Begin(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	by := search.Asker{Caller: want.Caller, Branches: want.Branches}
	status, err := newService(t, a, search.Options{Store: store}).Status(t.Context(), id, by)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, status.Request); diff != "" {
		t.Errorf("requests differ (-sent +stored):\n%s", diff)
	}
}

// TestFreshnessIsThatOfTheBeginning checks that the status of a query does not report records and logs that came after
// it.
func TestFreshnessIsThatOfTheBeginning(t *testing.T) {
	store := pendingtest.NewMemory()
	a := newStarter(t)
	a.through = time.Date(2026, 1, 1, 10, 30, 0, 0, time.UTC)
	r := search.Request{
		Route: search.Stats, Caller: asker.Caller, Branches: asker.Branches,
		Filters: "timestamp between 2026-01-01 and 2026-01-02",
	}
	id, err := newService(t, a, search.Options{Store: store}).Begin(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	a.rows = append(a.rows, rowsOf(t, `{"timestamp":"2026-01-01T11:00:00Z"}`)...)
	a.through = a.through.Add(time.Hour)
	close(a.open)
	status, err := result(t, newService(t, a, search.Options{Store: store}), id)
	if err != nil {
		t.Fatal(err)
	}
	if got := status.Result.Meta.Newest; got == nil || *got != "2026-01-01T10:02:00Z" {
		t.Errorf("got %v, want 2026-01-01T10:02:00Z", got)
	}
	if got := status.Result.Meta.Complete; got == nil || *got != "2026-01-01T10:30:00Z" {
		t.Errorf("complete through %v, want 2026-01-01T10:30:00Z", got)
	}
}
