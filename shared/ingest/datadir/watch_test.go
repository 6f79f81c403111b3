package datadir

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/ingest"
)

// watching is a watcher with a clock of its own.
type watching struct {
	t   *testing.T
	w   *Watcher
	now time.Time
}

func newWatching(t *testing.T, s *Store) *watching {
	t.Helper()
	w, err := NewWatcher(s, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &watching{t: t, w: w, now: testTime}
}

// write makes a file as it is at this moment of the test's clock.
func (w *watching) write(name, content string) {
	w.t.Helper()
	path := filepath.Join(w.w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Chtimes(path, w.now, w.now); err != nil {
		w.t.Fatal(err)
	}
}

// after polls once, a while later, and gives the new records of each file taken.
func (w *watching) after(d time.Duration) map[string]int64 {
	w.t.Helper()
	w.now = w.now.Add(d)
	got := map[string]int64{}
	err := w.w.Poll(w.t.Context(), w.now, func(taken FileResult) {
		name, err := filepath.Rel(w.w.dir, taken.Path)
		if err != nil {
			w.t.Fatal(err)
		}
		got[name] = taken.Report.Records
		if taken.Err != nil {
			got[name] = -1
		}
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return got
}

func (w *watching) expect(d time.Duration, want map[string]int64) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.after(d)); diff != "" {
		w.t.Errorf("after %s (-want +got):\n%s", d, diff)
	}
}

func TestFilesAreTakenOnceTheyHaveSettled(t *testing.T) {
	s := openStore(t, t.TempDir())
	w := newWatching(t, s)
	none := map[string]int64{}
	w.expect(0, none)
	w.write("a.log", lines(0, 10))
	w.expect(time.Second, none)
	w.expect(time.Second, none)
	w.write("a.log", lines(0, 15)) // still growing
	w.expect(time.Second, none)
	w.expect(time.Second, none)
	w.expect(time.Second, map[string]int64{"a.log": 15})
	w.expect(time.Minute, none)
	w.write("a.log", lines(0, 18))
	w.write("days/2026/b.log", lines(100, 4))
	w.expect(time.Second, none)
	w.expect(SettleTime, map[string]int64{"a.log": 3, "days/2026/b.log": 4})
	if got := len(rowsOf(t, s)); got != 22 {
		t.Errorf("%d rows", got)
	}
}

func TestAnUnfinishedLineWaitsUntilTheFileGrows(t *testing.T) {
	s := openStore(t, t.TempDir())
	w := newWatching(t, s)
	text := accessLines(3)
	w.expect(0, map[string]int64{})
	w.write("a.log", text[:len(text)-3]) // its writer pauses inside a line
	w.expect(time.Second, map[string]int64{})
	w.expect(SettleTime, map[string]int64{"a.log": 2})
	w.expect(time.Minute, map[string]int64{})
	w.write("a.log", text)
	w.expect(time.Second, map[string]int64{})
	w.expect(SettleTime, map[string]int64{"a.log": 1})
	for _, row := range rowsOf(t, s) {
		if *row.BytesSent != 51234 {
			t.Errorf("line %d: %d bytes", row.Line, *row.BytesSent)
		}
	}
}

func TestUnfinishedFilesAreNotTaken(t *testing.T) {
	w := newWatching(t, openStore(t, t.TempDir()))
	for i, name := range []string{".a.log", "_b.log", "c.log.part", "d.tmp", ".hidden/e.log"} {
		w.write(name, lines(i*10, 10))
	}
	w.expect(0, map[string]int64{})
	w.expect(time.Minute, map[string]int64{})
	if err := os.Rename(filepath.Join(w.w.dir, "c.log.part"), filepath.Join(w.w.dir, "c.log")); err != nil {
		t.Fatal(err)
	}
	w.expect(time.Second, map[string]int64{})
	w.expect(SettleTime, map[string]int64{"c.log": 10})
}

func TestANewStartTakesNothingTwice(t *testing.T) {
	s := openStore(t, t.TempDir())
	w := newWatching(t, s)
	w.write("a.log", lines(0, 10))
	w.expect(0, map[string]int64{})
	w.expect(SettleTime, map[string]int64{"a.log": 10})
	again := newWatching(t, s)
	again.expect(0, map[string]int64{})
	again.expect(time.Minute, map[string]int64{}) // not even read
	if err := os.Rename(filepath.Join(w.w.dir, "a.log"), filepath.Join(w.w.dir, "a.log.1")); err != nil {
		t.Fatal(err)
	}
	again.expect(time.Second, map[string]int64{})
	again.expect(SettleTime, map[string]int64{"a.log.1": 0}) // read, and known
}

func TestAFileThatCannotBeReadIsToldOnce(t *testing.T) {
	w := newWatching(t, openStore(t, t.TempDir()))
	w.write("x.csv", "a,b\n1,2\n")
	w.write("z.log", lines(0, 1))
	w.expect(0, map[string]int64{})
	w.expect(SettleTime, map[string]int64{"x.csv": -1, "z.log": 1})
	w.expect(time.Minute, map[string]int64{})
	w.write("x.csv", lines(5, 2)) // mended
	w.expect(time.Second, map[string]int64{})
	w.expect(SettleTime, map[string]int64{"x.csv": 2})
}

func TestRunPollsAtEveryTick(t *testing.T) {
	w := newWatching(t, openStore(t, t.TempDir()))
	w.write("a.log", lines(0, 3))
	ticks := make(chan time.Time, 2)
	ticks <- testTime
	ticks <- testTime.Add(SettleTime)
	close(ticks)
	var records int64
	if err := w.w.Run(t.Context(), ticks, func(taken FileResult) { records += taken.Report.Records }); err != nil || records != 3 {
		t.Error(records, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.w.Run(ctx, make(chan time.Time), nil); err != nil {
		t.Error(err)
	}
}
