package athena_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/athena"
	"github.com/orrery/orrery/shared/engine/athena/athenatest"
	"github.com/orrery/orrery/shared/engine/athena/emulator"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

var (
	internal  = &emulator.Failure{Category: 1, Type: 233, Retryable: true, Reason: "GENERIC_INTERNAL_ERROR: oops"}
	exhausted = &emulator.Failure{Category: 1, Type: 0, Reason: "Query exhausted resources at this scale factor"}
)

// longRun is a stage whose time passes when a test says so, with a query that has begun there and waits.
type longRun struct {
	*stage
	hours     atomic.Int64 // since the query began
	block     chan struct{}
	query     query.Query
	execution engine.Execution
}

// beginLongRun begins a query of which the next executions fail in that way; nil is success.
func beginLongRun(t *testing.T, shape query.Shape, fails ...error) *longRun {
	t.Helper()
	r := &longRun{query: bind(t, hours, shape)}
	clock := func() time.Time { return now().Add(time.Duration(r.hours.Load()) * time.Hour) }
	r.stage = newStage(t, setting{server: emulator.Config{Now: clock}, engine: func(c *athena.Config) { c.Now = clock }})
	r.hold(fails...)
	r.engine.know(r.query)
	var err error
	if r.execution, err = r.engine.Start(t.Context(), r.query); err != nil {
		t.Fatal(err)
	}
	return r
}

// hold makes executions wait, and says how the next ones fail.
func (r *longRun) hold(fails ...error) {
	r.block = make(chan struct{})
	r.backend.set(fails, r.block)
}

// finish lets the executions that wait come to their end.
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

// sweep compacts two hours and removes what that supersedes. Statements by the watermark before no longer find the rows
// of these hours.
func (r *longRun) sweep() {
	before, after := r.states.state.Watermark, r.states.state.Watermark+2
	left := athenatest.NewReference(slices.DeleteFunc(slices.Clone(r.rows), func(row lake.Row) bool {
		hour := lake.PartitionOf(row.TsMs)
		return before <= hour && hour < after
	}))
	old := r.query
	old.Scope.Watermark = before
	left.Know(old)
	r.backend.sweep(left)
	r.states.state.Watermark, r.states.state.Version = after, r.states.state.Version+1
	r.engine.watermark = after
	r.engine.know(r.query.Clamp(r.states.state.Extent))
}

// answer waits for the answer, which must be that over all rows.
func (r *longRun) answer(t *testing.T) engine.Cost {
	t.Helper()
	x, err := r.engine.Wait(t.Context(), r.execution, r.query)
	if err != nil {
		t.Fatal(err)
	}
	answer, cost, err := r.engine.Result(t.Context(), x, r.query)
	r.right(t, r.query, answer, err)
	return cost
}

// begun fails the test unless that many executions were begun in all.
func (r *longRun) begun(t *testing.T, want int) {
	t.Helper()
	if states := r.server.States(); len(states) != want {
		t.Errorf("%d executions %v, want %d", len(states), states, want)
	}
}

// TestQueryBegunAgainReadsByThePresentWatermark, so that it finds the rows of hours that were compacted and swept after
// it was begun first.
func TestQueryBegunAgainReadsByThePresentWatermark(t *testing.T) {
	t.Run("after a failure", func(t *testing.T) {
		r := beginLongRun(t, stats, internal)
		r.finish(t)
		r.sweep()
		r.answer(t)
		r.begun(t, 2)
	})
	t.Run("in parts", func(t *testing.T) {
		r := beginLongRun(t, query.TopX{Limit: 80}, exhausted)
		r.finish(t)
		r.sweep()
		if cost := r.answer(t); !cost.Split {
			t.Error("it was not split")
		}
		r.begun(t, 1+9)
	})
	t.Run("after a failure of one part, all parts", func(t *testing.T) {
		r := beginLongRun(t, query.TopX{Limit: 80}, exhausted)
		r.finish(t)
		r.hold(internal)
		var err error
		if r.execution, _, err = r.engine.Poll(t.Context(), r.execution, r.query); err != nil {
			t.Fatal(err)
		}
		r.finish(t)
		r.sweep()
		r.answer(t)
		r.begun(t, 1+9+9)
	})
	t.Run("where the watermark stands, only what failed", func(t *testing.T) {
		r := beginLongRun(t, query.TopX{Limit: 80}, exhausted)
		r.finish(t)
		r.hold(internal)
		var err error
		if r.execution, _, err = r.engine.Poll(t.Context(), r.execution, r.query); err != nil {
			t.Fatal(err)
		}
		r.finish(t)
		r.states.state.Version++ // something was published
		r.answer(t)
		r.begun(t, 1+9+1)
	})
}

// TestExecutionThatMayHaveOutlivedItsObjects is begun again: objects that it read may have been removed meanwhile.
func TestExecutionThatMayHaveOutlivedItsObjects(t *testing.T) {
	longest := int64(engine.LongestExecution / time.Hour)
	t.Run("and has succeeded", func(t *testing.T) {
		r := beginLongRun(t, stats)
		r.hours.Store(longest)
		r.sweep()
		r.finish(t)
		r.answer(t)
		r.begun(t, 2)
	})
	t.Run("and still runs", func(t *testing.T) {
		r := beginLongRun(t, stats)
		r.hours.Store(longest)
		r.sweep()
		next, done, err := r.engine.Poll(t.Context(), r.execution, r.query)
		if err != nil || done {
			t.Fatalf("done %v, %v", done, err)
		}
		if states := r.server.States(); len(states) != 2 || states[0] != "CANCELLED" {
			t.Errorf("executions %v", states)
		}
		r.execution = next
		r.finish(t)
		r.answer(t)
		r.begun(t, 2)
	})
	t.Run("but not where the watermark stands", func(t *testing.T) {
		r := beginLongRun(t, stats)
		r.hours.Store(longest)
		r.finish(t)
		r.answer(t)
		r.begun(t, 1)
	})
	t.Run("but not while its objects are kept", func(t *testing.T) {
		r := beginLongRun(t, stats)
		r.finish(t)
		r.hours.Store(longest) // asked for late: it has ended long ago
		r.sweep()
		r.answer(t)
		r.begun(t, 1)
	})
}
