package datadir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/filelock"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/lake"
)

// importInSteps imports a log as it grows, so that its hours consist of several objects.
func importInSteps(t testing.TB, s *Store, total, step int) {
	t.Helper()
	for n := step; n <= total; n += step {
		importText(t, s, lines(0, n), ingest.Options{})
	}
}

func objectPaths(t testing.TB, s *Store) []string {
	t.Helper()
	objects, err := s.Index().Objects(t.Context(), 0, math.MaxInt64)
	if err != nil {
		t.Fatal(err)
	}
	return lake.Paths(objects)
}

func compact(t testing.TB, s *Store, options CompactOptions) CompactReport {
	t.Helper()
	report, err := s.Compact(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestCompactMergesHoursAndKeepsEveryRow(t *testing.T) {
	s := openStore(t, t.TempDir())
	importInSteps(t, s, 1500, 100)
	importText(t, s, lines(300, 50), ingest.Options{}) // another source, in the same hours
	before := records(t, s)
	old := objectPaths(t, s)
	report := compact(t, s, CompactOptions{})
	if report.Hours != 3 || report.Objects != len(old) || report.Rows != 1550 ||
		report.After >= report.Before || report.Removed != 0 {
		t.Errorf("%d objects: %+v", len(old), report)
	}
	if got := objectPaths(t, s); len(got) != 3 || !strings.Contains(got[0], "/compact/") {
		t.Errorf("objects %v", got)
	}
	if diff := cmp.Diff(before, records(t, s)); diff != "" {
		t.Error(diff)
	}
	for _, path := range old {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("an object that queries may still read was removed: %v", err)
		}
	}
	again := compact(t, s, CompactOptions{})
	if again.Hours != 0 {
		t.Errorf("the second compaction merged hours: %+v", again)
	}
	s.now = func() time.Time { return testTime.Add(DefaultGrace) }
	swept := compact(t, s, CompactOptions{})
	if swept.Removed != len(old) {
		t.Errorf("%+v", swept)
	}
	for _, path := range old {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s still exists: %v", path, err)
		}
	}
	if diff := cmp.Diff(before, records(t, s)); diff != "" {
		t.Error(diff)
	}
}

// TestCompactLeavesDamagedObjects: the other objects of the hour, and the other hours, are merged.
func TestCompactLeavesDamagedObjects(t *testing.T) {
	s := openStore(t, t.TempDir())
	importInSteps(t, s, 1500, 100)
	paths := objectPaths(t, s)
	damaged := paths[1]
	if err := os.WriteFile(damaged, []byte("not Parquet"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second compaction leaves it, too
		report := compact(t, s, CompactOptions{})
		if len(report.Damaged) != 1 || !strings.Contains(report.Damaged[lake.NameOf(damaged)], "not a Parquet file") {
			t.Errorf("damaged objects %v, want %s", report.Damaged, lake.NameOf(damaged))
		}
		if now := objectPaths(t, s); len(now) != 4 || !slices.Contains(now, damaged) {
			t.Errorf("objects %v", now)
		}
	}
}

func TestImportKnowsCompactedLogs(t *testing.T) {
	s := openStore(t, t.TempDir())
	importInSteps(t, s, 600, 200)
	compact(t, s, CompactOptions{})
	if again := importText(t, s, lines(0, 600), ingest.Options{}); again.Records != 0 || again.Known != 600 {
		t.Errorf("unchanged: %+v", again)
	}
	if grown := importText(t, s, lines(0, 700), ingest.Options{}); grown.Records != 100 || grown.Known != 600 {
		t.Errorf("grown: %+v", grown)
	}
	compact(t, s, CompactOptions{})
	s.now = func() time.Time { return testTime.Add(time.Hour) }
	compact(t, s, CompactOptions{})
	if again := importText(t, s, lines(0, 700), ingest.Options{}); again.Records != 0 {
		t.Errorf("unchanged: %+v", again)
	}
	if got := len(rowsOf(t, s)); got != 700 {
		t.Errorf("%d rows", got)
	}
}

func TestCompactRemovesOrphans(t *testing.T) {
	s := openStore(t, t.TempDir())
	importInSteps(t, s, 200, 100)
	hour := filepath.Dir(objectPaths(t, s)[0])
	orphan := filepath.Join(hour, "left-behind-0.parquet")
	if err := os.WriteFile(orphan, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if report := compact(t, s, CompactOptions{}); report.Removed != 1 {
		t.Errorf("%+v", report)
	}
	if _, err := os.Stat(orphan); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestCompactSkipsHoursInProgress(t *testing.T) {
	s := openStore(t, t.TempDir())
	importInSteps(t, s, 200, 100)
	hour := lake.PartitionOf(rowsOf(t, s)[0].TsMs)
	lock, err := filelock.TryAcquire(s.lockPath(fmt.Sprintf("compact-%d", hour)))
	if err != nil {
		t.Fatal(err)
	}
	if report := compact(t, s, CompactOptions{}); report.Busy != 1 || report.Hours != 0 {
		t.Errorf("%+v", report)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if report := compact(t, s, CompactOptions{}); report.Hours != 1 {
		t.Errorf("%+v", report)
	}
}

// TestReadDuringCompaction counts the rows of the files in the index repeatedly, while two compactors merge the objects
// of an importer and remove the objects that they have replaced.
func TestReadDuringCompaction(t *testing.T) {
	dir := t.TempDir()
	const total, step = 600, 60
	importer := openStore(t, dir)
	imported := make(chan int, 1) // number of rows that every later read must see
	imported <- 0
	stop := make(chan struct{})
	var working, reading sync.WaitGroup
	for range 2 {
		compactor := openStore(t, dir)
		working.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				_, err := compactor.Compact(context.Background(), CompactOptions{Grace: time.Nanosecond})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	reader := openStore(t, dir)
	counted := 0
	reading.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			least := <-imported
			imported <- least
			got, err := countRows(reader)
			if errors.Is(err, fs.ErrNotExist) {
				continue // an object was replaced after the index was read; this test has no grace
			}
			if err != nil || got < least || got%step != 0 {
				t.Errorf("counted %d rows, want at least %d: %v", got, least, err)
				return
			}
			counted++
		}
	})
	for n := step; n <= total; n += step {
		importText(t, importer, lines(0, n), ingest.Options{})
		<-imported
		imported <- n
	}
	close(stop)
	working.Wait()
	reading.Wait()
	if got, err := countRows(reader); err != nil || got != total {
		t.Errorf("%d rows at the end, %v", got, err)
	}
	if counted == 0 {
		t.Error("the reader never read all objects")
	}
}

// countRows opens every object in the index, as an engine would, and counts the lines. A line that occurs twice is an
// error.
func countRows(s *Store) (int, error) {
	objects, err := s.Index().Objects(context.Background(), 0, math.MaxInt64)
	if err != nil {
		return 0, err
	}
	seen := map[string]bool{}
	for _, o := range objects {
		rows, err := rowsIn(o.Path)
		if err != nil {
			return 0, err
		}
		for i := range rows {
			place := fmt.Sprintf("%s:%d", rows[i].Source, rows[i].Line)
			if seen[place] {
				return 0, fmt.Errorf("line %s occurs twice", place)
			}
			seen[place] = true
		}
	}
	return len(seen), nil
}
