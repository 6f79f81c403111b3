package backup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/shared/testkit/killed"
	"github.com/orrery/orrery/shared/testkit/testlevel"
)

// background is the context of the works.
var background = context.Background()

// works holds the pieces of work of a child process, which killed.Before starts. Each makes or restores a backup.
var works = map[string]func(from, to string, o Options) error{
	"folder": func(from, to string, o Options) error {
		_, err := ToFolder(background, from, to, o)
		return err
	},
	"file": func(from, to string, o Options) error {
		_, err := ToFile(background, from, to, o)
		return err
	},
	"restore": func(from, to string, o Options) error { return restoreInto(background, from, to, o) },
}

func TestMain(m *testing.M) {
	child := killed.Child()
	if child == nil {
		os.Exit(m.Run())
	}
	o := options()
	o.onStep = killed.Step
	if err := works[child[0]](child[1], child[2], o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// killedAt runs a child process and reports whether it died at the step.
func killedAt(t *testing.T, work, from, to string, step int) bool {
	t.Helper()
	_, died := killed.Before(t, strconv.Itoa(step), work, from, to)
	return died
}

func copyOf(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// contentOf returns the number of records of a backup that is complete, or 0 if there is none.
func contentOf(t *testing.T, path string) int64 {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		return 0
	}
	m, err := verified(t, path)
	if err != nil && !strings.Contains(err.Error(), manifestName+" is missing") {
		t.Fatal(err)
	}
	return m.Records
}

// TestBackupKilledAtAnyStep: the backup before is complete until the new one is, and the next run completes it.
func TestBackupKilledAtAnyStep(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: skipped with -short, for the race detector")
	}
	data := filled(t)
	folder, file := filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "backup.tar")
	toFolder(t, data, folder)
	if _, err := ToFile(t.Context(), data, file, options()); err != nil {
		t.Fatal(err)
	}
	onProduct(t, data, func(p *local.Product) {
		importLog(t, p.Store, "d.log", records("d.example", 9, 10)+"no record\n")
		compact(t, p.Store)
	})
	want := answers(t, data)
	for name, test := range map[string]struct {
		work, before string
		records      int64
		least        int
	}{
		"a first one in a folder": {"folder", "", 0, 15},
		"a next one in a folder":  {"folder", folder, 500, 15},
		"a first file":            {"file", "", 0, 5},
		"a next file":             {"file", file, 500, 5},
	} {
		t.Run(name, func(t *testing.T) {
			steps := 0
			for died := true; died; steps += testlevel.Of(1, 3, 1) {
				dir := t.TempDir()
				to := filepath.Join(dir, "backup.tar")
				switch test.before {
				case folder:
					to = copyOf(t, folder)
				case file:
					dir = copyOf(t, filepath.Dir(file))
					to = filepath.Join(dir, "backup.tar")
				}
				died = killedAt(t, test.work, data, to, steps)
				if got := contentOf(t, to); got != test.records && got != 510 {
					t.Fatalf("killed at step %d: the backup has %d records", steps, got)
				}
				if err := works[test.work](data, to, options()); err != nil {
					t.Fatalf("killed at step %d, the next run: %v", steps, err)
				}
				if got := contentOf(t, to); got != 510 {
					t.Fatalf("killed at step %d: the next run has %d records", steps, got)
				}
				for _, left := range []string{filepath.Join(to, scratchName), to + ".tmp"} {
					if _, err := os.Stat(left); err == nil {
						t.Errorf("killed at step %d: %s is left", steps, left)
					}
				}
				if steps%5 == 0 || !died {
					if diff := cmp.Diff(want, answers(t, restore(t, to))); diff != "" {
						t.Errorf("killed at step %d: restored data answers differently:\n%s", steps, diff)
					}
				}
			}
			if steps < test.least {
				t.Errorf("%d steps, want at least %d", steps, test.least)
			}
		})
	}
}

// TestRestoreKilledAtAnyStep: no program opens a folder that is not complete, and the next run completes it.
func TestRestoreKilledAtAnyStep(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: skipped with -short, for the race detector")
	}
	data, folder := filled(t), filepath.Join(t.TempDir(), "backup")
	toFolder(t, data, folder)
	want, steps := answers(t, data), 0
	for died := true; died; steps += testlevel.Of(1, 3, 1) {
		to := filepath.Join(t.TempDir(), "restored")
		died = killedAt(t, "restore", folder, to, steps)
		opened, err := local.Open(t.Context(), to)
		if err == nil {
			if err := opened.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if died && (err == nil || !strings.Contains(err.Error(), "run orrery restore again")) {
			t.Fatalf("killed at step %d: %v", steps, err)
		}
		if !died {
			break
		}
		if err := restoreInto(t.Context(), folder, to, options()); err != nil {
			t.Fatalf("killed at step %d, the next run: %v", steps, err)
		}
		if steps%4 > 0 { // the other steps show that it opens
			continue
		}
		if diff := cmp.Diff(want, answers(t, to)); diff != "" {
			t.Fatalf("killed at step %d: restored data answers differently:\n%s", steps, diff)
		}
	}
	if steps < 10 {
		t.Errorf("%d steps, want at least 10", steps)
	}
}
