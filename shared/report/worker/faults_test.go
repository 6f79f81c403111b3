package worker_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/textproto"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/report/asking"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/delivery"
	"github.com/orrery/orrery/shared/report/runs"
	"github.com/orrery/orrery/shared/report/worker"
)

// only makes a report that goes to some destinations.
func only(to ...definition.Destination) func(*definition.Stored) {
	return func(s *definition.Stored) { s.Deliver = to }
}

// TestAddressesThatAreRefusedForNow: the addresses that a mail server refuses for the moment are tried again alone.
func TestAddressesThatAreRefusedForNow(t *testing.T) {
	busy := &delivery.PartialError{Left: []string{"b@example.com"}, Err: &textproto.Error{Code: 451, Msg: "later"}}
	for _, test := range []struct {
		rule   string
		second error
		state  runs.DeliveryState
		reason string
	}{
		{"the second time it is taken", nil, runs.Sent, "no c@example.com"},
		{"the second time it is refused for good", fmt.Errorf("%w: %w", delivery.ErrRefused, &textproto.Error{Code: 550, Msg: "5.1.1 who"}),
			runs.Sent, "no c@example.com; not to b@example.com: the mail server answers 550 5.1.1"},
		{"it is refused for the moment again", busy, runs.Waiting, "no c@example.com; not to b@example.com: the mail server answers 451"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			w := newWorld(t)
			all := []string{"a@example.com", "b@example.com", "c@example.com"}
			w.put("r", daily(only(definition.Destination{Mail: all})))
			w.now = monday
			var asked [][]string
			r := w.runner()
			r.Deliver = answering(func(_ context.Context, to definition.Destination) (string, error) {
				if asked = append(asked, to.Mail); len(asked) == 1 {
					return "no c@example.com", busy
				}
				return "", test.second
			})
			for range 2 {
				if err := r.Tick(t.Context()); err != nil {
					t.Fatal(err)
				}
				w.now = w.now.Add(time.Minute)
			}
			if len(asked) != 2 || !slices.Equal(asked[0], all) || !slices.Equal(asked[1], []string{"b@example.com"}) {
				t.Errorf("tried %v", asked)
			}
			if d := w.list("r")[0].Deliveries[0]; d.State != test.state || d.Reason != test.reason {
				t.Errorf("%+v", d)
			}
		})
	}
}

// TestEditsNearTheDueTime: there is one report of a period, whatever is edited between its due time and the next tick.
func TestEditsNearTheDueTime(t *testing.T) {
	later := func(s *definition.Stored) { s.At = "09:00" }
	paused := func(s *definition.Stored) { s.Paused = true }
	for _, test := range []struct {
		rule  string
		steps map[time.Duration]func(*world) // after the due time
		want  string
	}{
		{"an edit right after the due time", map[time.Duration]func(*world){
			20 * time.Second: func(w *world) { w.put("r", daily()) },
		}, "delivered of version 1"},
		{"a later time right after the due time", map[time.Duration]func(*world){
			20 * time.Second: func(w *world) { w.put("r", daily(later)) },
		}, "delivered of version 1"},
		{"a later time after it was made", map[time.Duration]func(*world){
			10 * time.Minute: func(w *world) { w.put("r", daily(later)) },
		}, "delivered of version 1"},
		{"paused and resumed right after the due time", map[time.Duration]func(*world){
			20 * time.Second: func(w *world) { w.put("r", daily(paused)) }, 5 * time.Minute: func(w *world) { w.put("r", daily()) },
		}, "delivered of version 1"},
		{"restored after it was made", map[time.Duration]func(*world){
			10 * time.Minute: (*world).remove, 20 * time.Minute: func(w *world) { w.put("r", daily()) },
		}, "delivered of version 1"},
		{"deleted right after the due time", map[time.Duration]func(*world){20 * time.Second: (*world).remove}, ""},
	} {
		t.Run(test.rule, func(t *testing.T) {
			w := newWorld(t)
			w.put("r", daily())
			for after := -time.Minute; after < 130*time.Minute; after += 10 * time.Second {
				w.now = monday.Add(after)
				if step := test.steps[after]; step != nil {
					step(w)
				}
				if after%(10*time.Minute) == 40*time.Second {
					w.tick()
				}
			}
			var got []string
			for _, r := range w.list("r") {
				got = append(got, fmt.Sprintf("%s of version %d", r.State, r.Version))
			}
			if text := strings.Join(got, ", "); text != test.want {
				t.Errorf("%s, want %s", text, test.want)
			}
		})
	}
}

// TestRequestedReportIsNotOverwritten: a report that was requested and delivered before it was due is not listed as
// missed later.
func TestRequestedReportIsNotOverwritten(t *testing.T) {
	w := newWorld(t)
	w.put("r", daily())
	end := monday.Add(-7 * time.Hour)
	w.now = end.Add(2 * time.Hour)
	requested := runs.New("prod", "r", 1, daily(), end.AddDate(0, 0, -1), end, w.now)
	requested.By = "console"
	if err := w.runs.Create(t.Context(), requested); err != nil {
		t.Fatal(err)
	}
	w.tick()
	w.now = monday.AddDate(0, 0, 1)
	w.tick()
	if run, err := w.runs.Run(t.Context(), requested.ID); err != nil || run.State != runs.Delivered {
		t.Errorf("%+v %v", run, err)
	}
}

// doubtful is a store in which the second write that begins a delivery fails, after or before it had its effect.
type doubtful struct {
	runs.Store
	applied bool
	failed  chan struct{} // is closed then

	mutex  sync.Mutex
	begins int
}

func (d *doubtful) Update(ctx context.Context, r runs.Run, files ...runs.File) error {
	d.mutex.Lock()
	if r.State == runs.Rendered && len(files) == 0 {
		d.begins++
	}
	fails := d.begins == 2
	d.mutex.Unlock()
	if !fails {
		return d.Store.Update(ctx, r, files...)
	}
	defer close(d.failed)
	err := errors.New("the connection was lost")
	if d.applied {
		err = errors.Join(err, d.Store.Update(ctx, r, files...))
	}
	return err
}

// TestWritesOfUnknownOutcome: a delivery that takes place while the write about another one fails is recorded, so that
// it is not repeated.
func TestWritesOfUnknownOutcome(t *testing.T) {
	for _, applied := range []bool{false, true} {
		t.Run(fmt.Sprintf("the write had its effect: %v", applied), func(t *testing.T) {
			w := newWorld(t)
			w.put("r", daily())
			w.now = monday
			store := &doubtful{Store: w.runs, applied: applied, failed: make(chan struct{})}
			r := w.runner()
			r.Runs = store
			r.Deliver = answering(func(ctx context.Context, to definition.Destination) (string, error) {
				<-store.failed
				return w.Deliver(ctx, to, nil)
			})
			if err := r.Tick(t.Context()); err == nil || !strings.Contains(err.Error(), "the connection was lost") {
				t.Errorf("%v", err)
			}
			sent := 0
			for _, d := range w.list("r")[0].Deliveries {
				if d.State == runs.Sent {
					sent++
				} else if d.Attempts != 0 || d.Unknown != 0 {
					t.Errorf("a delivery that did not begin: %+v", d)
				}
			}
			if sent != 1 || len(w.taken) != 1 {
				t.Errorf("%d deliveries, %d of them recorded", len(w.taken), sent)
			}
			w.now = monday.Add(11 * time.Minute)
			w.tick()
			if got := w.states("r") + " " + w.receivers(); got != "delivered archive ops@example.com" {
				t.Error(got)
			}
		})
	}
}

// TestPanics: a report that panics stops neither the server nor other reports, and fails after some attempts.
func TestPanics(t *testing.T) {
	for _, test := range []struct {
		rule  string
		panic func(r *worker.Runner)
		state runs.State
	}{
		{"before a question", func(r *worker.Runner) {
			ask := r.Ask
			r.Ask = func(branches []string, key string) asking.Source {
				if key == "bad" {
					panic("out of range")
				}
				return ask(branches, key)
			}
		}, runs.Failed},
		{"in all questions", func(r *worker.Runner) {
			ask := r.Ask
			r.Ask = func(branches []string, key string) asking.Source {
				if key == "bad" {
					return panicking{}
				}
				return ask(branches, key)
			}
		}, runs.Failed},
		{"in a delivery", func(r *worker.Runner) {
			next := r.Deliver
			r.Deliver = answering(func(ctx context.Context, to definition.Destination) (string, error) {
				if to.To == "bad" {
					panic("out of range")
				}
				return next.Deliver(ctx, to, nil)
			})
		}, runs.Rendered},
	} {
		t.Run(test.rule, func(t *testing.T) {
			w := newWorld(t)
			w.put("r", daily(func(s *definition.Stored) {
				s.Key, s.Deliver = "bad", []definition.Destination{{To: "bad"}}
			}))
			w.put("other", daily())
			w.now = monday
			for range 6 {
				r := w.runner()
				test.panic(r)
				if err := r.Tick(t.Context()); err != nil {
					t.Error(err)
				}
				w.now = w.now.Add(2 * time.Hour)
			}
			r := w.list("r")[0]
			if r.State != test.state || w.states("other") != "delivered" {
				t.Errorf("%+v, other: %s", r, w.states("other"))
			}
			if reason := r.Reason + r.Deliveries[0].Reason; strings.Contains(reason, "out of range") || !strings.Contains(reason, "the log") {
				t.Errorf("the reason is %q", reason)
			}
			if !strings.Contains(w.log.String(), "panic: out of range") {
				t.Error("the log does not have the panic")
			}
		})
	}
}

type panicking struct{}

func (panicking) Ask(context.Context, string, map[string]string) ([]byte, error) {
	panic("out of range")
}

// TestRunsThatEndTheServer: a run that ends the server each time fails after some attempts.
func TestRunsThatEndTheServer(t *testing.T) {
	for _, test := range []struct {
		rule, reason string
		kill         func(r *worker.Runner, kill func())
	}{
		{"while it is made", "the server ended each time it made the report", func(r *worker.Runner, kill func()) {
			ask := r.Ask
			r.Ask = func(branches []string, key string) asking.Source { kill(); return ask(branches, key) }
		}},
		{"while it is delivered", "the server ended each time it delivered the report", func(r *worker.Runner, kill func()) {
			r.Deliver = deliverer(func(definition.Destination) { kill() })
		}},
	} {
		t.Run(test.rule, func(t *testing.T) {
			w := newWorld(t)
			w.put("r", daily(only(definition.Destination{To: "archive"})))
			w.now = monday
			kills := 0
			for range 10 {
				w.fault = &crash{unrecorded: map[string]bool{}}
				r := w.runner()
				test.kill(r, func() {
					kills++
					w.fault.kill()
				})
				_ = r.Tick(t.Context()) // the process has ended
				w.now = w.now.Add(20 * time.Minute)
			}
			r := w.list("r")[0]
			if kills != 5 || r.State != runs.Failed || !strings.Contains(r.Reason+r.Deliveries[0].Reason, test.reason) {
				t.Errorf("%d kills, %+v", kills, r)
			}
		})
	}
}

// TestSlowDestination: a destination that does not answer stops no delivery to another, of the same report or another one.
func TestSlowDestination(t *testing.T) {
	w := newWorld(t)
	w.put("a", daily(only(definition.Destination{To: "slow"}, definition.Destination{To: "first"})))
	w.put("b", daily(only(definition.Destination{To: "slow"}, definition.Destination{To: "second"})))
	w.now = monday
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	others := make(chan string, 2)
	done := make(chan struct{})
	r := w.runner()
	r.Deliver = answering(func(ctx context.Context, to definition.Destination) (string, error) {
		if to.To != "slow" {
			others <- to.To
			return "", nil
		}
		select {
		case <-done:
			return "", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})
	go func() {
		<-others
		<-others
		close(done)
	}()
	if err := r.Tick(ctx); err != nil || w.states("a") != "delivered" || w.states("b") != "delivered" {
		t.Errorf("%s, %s, %v", w.states("a"), w.states("b"), err)
	}
}

// TestDestinationThatNeverAnswers: a delivery ends after a time, also if the destination does not heed it.
func TestDestinationThatNeverAnswers(t *testing.T) {
	w := newWorld(t)
	w.put("r", daily(only(definition.Destination{To: "hung"})))
	w.now = monday
	r := w.runner()
	r.SetTimes(time.Millisecond, time.Millisecond)
	end := make(chan struct{})
	defer close(end)
	r.Deliver = deliverer(func(definition.Destination) { <-end })
	if err := r.Tick(t.Context()); err != nil {
		t.Error(err)
	}
	if d := w.list("r")[0].Deliveries[0]; d.State != runs.Waiting || d.Attempts != 1 || d.Reason != "the destination did not answer in time" {
		t.Errorf("%+v", d)
	}
}

// TestOldRunsAreRemoved: runs are kept for 90 days.
func TestOldRunsAreRemoved(t *testing.T) {
	w := newWorld(t)
	w.put("r", daily())
	w.now = monday
	for days, state := range map[int]runs.State{91: runs.Delivered, 92: runs.Queued, 1: runs.Failed} {
		due := monday.AddDate(0, 0, -days)
		old := runs.New("prod", "gone", 1, daily(), due.AddDate(0, 0, -1), due, due)
		if old.State = state; state == runs.Queued {
			old.Next = monday.AddDate(1, 0, 0)
		}
		if err := w.runs.Create(t.Context(), old); err != nil {
			t.Fatal(err)
		}
	}
	w.tick()
	if got := w.states("gone"); got != "failed queued" {
		t.Error(got)
	}
}

// TestMailThatIsNotSetUp: only the mails of a report fail.
func TestMailThatIsNotSetUp(t *testing.T) {
	w := newWorld(t)
	w.put("r", daily())
	w.now = monday
	r := w.runner()
	r.Settings.Mail = nil
	if err := r.Tick(t.Context()); err != nil {
		t.Error(err)
	}
	run := w.list("r")[0]
	if run.State != runs.Delivered || w.receivers() != "archive" || run.Deliveries[1].State != runs.Refused ||
		run.Deliveries[1].Reason != "the operator has not set up mail" {
		t.Errorf("%s %+v", w.receivers(), run)
	}
}

// TestReasonsOfDeliveries: readers of runs see why a delivery failed, but neither paths nor machines nor answers.
func TestReasonsOfDeliveries(t *testing.T) {
	const secret = "10.0.0.7"
	for _, test := range []struct {
		cause error
		want  string
	}{
		{fmt.Errorf("connect to %s: %w", secret, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), "the destination cannot be reached: connection refused"},
		{&net.DNSError{Err: "no such host", Name: secret}, "the destination cannot be reached"},
		{&fs.PathError{Op: "open", Path: "/srv/" + secret, Err: syscall.ENOSPC}, "the files cannot be written: no space left on device"},
		{&textproto.Error{Code: 451, Msg: "4.7.1 " + secret}, "the mail server answers 451 4.7.1"},
		{fmt.Errorf("%w: %w", delivery.ErrRefused, &textproto.Error{Code: 550, Msg: secret}), "the mail server answers 550"},
		{fmt.Errorf("%w: %s", delivery.ErrRefused, secret), "the operator has removed the destination"},
		{fmt.Errorf("ask %s: %w", secret, context.DeadlineExceeded), "the destination did not answer in time"},
		{fault.New(fault.Unavailable, "the topic is busy"), "the topic is busy"},
		{ownReason{secret}, "the channel was archived"},
		{errors.New(secret), "it could not be delivered; the log of the server has the cause"},
	} {
		t.Run(test.want, func(t *testing.T) {
			w := newWorld(t)
			w.put("r", daily(only(definition.Destination{To: "archive"})))
			w.now = monday
			w.refuse["archive"] = test.cause
			w.tick()
			if d := w.list("r")[0].Deliveries[0]; d.Reason != test.want {
				t.Errorf("%q", d.Reason)
			}
			if log := w.log.String(); !strings.Contains(log, secret) && !strings.Contains(log, test.cause.Error()) {
				t.Errorf("the log does not have the cause: %s", &w.log)
			}
		})
	}
}

// TestReasonsOfForbiddenDomains: the reason names domains only if they are the reason for all addresses.
func TestReasonsOfForbiddenDomains(t *testing.T) {
	for _, test := range []struct {
		rule string
		to   []string
		want string
	}{
		{"all domains are forbidden", []string{"a@Partner.example", "b@other.example", "c@partner.example"},
			"the operator does not allow mail to other.example, partner.example any more"},
		{"the mail server refuses the others", []string{"a@partner.example", "b@example.com"},
			"the destination refuses it; the log of the server has the cause"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			w := newWorld(t)
			w.put("r", daily(only(definition.Destination{Mail: test.to})))
			w.now = monday
			r := w.runner()
			r.Deliver = answering(func(context.Context, definition.Destination) (string, error) {
				return "", delivery.ErrRefused
			})
			if err := r.Tick(t.Context()); err != nil {
				t.Fatal(err)
			}
			if d := w.list("r")[0].Deliveries[0]; d.Reason != test.want || d.State != runs.Refused {
				t.Errorf("%+v", d)
			}
		})
	}
}

// ownReason is an error of a destination that has a reason for readers.
type ownReason struct{ text string }

func (e ownReason) Error() string { return e.text }
func (ownReason) Reason() string  { return "the channel was archived" }

// TestStoppedWhileItIsMade: a report of a server that stops is made by the next one at once.
func TestStoppedWhileItIsMade(t *testing.T) {
	w := newWorld(t)
	w.put("r", daily())
	w.now = monday
	ctx, cancel := context.WithCancel(t.Context())
	r := w.runner()
	ask := r.Ask
	r.Ask = func(branches []string, key string) asking.Source { cancel(); return ask(branches, key) }
	if err := r.Tick(ctx); err == nil {
		t.Error("the runner did not stop")
	}
	w.tick()
	if run := w.list("r")[0]; run.State != runs.Delivered || run.Attempts != 1 {
		t.Errorf("%+v", run)
	}
}

// TestRunsAreContinuedByID: a function that is started by messages queues runs, and continues each of them.
func TestRunsAreContinuedByID(t *testing.T) {
	w := newWorld(t)
	w.put("a", daily())
	w.put("b", daily())
	w.now = monday
	r := w.runner()
	ids, err := r.Queue(t.Context())
	if err != nil || len(ids) != 2 || w.receivers() != "" {
		t.Fatalf("%v %v", ids, err)
	}
	for _, id := range append(ids, ids[0]) { // a message may arrive twice
		if err := r.Advance(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	if w.states("a") != "delivered" || w.states("b") != "delivered" || len(w.taken) != 4 {
		t.Errorf("%s %s %s", w.states("a"), w.states("b"), w.receivers())
	}
	if ids, err := r.Queue(t.Context()); len(ids) > 0 || err != nil {
		t.Errorf("%v %v", ids, err)
	}
	if err := r.Advance(t.Context(), "none"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("%v", err)
	}
}
