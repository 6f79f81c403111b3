package arrivals_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/blobtest"
	"github.com/orrery/orrery/shared/ingest/cloud/arrivals"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/table/tabletest"
)

var begin = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

// traffic is a queue that is never empty: logs are put all the time, under keys in no order. A message is lost at times,
// or is with a function that fails, or becomes a dead letter. Logs are replaced and removed.
type traffic struct {
	t      *testing.T
	random *rand.Rand
	time   time.Time
	raw    *blobtest.Memory
	table  lakestate.Table
	put    map[string]time.Time // of logs that are there and have not arrived
	queue  []string
	dead   []string
	steps  int
}

func newTraffic(t *testing.T, seed uint64) *traffic {
	w := &traffic{
		t: t, random: rand.New(rand.NewPCG(seed, 7)), time: begin, table: lakestate.Over(&tabletest.Memory{}),
		put: map[string]time.Time{},
	}
	w.raw = &blobtest.Memory{Now: w.now}
	return w
}

func (w *traffic) now() time.Time { return w.time }

// step makes one change.
func (w *traffic) step() {
	w.t.Helper()
	w.steps++
	w.time = w.time.Add(time.Duration(w.random.Int64N(int64(2 * time.Minute))))
	switch n := w.random.IntN(100); {
	case n < 40 || len(w.queue) < 2:
		key := fmt.Sprintf("raw/%02d/%03d", w.random.IntN(20), w.random.IntN(20))
		text := strings.NewReader(fmt.Sprint("log ", w.steps))
		if err := w.raw.Put(w.t.Context(), key, text, blob.Always); err != nil {
			w.t.Fatal(err)
		}
		w.put[key] = w.time
		if w.random.IntN(100) > 0 { // else S3 sends no message
			w.queue = append(w.queue, key)
		}
	case n < 95:
		w.deliver()
	case n < 96 && len(w.dead) > 0: // started again
		w.queue, w.dead = append(w.queue, w.dead[0]), w.dead[1:]
	default:
		i := w.random.IntN(len(w.queue))
		w.queue[0], w.queue[i] = w.queue[i], w.queue[0]
	}
}

// deliver delivers a message. Imports take some time, and fail at times.
func (w *traffic) deliver() {
	i := w.random.IntN(min(3, len(w.queue)))
	key := w.queue[i]
	w.queue = append(w.queue[:i:i], w.queue[i+1:]...)
	switch n := w.random.IntN(200); {
	case n < 20:
		w.queue = append(w.queue, key)
	case n == 20:
		w.dead = append(w.dead, key)
	default:
		w.arrive(key)
	}
}

func (w *traffic) arrive(key string) {
	info, err := w.raw.Head(w.t.Context(), key)
	if err == nil {
		err = arrivals.Record(w.t.Context(), w.table, info, func(context.Context, int) error { return nil })
	}
	if err != nil {
		w.t.Fatal(err)
	}
	delete(w.put, key)
}

// reconcile runs a reconciliation that has the time to compare some logs. Between two of them, something happens.
func (w *traffic) reconcile(logs int) arrivals.Report {
	w.t.Helper()
	end := w.time.Add(24 * time.Hour)
	calls := 0
	report, err := arrivals.Reconciliation{
		Raw: w.raw, Table: w.table, Limit: 3,
		Send: func(_ context.Context, log rawlog.Log, _ time.Time) error {
			w.queue = append(w.queue, log.Key)
			return nil
		},
		Now: func() time.Time {
			if calls++; calls <= 2 { // the beginning
				return w.time
			}
			w.step()
			if calls > logs {
				return end
			}
			return w.time
		},
	}.Run(ending{w.t.Context(), end})
	if err != nil {
		w.t.Fatal(err)
	}
	return report
}

// ending is a context with a deadline by another clock.
type ending struct {
	context.Context
	at time.Time
}

func (e ending) Deadline() (time.Time, bool) { return e.at, true }

// through returns the time to which the lake is complete, and checks that no log that was put before has not arrived.
func (w *traffic) through() time.Time {
	w.t.Helper()
	s, _, err := lakestate.Load(w.t.Context(), w.table)
	if err != nil {
		w.t.Fatal(err)
	}
	through := s.CompleteThrough()
	for key, put := range w.put {
		if put.Before(through) {
			w.t.Fatalf("step %d: complete through %v, but %s was put at %v and has not arrived", w.steps, through, key, put)
		}
	}
	return through
}

// TestComparisonsAreCarriedOn: with a queue that is never empty, and runs that compare a part of the logs, the time to
// which the lake is complete goes on, and never past a log that has not arrived.
func TestComparisonsAreCarriedOn(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newTraffic(t, seed)
			unfinished, moved := 0, 0
			var before time.Time
			for range 120 {
				for range w.random.IntN(30) {
					w.step()
				}
				report := w.reconcile(10 + w.random.IntN(200))
				if report.Unfinished {
					unfinished++
				}
				if through := w.through(); through.After(before) {
					moved, before = moved+1, through
				}
			}
			if unfinished < 60 || moved < 5 {
				t.Errorf("%d runs were cut off, and the time has moved %d times", unfinished, moved)
			}
			if len(w.queue) == 0 {
				t.Error("the queue is empty")
			}
			w.drain()
			if age := w.time.Sub(w.through()); age > time.Hour {
				t.Errorf("with all logs there, the lake is complete to %v ago", age)
			}
		})
	}
}

// drain has all logs arrive, and lets runs compare them.
func (w *traffic) drain() {
	w.t.Helper()
	for key := range w.put {
		w.arrive(key)
	}
	began := w.time
	for range 100 {
		w.random = rand.New(rand.NewPCG(1, 1))
		report, err := arrivals.Reconciliation{
			Raw: w.raw, Table: w.table, Now: w.partOf(50, false), Limit: 3,
			Send: func(context.Context, rawlog.Log, time.Time) error { return nil },
		}.Run(ending{w.t.Context(), w.time.Add(time.Hour)})
		if err != nil {
			w.t.Fatal(err)
		}
		if !report.Unfinished || w.through().After(began.Add(-2*time.Minute)) {
			return
		}
		w.time = w.time.Add(time.Second)
	}
}

// partOf returns a clock by which the time is up after some logs. The first run of all asks once more for the time.
func (w *traffic) partOf(logs int, first bool) func() time.Time {
	calls := 1 + logs
	if first {
		calls++
	}
	return func() time.Time {
		if calls--; calls < 0 {
			return w.time.Add(2 * time.Hour)
		}
		return w.time
	}
}

// TestComparisonOfSeveralRuns shows the steps of a comparison.
func TestComparisonOfSeveralRuns(t *testing.T) {
	w := newTraffic(t, 1)
	put := func(keys ...string) {
		t.Helper()
		for _, key := range keys {
			if err := w.raw.Put(t.Context(), key, strings.NewReader(key), blob.Always); err != nil {
				t.Fatal(err)
			}
		}
	}
	expect := func(what string, want time.Duration) {
		t.Helper()
		s, _, err := lakestate.Load(t.Context(), w.table)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.CompleteThrough(); want == 0 && !got.IsZero() || want != 0 && !got.Equal(begin.Add(want)) {
			t.Errorf("%s: complete through %v", what, got.Sub(begin))
		}
	}
	// run compares two logs, some hours after the beginning.
	run := func(after int) {
		t.Helper()
		w.time = begin.Add(time.Duration(after) * time.Hour)
		report, err := arrivals.Reconciliation{
			Raw: w.raw, Table: w.table, Now: w.partOf(2, after == 1),
			Send: func(context.Context, rawlog.Log, time.Time) error { return nil },
		}.Run(ending{t.Context(), w.time.Add(time.Hour)})
		if err != nil || report.Listed != 2 {
			t.Fatal(report, err)
		}
	}
	put("raw/a", "raw/b", "raw/c", "raw/d", "raw/e")
	for _, key := range []string{"raw/a", "raw/b", "raw/d", "raw/e"} {
		w.arrive(key)
	}
	run(1) // a and b
	expect("after two of five logs", 0)
	w.arrive("raw/c")
	run(2) // c and d
	run(3) // e and a
	expect("after all of them", time.Hour-time.Minute)
	w.time = begin.Add(3*time.Hour + time.Minute)
	put("raw/aa")
	run(4) // aa, which is on its way, and b
	run(5) // c and d
	expect("after those since the third run, which were put before it", 3*time.Hour-time.Minute)
	run(6) // e and a
	run(7) // aa and b
	expect("after those since the fifth run, of which one is on its way", 3*time.Hour+time.Minute)
	w.arrive("raw/aa")
	run(8) // c and d
	run(9) // e and a
	expect("after those since the seventh run, which found it on its way", 3*time.Hour+time.Minute)
	run(10) // aa and b
	run(11) // c and d
	expect("after those since the ninth run", 9*time.Hour-time.Minute)
}
