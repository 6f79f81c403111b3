package worker_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/runs"
	"github.com/orrery/orrery/shared/report/worker"
)

// observed is a store that calls a function before each update.
type observed struct {
	runs.Store
	before func(r runs.Run, files int) (fails error, applied bool)

	mutex sync.Mutex
}

func (o *observed) Update(ctx context.Context, r runs.Run, files ...runs.File) error {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	fails, applied := o.before(r, len(files))
	if fails == nil || applied {
		fails = errors.Join(fails, o.Store.Update(ctx, r, files...))
	}
	return fails
}

// TestStopDuringTwoDeliveries: a server that stops gives a run back when its last delivery has ended, and not when the
// first one has. Otherwise another worker could repeat a delivery that is still under way.
func TestStopDuringTwoDeliveries(t *testing.T) {
	w := newWorld(t)
	w.put("r", daily())
	w.now = monday
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	begun, stopped := make(chan struct{}), make(chan struct{})
	underWay, recorded := true, sync.OnceFunc(func() { close(stopped) })
	r := w.runner()
	r.SetTimes(time.Hour, time.Hour)
	r.Runs = &observed{Store: w.runs, before: func(run runs.Run, files int) (error, bool) {
		if run.State != runs.Rendered || files > 0 {
			return nil, false
		}
		if underWay && !run.Lease.After(w.now) {
			t.Errorf("the run is given back: %+v", run)
		}
		archive := run.Deliveries[0]
		if ctx.Err() != nil && archive.Attempts == 0 && archive.Unknown == 0 {
			recorded()
		}
		return nil, false
	}}
	r.Deliver = answering(func(delivering context.Context, to definition.Destination) (string, error) {
		if to.To == "archive" {
			<-begun
			cancel()
			return "", delivering.Err()
		}
		close(begun)
		<-stopped
		if err := w.runner().Tick(t.Context()); err != nil { // another worker leaves the run alone
			t.Error(err)
		}
		underWay = false
		return w.Deliver(t.Context(), to, nil)
	})
	if err := r.Tick(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the runner did not stop: %v", err)
	}
	if got := w.receivers(); got != "ops@example.com" {
		t.Errorf("received by %s while the server stopped", got)
	}
	run := w.list("r")[0]
	if run.State != runs.Rendered || !run.Lease.IsZero() || run.Deliveries[0].Attempts != 0 ||
		run.Deliveries[1].State != runs.Sent {
		t.Errorf("%+v", run)
	}
	w.tick() // the next server
	if got := w.states("r") + " " + w.receivers(); got != "delivered archive ops@example.com" {
		t.Error(got)
	}
}

// TestRecordsAreRepeated: failed writes after a delivery are repeated, whether or not they had their effect. If none
// had, a later worker delivers the report again.
func TestRecordsAreRepeated(t *testing.T) {
	lost := &net.OpError{Op: "write", Err: syscall.ECONNRESET}
	most := len(worker.RecordPauses)
	for name, isIt := range map[string]func(r runs.Run) bool{
		"the record of the delivery": func(r runs.Run) bool {
			return r.State == runs.Rendered && r.Deliveries[0].State == runs.Sent
		},
		"the end of the run": func(r runs.Run) bool { return r.State == runs.Delivered },
	} {
		for _, applied := range []bool{false, true} {
			for _, failures := range []int{1, most, most + 1} {
				t.Run(fmt.Sprintf("%s, %d failures, with effect: %v", name, failures, applied), func(t *testing.T) {
					w := newWorld(t)
					w.put("r", daily(only(definition.Destination{To: "archive"})))
					w.now = monday
					failed := 0
					var pauses []time.Duration
					r := w.runner()
					r.Pause = func(_ context.Context, d time.Duration) error { pauses = append(pauses, d); return nil }
					r.Runs = &observed{Store: w.runs, before: func(run runs.Run, _ int) (error, bool) {
						if !isIt(run) || failed == failures {
							return nil, false
						}
						failed++
						return lost, applied
					}}
					err := r.Tick(t.Context())
					gaveUp := failures > most
					if gaveUp != errors.Is(err, syscall.ECONNRESET) ||
						!slices.Equal(pauses, worker.RecordPauses[:min(failures, most)]) {
						t.Errorf("%v after pauses of %v", err, pauses)
					}
					if gaveUp {
						w.now = monday.Add(time.Hour) // the lease is over
						w.tick()
					}
					want := "delivered archive"
					if gaveUp && !applied && strings.Contains(name, "delivery") {
						want += " archive"
					}
					if got := w.states("r") + " " + w.receivers(); got != want {
						t.Errorf("%s, want %s", got, want)
					}
					n := strings.Count(w.log.String(), "state=delivered") // the alarm counts them
					if n != 1 && (!gaveUp || !applied) {
						t.Errorf("%d lines in the log:\n%s", n, &w.log)
					}
				})
			}
		}
	}
}
