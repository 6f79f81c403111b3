package datadir

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/ingest"
)

// watcherTest is a Watcher with its own clock.
type watcherTest struct {
	t   *testing.T
	w   *Watcher
	now time.Time
}

func newWatcherTest(t *testing.T, s *Store) *watcherTest {
	t.Helper()
	w, err := NewWatcher(s, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &watcherTest{t: t, w: w, now: testTime}
}

// write writes a file. Its modification time is the time of the clock.
func (w *watcherTest) write(name, content string) {
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

// after advances the clock, polls once, and returns the number of new records of each imported file, or -1 for a failed
// one.
func (w *watcherTest) after(d time.Duration) map[string]int64 {
	w.t.Helper()
	w.now = w.now.Add(d)
	got := map[string]int64{}
	err := w.w.Poll(w.t.Context(), w.now, func(r FileResult) {
		name, err := filepath.Rel(w.w.dir, r.Path)
		if err != nil {
			w.t.Fatal(err)
		}
		got[name] = r.Report.Records
		if r.Err != nil {
			got[name] = -1
		}
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return got
}

func (w *watcherTest) expect(d time.Duration, want map[string]int64) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.after(d)); diff != "" {
		w.t.Errorf("after %s (-want +got):\n%s", d, diff)
	}
}

func TestPollImportsUnchangedFiles(t *testing.T) {
	s := openStore(t, t.TempDir())
	w := newWatcherTest(t, s)
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

func TestPollLeavesUnfinishedLine(t *testing.T) {
	s := openStore(t, t.TempDir())
	w := newWatcherTest(t, s)
	text := accessLines(3)
	w.expect(0, map[string]int64{})
	w.write("a.log", text[:len(text)-3]) // its writer pauses in the middle of a line
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

func TestPollIgnoresUnfinishedFiles(t *testing.T) {
	w := newWatcherTest(t, openStore(t, t.TempDir()))
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

func TestNewWatcherKnowsImportedFiles(t *testing.T) {
	s := openStore(t, t.TempDir())
	w := newWatcherTest(t, s)
	w.write("a.log", lines(0, 10))
	w.expect(0, map[string]int64{})
	w.expect(SettleTime, map[string]int64{"a.log": 10})
	again := newWatcherTest(t, s)
	again.expect(0, map[string]int64{})
	again.expect(time.Minute, map[string]int64{}) // the file is not read
	if err := os.Rename(filepath.Join(w.w.dir, "a.log"), filepath.Join(w.w.dir, "a.log.1")); err != nil {
		t.Fatal(err)
	}
	again.expect(time.Second, map[string]int64{})
	again.expect(SettleTime, map[string]int64{"a.log.1": 0}) // the file is read, and its lines are known
}

func TestPollReportsFailedFilesOnce(t *testing.T) {
	w := newWatcherTest(t, openStore(t, t.TempDir()))
	w.write("x.csv", "a,b\n1,2\n")
	w.write("z.log", lines(0, 1))
	w.expect(0, map[string]int64{})
	w.expect(SettleTime, map[string]int64{"x.csv": -1, "z.log": 1})
	w.expect(time.Minute, map[string]int64{})
	w.write("x.csv", lines(5, 2)) // corrected
	w.expect(time.Second, map[string]int64{})
	w.expect(SettleTime, map[string]int64{"x.csv": 2})
}

func TestRunPollsAtEveryTick(t *testing.T) {
	w := newWatcherTest(t, openStore(t, t.TempDir()))
	w.write("a.log", lines(0, 3))
	ticks := make(chan time.Time, 2)
	ticks <- testTime
	ticks <- testTime.Add(SettleTime)
	close(ticks)
	var records int64
	w.w.Run(t.Context(), ticks, func(r FileResult) { records += r.Report.Records })
	if records != 3 {
		t.Errorf("%d records", records)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w.w.Run(ctx, make(chan time.Time), nil)
}

func TestWatcherQuarantinesRecordsBeforeTheHorizon(t *testing.T) {
	const horizon = 35 * 24 * time.Hour
	atTime := func(at time.Time) string {
		return `{"processing_stage":6,"timestamp":"` + at.UTC().Format(time.RFC3339Nano) + `"}` + "\n"
	}
	s := openStore(t, t.TempDir())
	s.now = func() time.Time { return testTime.Add(2 * horizon) }
	w := newWatcherTest(t, s)
	w.w.options.Horizon = horizon
	old := atTime(testTime.Add(-horizon - time.Millisecond))
	w.write("mixed.log", old+atTime(testTime.Add(-horizon))+atTime(testTime))
	w.write("old.log", old+old)
	results := map[string]ingest.Report{}
	poll := func(now time.Time) {
		t.Helper()
		err := w.w.Poll(t.Context(), now, func(r FileResult) {
			if r.Err != nil {
				t.Error(r.Err)
			}
			results[filepath.Base(r.Path)] = r.Report
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	// The Watcher sees the files long after they were written.
	poll(testTime.Add(horizon))
	poll(testTime.Add(horizon + time.Minute))
	for name, want := range map[string]int64{"mixed.log": 1, "old.log": 2} {
		if got := results[name].Rejected[ingest.TooOld]; got != want || results[name].RejectedLines() != want {
			t.Errorf("%s: %v rejected, want %d too old", name, results[name].Rejected, want)
		}
	}
	t.Run("an import of the same file takes its records", func(t *testing.T) {
		report, err := s.Import(t.Context(), "old.log", strings.NewReader(old+old), ingest.Options{})
		if err != nil || report.Records != 2 || report.RejectedLines() != 0 {
			t.Errorf("%+v, %v", report, err)
		}
	})
}

func TestWatchFilesOutsideTheRawDirectory(t *testing.T) {
	s := openStore(t, t.TempDir())
	outside := filepath.Join(t.TempDir(), "access.log")
	w := newWatcherTest(t, s)
	inside := filepath.Join(w.w.dir, "inside.log")
	list := func() ([]string, error) { return []string{inside, outside, outside + ".none"}, nil }
	options := ingest.Options{Defaults: []ingest.Default{{Field: "branch", Value: "shop"}}}
	w.w.Watch(Watched{List: list, Options: options})
	w.write("inside.log", lines(0, 1))
	if err := os.WriteFile(outside, []byte(lines(1, 2)), 0o644); err != nil {
		t.Fatal(err)
	}
	name, err := filepath.Rel(w.w.dir, outside)
	if err != nil {
		t.Fatal(err)
	}
	w.expect(0, map[string]int64{})
	w.expect(SettleTime, map[string]int64{"inside.log": 1, name: 2})
	branches := map[string]int{}
	for _, row := range rowsOf(t, s) {
		if row.Branch == nil {
			branches[""]++
		} else {
			branches[*row.Branch]++
		}
	}
	if branches["shop"] != 3 { // also of the file in the raw directory
		t.Errorf("branches %v", branches)
	}
	again := newWatcherTest(t, s)
	again.now = w.now
	again.w.Watch(Watched{List: list, Options: options})
	again.expect(0, map[string]int64{})
	again.expect(SettleTime, map[string]int64{})
}
