package datadir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir/ledgersqlite"
	"github.com/orrery/orrery/shared/ingest/datadir/manifest"
	"github.com/orrery/orrery/shared/testkit/killed"
	"github.com/orrery/orrery/shared/testkit/testlevel"
)

// works holds the pieces of work of a child process, which killed.Before starts. Each works on a data directory.
var works = map[string]func(context.Context, *Store, func()) error{
	"import": func(ctx context.Context, s *Store, step func()) error {
		text := sparse(0, 2) + "garbage\n" + sparse(3, 6)
		return importStepwise(ctx, s, text, step)
	},
	"grow": func(ctx context.Context, s *Store, step func()) error {
		text := sparse(0, 2) + "garbage\n" + sparse(3, 6) + sparse(9, 6)
		return importStepwise(ctx, s, text, step)
	},
	"other": func(ctx context.Context, s *Store, _ func()) error {
		_, err := s.Import(ctx, "other", strings.NewReader(sparse(0, 8)), ingest.Options{})
		return err
	},
	"mixed": func(ctx context.Context, s *Store, _ func()) error {
		_, err := s.Import(ctx, "mixed", strings.NewReader(sparse(0, 8)+"garbage\n"+accessLines(1)), ingest.Options{})
		return err
	},
	"whole": func(ctx context.Context, s *Store, _ func()) error {
		options := ingest.Options{Format: "orrery"}
		_, err := s.Import(ctx, "log", strings.NewReader(sparse(0, 8)+accessLines(1)), options)
		return err
	},
	"retry": func(ctx context.Context, s *Store, _ func()) error {
		sources, err := s.Imports(ctx)
		if err != nil {
			return err
		}
		_, err = s.Retry(ctx, sources[0].ID, ingest.Options{Format: "combined"})
		if fault.KindOf(err) == fault.NotFound {
			return nil // all lines have left the quarantine
		}
		return err
	},
	"forget": func(ctx context.Context, s *Store, _ func()) error {
		sources, err := s.Imports(ctx)
		for _, source := range sources {
			if source.Log == "log" {
				_, failed := s.Forget(ctx, source.ID)
				err = errors.Join(err, failed)
			}
		}
		return err
	},
	"compact": func(ctx context.Context, s *Store, _ func()) error {
		_, err := s.Compact(ctx, CompactOptions{Grace: 1})
		return err
	},
	"expire": func(ctx context.Context, s *Store, _ func()) error { return expireAndSweep(ctx, s) },
	"heavy": func(ctx context.Context, s *Store, step func()) error {
		_, err := importHeavy(ctx, s, false, step)
		return err
	},
	"scattered": func(ctx context.Context, s *Store, step func()) error {
		_, err := importHeavy(ctx, s, true, step)
		return err
	},
}

// importStepwise imports a log. Every call of Options.Progress is a step.
func importStepwise(ctx context.Context, s *Store, text string, step func()) error {
	options := ingest.Options{Progress: func(ingest.Progress) { step() }}
	_, err := s.Import(ctx, "log", strings.NewReader(text), options)
	return err
}

// sparse returns n records, six an hour: the tests are about steps, not rows.
func sparse(first, n int) string {
	var b strings.Builder
	for i := first; i < first+n; i++ {
		fmt.Fprintf(&b, `{"processing_stage":6,"timestamp":%d,"request_id":"r%d"}`+"\n", testTime.Unix()+int64(i)*600, i)
	}
	return b.String()
}

func TestMain(m *testing.M) {
	child := killed.Child()
	if child == nil {
		os.Exit(m.Run())
	}
	if err := inChild(works[child[0]], child[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func inChild(work func(context.Context, *Store, func()) error, dir string) error {
	now := testTime
	clock := func() time.Time {
		now = now.Add(time.Second)
		return now
	}
	s, err := Open(context.Background(), dir, ledgersqlite.Open, clock)
	if err != nil {
		return err
	}
	s.onStep, s.index.OnStep = killed.Step, killed.Step
	return errors.Join(work(context.Background(), s, func() { killed.Step("progress") }), s.Close())
}

// killedAt runs a child process and reports whether it died at the step with that number.
func killedAt(t *testing.T, dir, work string, step int) bool {
	t.Helper()
	return killedAtStep(t, dir, work, strconv.Itoa(step))
}

// killedAtStep runs a child process and reports whether it died at the step with that number or name.
func killedAtStep(t *testing.T, dir, work, step string) bool {
	t.Helper()
	_, died := killed.Before(t, step, work, dir)
	return died
}

// do does a piece of work in this process.
func do(t *testing.T, s *Store, work string) {
	t.Helper()
	if err := works[work](t.Context(), s, func() {}); err != nil {
		t.Fatal(err)
	}
}

// prepare returns a data directory in which the earlier pieces of work have been done.
func prepare(t *testing.T, earlier ...string) string {
	t.Helper()
	dir := t.TempDir()
	s, err := Open(t.Context(), dir, ledgersqlite.Open, func() time.Time { return testTime })
	if err != nil {
		t.Fatal(err)
	}
	for _, work := range earlier {
		do(t, s, work)
	}
	if err := s.Close(); err != nil { // after Close the database is complete in its file
		t.Fatal(err)
	}
	return dir
}

func copyOf(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

func TestProcessKilledAtAnyStep(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: skipped with -short, for the race detector")
	}
	tests := []struct {
		work          string
		earlier       []string
		before, after int // rows
	}{
		{"import", nil, 0, 8},
		{"grow", []string{"import"}, 8, 14},
		{"grow", []string{"import", "compact"}, 8, 14},
		{"compact", []string{"import", "grow"}, 14, 14},
		{"forget", []string{"import", "other"}, 16, 8},
		{"forget", []string{"import", "other", "compact", "grow"}, 22, 8},
		{"import", []string{"import", "other", "compact", "forget"}, 8, 16},
		{"retry", []string{"mixed"}, 8, 9},
		{"retry", []string{"whole", "other"}, 16, 17},
		{"forget", []string{"whole", "retry", "compact"}, 9, 0},
	}
	for _, test := range tests {
		t.Run(test.work+" after "+strings.Join(test.earlier, " and "), func(t *testing.T) {
			prepared := prepare(t, test.earlier...)
			want := undisturbed(t, prepared, test.work)
			steps := 0
			for died := true; died; steps += testlevel.Of(1, 5, 1) {
				dir := copyOf(t, prepared)
				died = killedAt(t, dir, test.work, steps)
				if got := seenWithoutRecovery(t, dir); got != test.before && got != test.after {
					t.Fatalf("killed at step %d: a reader sees %d rows, want %d or %d",
						steps, got, test.before, test.after)
				}
				s := openStore(t, dir)
				do(t, s, test.work)
				if diff := cmp.Diff(want, places(t, s)); diff != "" {
					t.Fatalf("killed at step %d, rows after the next run:\n%s", steps, diff)
				}
				if files := tree(t, filepath.Join(dir, "lake", "_staging")); files != "" {
					t.Errorf("killed at step %d: files are left: %s", steps, files)
				}
			}
			if steps < 8 {
				t.Errorf("%d steps, want at least 8", steps)
			}
		})
	}
}

// undisturbed returns the rows after the work without a crash.
func undisturbed(t *testing.T, prepared, work string) []string {
	t.Helper()
	s := openStore(t, copyOf(t, prepared))
	do(t, s, work)
	return places(t, s)
}

// seenWithoutRecovery counts the rows that an engine sees, which only reads the index.
func seenWithoutRecovery(t *testing.T, dir string) int {
	t.Helper()
	index, err := manifest.Open(filepath.Join(dir, "lake"))
	if err != nil {
		t.Fatal(err)
	}
	n, err := countRows(&Store{index: index})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
