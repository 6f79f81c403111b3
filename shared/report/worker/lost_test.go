package worker_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/delivery"
	"github.com/orrery/orrery/shared/report/runs"
	"github.com/orrery/orrery/shared/report/worker"
)

// unreadable is a store that cannot read the files of a run as often as a number says.
type unreadable struct {
	runs.Store
	run   string // ID
	err   error  // nil: there are no files
	times int
}

func (u *unreadable) Files(ctx context.Context, id string) ([]runs.File, error) {
	if u.times == 0 || id != u.run {
		return u.Store.Files(ctx, id)
	}
	u.times--
	return nil, u.err
}

// TestFilesThatCannotBeRead: a rendered report is made again if its files are lost, up to five attempts in all. Other errors may
// pass, until deliveries are over.
func TestFilesThatCannotBeRead(t *testing.T) {
	lost := fmt.Errorf("read a.html: %w", runs.ErrLost)
	for _, test := range []struct {
		rule     string
		err      error
		times    int
		sent     bool // to the folder before
		want     string
		received string
		attempts int
	}{
		{"lost files", lost, 1, false, "delivered", "archive ops@example.com", 2},
		{"no files", nil, 1, false, "delivered", "archive ops@example.com", 2},
		{"lost files after a delivery", lost, 1, true, "delivered", "archive ops@example.com", 2},
		{"files that are lost each time", lost, 1000, false, "failed: its files cannot be read; the log of the server has the cause", "", 5},
		{"files that are lost each time after a delivery", lost, 1000, true,
			"delivered: its files cannot be read; the log of the server has the cause", "archive", 5},
		{"a failure of the store that passes", errors.New("busy"), 30, false, "delivered", "archive ops@example.com", 1},
		{"a failure of the store that passes after a day", errors.New("busy"), 60, false, "delivered", "archive ops@example.com", 2},
		{"a failure of the store that stays", errors.New("denied"), 1000, false,
			"failed: its files cannot be read; the log of the server has the cause", "", 5},
	} {
		t.Run(test.rule, func(t *testing.T) {
			w := newWorld(t)
			w.put("r", daily())
			w.now = monday
			down := errors.New("down")
			if w.refuse["ops@example.com"] = down; !test.sent {
				w.refuse["archive"] = down
			}
			w.tick()
			clear(w.refuse)
			store := &unreadable{w.runs, w.list("r")[0].ID, test.err, test.times}
			failures := 0
			for range 80 {
				w.now = w.now.Add(30 * time.Minute)
				r := w.runner()
				r.Runs = store
				if err := r.Tick(t.Context()); err != nil {
					failures++
				}
				if w.list("r")[len(w.list("r"))-1].State.Ended() {
					break
				}
			}
			list := w.list("r")
			r := list[len(list)-1]
			if got := strings.TrimSuffix(string(r.State)+": "+r.Reason, ": "); got != test.want || r.Attempts != test.attempts {
				t.Errorf("%s after %d attempts", got, r.Attempts)
			}
			var received []string
			for _, one := range w.taken {
				if idOf(t, one) == r.ID[:8] {
					received = append(received, one.to)
				}
			}
			if got := strings.Join(received, " "); got != test.received {
				t.Errorf("received by %q", got)
			}
			if wantFailures := test.err != nil && !errors.Is(test.err, runs.ErrLost); wantFailures != (failures > 0) {
				t.Errorf("%d ticks failed", failures)
			}
		})
	}
}

// TestReportThatIsMadeAgainIsSent: an attack that some destinations know about is not kept from the others, because the
// report had to be made again after late logs.
func TestReportThatIsMadeAgainIsSent(t *testing.T) {
	w := newWorld(t)
	w.put("r", daily(func(s *definition.Stored) { s.When = definition.Attacks }))
	w.now, w.blocked = monday, 500
	w.refuse["ops@example.com"] = errors.New("down")
	w.tick()
	clear(w.refuse)
	w.blocked = 0
	store := &unreadable{w.runs, w.list("r")[0].ID, runs.ErrLost, 1}
	for range 2 {
		w.now = w.now.Add(10 * time.Minute)
		r := w.runner()
		r.Runs = store
		if err := r.Tick(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if got := w.states("r") + " " + w.receivers(); got != "delivered archive ops@example.com" {
		t.Error(got)
	}
}

// TestDeliveriesThatWouldNotEnd: a delivery that may last longer than the process does not begin. A later one makes it, and
// no destination gets the report twice.
func TestDeliveriesThatWouldNotEnd(t *testing.T) {
	w := newWorld(t)
	w.put("r", daily())
	w.now = monday
	ctx, cancel := context.WithTimeout(t.Context(), worker.DeliveryTime-time.Second)
	defer cancel()
	if err := w.runner().Tick(ctx); err != nil {
		t.Fatal(err)
	}
	r := w.list("r")[0]
	if r.State != runs.Rendered || r.Deliveries[0].Attempts != 0 || !r.Lease.IsZero() || len(w.taken) > 0 {
		t.Errorf("%d deliveries, %+v", len(w.taken), r)
	}
	enough, cancel := context.WithTimeout(t.Context(), worker.DeliveryTime+10*time.Minute)
	defer cancel()
	r2 := w.runner()
	if ids, err := r2.Queue(t.Context()); err != nil || len(ids) != 1 {
		t.Fatalf("%v %v", ids, err)
	}
	if err := r2.Advance(enough, r.ID); err != nil || w.receivers() != "archive ops@example.com" || w.states("r") != "delivered" {
		t.Errorf("%s %s %v", w.receivers(), w.states("r"), err)
	}
	if worker.DeliveryTime >= lambdas.LongestReport {
		t.Error("the function has no time for a delivery")
	}
}

// TestLateLogsOfQuietReports: a report that was made although late logs may arrive is not quiet. It is sent, and says so.
func TestLateLogsOfQuietReports(t *testing.T) {
	for _, test := range []struct {
		rule     string
		complete time.Duration // after the end of the period
		want     string
	}{
		{"late logs had their time", time.Hour, "quiet quiet"},
		{"late logs may arrive", time.Hour - time.Second, "delivered unknown"},
		{"the period is not complete", -time.Second, "delivered unknown"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			w := newWorld(t)
			w.put("r", daily(func(s *definition.Stored) { s.When = definition.Attacks }))
			w.now, w.complete = monday, monday.Add(-7*time.Hour).Add(test.complete)
			w.tick()
			w.now = monday.Add(6 * time.Hour)
			w.tick()
			r := w.list("r")[0]
			if got := string(r.State) + " " + r.Verdict; got != test.want || r.Incomplete != (r.State == runs.Delivered) || r.Partial {
				t.Errorf("%s: %+v", got, r)
			}
		})
	}
}

// TestRequestedAfterItIsDue: a run that was requested before the tick at which it would have been queued is the scheduled
// one, unless late logs may have changed it, or it has failed.
func TestRequestedAfterItIsDue(t *testing.T) {
	refused := fmt.Errorf("%w: no such folder", delivery.ErrRefused)
	for _, test := range []struct {
		rule     string
		complete time.Duration // after the end of the period; 0: until now
		refused  bool
		want     string
		received int
	}{
		{"late logs had arrived", 0, false, "delivered", 2},
		{"late logs may arrive", 30 * time.Minute, false, "delivered", 4},
		{"the period was not complete", -time.Minute, false, "delivered", 4},
		{"no destination took it", 0, true, "delivered", 2},
	} {
		t.Run(test.rule, func(t *testing.T) {
			w := newWorld(t)
			w.put("r", daily())
			end := monday.Add(-7 * time.Hour)
			w.now = monday.Add(20 * time.Second)
			if test.complete != 0 {
				w.complete = end.Add(test.complete)
			}
			if test.refused {
				w.refuse["archive"], w.refuse["ops@example.com"] = refused, refused
			}
			requested := runs.New("prod", "r", 1, daily(), end.AddDate(0, 0, -1), end, w.now)
			requested.By = "console"
			if err := w.runs.Create(t.Context(), requested); err != nil {
				t.Fatal(err)
			}
			if err := w.runner().Advance(t.Context(), requested.ID); err != nil {
				t.Fatal(err)
			}
			clear(w.refuse)
			w.now = monday.Add(time.Minute)
			w.tick()
			w.now, w.complete = monday.Add(2*time.Minute), time.Time{}
			w.tick()
			revision := w.list("r")[0].Revision
			w.tick()
			r := w.list("r")[0]
			if w.states("r") != test.want || len(w.taken) != test.received || r.By != "" || !r.Due.Equal(monday) ||
				r.Revision != revision || r.Incomplete || r.Early {
				t.Errorf("%d deliveries, %+v", len(w.taken), r)
			}
			if at, err := w.runs.Latest(t.Context(), "prod", "r"); err != nil || !at.Equal(monday) {
				t.Errorf("the latest scheduled run was due at %s, %v", at, err)
			}
		})
	}
}
