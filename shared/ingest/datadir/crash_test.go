package datadir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir/ledgersqlite"
	"github.com/orrery/orrery/shared/ingest/datadir/manifest"
)

// The crash tests start this test binary again as a process of its own, which does one piece of work on a data
// directory and kills itself, as kill -9 does, at the n-th step. Environment variables say which.
const (
	crashWork = "ORRERY_TEST_CRASH_WORK"
	crashDir  = "ORRERY_TEST_CRASH_DIR"
	crashStep = "ORRERY_TEST_CRASH_STEP"
)

// works is what a child can do.
var works = map[string]func(context.Context, *Store, func()) error{
	"import": func(ctx context.Context, s *Store, step func()) error {
		text := sparse(0, 2) + "garbage\n" + sparse(3, 6)
		_, err := s.Import(ctx, "log", strings.NewReader(text), ingest.Options{Progress: func(ingest.Progress) { step() }})
		return err
	},
	"grow": func(ctx context.Context, s *Store, step func()) error {
		text := sparse(0, 2) + "garbage\n" + sparse(3, 6) + sparse(9, 6)
		_, err := s.Import(ctx, "log", strings.NewReader(text), ingest.Options{Progress: func(ingest.Progress) { step() }})
		return err
	},
	"compact": func(ctx context.Context, s *Store, _ func()) error {
		_, err := s.Compact(ctx, CompactOptions{Grace: 1})
		return err
	},
}

// sparse makes n records, six an hour from an hour on: what is tested is steps, not rows.
func sparse(first, n int) string {
	var b strings.Builder
	for i := first; i < first+n; i++ {
		fmt.Fprintf(&b, `{"timestamp":%d,"request_id":"r%d"}`+"\n", testTime.Unix()+int64(i)*600, i)
	}
	return b.String()
}

func TestMain(m *testing.M) {
	if work, ok := works[os.Getenv(crashWork)]; ok {
		if err := child(work); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func child(work func(context.Context, *Store, func()) error) error {
	last, err := strconv.Atoi(os.Getenv(crashStep))
	if err != nil {
		return err
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	steps := 0
	step := func(string) {
		if steps++; steps > last {
			if err := self.Kill(); err != nil {
				panic(err)
			}
			select {} // the signal is on its way
		}
	}
	now := testTime
	s, err := Open(context.Background(), os.Getenv(crashDir), ledgersqlite.Open, func() time.Time { now = now.Add(time.Second); return now })
	if err != nil {
		return err
	}
	s.onStep, s.index.OnStep = step, step
	return errors.Join(work(context.Background(), s, func() { step("progress") }), s.Close())
}

// killedAt runs a child and says whether it died at the step.
func killedAt(t *testing.T, dir, work string, step int) bool {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashWork+"="+work, crashDir+"="+dir, crashStep+"="+strconv.Itoa(step))
	var out strings.Builder
	cmd.Stderr = &out
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && !exit.Exited() {
		return true
	}
	if err != nil {
		t.Fatalf("child: %v\n%s", err, out.String())
	}
	return false
}

// do does a work in this process.
func do(t *testing.T, s *Store, work string) {
	t.Helper()
	if err := works[work](t.Context(), s, func() {}); err != nil {
		t.Fatal(err)
	}
}

// prepare makes a data directory in which the works are done.
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
	if err := s.Close(); err != nil { // the database is whole in its file
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

func TestAProcessKilledAtAnyStepLeavesAllOrNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
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
	}
	for _, test := range tests {
		t.Run(test.work+"_after_"+strings.Join(test.earlier, "_"), func(t *testing.T) {
			prepared := prepare(t, test.earlier...)
			want := undisturbed(t, prepared, test.work)
			steps := 0
			for died := true; died; steps++ {
				dir := copyOf(t, prepared)
				died = killedAt(t, dir, test.work, steps)
				if got := seenWithoutRecovery(t, dir); got != test.before && got != test.after {
					t.Fatalf("killed at step %d: a reader sees %d rows, not %d or %d", steps, got, test.before, test.after)
				}
				s := openStore(t, dir)
				do(t, s, test.work)
				if diff := cmp.Diff(want, places(t, s)); diff != "" {
					t.Fatalf("killed at step %d, done again:\n%s", steps, diff)
				}
				if files := tree(t, filepath.Join(dir, "lake", "_staging")); files != "" {
					t.Errorf("killed at step %d: left behind %s", steps, files)
				}
			}
			if steps < 8 {
				t.Errorf("only %d steps", steps)
			}
		})
	}
}

// undisturbed is the rows after the work without any crash.
func undisturbed(t *testing.T, prepared, work string) []string {
	t.Helper()
	s := openStore(t, copyOf(t, prepared))
	do(t, s, work)
	return places(t, s)
}

// seenWithoutRecovery counts what an engine sees that only reads the index.
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
