package search_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/search/pending/pendingtest"
)

// gated is an oracle that answers when it is let.
type gated struct {
	oracle
	open    chan struct{}
	stopped chan struct{} // receives for every run that was stopped

	mu   sync.Mutex
	runs int
}

func newGated(t *testing.T) *gated {
	return &gated{oracle: oracle{rows: rowsOf(t, traffic)}, open: make(chan struct{}), stopped: make(chan struct{}, 10)}
}

func (g *gated) Run(ctx context.Context, q query.Query) (query.Answer, engine.Cost, error) {
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

func (g *gated) ran() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.runs
}

// afar is an engine.Starter over a gated oracle: one execution per query and version, as Athena's tokens make it.
type afar struct {
	*gated
	version int

	mu         sync.Mutex
	executions map[engine.Execution]*farRun
	begun      int
}

type farRun struct {
	cancel context.CancelFunc
	done   chan struct{}
	answer query.Answer
	err    error
}

func newAfar(t *testing.T) *afar {
	return &afar{gated: newGated(t), executions: map[engine.Execution]*farRun{}}
}

func (a *afar) Version(context.Context) (string, error) { return strconv.Itoa(a.version), nil }

func (a *afar) Start(_ context.Context, q query.Query) (engine.Execution, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begun++
	x := engine.Execution(strconv.Itoa(a.begun))
	ctx, cancel := context.WithCancel(context.Background())
	r := &farRun{cancel: cancel, done: make(chan struct{})}
	a.executions[x] = r
	go func() {
		defer close(r.done)
		r.answer, _, r.err = a.gated.Run(ctx, q)
	}()
	return x, nil
}

func (a *afar) run(x engine.Execution) *farRun {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.executions[x]
}

func (a *afar) Poll(_ context.Context, x engine.Execution, _ query.Query) (engine.Execution, bool, error) {
	select {
	case <-a.run(x).done:
		return x, true, a.run(x).err
	default:
		return x, false, nil
	}
}

func (a *afar) Wait(ctx context.Context, x engine.Execution, _ query.Query) (engine.Execution, error) {
	select {
	case <-a.run(x).done:
		return x, a.run(x).err
	case <-ctx.Done():
		return x, fault.Wrap(fault.Timeout, ctx.Err(), "time is over")
	}
}

func (a *afar) Result(_ context.Context, x engine.Execution, _ query.Query) (query.Answer, engine.Cost, error) {
	return a.run(x).answer, engine.Cost{Objects: 1, BytesScanned: 10, RowsConsidered: 4}, nil
}

func (a *afar) Stop(_ context.Context, x engine.Execution) error {
	a.run(x).cancel()
	return nil
}

var asked = search.Request{Route: search.Stats, Filters: "timestamp between 2026-01-01 10:00 and 2026-01-01 10:02", Caller: "c", Branches: []string{"main"}}

var asker = search.Asker{Caller: "c", Branches: []string{"main"}}

func newService(t *testing.T, e engine.Engine, o search.Options) *search.Service {
	t.Helper()
	o.Now = func() time.Time { return time.Unix(0, 0) }
	s, err := search.New(e, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// bothWays runs a test with queries in this process and with queries of an engine of their own. another gives one more
// instance of the service, which in this process is the same.
func bothWays(t *testing.T, test func(t *testing.T, g *gated, another func(search.Options) *search.Service)) {
	t.Run("in this process", func(t *testing.T) {
		g := newGated(t)
		var one *search.Service
		test(t, g, func(o search.Options) *search.Service {
			if one == nil {
				one = newService(t, g, o)
			}
			return one
		})
	})
	t.Run("afar", func(t *testing.T) {
		a := newAfar(t)
		store := pendingtest.NewMemory()
		test(t, a.gated, func(o search.Options) *search.Service {
			o.Store = store
			return newService(t, a, o)
		})
	})
}

// ended polls until the query is over.
func ended(t *testing.T, s *search.Service, id search.QueryID) (search.Status, error) {
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

func TestQueryRunsOnWhenTimeIsOver(t *testing.T) {
	bothWays(t, func(t *testing.T, g *gated, another func(search.Options) *search.Service) {
		s := another(search.Options{Timeout: time.Nanosecond})
		_, err := s.Search(t.Context(), asked)
		var running *search.StillRunning
		if !errors.As(err, &running) || fault.KindOf(err) != fault.Timeout || running.RetryAfter <= 0 {
			t.Fatalf("error %v, want StillRunning", err)
		}
		if _, err = s.Search(t.Context(), asked); !errors.As(err, &running) || g.ran() > 1 {
			t.Errorf("asked again: %v after %d runs, want to join the one", err, g.ran())
		}
		status, err := another(search.Options{}).Status(t.Context(), running.ID, asker)
		if err != nil || status.Done || status.Request.Filters != asked.Filters {
			t.Errorf("status %+v, %v; want one that is not done", status, err)
		}
		close(g.open)
		if status, err = ended(t, another(search.Options{}), running.ID); err != nil {
			t.Fatal(err)
		}
		want, err := service(t, g).Search(t.Context(), asked)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, status.Result, cmp.AllowUnexported(search.Records{})); diff != "" {
			t.Errorf("the answer is another (-searched +by status):\n%s", diff)
		}
	})
}

func TestSameRequestJoins(t *testing.T) {
	bothWays(t, func(t *testing.T, g *gated, another func(search.Options) *search.Service) {
		id, err := another(search.Options{}).Begin(t.Context(), asked)
		if err != nil || len(id) != 32 {
			t.Fatalf("id %q, %v", id, err)
		}
		spelt := asked
		spelt.Filters = `[{"field":"timestamp","op":"between","value":["2026-01-01 10:02","2026-01-01 10:00"]}]`
		if again, err := another(search.Options{}).Begin(t.Context(), spelt); err != nil || again != id {
			t.Errorf("the same in other words is %q, %v; want to join %q", again, err, id)
		}
		for name, other := range map[string]func(*search.Request){
			"another caller":   func(r *search.Request) { r.Caller = "d" },
			"other branches":   func(r *search.Request) { r.Branches = nil },
			"another route":    func(r *search.Request) { r.Route = search.Timeline },
			"another segment":  func(r *search.Request) { r.Segment = "5m" },
			"another period":   func(r *search.Request) { r.Filters = "timestamp between 2026-01-01 10:00 and 2026-01-01 10:01" },
			"a condition more": func(r *search.Request) { r.Filters += ", status=200" },
		} {
			r := asked
			other(&r)
			if different, err := another(search.Options{}).Begin(t.Context(), r); err != nil || different == id {
				t.Errorf("%s: %q, %v; want a query of its own", name, different, err)
			}
		}
		close(g.open)
		if _, err := another(search.Options{}).Search(t.Context(), asked); err != nil {
			t.Error(err)
		}
	})
}

func TestQueryBelongsToItsCaller(t *testing.T) {
	bothWays(t, func(t *testing.T, g *gated, another func(search.Options) *search.Service) {
		defer close(g.open)
		s := another(search.Options{})
		id, err := s.Begin(t.Context(), asked)
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
		if _, err := s.Status(t.Context(), "0123456789abcdef0123456789abcdef", asker); fault.KindOf(err) != fault.NotFound {
			t.Errorf("an id of nothing: %v", err)
		}
		if _, err := s.Status(t.Context(), id, asker); err != nil {
			t.Errorf("its own caller: %v", err)
		}
	})
}

func TestCancelStopsAndForgets(t *testing.T) {
	bothWays(t, func(t *testing.T, g *gated, another func(search.Options) *search.Service) {
		id, err := another(search.Options{}).Begin(t.Context(), asked)
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
		again, err := another(search.Options{}).Begin(t.Context(), asked)
		if err != nil || again == id {
			t.Errorf("the next is %q, %v; want one of its own", again, err)
		}
		close(g.open)
	})
}

func TestCallerWhoGoesAwayStopsTheQuery(t *testing.T) {
	bothWays(t, func(t *testing.T, g *gated, another func(search.Options) *search.Service) {
		defer close(g.open)
		ctx, leave := context.WithCancel(t.Context())
		failed := make(chan error)
		s := another(search.Options{})
		go func() {
			_, err := s.Search(ctx, asked)
			failed <- err
		}()
		for g.ran() == 0 {
			if t.Context().Err() != nil {
				t.Fatal("the query does not begin")
			}
		}
		leave()
		if err := <-failed; err == nil {
			t.Error("no error")
		}
		<-g.stopped
	})
}

// TestQueryThatOthersStoppedBeginsAnew: two callers' equal queries can be one execution, and one may stop it.
func TestQueryThatOthersStoppedBeginsAnew(t *testing.T) {
	a := newAfar(t)
	s := newService(t, a, search.Options{Store: pendingtest.NewMemory()})
	id, err := s.Begin(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Stop(t.Context(), "1"); err != nil {
		t.Fatal(err)
	}
	<-a.stopped
	close(a.open)
	if _, err := ended(t, s, id); err != nil || a.begun != 2 {
		t.Errorf("by its id: %v, begun %d times", err, a.begun)
	}
	if _, err := s.Search(t.Context(), asked); err != nil || a.begun != 2 {
		t.Errorf("asked again: %v, begun %d times; want the answer there is", err, a.begun)
	}
	a.version++
	if _, err := s.Search(t.Context(), asked); err != nil || a.begun != 3 {
		t.Errorf("asked over newer data: %v, begun %d times", err, a.begun)
	}
}

// TestFailureIsNotJoined: what has failed for one caller may do well for the next.
func TestFailureIsNotJoined(t *testing.T) {
	bothWays(t, func(t *testing.T, g *gated, another func(search.Options) *search.Service) {
		g.fail = fault.New(fault.Unavailable, "down")
		close(g.open)
		id, err := another(search.Options{}).Begin(t.Context(), asked)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ended(t, another(search.Options{}), id); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("by its id: %v", err)
		}
		g.fail = nil
		if _, err := another(search.Options{}).Search(t.Context(), asked); err != nil {
			t.Errorf("asked again: %v", err)
		}
	})
}

type panicking struct{ oracle }

func (panicking) Run(context.Context, query.Query) (query.Answer, engine.Cost, error) {
	panic("index out of range")
}

func TestPanicOfAnEngineIsAnError(t *testing.T) {
	if _, err := newService(t, panicking{}, search.Options{}).Search(t.Context(), asked); err == nil || fault.KindOf(err) != fault.Internal {
		t.Errorf("error %v", err)
	}
}

func TestAnswersAreKeptForThoseToldAndForgotten(t *testing.T) {
	now := time.Unix(0, 0)
	g := newGated(t)
	close(g.open)
	s, err := search.New(g, search.Options{Now: func() time.Time { return now }, Keep: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	id, err := s.Begin(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ended(t, s, id); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Minute)
	if _, err := s.Status(t.Context(), id, asker); fault.KindOf(err) != fault.NotFound {
		t.Errorf("after a minute: %v", err)
	}
}

// TestRequestIsKept: a pending query keeps its request, every byte of the filter included.
func TestRequestIsKept(t *testing.T) {
	store := pendingtest.NewMemory()
	a := newAfar(t)
	defer close(a.open)
	want := search.Request{
		Route: search.Logs, Form: filter.QueryString, Limit: "7", Fields: "ip,host", Branches: []string{"main", ""}, Caller: "c",
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
		t.Errorf("the request is another (-asked +kept):\n%s", diff)
	}
}
