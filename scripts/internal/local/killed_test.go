package local_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/scripts/internal/local"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/datadir"
	"github.com/orrery/orrery/shared/testkit/killed"
	"github.com/orrery/orrery/shared/testkit/testlevel"
	"github.com/orrery/orrery/shared/wholefile"
)

// works are what a child process of killed.Before does. Each calls step between two steps that no package reports.
var works = map[string]func(ctx context.Context, p *local.Product, step func(name string)) error{
	"compact": func(ctx context.Context, p *local.Product, step func(string)) error {
		if _, err := p.Store.Compact(ctx, datadir.CompactOptions{}); err != nil {
			return err
		}
		step("before rolling up")
		_, err := p.RollUp(ctx, func(done, total int) { step(fmt.Sprintf("after %d of %d days and weeks", done, total)) })
		return err
	},
	"forget": func(ctx context.Context, p *local.Product, step func(string)) error {
		imports, err := p.Store.Imports(ctx)
		if err != nil {
			return err
		}
		for _, i := range imports {
			if i.Name == "late" && i.Forgotten.IsZero() {
				if _, err := p.Store.Forget(ctx, i.ID); err != nil {
					return err
				}
			}
		}
		step("before the rollups are renewed")
		return p.RenewRollups(ctx)
	},
}

// workInChild does the work of a child process, and exits. In any other process, it does nothing.
func workInChild() {
	child := killed.Child()
	if child == nil {
		return
	}
	if err := inChild(child[0], child[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func inChild(folder, work string) error {
	ctx := context.Background()
	product, err := local.Open(ctx, folder)
	if err != nil {
		return err
	}
	product.Store.Index().OnStep = killed.Step
	wholefile.OnStep = func(name, path string) { killed.Step(name + ": " + filepath.Base(path)) }
	return errors.Join(works[work](ctx, product, killed.Step), product.Close())
}

// TestRollUpKilledAtAnyStep kills a process between all steps of compaction and rolling up, also of late records, and
// of forgetting. The next process answers as if there were no rollups, and completes them.
func TestRollUpKilledAtAnyStep(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: skipped with -short, for the race detector")
	}
	imported := t.TempDir()
	changeData(t, imported, func(p *local.Product) {
		importDays(t, p, "a.example", "2026-01-01", "2026-01-05", "2026-01-09", "2026-01-12", "2026-01-20")
		importDays(t, p, "b.example", "2026-01-05", "2026-01-09", "2026-01-12")
	})
	rolledUp := copyOf(t, imported)
	changeData(t, rolledUp, func(p *local.Product) {
		doWork(t, p, "compact")
		importDays(t, p, "late", "2026-01-09", "2026-01-13")
	})
	complete := copyOf(t, rolledUp)
	changeData(t, complete, func(p *local.Product) { doWork(t, p, "compact") })
	for _, test := range []struct{ name, work, prepared string }{
		{"the first rollups", "compact", imported},
		{"late records", "compact", rolledUp},
		{"forgotten records", "forget", complete},
	} {
		t.Run(test.name, func(t *testing.T) {
			allowed := []string{answersFromRecords(t, test.prepared)}
			undisturbed := copyOf(t, test.prepared)
			changeData(t, undisturbed, func(p *local.Product) {
				doWork(t, p, test.work)
				doWork(t, p, "compact")
			})
			after, want := answersFromRecords(t, undisturbed), rollupsIn(t, undisturbed)
			if allowed = append(allowed, after); (allowed[0] == after) != (test.work == "compact") {
				t.Fatal("compaction changes no answer, and forgetting does")
			}
			steps := 0
			for died := true; died; steps += testlevel.Of(1, 5, 1) {
				folder := copyOf(t, test.prepared)
				var name string
				name, died = killed.Before(t, strconv.Itoa(steps), folder, test.work)
				changeData(t, folder, func(p *local.Product) {
					if got := answersOf(t, p); !slices.Contains(allowed, got) {
						t.Errorf("killed at %d, %s: wrong answers: %s", steps, name, got)
					}
					doWork(t, p, test.work)
					doWork(t, p, "compact")
					p.Forget()
					if got := answersOf(t, p); got != after {
						t.Errorf("killed at %d, %s: wrong answers after the next run: %s", steps, name, cmp.Diff(after, got))
					}
					report, err := p.RollUp(t.Context(), nil)
					if err != nil || report != (local.RollUpReport{}) {
						t.Errorf("killed at %d, %s: after the next run, %+v was not rolled up, %v", steps, name, report, err)
					}
				})
				if diff := cmp.Diff(want, rollupsIn(t, folder)); diff != "" {
					t.Errorf("killed at %d, %s: rollups (-want +got):\n%s", steps, name, diff)
				}
			}
			if steps < 8 {
				t.Errorf("%d steps, want at least 8", steps)
			}
			t.Logf("killed at up to %d steps", steps)
		})
	}
}

// changeData calls change with the product over a folder.
func changeData(t *testing.T, folder string, change func(p *local.Product)) {
	t.Helper()
	product, err := local.Open(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	change(product)
	if err := product.Close(); err != nil { // after Close the databases are complete in their files
		t.Fatal(err)
	}
}

func doWork(t *testing.T, p *local.Product, work string) {
	t.Helper()
	if err := works[work](t.Context(), p, func(string) {}); err != nil {
		t.Fatal(err)
	}
}

// importDays imports a record of each day, whose host and branch have the name of the log.
func importDays(t *testing.T, p *local.Product, name string, days ...string) {
	t.Helper()
	var text strings.Builder
	for _, day := range days {
		text.WriteString(`{"timestamp":"` + day + `T10:00:00Z","ip":"192.0.2.1","path":"/","host":"` + name + `","branch":"` + name + `","status":200}` + "\n")
	}
	if _, err := p.Store.Import(t.Context(), name, strings.NewReader(text.String()), ingest.Options{}); err != nil {
		t.Fatal(err)
	}
}

func copyOf(t *testing.T, folder string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	return to
}

// answersOf returns answers that rollups of days and weeks, and of branches, can give.
func answersOf(t *testing.T, p *local.Product) string {
	t.Helper()
	var all strings.Builder
	for _, filter := range []string{
		"timestamp between 2026-01-01 and 2026-01-20 23:59:59.999",
		`timestamp between 2026-01-05 and 2026-01-18 23:59:59.999, branch="b.example"`,
		`timestamp between 2026-01-05 and 2026-01-18 23:59:59.999, branch in ("b.example","late")`,
	} {
		for _, of := range []struct{ route, parameters string }{
			{"stats", "&segment=86400"}, {"timeline", "&segment=86400"}, {"topx", ""}, {"facets", ""},
		} {
			data, _, _ := bytes.Cut(askedData(t, p, of.route, filter, of.parameters).Body.Bytes(), []byte(`,"meta":`))
			fmt.Fprintf(&all, "%s %s\n", of.route, data)
		}
	}
	return all.String()
}

// answersFromRecords returns the answers that the data of a folder gives without rollups.
func answersFromRecords(t *testing.T, folder string) (answers string) {
	t.Helper()
	folder = copyOf(t, folder)
	if err := os.RemoveAll(filepath.Join(folder, local.RollupsFolder)); err != nil {
		t.Fatal(err)
	}
	changeData(t, folder, func(p *local.Product) { answers = answersOf(t, p) })
	return answers
}

// rollupsIn lists the rollups of a folder. Files that were being written are left out.
func rollupsIn(t *testing.T, folder string) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(filepath.Join(folder, local.RollupsFolder)), ".", func(name string, _ fs.DirEntry, err error) error {
		if !strings.HasSuffix(name, wholefile.Extension) {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
