package datadir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/testkit/testlevel"
)

// heavy returns n records of 90 kB, so that few of them are several batches, and a line that is no record after every
// fourth. Each record is hours after the one before it.
func heavy(n, hours int) string {
	var b strings.Builder
	padding := strings.Repeat("x", 90_000)
	for i := range n {
		at := testTime.Unix() + int64(i%5*hours*3600+i)
		fmt.Fprintf(&b, `{"processing_stage":6,"timestamp":%d,"request_id":"r%d","padding":"%s"}`+"\n", at, i, padding)
		if i%4 == 3 {
			fmt.Fprintf(&b, "garbage %d\n", i)
		}
	}
	return b.String()
}

// frequent returns options with a checkpoint after every batch.
func frequent() ingest.Options {
	return ingest.Options{Checkpoints: ingest.Checkpoints{Every: 1}}
}

// heavyRecords is the number of records that importHeavy imports.
const heavyRecords = 10

// importHeavy imports heavy records. If they are scattered, they do not fit into the memory, and go to sorted runs. Every
// call of Options.Progress is a step.
func importHeavy(ctx context.Context, s *Store, scattered bool, step func()) (ingest.Report, error) {
	options, hours := frequent(), 0
	if scattered {
		options.Memory, hours = 500_000, 1
	}
	options.Progress = func(ingest.Progress) { step() }
	return s.Import(ctx, "heavy", strings.NewReader(heavy(heavyRecords, hours)), options)
}

func TestKilledImportContinues(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: skipped with -short, for the race detector")
	}
	for _, work := range []string{"heavy", "scattered"} {
		t.Run(work, func(t *testing.T) {
			scattered := work == "scattered"
			whole := openStore(t, t.TempDir())
			want, err := importHeavy(t.Context(), whole, scattered, func() {})
			if err != nil {
				t.Fatal(err)
			}
			steps := 0
			for died := true; died; steps += testlevel.Of(1, 3, 1) {
				dir := t.TempDir()
				if died = killedAt(t, dir, work, steps); died {
					killedAt(t, dir, work, steps) // while it continues
				}
				if seen := seenWithoutRecovery(t, dir); seen != 0 && seen != heavyRecords {
					t.Fatalf("killed at step %d: a reader sees %d rows, want none or all", steps, seen)
				}
				s := openStore(t, dir)
				got, err := importHeavy(t.Context(), s, scattered, func() {})
				if err != nil {
					t.Fatalf("killed at step %d: %v", steps, err)
				}
				if got.Known == 0 { // otherwise it was killed after the commit
					checkSameReport(t, want, got)
				}
				checkSameFiles(t, whole, s)
			}
			dir := t.TempDir()
			if !killedAtStep(t, dir, work, afterCheckpoint) {
				t.Fatal("the import made no checkpoint")
			}
			s := openStore(t, dir)
			got, err := importHeavy(t.Context(), s, scattered, func() {})
			if err != nil || got.Resumed == 0 {
				t.Errorf("killed after a checkpoint: continued after %d lines, %v", got.Resumed, err)
			}
			checkSameFiles(t, whole, s)
		})
	}
}

// checkSameReport checks that an import that continued reports the same as one that was not interrupted.
func checkSameReport(t *testing.T, want, got ingest.Report) {
	t.Helper()
	ignored := cmpopts.IgnoreFields(ingest.Report{}, "Resumed", "Elapsed", "Quarantine")
	if diff := cmp.Diff(want, got, ignored); diff != "" {
		t.Errorf("report of the import that continued:\n%s", diff)
	}
}

// checkSameFiles checks that two data directories have the same objects and the same quarantine, and that the second one
// has no files of unfinished imports.
func checkSameFiles(t *testing.T, whole, s *Store) {
	t.Helper()
	for _, folder := range []string{"lake/fresh", "quarantine"} {
		want, got := contents(t, filepath.Join(whole.dir, folder)), contents(t, filepath.Join(s.dir, folder))
		if len(want) == 0 || !maps.Equal(want, got) {
			t.Errorf("%s differs from that of an import that was not interrupted", folder)
		}
	}
	checkNothingLeft(t, s)
}

// checkNothingLeft checks that a data directory has no files of unfinished imports.
func checkNothingLeft(t *testing.T, s *Store) {
	t.Helper()
	for _, dir := range []string{s.stagingRoot(), s.unfinishedDir()} {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) || len(entries) > 0 {
			t.Errorf("%s has %v, %v", dir, entries, err)
		}
	}
}

// contents returns the contents of the files in a folder by their paths.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(folder), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(folder, path))
		files[path] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// afterCheckpoint is the step at which an import can be continued.
const afterCheckpoint = "import: after a checkpoint"

// interrupt imports a log until its twelfth record, and until a checkpoint is saved.
func interrupt(t *testing.T, s *Store, log io.Reader, options ingest.Options) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	saved := make(chan struct{})
	var once sync.Once
	s.onStep = func(step string) {
		if step == afterCheckpoint {
			once.Do(func() { close(saved) })
		}
	}
	options.Complete = func(row *lake.Row) error {
		if *row.RequestID != "r12" {
			return nil
		}
		<-saved
		cancel()
		return ctx.Err()
	}
	_, err := s.Import(ctx, "heavy", log, options)
	if s.onStep = nil; !errors.Is(err, context.Canceled) {
		t.Fatalf("import ended with %v", err)
	}
}

func TestInterruptedImportContinues(t *testing.T) {
	text := heavy(16, 1)
	whole := openStore(t, t.TempDir())
	want, err := whole.Import(t.Context(), "heavy", strings.NewReader(text), frequent())
	if err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func() io.Reader{
		"file": func() io.Reader { return strings.NewReader(text) },
		"gzip": func() io.Reader { return strings.NewReader(zipped(text)) },
		"pipe": func() io.Reader { return io.MultiReader(strings.NewReader(text)) },
	} {
		t.Run(name, func(t *testing.T) {
			s := openStore(t, t.TempDir())
			interrupt(t, s, open(), frequent())
			if rows := rowsOf(t, s); len(rows) > 0 {
				t.Errorf("a reader sees %d rows of the unfinished import", len(rows))
			}
			got := importOften(t, s, "heavy", open())
			if got.Resumed == 0 {
				t.Error("the import began anew")
			}
			checkSameReport(t, want, got)
			checkSameFiles(t, whole, s)
			again := importOften(t, s, "heavy", open())
			if again.Known != got.Records+got.RejectedLines() || again.Resumed != 0 {
				t.Errorf("imported again: %+v", again)
			}
		})
	}
}

// importOften imports a log with frequent checkpoints.
func importOften(t *testing.T, s *Store, name string, log io.Reader) ingest.Report {
	t.Helper()
	report, err := s.Import(t.Context(), name, log, frequent())
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestInterruptedImportOfGrownLogContinues(t *testing.T) {
	before, text := heavy(4, 0), heavy(16, 0)
	whole, s := openStore(t, t.TempDir()), openStore(t, t.TempDir())
	importOften(t, whole, "heavy", strings.NewReader(before))
	want := importOften(t, whole, "heavy", strings.NewReader(text))
	importOften(t, s, "heavy", strings.NewReader(before))
	interrupt(t, s, strings.NewReader(text), frequent())
	got := importOften(t, s, "heavy", strings.NewReader(text))
	if got.Known != 5 || got.Resumed == 0 || got.Resumed >= 15 {
		t.Errorf("%d lines known, continued after %d", got.Known, got.Resumed)
	}
	checkSameReport(t, want, got)
	checkSameFiles(t, whole, s)
}

// TestUnfinishedImportDoesNotFit has imports that must not continue, and the same one, which must.
func TestUnfinishedImportDoesNotFit(t *testing.T) {
	text := heavy(16, 0)
	unchanged := func(*testing.T, *Store, *ingest.Options) {}
	tests := []struct {
		name    string
		text    string
		change  func(t *testing.T, s *Store, options *ingest.Options)
		resumes bool
	}{
		{"nothing has changed", text, unchanged, true},
		{"the log has grown", text + heavy(1, 0), unchanged, true},
		{"another log with the same first line was imported", text, func(t *testing.T, s *Store, _ *ingest.Options) {
			importOften(t, s, "other", strings.NewReader(heavy(2, 0)))
		}, true},
		{"the log is shorter", heavy(1, 0), unchanged, false},
		{"the log has another text", strings.Replace(text, "r1\"", "r7\"", 1), unchanged, false},
		{"other values are set", text, func(_ *testing.T, _ *Store, options *ingest.Options) {
			options.Defaults = []ingest.Default{{Field: "host", Value: "shop.example"}}
		}, false},
		{"a file is missing", text, func(t *testing.T, s *Store, _ *ingest.Options) {
			files, err := filepath.Glob(filepath.Join(s.unfinishedDir(), "*", "*.parquet"))
			if err != nil || len(files) == 0 {
				t.Fatal(files, err)
			}
			if err := os.Remove(files[0]); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"the checkpoint is damaged", text, func(t *testing.T, s *Store, _ *ingest.Options) {
			files, err := filepath.Glob(filepath.Join(s.unfinishedDir(), "*", "checkpoint.json"))
			if err != nil || len(files) != 1 {
				t.Fatal(files, err)
			}
			if err := os.WriteFile(files[0], []byte(`{"Form":1,`), 0o600); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"it is too old", text, func(t *testing.T, s *Store, _ *ingest.Options) {
			entries, err := filepath.Glob(filepath.Join(s.unfinishedDir(), "*"))
			if err != nil || len(entries) != 1 {
				t.Fatal(entries, err)
			}
			old := testTime.Add(-8 * 24 * time.Hour)
			if err := os.Chtimes(entries[0], old, old); err != nil {
				t.Fatal(err)
			}
			if err := s.pruneUnfinished(t.Context()); err != nil {
				t.Fatal(err)
			}
		}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := openStore(t, t.TempDir())
			interrupt(t, s, strings.NewReader(text), frequent())
			options := frequent()
			test.change(t, s, &options)
			got, err := s.Import(t.Context(), "heavy", strings.NewReader(test.text), options)
			if err != nil {
				t.Fatal(err)
			}
			if resumed := got.Resumed > 0; resumed != test.resumes {
				t.Errorf("continued after %d lines", got.Resumed)
			}
			if want := int64(strings.Count(test.text, "padding")); got.Records != want {
				t.Errorf("%d records, want %d", got.Records, want)
			}
			checkNothingLeft(t, s)
		})
	}
}

// TestCheckpointsOfManyHours has the rows of many hours in memory at each checkpoint. An object for each of them would
// be very small.
func TestCheckpointsOfManyHours(t *testing.T) {
	const hours = 100
	var log strings.Builder
	for i := range 100 * hours {
		at := testTime.Unix() + int64(i%hours)*3600
		fmt.Fprintf(&log, `{"processing_stage":6,"timestamp":%d,"request_id":"r%d","path":"/%0100d"}`+"\n", at, i, i)
	}
	options := ingest.Options{Checkpoints: ingest.Checkpoints{Every: 500_000}}
	if report := importText(t, openStore(t, t.TempDir()), log.String(), options); report.Objects != hours {
		t.Errorf("%d objects", report.Objects)
	}
}

func TestForgetRemovesUnfinishedImport(t *testing.T) {
	s := openStore(t, t.TempDir())
	known := importOften(t, s, "heavy", strings.NewReader(heavy(4, 0)))
	interrupt(t, s, strings.NewReader(heavy(16, 0)), frequent())
	if _, err := s.Forget(t.Context(), known.Source); err != nil {
		t.Fatal(err)
	}
	checkNothingLeft(t, s)
}

func TestRefusedImportLeavesNothingToContinue(t *testing.T) {
	s := openStore(t, t.TempDir())
	whole := zipped(heavy(16, 0))
	_, err := s.Import(t.Context(), "heavy", strings.NewReader(whole[:len(whole)-4]), frequent())
	if err == nil {
		t.Fatal("a log that is cut off was imported")
	}
	checkNothingLeft(t, s)
}
