package scan

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/query"
)

// emptyGroups returns row groups of files without content.
func emptyGroups(t *testing.T, n int) []*group {
	t.Helper()
	groups := make([]*group, n)
	for i := range groups {
		path := filepath.Join(t.TempDir(), fmt.Sprint(i))
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		groups[i] = &group{file: fileVersion{path: path}, number: i, reader: &parquet.ColumnReader{}}
	}
	return groups
}

// scanOf returns the state of a scan of a caller, with one worker.
func scanOf(t *testing.T, caller string, pools *WorkerPools) *run {
	t.Helper()
	r := newRun(engine.WithCaller(t.Context(), caller), query.Query{Shape: query.Timeline{}}, Options{Workers: 1, Pools: pools})
	t.Cleanup(r.giveBack)
	return r
}

// start begins a pass of a scan that ends later.
func start(t *testing.T, r *run, groups []*group, read func(w *worker, i int) error) *pass {
	t.Helper()
	ctx, stop := context.WithCancelCause(t.Context())
	t.Cleanup(func() { stop(nil) })
	p := newPass(ctx, stop, r, groups, read)
	r.pool.begin(p)
	return p
}

// TestScansOfACallerShareRowGroups: while a scan runs, another one of the caller begins at the row group that is being
// read. Each row group that both need is read by one of them after the other, with the same columns. Each row group is
// read once for each scan.
func TestScansOfACallerShareRowGroups(t *testing.T) {
	var pools WorkerPools
	first, second := scanOf(t, "a", &pools), scanOf(t, "a", &pools)
	groups := emptyGroups(t, 5)
	ip, _ := parquet.ColumnOf("ip", "")
	var read []string // name and index, in order
	visit := func(w *worker, name string, i int) {
		after := len(read) > 0 && read[len(read)-1][1:] == fmt.Sprint(i)
		if shared := w.columns[ip] != nil; shared != after {
			t.Errorf("%s%d after %v has the columns of the row group before it: %v", name, i, read, shared)
		}
		w.columns[ip] = &parquet.ColumnValues{}
		read = append(read, fmt.Sprint(name, i))
	}
	var joined *pass
	err := first.scan(t.Context(), groups[:4], func(w *worker, i int) error {
		visit(w, "a", i)
		if i == 1 {
			joined = start(t, second, groups, func(w *worker, i int) error {
				visit(w, "b", i)
				if w.run != second {
					t.Error("the worker reads for the first scan")
				}
				return nil
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	<-joined.done
	once := slices.Clone(read)
	slices.Sort(once)
	if want := []string{"a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3", "b4"}; !slices.Equal(once, want) {
		t.Fatalf("read %v, want each of %v once", read, want)
	}
	for _, i := range []int{1, 2, 3} {
		a, b := slices.Index(read, fmt.Sprint("a", i)), slices.Index(read, fmt.Sprint("b", i))
		if a-b != 1 && b-a != 1 {
			t.Errorf("row group %d is not read for both scans at once: %v", i, read)
		}
	}
}

// TestCallersHaveTheirOwnWorkers: a scan of another caller does not wait for a row group that is being read.
func TestCallersHaveTheirOwnWorkers(t *testing.T) {
	var pools WorkerPools
	groups := emptyGroups(t, 1)
	first, other := scanOf(t, "a", &pools), scanOf(t, "b", &pools)
	err := first.scan(t.Context(), groups, func(*worker, int) error {
		return other.scan(t.Context(), groups, func(*worker, int) error { return nil })
	})
	if err != nil {
		t.Error(err)
	}
}

// TestScansFailAlone: an error, a panic, or the end of the context ends one scan, and not the others of the caller.
func TestScansFailAlone(t *testing.T) {
	broken := errors.New("broken")
	for rule, fail := range map[string]func(stop context.CancelFunc) error{
		"an error":              func(context.CancelFunc) error { return broken },
		"a panic":               func(context.CancelFunc) error { panic(broken) },
		"the end of a context":  func(stop context.CancelFunc) error { stop(); return nil },
		"an error and its end":  func(stop context.CancelFunc) error { stop(); return broken },
		"a canceled context's":  func(stop context.CancelFunc) error { stop(); return context.Canceled },
		"an object that is bad": func(context.CancelFunc) error { return &engine.ObjectError{Path: "x", Err: broken} },
	} {
		t.Run(rule, func(t *testing.T) {
			var pools WorkerPools
			failing, fine := scanOf(t, "a", &pools), scanOf(t, "a", &pools)
			groups := emptyGroups(t, 3)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			var other *pass
			others, reads := 0, 0
			err := failing.scan(ctx, groups, func(*worker, int) error {
				reads++
				other = start(t, fine, groups, func(*worker, int) error { others++; return nil })
				return fail(stop)
			})
			<-other.done
			if err == nil || reads != 1 {
				t.Errorf("the scan reads %d row groups and ends with %v", reads, err)
			}
			if others != len(groups) || other.ctx.Err() != nil {
				t.Errorf("the other scan reads %d of %d row groups: %v", others, len(groups), other.ctx.Err())
			}
		})
	}
}

// TestCrewsEnd: nothing is left of a caller without scans.
func TestCrewsEnd(t *testing.T) {
	var pools WorkerPools
	first, second := scanOf(t, "a", &pools), scanOf(t, "a", &pools)
	if first.pool != second.pool {
		t.Error("two scans of a caller have different workers")
	}
	first.giveBack()
	if third := scanOf(t, "a", &pools); third.pool != second.pool {
		t.Error("the workers are gone while a scan has them")
	}
	second.giveBack()
	if len(pools.byCaller) != 1 {
		t.Errorf("%d callers have workers, want the one with a third scan", len(pools.byCaller))
	}
}
