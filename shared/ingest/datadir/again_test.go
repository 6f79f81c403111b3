package datadir

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/ingest/datadir/ledgersqlite"
	"github.com/orrery/orrery/shared/ingest/ledger"
)

// failingLedger is a ledger of which some calls fail before they do anything, as long as a function returns an error.
type failingLedger struct {
	ledger.Ledger
	commit                 func(name string) error
	watchedAs, remembering func() error
}

func (l *failingLedger) Commit(ctx context.Context, e ledger.Entry) error {
	if l.commit != nil {
		if err := l.commit(e.Name); err != nil {
			return err
		}
	}
	return l.Ledger.Commit(ctx, e)
}

func (l *failingLedger) WatchedAs(ctx context.Context, path string, size int64, changed time.Time) (bool, error) {
	if l.watchedAs != nil {
		if err := l.watchedAs(); err != nil {
			return false, err
		}
	}
	return l.Ledger.WatchedAs(ctx, path, size, changed)
}

func (l *failingLedger) RememberWatched(ctx context.Context, path string, size int64, changed time.Time) error {
	if l.remembering != nil {
		if err := l.remembering(); err != nil {
			return err
		}
	}
	return l.Ledger.RememberWatched(ctx, path, size, changed)
}

// oneByOne returns a function that returns the errors one by one and then nil, and counts its calls.
func oneByOne(errs ...error) (next func() error, calls *int) {
	calls = new(int)
	return func() error {
		if *calls++; *calls > len(errs) {
			return nil
		}
		return errs[*calls-1]
	}, calls
}

// full is the error of a full disk at some step.
func full(step int) error { return fmt.Errorf("write %d: %w", step, syscall.ENOSPC) }

// run runs the Watcher with a tick in each second up to a time, and returns what it reports: the name of each file with
// the number of new records, or the error.
func (w *watcherTest) run(until time.Duration) (reported []string) {
	w.t.Helper()
	ticks := make(chan time.Time, 1+until/time.Second)
	for at := time.Duration(0); at <= until; at += time.Second {
		ticks <- w.now.Add(at)
	}
	close(ticks)
	w.w.Run(w.t.Context(), ticks, func(r FileResult) {
		name, err := filepath.Rel(w.w.dir, r.Path)
		if err != nil {
			w.t.Error(err)
		}
		text := fmt.Sprint(name, ": ", r.Report.Records)
		switch {
		case r.Again:
			text = fmt.Sprint(name, ", again: ", r.Err)
		case r.Err != nil:
			text = fmt.Sprint(name, ": ", r.Err)
		}
		reported = append(reported, text)
	})
	return reported
}

// TestRunTriesAgain: a failure that may pass is reported once for each cause, and tried again after 10 s, 20 s, 40 s.
// Only the end of the context or of the ticks ends watching.
func TestRunTriesAgain(t *testing.T) {
	eio := fmt.Errorf("read: %w", syscall.EIO)
	// The fourth attempt, after 10 + 20 + 40 s, succeeds. A file is imported SettleTime after it was seen.
	const succeeds = 70 * time.Second
	t.Run("the ledger cannot be read", func(t *testing.T) {
		s := openStore(t, t.TempDir())
		w := newWatcherTest(t, s)
		next, calls := oneByOne(full(1), full(2), eio)
		s.ledger = &failingLedger{Ledger: s.ledger, watchedAs: next}
		w.write("a.log", lines(0, 10))
		watching := "., again: watch " + w.w.dir + ": "
		want := []string{watching + full(1).Error(), watching + eio.Error(), "a.log: 10"}
		if diff := cmp.Diff(want, w.run(succeeds+SettleTime)); diff != "" || *calls != 4 {
			t.Errorf("%d calls; reported (-want +got):\n%s", *calls, diff)
		}
	})
	t.Run("the directory cannot be changed when it is opened", func(t *testing.T) {
		next, calls := oneByOne(full(1), full(2), full(3), full(4)) // the first one of Open
		open := func(ctx context.Context, path string, _ bool) (ledger.Ledger, error) {
			if err := next(); err != nil {
				return nil, err
			}
			return ledgersqlite.Open(ctx, path, false)
		}
		s, err := Open(t.Context(), t.TempDir(), open, func() time.Time { return testTime.Add(time.Hour) })
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}()
		w := newWatcherTest(t, s)
		if got := through(t, s); got != -1 {
			t.Errorf("complete through %v before the first poll", got)
		}
		w.write("a.log", lines(0, 10))
		reported := w.run(succeeds + SettleTime)
		if len(reported) != 2 || !strings.HasPrefix(reported[0], "., again: the disk is full") ||
			reported[1] != "a.log: 10" || *calls != 5 {
			t.Errorf("%d calls; reported %q", *calls, reported)
		}
		if got := len(rowsOf(t, s)); got != 10 {
			t.Errorf("%d rows", got)
		}
	})
	t.Run("imports fail", func(t *testing.T) {
		s := openStore(t, t.TempDir())
		w := newWatcherTest(t, s)
		next, calls := oneByOne(full(1), full(2), full(3))
		s.ledger = &failingLedger{Ledger: s.ledger, commit: func(string) error { return next() }}
		w.write("a.log", lines(0, 10))
		want := []string{"a.log, again: import a.log: " + full(1).Error(), "a.log: 10"}
		if diff := cmp.Diff(want, w.run(SettleTime+succeeds)); diff != "" || *calls != 4 {
			t.Errorf("%d calls; reported (-want +got):\n%s", *calls, diff)
		}
	})
	t.Run("what was imported cannot be recorded", func(t *testing.T) {
		s := openStore(t, t.TempDir())
		w := newWatcherTest(t, s)
		next, calls := oneByOne(full(1), full(2), full(3))
		s.ledger = &failingLedger{Ledger: s.ledger, remembering: next}
		w.write("a.log", lines(0, 10))
		want := []string{"a.log: 10", "., again: watch " + w.w.dir + ": " + full(1).Error()}
		if diff := cmp.Diff(want, w.run(SettleTime+succeeds)); diff != "" || *calls != 4 {
			t.Errorf("%d calls; reported (-want +got):\n%s", *calls, diff)
		}
		if reported := newWatcherTest(t, s).run(time.Minute); reported != nil {
			t.Errorf("after a restart: reported %q", reported)
		}
	})
}

// TestPollTriesAgain: answers are not complete through the time of a file as long as its import fails for a reason that
// may pass, and other files are imported.
func TestPollTriesAgain(t *testing.T) {
	s, set := clocked(t, t.TempDir())
	set(3600)
	w := newWatcherTest(t, s)
	none := map[string]int64{}
	fails := true
	s.ledger = &failingLedger{Ledger: s.ledger, commit: func(name string) error {
		if fails && strings.HasSuffix(name, "c.log") {
			return full(0)
		}
		return nil
	}}
	w.expect(0, none)
	w.write("c.log", lines(0, 10))
	w.write("d.log", lines(100, 10))
	w.write("e.tar", tarOf(t, archiveMember{"a.log", lines(200, 3)}, archiveMember{"b.csv", "a,b\n"},
		archiveMember{"c.log", lines(300, 4)}))
	w.expect(time.Second, none)
	put := through(t, s)
	w.expect(SettleTime, map[string]int64{
		"c.log": -1, "d.log": 10, "e.tar/a.log": 3, "e.tar/b.csv": -1, "e.tar/c.log": -1,
	})
	for range 4 {
		w.expect(time.Minute, none) // nothing is said twice
		if got := through(t, s); got != put {
			t.Errorf("complete through %v, want %v", got, put)
		}
	}
	w.write("c.log", lines(0, 15)) // it goes on growing
	w.expect(time.Second, none)
	fails = false
	w.expect(maxWait, map[string]int64{"c.log": 15, "e.tar/c.log": 4})
	if got := through(t, s); got <= put {
		t.Errorf("complete through %v at the end", got)
	}
	w.expect(maxWait, none)
	if got := len(rowsOf(t, s)); got != 32 {
		t.Errorf("%d rows", got)
	}
}
