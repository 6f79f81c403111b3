package worker_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/report/asking"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/runs"
	"github.com/orrery/orrery/shared/report/worker"
)

// waiting are the states in which a run of the report r can be when its report changes. Each function brings it there
// from the time at which it is due, and removes what has held it.
var waiting = map[string]func(w *world){
	"waits for its data": func(w *world) {
		w.complete = monday.Add(-7 * time.Hour)
		w.tick()
		w.complete = time.Time{}
	},
	"is tried again": func(w *world) {
		w.failing = errors.New("down")
		w.tick()
		w.failing = nil
	},
	"was left by a server that ended": func(w *world) {
		w.fault = &crash{unrecorded: map[string]bool{}}
		r := w.runner()
		ask := r.Ask
		r.Ask = func(branches []string, key string) asking.Source { w.fault.kill(); return ask(branches, key) }
		_ = r.Tick(w.t.Context()) // the process has ended
		w.fault = nil
	},
	"is rendered": func(w *world) {
		w.refuse["ops@example.com"], w.refuse["archive"] = errors.New("down"), errors.New("down")
		w.tick()
		clear(w.refuse)
	},
}

// newWaitingWorld returns a world on Monday, with a run of the report r in one of the states of waiting.
func newWaitingWorld(t *testing.T, reach func(w *world)) *world {
	t.Helper()
	w := newWorld(t)
	w.put("r", daily())
	w.now = monday
	reach(w)
	return w
}

// TestPausedRuns: a run in any state waits while its report is paused, whoever pauses it, and goes out when the report
// is resumed.
func TestPausedRuns(t *testing.T) {
	for state, reach := range waiting {
		for _, test := range []struct {
			rule          string
			pause, resume func(w *world)
			reason        string
		}{
			{"by a person",
				func(w *world) { w.put("r", daily(func(s *definition.Stored) { s.Paused = true })) },
				func(w *world) { w.put("r", daily()) }, "the report is paused"},
			{"with other changes",
				func(w *world) {
					w.put("r", daily(func(s *definition.Stored) { s.Paused, s.At, s.Title = true, "09:00", "x" }))
				},
				func(w *world) { w.put("r", daily(only(definition.Destination{To: "other"}))) }, "the report is paused"},
			{"because its key is revoked",
				func(w *world) { w.keys[daily().Key] = "the key was revoked" },
				func(w *world) { w.put("r", daily(func(s *definition.Stored) { s.Key = "another" })) },
				"the report is paused because the key was revoked"},
		} {
			t.Run("a run that "+state+" is paused "+test.rule, func(t *testing.T) {
				w := newWaitingWorld(t, reach)
				w.now = monday.Add(20 * time.Minute)
				test.pause(w)
				w.tick()
				w.now = monday.Add(40 * time.Minute)
				w.tick()
				before := w.list("r")[0]
				w.tick()
				r := w.list("r")[0]
				if r.State.Ended() || r.Reason != test.reason || r.Revision != before.Revision || len(w.taken) > 0 {
					t.Fatalf("paused: %d deliveries, %+v", len(w.taken), r)
				}
				test.resume(w)
				w.now = monday.Add(time.Hour)
				w.tick()
				if r := w.list("r")[0]; r.State != runs.Delivered || r.Reason != "" || r.Version != 1 ||
					w.receivers() != "archive ops@example.com" {
					t.Errorf("resumed: %s %+v", w.receivers(), r)
				}
			})
		}
	}
}

// TestRunsPausedForTooLong: a run ends as missed when a later one would have been due, and is listed. After that the
// report is not made when it is resumed.
func TestRunsPausedForTooLong(t *testing.T) {
	for state, reach := range waiting {
		t.Run("a run that "+state, func(t *testing.T) {
			w := newWaitingWorld(t, reach)
			w.now = monday.Add(20 * time.Minute)
			w.put("r", daily(func(s *definition.Stored) { s.Paused = true }))
			w.now = monday.AddDate(0, 0, 1).Add(-time.Second)
			w.tick()
			if got := w.list("r")[0]; got.State.Ended() {
				t.Errorf("right before: %+v", got)
			}
			w.now = monday.AddDate(0, 0, 1)
			w.tick()
			w.put("r", daily())
			w.tick()
			list := w.list("r")
			const want = "the report was paused until a later one would have been due"
			if len(list) != 1 || list[0].State != runs.Missed || list[0].Reason != want || len(w.taken) > 0 {
				t.Errorf("%+v", list)
			}
			w.now = monday.AddDate(0, 0, 2)
			w.tick()
			if got := w.states("r"); got != "delivered missed" {
				t.Errorf("after it was resumed: %s", got)
			}
		})
	}
}

// TestEndOfAttack: the end of an attack is reported only if the attack was.
func TestEndOfAttack(t *testing.T) {
	for rule, paused := range map[string]bool{"the report was sent": false, "the report was paused for too long": true} {
		t.Run(rule, func(t *testing.T) {
			w := newWorld(t)
			w.put("r", hourly())
			w.now, w.blocked = monday.Add(time.Minute), 500
			w.complete = monday.AddDate(0, 0, 1)
			w.refuse["archive"] = errors.New("down")
			w.tick()
			clear(w.refuse)
			w.blocked = 0
			if paused {
				w.put("r", daily(func(s *definition.Stored) { *s = hourly(); s.Paused = true }))
				w.now = monday.Add(time.Hour)
				w.tick()
				w.put("r", hourly())
			}
			w.now = monday.Add(2*time.Hour + time.Minute)
			w.tick()
			ended := false
			for _, one := range w.taken {
				for _, f := range one.files {
					ended = ended || strings.Contains(string(f.Content), "the attack has ended")
				}
			}
			if ended == paused {
				t.Errorf("the end was sent: %v, states: %s", ended, w.states("r"))
			}
		})
	}
}

// TestRunsOfDeletedReports: a run that waits ends when its report is deleted, also if another one has the name then, as
// after a rename and back. It counts as missed and not as failed.
func TestRunsOfDeletedReports(t *testing.T) {
	for state, reach := range waiting {
		for rule, change := range map[string]func(*world){
			"deleted":                   (*world).remove,
			"deleted and written again": func(w *world) { w.remove(); w.put("r", daily()) },
			"deleted, and another one with its name is paused": func(w *world) {
				w.remove()
				w.put("r", daily(func(s *definition.Stored) { s.Paused = true }))
			},
		} {
			t.Run("the report of a run that "+state+" is "+rule, func(t *testing.T) {
				w := newWaitingWorld(t, reach)
				change(w)
				w.now = monday.Add(20 * time.Minute)
				w.tick()
				r := w.list("r")[0]
				made := r.Deliveries[1].State == runs.Refused
				if r.State != runs.Missed || r.Reason != "the report was deleted" || len(w.taken) > 0 ||
					made != (state == "is rendered") || made && r.Deliveries[1].Reason != r.Reason {
					t.Errorf("%d deliveries, %+v", len(w.taken), r)
				}
			})
		}
	}
}

// TestEditedRuns: a run belongs to the version that was in force when it was due, in whatever state it is when the
// report is edited.
func TestEditedRuns(t *testing.T) {
	for state, reach := range waiting {
		t.Run("a run that "+state, func(t *testing.T) {
			w := newWaitingWorld(t, reach)
			w.put("r", daily(only(definition.Destination{To: "other"})))
			w.now = monday.Add(20 * time.Minute)
			w.tick()
			if got := fmt.Sprint(w.states("r"), " ", w.receivers()); got != "delivered archive ops@example.com" {
				t.Error(got)
			}
		})
	}
}

// TestKeysThatEndARun: a scheduled run whose key cannot be used ends only if the report has another key, which may not
// see all of its branches. A run that was requested ends at once.
func TestKeysThatEndARun(t *testing.T) {
	w := newWorld(t)
	w.put("r", daily(func(s *definition.Stored) { s.Branches = nil }))
	w.now, w.complete = monday, monday.Add(-7*time.Hour)
	w.tick()
	id := w.list("r")[0].ID
	w.keys[daily().Key] = "the key was revoked"
	if err := w.runner().Advance(t.Context(), id); err != nil { // before a tick pauses the report
		t.Fatal(err)
	}
	if r := w.list("r")[0]; r.State != runs.Queued || r.Reason != "the report is paused because the key was revoked" {
		t.Errorf("before the tick: %+v", r)
	}
	w.put("r", daily(func(s *definition.Stored) { s.Key = "another" })) // of one branch
	w.tick()
	if r := w.list("r")[0]; r.State != runs.Failed || r.Reason != "the key was revoked" {
		t.Errorf("with a key of fewer branches: %+v", r)
	}

	requested := runs.New("prod", "r", 2, daily(), monday.AddDate(0, 0, -3), monday.AddDate(0, 0, -2), w.now)
	requested.By = "console"
	if err := w.runs.Create(t.Context(), requested); err != nil {
		t.Fatal(err)
	}
	w.keys["another"] = "the key is expired"
	if err := w.runner().Advance(t.Context(), requested.ID); err != nil {
		t.Fatal(err)
	}
	run, err := w.runs.Run(t.Context(), requested.ID)
	if err != nil || run.State != runs.Failed || !strings.Contains(run.Reason, "expired") {
		t.Errorf("a requested run: %+v %v", run, err)
	}
}

// TestPausedReportIsRequested: a run that was requested does not wait for the report to be resumed.
func TestPausedReportIsRequested(t *testing.T) {
	w := newWorld(t)
	w.now = monday
	paused := daily(func(s *definition.Stored) { s.Paused = true })
	w.put("r", paused)
	requested := runs.New("prod", "r", 1, paused, monday.AddDate(0, 0, -3), monday.AddDate(0, 0, -2), w.now)
	requested.By = "console"
	if err := w.runs.Create(t.Context(), requested); err != nil {
		t.Fatal(err)
	}
	w.tick()
	if got := w.states("r"); got != "delivered" {
		t.Error(got)
	}
}

// TestDamagedVersions: a version that cannot be read stops neither the runs that were queued before it nor later ones.
func TestDamagedVersions(t *testing.T) {
	for state, reach := range waiting {
		t.Run("a run that "+state, func(t *testing.T) {
			w := newWaitingWorld(t, reach)
			w.now = monday.Add(10 * time.Minute)
			w.damage("r")
			w.put("r", daily())
			w.now = monday.Add(20 * time.Minute)
			w.tick()
			if got := w.states("r"); got != "delivered" {
				t.Errorf("the run: %s", got)
			}
			w.now = monday.AddDate(0, 0, 1)
			w.tick()
			if got := w.states("r"); got != "delivered delivered" {
				t.Errorf("the next day: %s", got)
			}
		})
	}
}

// counting counts the versions that are read.
type counting struct {
	worker.Documents
	mutex *sync.Mutex
	reads map[int]int // by number
}

func (c counting) Version(ctx context.Context, id document.ID, number int) (document.Version, error) {
	c.mutex.Lock()
	c.reads[number]++
	c.mutex.Unlock()
	return c.Documents.Version(ctx, id, number)
}

// TestVersionsOfManyDeliveries: the versions in which a report was paused or changed are read when its run is made and
// when it is delivered, and not for each destination. Those from before the run was queued are not read.
func TestVersionsOfManyDeliveries(t *testing.T) {
	w := newWorld(t)
	many := only(definition.Destination{To: "a"}, definition.Destination{To: "b"}, definition.Destination{To: "c"})
	paused := func(s *definition.Stored) { s.Paused = true }
	w.put("r", daily(many, paused))
	w.put("r", daily(many)) // the run has version 2
	w.now, w.complete = monday, monday.Add(-7*time.Hour)
	w.tick()
	w.now, w.complete = monday.Add(time.Minute), time.Time{}
	for _, change := range []func(*definition.Stored){paused, many, many} { // 3, 4 and 5
		w.put("r", daily(change))
	}
	r := w.runner()
	count := counting{r.Documents, new(sync.Mutex), map[int]int{}}
	r.Documents = count
	if err := r.Advance(t.Context(), w.list("r")[0].ID); err != nil || w.receivers() != "a b c" {
		t.Fatal(w.receivers(), err)
	}
	if count.reads[1] != 0 || count.reads[3] != 2 || count.reads[4] != 2 {
		t.Errorf("reads by version: %v", count.reads)
	}
}
