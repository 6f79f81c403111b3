package athena_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/athena"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/fakeaws/athenatest"
	"github.com/orrery/orrery/shared/fakeaws/emulator"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/testkit/faulttest"
	"github.com/orrery/orrery/shared/testkit/reference"
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

// fixture is an engine over an emulator of Athena, with the emulator's backend and data.
type fixture struct {
	engine  registeringEngine
	server  *emulator.Server
	backend *faultyBackend
	states  *staticStates
	rows    []lake.Row
}

// faultyBackend is the reference backend with errors, delays and missing rows.
type faultyBackend struct {
	*athenatest.Reference

	mu     sync.Mutex
	errors []error               // the results of the next statements; nil is success
	bytes  int64                 // the number of bytes that every statement reports; 0: the reference's
	block  chan struct{}         // every statement waits until it is closed; nil: no statement waits
	left   *athenatest.Reference // answers the statements that are registered there, over fewer rows
}

// set sets the results of the next statements, and the channel that all statements wait for.
func (b *faultyBackend) set(errs []error, block chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.errors, b.block = errs, block
}

// removeRows makes the statements that are registered with left return only its rows.
func (b *faultyBackend) removeRows(left *athenatest.Reference) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left = left
}

func (b *faultyBackend) Run(
	ctx context.Context, statement emulator.Statement, scanned func(int64),
) (emulator.Result, error) {
	b.mu.Lock()
	var failure error
	if len(b.errors) > 0 {
		failure, b.errors = b.errors[0], b.errors[1:]
	}
	bytes, block := b.bytes, b.block
	b.mu.Unlock()
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
	b.mu.Lock()
	left := b.left
	b.mu.Unlock()
	if left != nil {
		if result, err := left.Run(ctx, statement, scanned); err == nil {
			return result, nil
		}
	}
	return b.Reference.Run(ctx, statement, scanned)
}

// fixtureOptions changes the configuration of a fixture.
type fixtureOptions struct {
	server    emulator.Config
	transport http.RoundTripper
	engine    func(*athena.Config)
}

func newFixture(t *testing.T, options fixtureOptions) *fixture {
	t.Helper()
	s := &fixture{rows: enginetest.Records(t, 60, 3)}
	s.states = newStates(s.rows)
	s.backend = &faultyBackend{Reference: athenatest.NewReference(s.rows)}
	c := options.server
	c.Backend = s.backend
	server, client := serve(t, c, options.transport)
	s.server = server
	e := newEngine(t, client, s.states, options.engine)
	s.engine = registeringEngine{e, s.backend.Reference, s.states.state.Watermark}
	return s
}

// checkAnswer fails the test if err is not nil or the answer differs from the reference evaluation.
func (s *fixture) checkAnswer(t *testing.T, q query.Query, got query.Answer, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var rows []*lake.Row
	for i := range s.rows {
		rows = append(rows, &s.rows[i])
	}
	if diff := enginetest.Diff(reference.Evaluate(&q, rows), got); diff != "" {
		t.Errorf("answer (-reference +athena):\n%s", diff)
	}
}

var stats = query.Stats{SegmentSeconds: 3600}

// TestNetworkFaults injects every fault into every single request of a query. The answer must be right and the
// statement must run only once.
func TestNetworkFaults(t *testing.T) {
	for _, test := range []struct {
		name  string
		fault faulttest.Fault
	}{
		{"throttled", faulttest.Throttle},
		{"failing", faulttest.Fail},
		{"unreachable", faulttest.Break},
		{"lost", faulttest.Lose},
		{"executed, then failed", faulttest.FailLate},
		{"duplicated", faulttest.Duplicate},
		{"cut", faulttest.Cut},
	} {
		for at := range 5 {
			t.Run(fmt.Sprintf("%s request %d", test.name, at), func(t *testing.T) {
				script := func(n int, _ *http.Request) faulttest.Fault {
					if n == at {
						return test.fault
					}
					return faulttest.None
				}
				s := newFixture(t, fixtureOptions{transport: &faulttest.Transport{Script: script}})
				q := bind(t, hours, stats)
				answer, _, err := s.engine.Run(t.Context(), q)
				s.checkAnswer(t, q, answer, err)
				if states := s.server.States(); len(states) != 1 {
					t.Errorf("executions %v, want one", states)
				}
			})
		}
	}
}

// TestPermanentFaultIsUnavailable checks that a query fails with kind Unavailable and a retry time, after a limited
// number of attempts, if AWS does not recover.
func TestPermanentFaultIsUnavailable(t *testing.T) {
	for name, permanent := range map[string]faulttest.Fault{
		"throttled":   faulttest.Throttle,
		"failing":     faulttest.Fail,
		"unreachable": faulttest.Break,
	} {
		t.Run(name, func(t *testing.T) {
			requests, pauses := 0, []time.Duration(nil)
			script := func(int, *http.Request) faulttest.Fault { requests++; return permanent }
			s := newFixture(t, fixtureOptions{
				transport: &faulttest.Transport{Script: script},
				engine: func(c *athena.Config) {
					c.Sleep = func(_ context.Context, d time.Duration) error { pauses = append(pauses, d); return nil }
				},
			})
			_, _, err := s.engine.Run(t.Context(), bind(t, hours, stats))
			var known *fault.Error
			if !errors.As(err, &known) || known.Kind != fault.Unavailable || known.RetryAfter == 0 {
				t.Errorf("error %v, want Unavailable with RetryAfter", err)
			}
			if requests != 6 || len(pauses) != 5 || pauses[4] <= pauses[0]*4 {
				t.Errorf("%d requests with pauses %v", requests, pauses)
			}
		})
	}
}

// TestStartRateLimit starts a second query within the same second of a clock that does not advance.
func TestStartRateLimit(t *testing.T) {
	s := newFixture(t, fixtureOptions{server: emulator.Config{StartsPerSecond: 1}})
	if _, _, err := s.engine.Run(t.Context(), bind(t, hours, stats)); err != nil {
		t.Fatal(err)
	}
	_, _, err := s.engine.Run(t.Context(), bind(t, hours, query.TopX{Limit: 3}))
	var refused *fault.Error
	if !errors.As(err, &refused) || refused.Kind != fault.Unavailable || refused.RetryAfter != 10*time.Second {
		t.Errorf("second start: error %v, want Unavailable with a time after which to retry", err)
	}
}

// TestFailures checks the error kind of each failure of an execution, and whether the query is started again.
func TestFailures(t *testing.T) {
	throttled := &emulator.Failure{
		Category: 3, Type: 1402, Reason: "AMAZON_S3_THROTTLED: Please reduce your request rate",
	}
	exhausted := &emulator.Failure{Category: 1, Type: 2, Reason: "Query exhausted resources at this scale factor"}
	userError := func(number int, reason string) []error {
		return []error{&emulator.Failure{Category: 2, Type: number, Reason: reason}}
	}
	for name, test := range map[string]struct {
		errors     []error
		want       fault.Kind
		ok         bool
		executions int
		message    string
	}{
		"an internal failure is retried": {errors: []error{internal}, ok: true, executions: 2},
		"S3 throttling is retried":       {errors: []error{throttled, throttled, throttled}, ok: true, executions: 4},
		"S3 throttling that does not end": {
			[]error{throttled, throttled, throttled, throttled, throttled},
			fault.Unavailable, false, 4, "may succeed later",
		},
		"an invalid regular expression": {
			userError(1106, "INVALID_FUNCTION_ARGUMENT: invalid pattern"),
			fault.RegexRefused, false, 1, "regular expression",
		},
		"exhausted resources": {[]error{exhausted, exhausted}, fault.EngineLimit, false, 1, "narrow the period"},
		"invalid SQL": {
			userError(1006, "SYNTAX_ERROR: line 1:1"), fault.Internal, false, 1, "SYNTAX_ERROR",
		},
		"too many conditions": {
			userError(1000, "QUERY_EXCEEDED_COMPILER_LIMIT: too large"), fault.EngineLimit, false, 1, "use fewer",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t, fixtureOptions{})
			s.backend.errors = test.errors
			q := bind(t, hours, stats)
			answer, _, err := s.engine.Run(t.Context(), q)
			if test.ok {
				s.checkAnswer(t, q, answer, err)
			} else if err == nil || fault.KindOf(err) != test.want || !strings.Contains(err.Error(), test.message) {
				t.Errorf("error %v of kind %d, want kind %d", err, fault.KindOf(err), test.want)
			}
			if states := s.server.States(); len(states) != test.executions {
				t.Errorf("executions %v, want %d", states, test.executions)
			}
		})
	}
}

// TestExhaustedTopXIsSplit checks that the parts of a split topx query give the same answer as the whole query.
func TestExhaustedTopXIsSplit(t *testing.T) {
	s := newFixture(t, fixtureOptions{})
	s.backend.errors = []error{exhausted}
	q := bind(t, hours, query.TopX{Limit: 5})
	answer, cost, err := s.engine.Run(t.Context(), q)
	s.checkAnswer(t, q, answer, err)
	if !cost.Split || len(s.server.States()) != 10 {
		t.Errorf("split %v, executions %v; want one for the whole query and nine for its parts",
			cost.Split, s.server.States())
	}
	if want := 9 * 10_000_000.0 / 1e12 * 5; math.Abs(*cost.USD-want) > want/1e9 {
		t.Errorf("cost %v, want nine times the minimum charge, %v", *cost.USD, want)
	}
}

// TestExhaustedPartFails checks that a query fails, and its other parts are stopped, if a part exhausts the resources,
// too.
func TestExhaustedPartFails(t *testing.T) {
	s := newFixture(t, fixtureOptions{})
	for range 12 {
		s.backend.errors = append(s.backend.errors, exhausted)
	}
	_, _, err := s.engine.Run(t.Context(), bind(t, hours, query.TopX{Limit: 5}))
	if fault.KindOf(err) != fault.EngineLimit || s.server.Calls("StopQueryExecution") == 0 {
		t.Errorf("error %v, %d stops", err, s.server.Calls("StopQueryExecution"))
	}
}

func TestScanLimitSuggestsPeriod(t *testing.T) {
	s := newFixture(t, fixtureOptions{server: emulator.Config{Workgroups: map[string]emulator.Workgroup{
		"interactive": {Output: "s3://results/", CutoffBytes: 10_000_000},
	}}})
	s.backend.bytes = 10_000_001
	_, _, err := s.engine.Run(t.Context(), bind(t, hours, stats))
	const message = "after 10000001 bytes. " +
		"Half the period should fit: timestamp between 2026-01-02 00:00:00 and 2026-01-02 03:00:00"
	if fault.KindOf(err) != fault.EngineLimit || !strings.Contains(err.Error(), message) {
		t.Errorf("error %v", err)
	}
	const seconds = "timestamp between 2026-01-01 22:00:00 and 2026-01-01 22:00:30"
	_, _, err = s.engine.Run(t.Context(), bind(t, seconds, stats))
	if fault.KindOf(err) != fault.EngineLimit || !strings.Contains(err.Error(), "narrow the filter") {
		t.Errorf("error %v", err)
	}
}

// TestQueryBeforeTheFirstYearIsNotStarted checks queries of times for which the tables have no partitions, but the lake
// has records.
func TestQueryBeforeTheFirstYearIsNotStarted(t *testing.T) {
	all := enginetest.Records(t, 20, 3) // of 2026
	for _, test := range []struct {
		name, filter string
		fromYear     int
		fails        bool
	}{
		{"tables that begin after the records", hours, 2027, true},
		{"tables that begin in the year of the records", hours, 2026, false},
		{"tables with all partitions", hours, 0, false},
		{"a period before the first year without records", "timestamp between 1990-01-01 and 2026-01-03", 2026, false},
		{"a period without records", "timestamp between 1990-01-01 and 1991-01-01", 2027, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			backend := athenatest.NewReference(all)
			_, client := serve(t, emulator.Config{Backend: backend}, nil)
			states := &staticStates{engine.State{Extent: extentOf(all), Version: 1}}
			e := registeringEngine{newEngine(t, client, states, func(c *athena.Config) {
				c.FromYear = test.fromYear
			}), backend, 0}
			_, _, err := e.Run(t.Context(), bind(t, test.filter, query.Stats{SegmentSeconds: 2 * 86_400}))
			if failed := err != nil; failed != test.fails {
				t.Fatalf("error %v, want one: %t", err, test.fails)
			}
			if test.fails && (fault.KindOf(err) != fault.Internal ||
				!strings.Contains(err.Error(), "deploy with -c projection-from=2026")) {
				t.Errorf("error %v of kind %v", err, fault.KindOf(err))
			}
		})
	}
}

func TestUnsupportedQueryIsNotStarted(t *testing.T) {
	s := newFixture(t, fixtureOptions{})
	var long strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&long, `, path!~"never%d[a-c]"`, i)
	}
	for name, test := range map[string]struct {
		filter string
		want   fault.Kind
	}{
		"a pattern with unlimited backtracking":  {`, path~"(a|ab|b)*c"`, fault.RegexRefused},
		"a statement longer than Athena's limit": {long.String(), fault.EngineLimit},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := s.engine.Engine.Run(t.Context(), bind(t, hours+test.filter, stats))
			if fault.KindOf(err) != test.want {
				t.Errorf("error %.200v of kind %d, want %d", err, fault.KindOf(err), test.want)
			}
		})
	}
	if n := s.server.Calls("StartQueryExecution"); n != 0 {
		t.Errorf("%d queries were started", n)
	}
}

// TestEndedContextStopsExecution ends the context of Run while the execution is in each state that is not final.
func TestEndedContextStopsExecution(t *testing.T) {
	for _, state := range []string{"QUEUED", "RUNNING"} {
		for name, end := range map[string]struct {
			cause error
			kind  fault.Kind
		}{
			"is cancelled": {context.Canceled, fault.Canceled},
			"times out":    {context.DeadlineExceeded, fault.Timeout},
		} {
			t.Run(state+" "+name, func(t *testing.T) {
				var s *fixture
				ctx := &manualContext{Context: t.Context(), done: make(chan struct{}), cause: end.cause}
				options := fixtureOptions{engine: func(c *athena.Config) {
					c.Sleep = func(ctx context.Context, d time.Duration) error {
						if s.server.States()[0] == state {
							ctx.(*manualContext).end()
						}
						return noSleep(ctx, d)
					}
				}}
				if state == "QUEUED" {
					options.server.Queue = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
				}
				s = newFixture(t, options)
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

// TestCancelDuringStartStopsExecution cancels the context while the query starts. The execution must not keep scanning.
func TestCancelDuringStartStopsExecution(t *testing.T) {
	ctx := &manualContext{Context: t.Context(), done: make(chan struct{}), cause: context.Canceled}
	s := newFixture(t, fixtureOptions{transport: &faulttest.Transport{
		Script: func(int, *http.Request) faulttest.Fault { return faulttest.None },
		Before: func(n int, _ *http.Request) {
			if n == 0 {
				ctx.end()
			}
		},
	}})
	s.backend.block = make(chan struct{})
	_, _, err := s.engine.Run(ctx, bind(t, hours, stats))
	if fault.KindOf(err) != fault.Canceled {
		t.Errorf("error %v, want Canceled", err)
	}
	if s.server.Calls("StopQueryExecution") != 1 || s.server.States()[0] != "CANCELLED" {
		t.Errorf("%d stops, states %v", s.server.Calls("StopQueryExecution"), s.server.States())
	}
}

// manualContext is a context that a test ends with end, with a cause of its choice, so that no test waits for a
// timeout.
type manualContext struct {
	context.Context
	done  chan struct{}
	cause error
}

func (c *manualContext) end() { close(c.done) }

func (c *manualContext) Done() <-chan struct{} { return c.done }

func (c *manualContext) Err() error {
	select {
	case <-c.done:
		return c.cause
	default:
		return nil
	}
}

// TestExecutionStoppedByAnotherCaller checks that two callers of equal queries share one execution, and that Run
// starts a new one after one caller has stopped it.
func TestExecutionStoppedByAnotherCaller(t *testing.T) {
	s := newFixture(t, fixtureOptions{})
	s.backend.block = make(chan struct{})
	q := bind(t, hours, stats)
	s.engine.register(q)
	mine, err := s.engine.Start(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := s.engine.Start(t.Context(), q)
	if err != nil || mine != theirs {
		t.Fatalf("equal queries have executions %s and %s, %v", mine, theirs, err)
	}
	if err := s.engine.Stop(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.engine.Poll(t.Context(), mine, q); fault.KindOf(err) != fault.Canceled {
		t.Errorf("poll of a stopped execution: %v", err)
	}
	close(s.backend.block)
	answer, _, err := s.engine.Run(t.Context(), q)
	s.checkAnswer(t, q, answer, err)
	if states := s.server.States(); len(states) != 2 {
		t.Errorf("executions %v", states)
	}
}

// TestQueryRunsAfterManyFailures checks that a query runs even if all its usual tokens belong to executions that were
// stopped, or failed while Athena was down. An execution that has ended cannot be restarted with the same token.
func TestQueryRunsAfterManyFailures(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, s *fixture, q query.Query){
		"stopped": func(t *testing.T, s *fixture, q query.Query) {
			s.backend.set(nil, make(chan struct{}))
			x, err := s.engine.Start(t.Context(), q)
			if err == nil {
				err = s.engine.Stop(t.Context(), x)
			}
			if err != nil {
				t.Fatal(err)
			}
		},
		"failed": func(t *testing.T, s *fixture, q query.Query) {
			s.backend.set([]error{internal, internal, internal, internal, internal, internal}, nil)
			if _, _, err := s.engine.Run(t.Context(), q); fault.KindOf(err) != fault.Unavailable {
				t.Fatalf("error %v", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			at := now()
			clock := func() time.Time { return at }
			s := newFixture(t, withClock(clock))
			q := bind(t, hours, stats)
			s.engine.register(q)
			for range 7 {
				end(t, s, q)
				at = at.Add(time.Minute)
			}
			s.backend.set(nil, nil)
			answer, _, err := s.engine.Run(t.Context(), q)
			s.checkAnswer(t, q, answer, err)
			started := len(s.server.States())
			answer, _, err = s.engine.Run(t.Context(), q)
			if s.checkAnswer(t, q, answer, err); len(s.server.States()) != started {
				t.Errorf("the next equal query ran again: %v", s.server.States())
			}
		})
	}
}

// withClock returns options for a fixture whose engine and server use the same clock.
func withClock(clock func() time.Time) fixtureOptions {
	return fixtureOptions{
		server: emulator.Config{Now: clock},
		engine: func(c *athena.Config) { c.Now = clock },
	}
}

// TestEqualQueriesShareResult checks that equal queries share a result while the version of the data is the same.
func TestEqualQueriesShareResult(t *testing.T) {
	at := now()
	clock := func() time.Time { return at }
	s := newFixture(t, fixtureOptions{
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
	s.checkAnswer(t, q, answer, err)
	if second.Cached == nil || *second.Cached != time.Minute || *second.USD != 0 || second.BytesScanned != 0 {
		t.Errorf("second query: cost %+v", second)
	}
	if len(s.server.States()) != 1 {
		t.Errorf("second query: executions %v", s.server.States())
	}
	s.states.state.Version++
	_, third, err := s.engine.Run(t.Context(), q)
	if err != nil || third.Cached != nil || len(s.server.States()) != 2 {
		t.Errorf("after a publication: cost %+v, %v, executions %v", third, err, s.server.States())
	}
}

// TestFailureCountsUntilTheNextPublication asks the same after a failure whose cause may be gone, such as a permission
// that was missing. Before the next publication, also of other days, the failure is that of equal queries, too.
func TestFailureCountsUntilTheNextPublication(t *testing.T) {
	type step struct {
		version int64 // the days of the query have version 1
		answers bool
		started int // statements so far
	}
	denied := &emulator.Failure{Category: 2, Type: 1301, Reason: "PERMISSION_DENIED: no access to the table"}
	for name, test := range map[string]struct {
		failures []error
		steps    []step
	}{
		"a permission is missing for some time": {
			[]error{denied, denied},
			[]step{{1, false, 1}, {1, false, 1}, {2, false, 2}, {2, false, 2}, {3, true, 3}, {3, true, 3}},
		},
		"the query is too large": {
			[]error{exhausted},
			[]step{{1, false, 1}, {2, false, 1}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			at := now()
			s := newFixture(t, withClock(func() time.Time { return at }))
			s.states.state.Days.SetAll(1)
			s.backend.errors = test.failures
			q := bind(t, hours, stats)
			for i, step := range test.steps {
				s.states.state.Version = step.version
				answer, _, err := s.engine.Run(t.Context(), q)
				if step.answers {
					s.checkAnswer(t, q, answer, err)
				} else if err == nil {
					t.Errorf("step %d: the query has not failed", i)
				}
				if states := s.server.States(); len(states) != step.started {
					t.Errorf("step %d: executions %v, want %d", i, states, step.started)
				}
				at = at.Add(time.Minute)
			}
		})
	}
}

// TestExecutionContinuesInAnotherProcess checks that another process needs only the execution that Start returns.
func TestExecutionContinuesInAnotherProcess(t *testing.T) {
	s := newFixture(t, fixtureOptions{})
	q := bind(t, hours, query.TopX{Limit: 5})
	s.engine.register(q)
	s.backend.errors = []error{exhausted}
	x, err := s.engine.Start(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for progress := (engine.Progress{}); !progress.Done; {
		other := newEngine(t, s.engine.Client, s.states, nil)
		if x, progress, err = other.Poll(t.Context(), x, q); err != nil {
			t.Fatal(err)
		}
		if len(x) > 4096 {
			t.Fatalf("the execution is %d bytes long", len(x))
		}
	}
	answer, cost, err := s.engine.Result(t.Context(), x, q)
	s.checkAnswer(t, q, answer, err)
	if !cost.Split {
		t.Error("the query was not split")
	}
	for _, wrong := range []engine.Execution{"", "{}", `{"parts":[{"id":"no-such"}]}`} {
		if _, _, err := s.engine.Poll(t.Context(), wrong, q); err == nil {
			t.Errorf("%q is accepted as an execution", wrong)
		}
	}
}

// TestResponseWithoutItsEnd: the connection ends between the last chunk of a response and the line after it.
func TestResponseWithoutItsEnd(t *testing.T) {
	cut := false
	transport := roundTrip(func(r *http.Request) (*http.Response, error) {
		response, err := http.DefaultTransport.RoundTrip(r)
		if err != nil || cut || !strings.HasSuffix(r.Header.Get("X-Amz-Target"), "GetQueryExecution") {
			return response, err
		}
		cut = true
		content, err := io.ReadAll(response.Body)
		if err := errors.Join(err, response.Body.Close()); err != nil {
			return nil, err
		}
		text := fmt.Sprintf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n", len(content), content)
		return http.ReadResponse(bufio.NewReader(strings.NewReader(text)), r)
	})
	s := newFixture(t, fixtureOptions{transport: transport})
	q := bind(t, hours, stats)
	answer, _, err := s.engine.Run(t.Context(), q)
	s.checkAnswer(t, q, answer, err)
	if !cut {
		t.Error("no response was cut")
	}
}

type roundTrip func(r *http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
