package datadir

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/ingest"
)

// grow writes the first n bytes of a text every second, some bytes more each time, and returns the results of the polls.
func (w *watcherTest) grow(name, text string, from, step int, seconds int) (records int64, polls []int) {
	w.t.Helper()
	for second := range seconds {
		w.write(name, text[:min(from+second*step, len(text))])
		if got, imported := w.after(time.Second)[name]; imported {
			polls = append(polls, second)
			records += got
		}
	}
	return records, polls
}

// TestPollImportsBusyFiles: a log that is written to all the time is imported in bounded time, and no half line of it.
func TestPollImportsBusyFiles(t *testing.T) {
	wait := int(BusyTime / time.Second)
	text := accessLines(60)
	line := len(accessLines(1))
	t.Run("its complete lines every ten seconds", func(t *testing.T) {
		s := openStore(t, t.TempDir())
		w := newWatcherTest(t, s)
		w.expect(0, map[string]int64{})
		records, polls := w.grow("a.log", text, line/2, line, 2*wait+2) // half a line at the end, each time
		if len(polls) != 2 || polls[0] != wait || polls[1] != 2*wait {
			t.Errorf("imported in the seconds %d, want %d and %d", polls, wait, 2*wait)
		}
		if want := int64(2 * wait); records != want {
			t.Errorf("%d records, want %d", records, want)
		}
		checkLastLine(t, s, text)
		w.write("a.log", text)
		w.expect(time.Second, map[string]int64{})
		w.expect(SettleTime, map[string]int64{"a.log": 60 - records})
		seen := map[string]int{}
		for _, row := range rowsOf(t, s) {
			if seen[*row.Path]++; *row.BytesSent != 51234 || seen[*row.Path] > 1 {
				t.Errorf("line %d: %s with %d bytes, %d times", row.Line, *row.Path, *row.BytesSent, seen[*row.Path])
			}
		}
		if len(seen) != 60 {
			t.Errorf("%d records", len(seen))
		}
	})
	t.Run("a last line is reported once the file is unchanged", func(t *testing.T) {
		w := newWatcherTest(t, openStore(t, t.TempDir()))
		w.expect(0, map[string]int64{})
		var results []FileResult
		poll := func(d time.Duration) {
			t.Helper()
			w.now = w.now.Add(d)
			if err := w.w.Poll(t.Context(), w.now, func(r FileResult) { results = append(results, r) }); err != nil {
				t.Fatal(err)
			}
		}
		for second := range wait + 1 {
			w.write("a.log", text[:line/2+second*line])
			poll(time.Second)
		}
		poll(time.Second)
		poll(SettleTime)
		poll(time.Minute)
		for _, r := range results {
			if r.Err != nil || r.Report.Left != int64(line/2) {
				t.Errorf("%+v", r)
			}
		}
		if len(results) != 2 || !results[0].Busy || results[1].Busy {
			t.Errorf("%+v", results)
		}
	})
	t.Run("a compressed file only when it is complete", func(t *testing.T) {
		w := newWatcherTest(t, openStore(t, t.TempDir()))
		w.expect(0, map[string]int64{})
		whole := zipped(text)
		if _, polls := w.grow("a.log.gz", whole, 20, 1, 3*wait); len(polls) > 0 {
			t.Errorf("imported in the seconds %d", polls)
		}
		w.write("a.log.gz", whole)
		w.expect(time.Second, map[string]int64{})
		w.expect(SettleTime, map[string]int64{"a.log.gz": 60})
	})
	t.Run("one that cannot be imported is tried again less and less often", func(t *testing.T) {
		w := newWatcherTest(t, openStore(t, t.TempDir()))
		w.expect(0, map[string]int64{})
		_, polls := w.grow("x.csv", strings.Repeat("a,b\n", 1000), 100, 4, 8*wait)
		if len(polls) != 3 { // after 10, 20 and 40 s
			t.Errorf("tried in the seconds %d", polls)
		}
	})
	t.Run("one that takes long to read waits longer", func(t *testing.T) {
		s := openStore(t, t.TempDir())
		w := newWatcherTest(t, s)
		now := testTime
		s.now = func() time.Time { now = now.Add(time.Second); return now }
		w.expect(0, map[string]int64{})
		_, polls := w.grow("a.log", text, line, line, 4*wait)
		if len(polls) == 0 || len(polls) > 2 || polls[0] != wait || len(polls) > 1 && polls[1] < 3*wait {
			t.Errorf("imported in the seconds %d", polls)
		}
	})
	t.Run("answers are complete up to what was imported", func(t *testing.T) {
		s := openStore(t, t.TempDir())
		w := newWatcherTest(t, s)
		w.expect(0, map[string]int64{})
		w.grow("a.log", text, line, line, wait+1)
		imported := w.now
		w.grow("a.log", text, line*(wait+2), line, 5)
		if !s.watched.Equal(imported) {
			t.Errorf("complete through %v, want %v", s.watched, imported)
		}
	})
}

// TestPollCountsOverlaps: a part of an imported log is imported, and the result has the number of its known records.
func TestPollCountsOverlaps(t *testing.T) {
	s := openStore(t, t.TempDir())
	w := newWatcherTest(t, s)
	w.expect(0, map[string]int64{})
	all := strings.SplitAfter(lines(0, 300), "\n")
	w.write("a.log", strings.Join(all, ""))
	w.expect(time.Second, map[string]int64{})
	w.expect(SettleTime, map[string]int64{"a.log": 300})
	w.write("tail.log", strings.Join(all[100:], ""))
	w.write("other.log", lines(5000, 200))
	results := map[string]ingest.Report{}
	for range 3 {
		w.now = w.now.Add(SettleTime)
		err := w.w.Poll(t.Context(), w.now, func(r FileResult) {
			if r.Err != nil {
				t.Error(r.Err)
			}
			results[filepath.Base(r.Path)] = r.Report
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if r := results["tail.log"]; !r.Overlaps() || r.Judged != 200 || r.Seen != 200 || r.Records != 200 {
		t.Errorf("a part of an imported log: %+v", r)
	}
	if r := results["other.log"]; r.Overlaps() || r.Judged != 200 || r.Seen != 0 {
		t.Errorf("another log: %+v", r)
	}
}
