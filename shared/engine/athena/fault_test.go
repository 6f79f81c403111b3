package athena_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/athena"
	"github.com/orrery/orrery/shared/engine/athena/athenatest"
	"github.com/orrery/orrery/shared/engine/athena/emulator"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/faulttest"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/reference"
)

func bind(t testing.TB, text string, shape query.Shape) query.Query {
	t.Helper()
	q, err := query.Bind(filter.ParseQueryString(text), shape)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

const hours = "timestamp between 2026-01-01 21:00 and 2026-01-02 03:00"

// stage is an engine, its server and what is behind.
type stage struct {
	engine  told
	server  *emulator.Server
	backend *spoilt
	states  *fixed
	rows    []lake.Row
}

// spoilt is the reference backend with failures before its answers.
type spoilt struct {
	*athenatest.Reference

	mu    sync.Mutex
	fails []error // of the next statements; nil: none
	bytes int64   // that every statement scans
	block chan struct{}
	left  *athenatest.Reference // answers the statements that it knows, when they end: some of their rows are gone
}

// set says how the next statements fail, and what all of them wait for.
func (s *spoilt) set(fails []error, block chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails, s.block = fails, block
}

// sweep makes statements that are known to left find only its rows.
func (s *spoilt) sweep(left *athenatest.Reference) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = left
}

func (s *spoilt) Run(ctx context.Context, statement emulator.Statement, scanned func(int64)) (emulator.Result, error) {
	s.mu.Lock()
	var failure error
	if len(s.fails) > 0 {
		failure, s.fails = s.fails[0], s.fails[1:]
	}
	bytes, block := s.bytes, s.block
	s.mu.Unlock()
	if bytes > 0 {
		scanned(bytes)
	}
	if block != nil {
		select {
		case <-block:
		case <-ctx.Done():
			return emulator.Result{}, ctx.Err()
		}
	}
	if failure != nil {
		return emulator.Result{}, failure
	}
	s.mu.Lock()
	left := s.left
	s.mu.Unlock()
	if left != nil {
		if result, err := left.Run(ctx, statement, scanned); err == nil {
			return result, nil
		}
	}
	return s.Reference.Run(ctx, statement, scanned)
}

// setting is what is special about a stage.
type setting struct {
	server    emulator.Config
	transport http.RoundTripper
	engine    func(*athena.Config)
}

func newStage(t *testing.T, special setting) *stage {
	t.Helper()
	s := &stage{rows: enginetest.Records(t, 60, 3)}
	s.states = &fixed{engine.State{Extent: extentOf(s.rows), Watermark: lake.PartitionOf(enginetest.Start.UnixMilli()) + 2, Version: 1}}
	s.backend = &spoilt{Reference: athenatest.NewReference(s.rows)}
	c := special.server
	c.Backend = s.backend
	server, client := serve(t, c, special.transport)
	s.server = server
	s.engine = told{newEngine(t, client, s.states, special.engine), s.backend.Reference, s.states.state.Watermark}
	return s
}

// right fails the test when the answer is not the reference evaluation's.
func (s *stage) right(t *testing.T, q query.Query, got query.Answer, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var rows []*lake.Row
	for i := range s.rows {
		rows = append(rows, &s.rows[i])
	}
	if diff := cmp.Diff(reference.Evaluate(&q, rows), got); diff != "" {
		t.Errorf("answer (-reference +athena):\n%s", diff)
	}
}

var stats = query.Stats{SegmentSeconds: 3600}

// TestNetworkFaults lets every single request of a query meet every fault: the answer is right all the same, and the
// statement ran once.
func TestNetworkFaults(t *testing.T) {
	for _, one := range []struct {
		name  string
		fault faulttest.Fault
	}{
		{"throttled", faulttest.Throttle}, {"failing", faulttest.Fail}, {"unreachable", faulttest.Break}, {"lost", faulttest.Lose},
		{"misled", faulttest.Mislead}, {"duplicated", faulttest.Duplicate}, {"cut", faulttest.Cut},
	} {
		for at := range 5 {
			t.Run(fmt.Sprintf("%s %d", one.name, at), func(t *testing.T) {
				s := newStage(t, setting{transport: &faulttest.Transport{Script: func(n int, _ *http.Request) faulttest.Fault {
					if n == at {
						return one.fault
					}
					return faulttest.None
				}}})
				q := bind(t, hours, stats)
				answer, _, err := s.engine.Run(t.Context(), q)
				s.right(t, q, answer, err)
				if states := s.server.States(); len(states) != 1 {
					t.Errorf("executions %v, want one", states)
				}
			})
		}
	}
}

// TestNothingGetsThrough: a dependency that stays away is Unavailable, with a time to come back, and asked so often
// and no more.
func TestNothingGetsThrough(t *testing.T) {
	for name, fails := range map[string]faulttest.Fault{"throttled": faulttest.Throttle, "failing": faulttest.Fail, "unreachable": faulttest.Break} {
		t.Run(name, func(t *testing.T) {
			asked, waits := 0, []time.Duration(nil)
			s := newStage(t, setting{
				transport: &faulttest.Transport{Script: func(int, *http.Request) faulttest.Fault { asked++; return fails }},
				engine: func(c *athena.Config) {
					c.Sleep = func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }
				},
			})
			_, _, err := s.engine.Run(t.Context(), bind(t, hours, stats))
			var known *fault.Error
			if !errors.As(err, &known) || known.Kind != fault.Unavailable || known.RetryAfter == 0 {
				t.Errorf("error %v, want Unavailable with a time", err)
			}
			if asked != 6 || len(waits) != 5 || waits[4] <= waits[0]*4 {
				t.Errorf("asked %d times, waited %v", asked, waits)
			}
		})
	}
}

func TestServerThatThrottlesIsWaitedFor(t *testing.T) {
	s := newStage(t, setting{server: emulator.Config{StartsPerSecond: 1}})
	q := bind(t, hours, stats)
	if _, _, err := s.engine.Run(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.engine.Run(t.Context(), bind(t, hours, query.TopX{Limit: 3})); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a second start within a second that does not pass: %v", err)
	}
}

// TestFailures: each end of an execution has the kind that its cause deserves, and is tried again where that helps.
func TestFailures(t *testing.T) {
	internal := &emulator.Failure{Category: 1, Type: 233, Retryable: true, Reason: "GENERIC_INTERNAL_ERROR: oops"}
	throttled := &emulator.Failure{Category: 3, Type: 1402, Reason: "AMAZON_S3_THROTTLED: Please reduce your request rate"}
	exhausted := &emulator.Failure{Category: 1, Type: 2, Reason: "Query exhausted resources at this scale factor"}
	for name, test := range map[string]struct {
		fails      []error
		want       fault.Kind
		ok         bool
		executions int
		says       string
	}{
		"an internal failure passes":      {[]error{internal}, 0, true, 2, ""},
		"S3 throttled three times passes": {[]error{throttled, throttled, throttled}, 0, true, 4, ""},
		"S3 throttled for ever":           {[]error{throttled, throttled, throttled, throttled, throttled}, fault.Unavailable, false, 4, "do well later"},
		"a bad regular expression":        {[]error{&emulator.Failure{Category: 2, Type: 1106, Reason: "INVALID_FUNCTION_ARGUMENT: invalid pattern"}}, fault.RegexRefused, false, 1, "regular expression"},
		"no resources":                    {[]error{exhausted, exhausted}, fault.EngineLimit, false, 1, "narrow the period"},
		"a sum too large":                 {[]error{&emulator.Failure{Category: 2, Type: 1104, Reason: "NUMERIC_VALUE_OUT_OF_RANGE: bigint overflow"}}, fault.EngineLimit, false, 1, "64 bits"},
		"a mistake of ours":               {[]error{&emulator.Failure{Category: 2, Type: 1006, Reason: "SYNTAX_ERROR: line 1:1"}}, fault.Internal, false, 1, "SYNTAX_ERROR"},
		"too many conditions":             {[]error{&emulator.Failure{Category: 2, Type: 1000, Reason: "QUERY_EXCEEDED_COMPILER_LIMIT: too large"}}, fault.EngineLimit, false, 1, "use fewer"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, setting{})
			s.backend.fails = test.fails
			q := bind(t, hours, stats)
			answer, _, err := s.engine.Run(t.Context(), q)
			if test.ok {
				s.right(t, q, answer, err)
			} else if err == nil || fault.KindOf(err) != test.want || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %v of kind %d, want kind %d", err, fault.KindOf(err), test.want)
			}
			if states := s.server.States(); len(states) != test.executions {
				t.Errorf("executions %v, want %d", states, test.executions)
			}
		})
	}
}

// TestTopXThatExhaustsIsAskedLabelByLabel: the answer is that of the whole.
func TestTopXThatExhaustsIsAskedLabelByLabel(t *testing.T) {
	s := newStage(t, setting{})
	s.backend.fails = []error{&emulator.Failure{Category: 1, Type: 0, Reason: "Query exhausted resources at this scale factor"}}
	q := bind(t, hours, query.TopX{Limit: 5})
	answer, cost, err := s.engine.Run(t.Context(), q)
	s.right(t, q, answer, err)
	if !cost.Split || len(s.server.States()) != 10 {
		t.Errorf("split %v, executions %v; want the whole and nine parts", cost.Split, s.server.States())
	}
	if want := 9 * 10_000_000.0 / 1e12 * 5; math.Abs(*cost.USD-want) > want/1e9 {
		t.Errorf("cost %v, want nine times the least charge, %v", *cost.USD, want)
	}
}

// TestPartThatExhaustsIsTheEnd: what is too much in parts, too, is refused, and the other parts are stopped.
func TestPartThatExhaustsIsTheEnd(t *testing.T) {
	s := newStage(t, setting{})
	exhausted := &emulator.Failure{Category: 1, Type: 0, Reason: "Query exhausted resources at this scale factor"}
	for range 12 {
		s.backend.fails = append(s.backend.fails, exhausted)
	}
	_, _, err := s.engine.Run(t.Context(), bind(t, hours, query.TopX{Limit: 5}))
	if fault.KindOf(err) != fault.EngineLimit || s.server.Calls("StopQueryExecution") == 0 {
		t.Errorf("error %v, %d stops", err, s.server.Calls("StopQueryExecution"))
	}
}

func TestTooManyBytesNamesAPeriodThatFits(t *testing.T) {
	s := newStage(t, setting{server: emulator.Config{Workgroups: map[string]emulator.Workgroup{
		"interactive": {Output: "s3://results/", CutoffBytes: 10_000_000},
	}}})
	s.backend.bytes = 10_000_001
	_, _, err := s.engine.Run(t.Context(), bind(t, hours, stats))
	if fault.KindOf(err) != fault.EngineLimit || !strings.Contains(err.Error(), "after 10000001 bytes. Half the period should fit: timestamp between 2026-01-02 00:00:00 and 2026-01-02 03:00:00") {
		t.Errorf("error %v", err)
	}
	_, _, err = s.engine.Run(t.Context(), bind(t, "timestamp between 2026-01-01 22:00:00 and 2026-01-01 22:00:30", stats))
	if fault.KindOf(err) != fault.EngineLimit || !strings.Contains(err.Error(), "narrow the filter") {
		t.Errorf("error %v", err)
	}
}

func TestRefusedBeforeAnythingRuns(t *testing.T) {
	s := newStage(t, setting{})
	var long strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&long, `, path!~"never%d[a-c]"`, i)
	}
	for name, test := range map[string]struct {
		filter string
		want   fault.Kind
	}{
		"a pattern that backtracking does not survive": {`, path~"(a|ab|b)*c"`, fault.RegexRefused},
		"a statement longer than Athena takes":         {long.String(), fault.EngineLimit},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := s.engine.Engine.Run(t.Context(), bind(t, hours+test.filter, stats)); fault.KindOf(err) != test.want {
				t.Errorf("error %.200v of kind %d, want %d", err, fault.KindOf(err), test.want)
			}
		})
	}
	if n := s.server.Calls("StartQueryExecution"); n != 0 {
		t.Errorf("%d queries were begun", n)
	}
}

// TestCallerWhoEndsStopsTheExecution in each state that it can be in.
func TestCallerWhoEndsStopsTheExecution(t *testing.T) {
	for _, state := range []string{"QUEUED", "RUNNING"} {
		for name, end := range map[string]struct {
			cause error
			kind  fault.Kind
		}{
			"goes away":        {context.Canceled, fault.Canceled},
			"runs out of time": {context.DeadlineExceeded, fault.Timeout},
		} {
			t.Run(state+" "+name, func(t *testing.T) {
				var s *stage
				ctx := &ending{Context: t.Context(), ended: make(chan struct{}), cause: end.cause}
				special := setting{engine: func(c *athena.Config) {
					c.Sleep = func(ctx context.Context, d time.Duration) error {
						if s.server.States()[0] == state {
							ctx.(*ending).end()
						}
						return impatient(ctx, d)
					}
				}}
				if state == "QUEUED" {
					special.server.Queue = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
				}
				s = newStage(t, special)
				s.backend.block = make(chan struct{})
				_, _, err := s.engine.Run(ctx, bind(t, hours, stats))
				if fault.KindOf(err) != end.kind || !errors.Is(err, end.cause) {
					t.Errorf("error %v of kind %d, want %d", err, fault.KindOf(err), end.kind)
				}
				if s.server.Calls("StopQueryExecution") != 1 || s.server.States()[0] != "CANCELLED" {
					t.Errorf("%d stops, states %v", s.server.Calls("StopQueryExecution"), s.server.States())
				}
			})
		}
	}
}

// TestCallerWhoLeavesWhileTheQueryBegins leaves nothing behind that scans for nobody.
func TestCallerWhoLeavesWhileTheQueryBegins(t *testing.T) {
	ctx := &ending{Context: t.Context(), ended: make(chan struct{}), cause: context.Canceled}
	s := newStage(t, setting{transport: &faulttest.Transport{
		Script: func(int, *http.Request) faulttest.Fault { return faulttest.None },
		Before: func(n int, _ *http.Request) {
			if n == 0 {
				ctx.end()
			}
		},
	}})
	s.backend.block = make(chan struct{})
	_, _, err := s.engine.Run(ctx, bind(t, hours, stats))
	if fault.KindOf(err) != fault.Canceled || s.server.Calls("StopQueryExecution") != 1 || s.server.States()[0] != "CANCELLED" {
		t.Errorf("error %v, states %v", err, s.server.States())
	}
}

// ending is a context that ends when a test says so, with the cause it says: no test waits for time.
type ending struct {
	context.Context
	ended chan struct{}
	cause error
}

func (e *ending) end() { close(e.ended) }

func (e *ending) Done() <-chan struct{} { return e.ended }

func (e *ending) Err() error {
	select {
	case <-e.ended:
		return e.cause
	default:
		return nil
	}
}

// TestExecutionThatOthersStopIsBegunAnew: equal queries of two callers are one execution.
func TestExecutionThatOthersStopIsBegunAnew(t *testing.T) {
	s := newStage(t, setting{})
	s.backend.block = make(chan struct{})
	q := bind(t, hours, stats)
	s.engine.know(q)
	mine, err := s.engine.Start(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := s.engine.Start(t.Context(), q)
	if err != nil || mine != theirs {
		t.Fatalf("equal queries are %s and %s, %v", mine, theirs, err)
	}
	if err := s.engine.Stop(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.engine.Poll(t.Context(), mine, q); fault.KindOf(err) != fault.Canceled {
		t.Errorf("stopped by others: %v", err)
	}
	close(s.backend.block)
	answer, _, err := s.engine.Run(t.Context(), q)
	s.right(t, q, answer, err)
	if states := s.server.States(); len(states) != 2 {
		t.Errorf("executions %v", states)
	}
}

// TestQueryThatEndedOftenBeginsAllTheSame: what stands behind a token is over for ever, so however often a query was
// stopped, or has failed while Athena was down, the next who asks must find a token that nobody has used.
func TestQueryThatEndedOftenBeginsAllTheSame(t *testing.T) {
	down := &emulator.Failure{Category: 1, Type: 233, Retryable: true, Reason: "GENERIC_INTERNAL_ERROR: oops"}
	for name, end := range map[string]func(t *testing.T, s *stage, q query.Query){
		"stopped": func(t *testing.T, s *stage, q query.Query) {
			s.backend.set(nil, make(chan struct{}))
			x, err := s.engine.Start(t.Context(), q)
			if err == nil {
				err = s.engine.Stop(t.Context(), x)
			}
			if err != nil {
				t.Fatal(err)
			}
		},
		"failed": func(t *testing.T, s *stage, q query.Query) {
			s.backend.set([]error{down, down, down, down, down, down}, nil)
			if _, _, err := s.engine.Run(t.Context(), q); fault.KindOf(err) != fault.Unavailable {
				t.Fatalf("error %v", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			at := now()
			clock := func() time.Time { return at }
			s := newStage(t, setting{server: emulator.Config{Now: clock}, engine: func(c *athena.Config) { c.Now = clock }})
			q := bind(t, hours, stats)
			s.engine.know(q)
			for range 7 {
				end(t, s, q)
				at = at.Add(time.Minute)
			}
			s.backend.set(nil, nil)
			answer, _, err := s.engine.Run(t.Context(), q)
			s.right(t, q, answer, err)
			begun := len(s.server.States())
			answer, _, err = s.engine.Run(t.Context(), q)
			if s.right(t, q, answer, err); len(s.server.States()) != begun {
				t.Errorf("asked once more, it ran once more: %v", s.server.States())
			}
		})
	}
}

// TestEqualQueriesShareAResult within one version of the data, and no longer.
func TestEqualQueriesShareAResult(t *testing.T) {
	at := now()
	clock := func() time.Time { return at }
	s := newStage(t, setting{
		server: emulator.Config{Now: clock},
		engine: func(c *athena.Config) { c.ReuseFor, c.Now = time.Hour, clock },
	})
	q := bind(t, hours, stats)
	_, first, err := s.engine.Run(t.Context(), q)
	if err != nil || first.Cached != nil || *first.USD == 0 || first.BytesScanned == 0 {
		t.Fatalf("cost %+v, %v", first, err)
	}
	at = at.Add(time.Minute)
	answer, second, err := s.engine.Run(t.Context(), q)
	s.right(t, q, answer, err)
	if second.Cached == nil || *second.Cached != time.Minute || *second.USD != 0 || second.BytesScanned != 0 || len(s.server.States()) != 1 {
		t.Errorf("again: cost %+v, executions %v", second, s.server.States())
	}
	s.states.state.Version++
	_, third, err := s.engine.Run(t.Context(), q)
	if err != nil || third.Cached != nil || len(s.server.States()) != 2 {
		t.Errorf("after a publication: cost %+v, %v, executions %v", third, err, s.server.States())
	}
}

// TestExecutionGoesOnInAnotherProcess: what Start returns is all that is needed.
func TestExecutionGoesOnInAnotherProcess(t *testing.T) {
	s := newStage(t, setting{})
	q := bind(t, hours, query.TopX{Limit: 5})
	s.engine.know(q)
	s.backend.fails = []error{&emulator.Failure{Category: 1, Type: 0, Reason: "Query exhausted resources at this scale factor"}}
	x, err := s.engine.Start(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for done := false; !done; {
		other := newEngine(t, s.engine.Client, s.states, nil)
		if x, done, err = other.Poll(t.Context(), x, q); err != nil {
			t.Fatal(err)
		}
		if len(x) > 4096 {
			t.Fatalf("the execution is named with %d bytes", len(x))
		}
	}
	answer, cost, err := s.engine.Result(t.Context(), x, q)
	s.right(t, q, answer, err)
	if !cost.Split {
		t.Error("it was not split")
	}
	for _, wrong := range []engine.Execution{"", "{}", `{"parts":[{"id":"no-such"}]}`} {
		if _, _, err := s.engine.Poll(t.Context(), wrong, q); err == nil {
			t.Errorf("%q is an execution", wrong)
		}
	}
}
