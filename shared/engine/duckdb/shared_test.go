package duckdb

import (
	"os"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/search/pending"
)

// heavy needs more than 40 MB of memory, and cannot write it to a disk.
const heavy = "SELECT count(*) FROM (SELECT md5(range::VARCHAR) AS k FROM range(600000) GROUP BY k)"

func openShared(t *testing.T, o Options, n int) *Shared {
	t.Helper()
	s, err := OpenShared(o, n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// running takes the engine for a query of a caller, which runs until done is called.
func running(t *testing.T, s *Shared, caller string) (e *Engine, done func()) {
	t.Helper()
	return s.take(engine.WithCaller(t.Context(), caller))
}

// TestOneCallerDoesNotTakeAllMemory: as many queries of one caller as the limiter lets run hold the memory of an engine.
// Queries of another caller succeed nevertheless, if there are two engines.
func TestOneCallerDoesNotTakeAllMemory(t *testing.T) {
	for n, fine := range map[int]bool{1: false, 2: true} {
		s := openShared(t, Options{Threads: 2, MemoryLimit: "100MB"}, n)
		limiter := pending.NewLimiter(pending.Limits{AtOnce: 3, PerCaller: 2, Waiting: 2})
		acquire := func(caller string) {
			t.Helper()
			release, err := limiter.Acquire(t.Context(), caller)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(release)
		}
		for i, statement := range []string{"CREATE TABLE held AS SELECT random() FROM range(9000000)", "SELECT 1"} {
			acquire("a")
			e, done := running(t, s, "a")
			defer done()
			if err := e.Exec(t.Context(), statement); err != nil {
				t.Fatalf("query %d of a: %v", i, err)
			}
		}
		acquire("b")
		for caller, want := range map[string]bool{"a": false, "b": fine} {
			e, done := running(t, s, caller)
			err := e.Exec(t.Context(), heavy)
			done()
			if (err == nil) != want || err != nil && fault.KindOf(e.Classify(err)) != fault.EngineLimit {
				t.Errorf("%d engines: the query of %s: %v", n, caller, err)
			}
		}
	}
}

func TestEnginesOfCallers(t *testing.T) {
	s := openShared(t, Options{Threads: 1, TempDir: t.TempDir()}, 2)
	if s.parts[1].engine != nil {
		t.Error("the second engine was started before it was needed")
	}
	firstOfA, doneA := running(t, s, "a")
	secondOfA, doneA2 := running(t, s, "a")
	ofB, doneB := running(t, s, "b")
	ofC, doneC := running(t, s, "c")
	if firstOfA != secondOfA || ofB == firstOfA || ofC != ofB {
		t.Errorf("a has %p and %p, b has %p, c has %p", firstOfA, secondOfA, ofB, ofC)
	}
	for e, i := range map[*Engine]string{firstOfA: "", ofB: "/1"} {
		var folder string
		row := e.db.QueryRowContext(t.Context(), "SELECT current_setting('temp_directory')")
		if err := row.Scan(&folder); err != nil || !strings.HasSuffix(folder, i) {
			t.Errorf("temporary files are in %s, %v", folder, err)
		}
		if _, err := os.Stat(folder); err != nil {
			t.Error(err)
		}
	}
	for _, done := range []func(){doneA, doneA2, doneB, doneC} {
		done()
	}
	for _, p := range s.parts {
		if p.running != 0 || len(p.callers) != 0 {
			t.Errorf("%d queries of %v run", p.running, p.callers)
		}
	}
	if e, done := running(t, s, "b"); e != firstOfA {
		t.Error("a caller without queries does not get the first free engine")
	} else {
		done()
	}
}

// TestEngineThatCannotStart: if another engine cannot start, the first one answers its queries, and the failure is
// reported once. After some queries the other one is tried again, and once it starts, it answers its queries itself.
func TestEngineThatCannotStart(t *testing.T) {
	var failures []error
	s := openShared(t, Options{Threads: 1, StartFailed: func(err error) { failures = append(failures, err) }}, 2)
	s.options.MemoryLimit = "little"
	first, doneA := running(t, s, "a")
	other, doneB := running(t, s, "b")
	if other != first {
		t.Errorf("b has %p, and the first engine is %p", other, first)
	}
	if err := other.Exec(engine.WithCaller(t.Context(), "b"), "SELECT 1"); err != nil {
		t.Error(err)
	}
	doneB()
	for range 2 * (startAgain + 1) { // it is tried twice more
		_, done := running(t, s, "b")
		done()
	}
	if len(failures) != 1 || !strings.Contains(failures[0].Error(), "little") {
		t.Errorf("failures: %v", failures)
	}
	s.options.MemoryLimit = "100MB"
	for n := range startAgain {
		if other, doneB = running(t, s, "b"); other != first {
			t.Errorf("it is tried again after %d queries", n)
		}
		doneB()
	}
	other, doneB = running(t, s, "b")
	if other == first || other != s.parts[1].engine {
		t.Errorf("b has %p, and the first engine is %p", other, first)
	}
	doneA()
	doneB()
	for i, p := range s.parts {
		if p.running != 0 || len(p.callers) != 0 {
			t.Errorf("engine %d: %d queries of %v run", i, p.running, p.callers)
		}
	}
}
