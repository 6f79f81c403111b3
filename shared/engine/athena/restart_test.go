package athena_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fakeaws/athenatest"
	"github.com/orrery/orrery/shared/fakeaws/emulator"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

var (
	internal  = &emulator.Failure{Category: 1, Type: 233, Retryable: true, Reason: "GENERIC_INTERNAL_ERROR: oops"}
	exhausted = &emulator.Failure{Category: 1, Type: 0, Reason: "Query exhausted resources at this scale factor"}
)

// longRun is a fixture with a clock that a test sets and a query that runs until the test finishes it.
type longRun struct {
	*fixture
	hours     atomic.Int64 // the time since the query was started, in hours
	block     chan struct{}
	query     query.Query
	execution engine.Execution
}

// startLongRun starts a query. Its first executions end with the given errors; nil is success.
func startLongRun(t *testing.T, shape query.Shape, errs ...error) *longRun {
	t.Helper()
	r := &longRun{query: bind(t, hours, shape)}
	clock := func() time.Time { return now().Add(time.Duration(r.hours.Load()) * time.Hour) }
	r.fixture = newFixture(t, withClock(clock))
	r.hold(errs...)
	r.engine.register(r.query)
	var err error
	if r.execution, err = r.engine.Start(t.Context(), r.query); err != nil {
		t.Fatal(err)
	}
	return r
}

// hold makes executions wait, and sets the errors with which the next ones end.
func (r *longRun) hold(errs ...error) {
	r.block = make(chan struct{})
	r.backend.set(errs, r.block)
}

// finish lets the waiting executions end and waits until they have.
func (r *longRun) finish(t *testing.T) {
	t.Helper()
	close(r.block)
	runs := func(state string) bool { return state == "QUEUED" || state == "RUNNING" }
	for slices.ContainsFunc(r.server.States(), runs) {
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// compact moves the watermark by two hours and removes the superseded objects. Statements that use the previous
// watermark no longer find the rows of these hours.
func (r *longRun) compact() {
	before, after := r.states.state.Watermark, r.states.state.Watermark+2
	left := athenatest.NewReference(slices.DeleteFunc(slices.Clone(r.rows), func(row lake.Row) bool {
		hour := lake.PartitionOf(row.TsMs)
		return before <= hour && hour < after
	}))
	old := r.query
	old.Scope.Watermark = before
	left.Register(old)
	r.backend.removeRows(left)
	r.states.state.Watermark, r.states.state.Version = after, r.states.state.Version+1
	r.engine.watermark = after
	r.engine.register(r.query.Clamp(r.states.state.Extent))
}

// answer waits for the answer and checks that it covers all rows.
func (r *longRun) answer(t *testing.T) engine.Cost {
	t.Helper()
	x, err := r.engine.Wait(t.Context(), r.execution, r.query)
	if err != nil {
		t.Fatal(err)
	}
	answer, cost, err := r.engine.Result(t.Context(), x, r.query)
	r.checkAnswer(t, r.query, answer, err)
	return cost
}

// checkStarted fails the test unless the number of executions that were started is want.
func (r *longRun) checkStarted(t *testing.T, want int) {
	t.Helper()
	if states := r.server.States(); len(states) != want {
		t.Errorf("%d executions %v, want %d", len(states), states, want)
	}
}

// TestPollKnowsLastingFailures: the progress of a query is Done when its last attempt has failed, but not when a
// request to Athena has failed.
func TestPollKnowsLastingFailures(t *testing.T) {
	r := startLongRun(t, stats, internal, internal, internal, internal)
	r.finish(t)
	left, leave := context.WithCancel(t.Context())
	leave()
	if _, p, err := r.engine.Poll(left, r.execution, r.query); err == nil || p.Done {
		t.Errorf("without an answer of Athena: %v, done %v", err, p.Done)
	}
	for polls := 0; ; polls++ {
		next, p, err := r.engine.Poll(t.Context(), r.execution, r.query)
		if err != nil || polls > 1000 {
			if fault.KindOf(err) != fault.Unavailable || !p.Done {
				t.Errorf("after %d polls: %v, done %v", polls, err, p.Done)
			}
			return
		}
		r.execution = next
	}
}

// TestRestartUsesCurrentWatermark checks that a restarted query finds the rows of hours that were compacted after its
// first start.
func TestRestartUsesCurrentWatermark(t *testing.T) {
	t.Run("after a failure", func(t *testing.T) {
		r := startLongRun(t, stats, internal)
		r.finish(t)
		r.compact()
		r.answer(t)
		r.checkStarted(t, 2)
	})
	t.Run("after a split", func(t *testing.T) {
		r := startLongRun(t, query.TopX{Limit: 80}, exhausted)
		r.finish(t)
		r.compact()
		if cost := r.answer(t); !cost.Split {
			t.Error("the query was not split")
		}
		r.checkStarted(t, 1+9)
	})
	t.Run("all parts are restarted if the watermark has moved", func(t *testing.T) {
		r := startLongRun(t, query.TopX{Limit: 80}, exhausted)
		r.finish(t)
		r.hold(internal)
		var err error
		if r.execution, _, err = r.engine.Poll(t.Context(), r.execution, r.query); err != nil {
			t.Fatal(err)
		}
		r.finish(t)
		r.compact()
		r.answer(t)
		r.checkStarted(t, 1+9+9)
	})
	t.Run("only the failed part is restarted if the watermark has not moved", func(t *testing.T) {
		r := startLongRun(t, query.TopX{Limit: 80}, exhausted)
		r.finish(t)
		r.hold(internal)
		var err error
		if r.execution, _, err = r.engine.Poll(t.Context(), r.execution, r.query); err != nil {
			t.Fatal(err)
		}
		r.finish(t)
		r.states.state.Version++ // something was published
		r.answer(t)
		r.checkStarted(t, 1+9+1)
	})
}

// TestStaleExecutionIsRestarted checks that an execution is restarted if objects that it read may have been removed
// before it ended.
func TestStaleExecutionIsRestarted(t *testing.T) {
	longest := int64(engine.LongestExecution / time.Hour)
	t.Run("an execution that has succeeded", func(t *testing.T) {
		r := startLongRun(t, stats)
		r.hours.Store(longest)
		r.compact()
		r.finish(t)
		r.answer(t)
		r.checkStarted(t, 2)
	})
	t.Run("an execution that still runs", func(t *testing.T) {
		r := startLongRun(t, stats)
		r.hours.Store(longest)
		r.compact()
		next, progress, err := r.engine.Poll(t.Context(), r.execution, r.query)
		if err != nil || progress.Done {
			t.Fatalf("done %v, %v", progress.Done, err)
		}
		if states := r.server.States(); len(states) != 2 || states[0] != "CANCELLED" {
			t.Errorf("executions %v", states)
		}
		r.execution = next
		r.finish(t)
		r.answer(t)
		r.checkStarted(t, 2)
	})
	t.Run("not if the watermark has not moved", func(t *testing.T) {
		r := startLongRun(t, stats)
		r.hours.Store(longest)
		r.finish(t)
		r.answer(t)
		r.checkStarted(t, 1)
	})
	t.Run("not if it ended while its objects were kept", func(t *testing.T) {
		r := startLongRun(t, stats)
		r.finish(t)
		r.hours.Store(longest) // the execution has ended hours before it is polled
		r.compact()
		r.answer(t)
		r.checkStarted(t, 1)
	})
}
