package datadir

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/status"
	"github.com/orrery/orrery/shared/testkit/testlevel"
)

const day = 24 * time.Hour

// firstLine is the time of the first record of lines.
var firstLine = time.Date(2026, 4, 1, 10, 0, 0, 0, time.UTC)

// setClock sets the clock of a store.
func setClock(s *Store, now time.Time) { s.now = func() time.Time { return now } }

func expire(t testing.TB, s *Store, keep time.Duration, confirmed bool) Removal {
	t.Helper()
	r, err := s.Expire(t.Context(), keep, confirmed)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestExpireRemovesWholeHours(t *testing.T) {
	dir := t.TempDir()
	s, reader := openStore(t, dir), openStore(t, dir)
	setClock(s, firstLine)
	importInSteps(t, s, 1500, 300) // 600 in each hour
	compact(t, s, CompactOptions{})
	importText(t, s, lines(0, 1600), ingest.Options{})
	if got := len(rowsOf(t, reader)); got != 1600 {
		t.Fatalf("%d rows", got)
	}
	setClock(s, firstLine.Add(day+2*time.Hour-time.Second)) // the hour of the horizon is kept
	r := expire(t, s, day, true)
	if r.Hours != 1 || r.Records != 600 || r.Of != 1600 || len(r.Objects) != 1 || r.Bytes == 0 || r.Unconfirmed {
		t.Errorf("%+v", r)
	}
	stores := map[string]*Store{"the store": s, "another process": reader, "a new process": openStore(t, dir)}
	for name, seen := range stores {
		rows := rowsOf(t, seen)
		extent, err := seen.Index().Extent(t.Context())
		if err != nil || len(rows) != 1000 || extent.Rows != 1000 || extent.MinTsMs != firstLine.Add(time.Hour).UnixMilli() {
			t.Errorf("%s sees %d rows, %+v, %v", name, len(rows), extent, err)
		}
	}
	kept := &status.Retention{Keep: day, From: firstLine.Add(time.Hour)}
	if diff := cmp.Diff(kept, statusOf(t, reader).Kept); diff != "" {
		t.Errorf("status:\n%s", diff)
	}
	if again := expire(t, s, day, true); again.Hours != 0 || again.Records != 0 || again.Of != 1000 {
		t.Errorf("again: %+v", again)
	}
	file := s.index.Path(r.Objects[0])
	compact(t, s, CompactOptions{})
	if _, err := os.Stat(file); err != nil {
		t.Errorf("a file that queries may still read was removed: %v", err)
	}
	setClock(s, s.now().Add(DefaultGrace))
	compact(t, s, CompactOptions{})
	if files := tree(t, s.dir); strings.Contains(files, "04/01/10") || strings.Contains(files, "2026-04-01-10") {
		t.Errorf("files are left: %s", files)
	}
	if _, err := os.Stat(filepath.Dir(file)); err == nil {
		t.Errorf("the folder %s is left", filepath.Dir(file))
	}
	stores["a new process"] = openStore(t, dir)
	for name, seen := range stores {
		if rows := rowsOf(t, seen); len(rows) != 1000 {
			t.Errorf("%s sees %d rows at the end", name, len(rows))
		}
	}
	if hours, err := s.Index().Hours(t.Context()); err != nil || len(hours) != 2 {
		t.Errorf("hours %v, %v", hours, err)
	}
	setClock(s, firstLine.Add(4*day))
	if r := expire(t, s, day, true); r.Records != 1000 || len(rowsOf(t, reader)) != 0 {
		t.Errorf("everything: %+v", r)
	}
}

// TestReaderOfDroppedHours: a process that has read the list of the hours before they were dropped reads the others.
func TestReaderOfDroppedHours(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	importText(t, s, lines(0, 1500), ingest.Options{})
	reader := openStore(t, dir) // it knows the hours and has read none
	setClock(s, firstLine.Add(day+time.Hour))
	expire(t, s, day, true)
	setClock(s, s.now().Add(DefaultGrace))
	compact(t, s, CompactOptions{})
	if rows := rowsOf(t, reader); len(rows) != 900 {
		t.Errorf("%d rows", len(rows))
	}
}

func TestExpireAsksBeforeLargeRemovals(t *testing.T) {
	s := openStore(t, t.TempDir())
	importText(t, s, lines(0, 6600), ingest.Options{}) // eleven hours
	before := tree(t, s.dir)
	setClock(s, firstLine.Add(2*day+2*time.Hour))
	r := expire(t, s, 2*day, false)
	if !r.Unconfirmed || r.Hours != 2 || r.Records != 1200 || r.Of != 6600 {
		t.Errorf("%+v", r)
	}
	if diff := cmp.Diff(before, tree(t, s.dir)); diff != "" {
		t.Errorf("an unconfirmed removal has changed:\n%s", diff)
	}
	if retention, err := s.Retention(t.Context()); err != nil || retention.Keep != 0 {
		t.Errorf("%+v, %v", retention, err)
	}
	setClock(s, firstLine.Add(2*day+time.Hour))
	if r := expire(t, s, 2*day, false); r.Unconfirmed || r.Records != 600 {
		t.Errorf("less than a tenth: %+v", r)
	}
	setClock(s, firstLine.Add(2*day+4*time.Hour))
	if r := expire(t, s, 2*day, false); r.Unconfirmed || r.Records != 1800 {
		t.Errorf("hours that have become too old since: %+v", r)
	}
	if r := expire(t, s, 2*day-2*time.Hour, false); !r.Unconfirmed || r.Records != 1200 {
		t.Errorf("a shorter time: %+v", r)
	}
	setClock(s, firstLine.Add(400*day))
	if r := expire(t, s, 2*day, false); !r.Unconfirmed || r.Records != 4200 {
		t.Errorf("a clock that is a year ahead: %+v", r)
	}
	setClock(s, firstLine.Add(2*day+5*time.Hour))
	if r := expire(t, s, 3*day, false); r.Unconfirmed || r.Records != 0 || len(rowsOf(t, s)) != 4200 {
		t.Errorf("a longer time: %+v", r)
	}
}

func TestImportLeavesOutWhatIsTooOld(t *testing.T) {
	s := openStore(t, t.TempDir())
	importFile(t, s, "log", lines(0, 1500), ingest.Options{})
	setClock(s, firstLine.Add(day+time.Hour+time.Minute))
	expire(t, s, day, true)
	imports := func(name string, text string, records, expired, known int64) {
		t.Helper()
		r := importFile(t, s, name, text, ingest.Options{})
		if r.Records != records || r.Expired != expired || r.Known != known || r.RejectedLines() != 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	imports("log", lines(0, 1500), 0, 0, 1500)
	imports("log", lines(0, 1510), 10, 0, 1500)
	imports("partly old", lines(590, 5000), 4990, 10, 0)
	imports("partly old", lines(590, 5000), 0, 0, 5000)
	_, err := s.Import(t.Context(), "old", strings.NewReader(lines(0, 500)), ingest.Options{Cautious: true})
	const want = "all 500 records are of before 2026-04-01 11:00:00"
	if err == nil || !ingest.OnlyDoubts(err) || !strings.Contains(err.Error(), want) {
		t.Errorf("a log of old records only: %v", err)
	}
	if r := importFile(t, s, "old", lines(0, 500), ingest.Options{Horizon: day, Arrival: s.now()}); r.Expired != 500 ||
		r.RejectedLines() != 0 {
		t.Errorf("by a watcher: %+v", r)
	}
	imports("grown", lines(600, 10)+lines(0, 5), 10, 5, 0)
	if files, err := s.quarantineFiles(""); err != nil || len(files) > 0 {
		t.Errorf("old records are in quarantine: %v, %v", files, err)
	}
	imports("end", lines(600, 1)+lines(0, 1), 1, 1, 0)
	s.SetKeep(2 * day)
	imports("kept longer", lines(0, 500), 500, 0, 0)
	s.SetKeep(0)
	imports("kept for ever", lines(1, 400), 400, 0, 0)
	s.keep = nil
	setClock(s, firstLine.Add(day+time.Hour+2*time.Minute))
	if r := expire(t, s, day, true); r.Records != 900 {
		t.Errorf("the next run: %+v", r)
	}
	expire(t, s, 0, false)
	if kept := statusOf(t, s).Kept; kept != nil {
		t.Errorf("status: %+v", kept)
	}
	imports("without retention", lines(2, 300), 300, 0, 0)
}

// TestForgetAfterExpire: an import of which hours are gone can be forgotten, and its log imported again.
func TestForgetAfterExpire(t *testing.T) {
	for name, hours := range map[string]int{"partly": 1, "wholly": 3} {
		t.Run(name, func(t *testing.T) {
			s := openStore(t, t.TempDir())
			gone := importFile(t, s, "a.log", lines(0, 1500), ingest.Options{})
			importFile(t, s, "b.log", lines(0, 1500), ingest.Options{})
			compact(t, s, CompactOptions{})
			setClock(s, firstLine.Add(day+time.Duration(hours)*time.Hour))
			expire(t, s, day, true)
			setClock(s, s.now().Add(DefaultGrace))
			compact(t, s, CompactOptions{})
			left := max(0, int64(1500-600*hours))
			if r := forget(t, s, gone.Source); r.Records != left || r.Gone != 1500-left {
				t.Errorf("%+v", r)
			}
			if got := int64(len(rowsOf(t, s))); got != left {
				t.Errorf("%d rows, want %d", got, left)
			}
			if r := importFile(t, s, "a.log", lines(0, 1500), ingest.Options{}); r.Records != left || r.Expired != 1500-left {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestRejectedLinesExpire(t *testing.T) {
	s := openStore(t, t.TempDir())
	importFile(t, s, "a.log", lines(0, 10)+"garbage\n", ingest.Options{})
	horizon := ingest.Options{Horizon: time.Hour, Arrival: firstLine.Add(2 * time.Hour)}
	old := importFile(t, s, "b.log", lines(0, 10)+lines(1000, 10), horizon)
	setClock(s, firstLine.Add(31*day))
	s.SetKeep(30*day + 23*time.Hour)
	r, err := s.Retry(t.Context(), old.Source, ingest.Options{})
	if err != nil || r.Expired != 10 || r.Records != 0 || r.Rejected != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	setClock(s, testTime.Add(29*day))
	compact(t, s, CompactOptions{})
	if files := tree(t, s.quarantineDir()); !strings.Contains(files, ".ndjson") {
		t.Error("the line was removed too early")
	}
	setClock(s, testTime.Add(31*day))
	compact(t, s, CompactOptions{})
	if files := tree(t, s.quarantineDir()); files != "" {
		t.Errorf("lines are left: %s", files)
	}
}

func TestForgetMissing(t *testing.T) {
	s := openStore(t, t.TempDir())
	gone := importFile(t, s, "a.log", lines(0, 1500), ingest.Options{})
	forgetMissing := func(confirmed bool) Removal {
		t.Helper()
		r, err := s.ForgetMissing(t.Context(), confirmed)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := forgetMissing(true); len(r.Objects) != 0 || r.Of != 1500 {
		t.Errorf("nothing is missing: %+v", r)
	}
	if err := os.RemoveAll(filepath.Join(s.lakeDir(), "fresh", "2026", "04", "01", "10")); err != nil {
		t.Fatal(err)
	}
	if r := forgetMissing(false); !r.Unconfirmed || r.Hours != 1 || r.Records != 600 || len(r.Objects) != 1 {
		t.Errorf("%+v", r)
	}
	if _, err := countRows(s); err == nil {
		t.Error("an unconfirmed removal has changed the index")
	}
	if r := forgetMissing(true); r.Unconfirmed || r.Records != 600 {
		t.Errorf("%+v", r)
	}
	if got := len(rowsOf(t, s)); got != 900 {
		t.Errorf("%d rows", got)
	}
	compact(t, s, CompactOptions{Grace: 1})
	if r := forget(t, s, gone.Source); r.Records != 900 || r.Gone != 600 {
		t.Errorf("%+v", r)
	}
}

// TestExpireKilledAtAnyStep: a process that is killed while it removes hours and their files leaves all or none of
// them, and the next one completes the work.
func TestExpireKilledAtAnyStep(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: skipped with -short, for the race detector")
	}
	for _, earlier := range [][]string{{"import", "other"}, {"import", "other", "compact", "grow"}} {
		t.Run("after "+strings.Join(earlier, " and "), func(t *testing.T) {
			prepared := prepare(t, earlier...)
			before := seenWithoutRecovery(t, prepared)
			whole := copyOf(t, prepared)
			s := openStore(t, whole)
			do(t, s, "expire")
			want, files, after := places(t, s), namesIn(t, whole), seenWithoutRecovery(t, whole)
			if after == 0 || after == before {
				t.Fatalf("%d of %d rows are left", after, before)
			}
			steps := 0
			for died := true; died; steps += testlevel.Of(1, 3, 1) {
				dir := copyOf(t, prepared)
				died = killedAt(t, dir, "expire", steps)
				if got := seenWithoutRecovery(t, dir); got != before && got != after {
					t.Fatalf("killed at step %d: a reader sees %d rows, want %d or %d", steps, got, before, after)
				}
				s := openStore(t, dir)
				do(t, s, "expire")
				if diff := cmp.Diff(want, places(t, s)); diff != "" {
					t.Fatalf("killed at step %d, rows after the next run:\n%s", steps, diff)
				}
				if diff := cmp.Diff(files, namesIn(t, dir)); diff != "" {
					t.Errorf("killed at step %d, files after the next run:\n%s", steps, diff)
				}
			}
			if steps < 10 {
				t.Errorf("%d steps, want at least 10", steps)
			}
		})
	}
}

// expireAndSweep removes the first hour of sparse, and then its files.
func expireAndSweep(ctx context.Context, s *Store) error {
	setClock(s, testTime.Add(day+time.Hour))
	_, err := s.Expire(ctx, day, true)
	setClock(s, testTime.Add(day+time.Hour+DefaultGrace))
	_, compacting := s.Compact(ctx, CompactOptions{})
	return errors.Join(err, compacting)
}

// namesIn returns the names of the files and folders of the objects and manifests of a data directory.
func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dir, "lake"), func(path string, _ os.DirEntry, err error) error {
		names = append(names, strings.TrimPrefix(path, dir))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
