package manifest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/filelock"
	"github.com/orrery/orrery/shared/lake"
)

// noon is the hour of most objects of the tests.
var noon = lake.PartitionOf(time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC).UnixMilli())

// objectIn returns an object of ten rows in an hour.
func objectIn(p lake.Partition, source string) lake.Object {
	return lake.Object{
		Path: lake.ObjectName(p, source, 0), Partition: p, Rows: 10, Bytes: 1000,
		MinTsMs: p.Start() + 1, MaxTsMs: p.Start() + 99, ColumnBytes: map[string]int64{"ip": 7},
	}
}

func nameOf(o lake.Object) Name { return Name{Partition: o.Partition, Name: o.Path} }

func open(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func publish(t *testing.T, s *Store, c Change) {
	t.Helper()
	u, err := s.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(u.Publish(c), u.Close()); err != nil {
		t.Fatal(err)
	}
}

// names returns the names of the objects of a store.
func names(t *testing.T, s *Store, from, to lake.Partition) []string {
	t.Helper()
	objects, err := s.Objects(t.Context(), from, to)
	if err != nil {
		t.Fatal(err)
	}
	list := []string{}
	for _, o := range objects {
		name, err := filepath.Rel(s.dir, o.Path)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, filepath.ToSlash(name))
	}
	return list
}

func TestPublishIsVisibleToOtherStores(t *testing.T) {
	dir := t.TempDir()
	writer, reader := open(t, dir), open(t, dir)
	a, b, c := objectIn(noon, "a"), objectIn(noon+1, "b"), objectIn(noon+1, "a")
	publish(t, writer, Change{Add: []lake.Object{a, b}})
	if diff := cmp.Diff([]string{a.Path, b.Path}, names(t, reader, noon, noon+1)); diff != "" {
		t.Fatal(diff)
	}
	publish(t, writer, Change{Add: []lake.Object{c}})
	if diff := cmp.Diff([]string{c.Path, b.Path}, names(t, reader, noon+1, noon+1)); diff != "" {
		t.Fatalf("objects are listed by path:\n%s", diff)
	}
	if diff := cmp.Diff([]string{a.Path}, names(t, reader, 0, noon)); diff != "" {
		t.Fatal(diff)
	}
	got, err := reader.Objects(t.Context(), noon, noon)
	if err != nil {
		t.Fatal(err)
	}
	want := a
	want.Path, want.FirstChange, want.LastChange = filepath.Join(dir, filepath.FromSlash(a.Path)), 1, 1
	if diff := cmp.Diff([]lake.Object{want}, got); diff != "" {
		t.Error(diff)
	}
	hours, err := reader.Hours(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]lake.Partition{noon, noon + 1}, hours); diff != "" {
		t.Error(diff)
	}
}

func TestExtentFollowsTheObjects(t *testing.T) {
	s := open(t, t.TempDir())
	extent := func() lake.Extent {
		e, err := s.Extent(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	if got := extent(); got != (lake.Extent{}) {
		t.Errorf("empty lake: %+v", got)
	}
	early, late := objectIn(noon-5, "a"), objectIn(noon, "a")
	publish(t, s, Change{Add: []lake.Object{late}})
	publish(t, s, Change{Add: []lake.Object{early}})
	if got, want := extent(), (lake.Extent{MinTsMs: early.MinTsMs, MaxTsMs: late.MaxTsMs, Rows: 20}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	publish(t, s, Change{Remove: []Name{nameOf(early)}})
	if got, want := extent(), (lake.Extent{MinTsMs: late.MinTsMs, MaxTsMs: late.MaxTsMs, Rows: 10}); got != want {
		t.Errorf("after removal: got %+v, want %+v", got, want)
	}
}

// TestObjectsHaveTheChangesOfTheirRows: an object of an import has the number of its publication, and an object that
// replaces others those of their rows. Objects that an earlier version has published have none.
func TestObjectsHaveTheChangesOfTheirRows(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	changes := func(from, to lake.Partition) map[string][2]int64 {
		t.Helper()
		objects, err := open(t, dir).Objects(t.Context(), from, to) // as another process reads it
		if err != nil {
			t.Fatal(err)
		}
		found := map[string][2]int64{}
		for _, o := range objects {
			found[strings.TrimSuffix(filepath.Base(o.Path), "-0.parquet")] = [2]int64{o.FirstChange, o.LastChange}
		}
		return found
	}
	a, b, c, next := objectIn(noon, "a"), objectIn(noon, "b"), objectIn(noon, "c"), objectIn(noon+1, "next")
	publish(t, s, Change{Add: []lake.Object{a}})
	publish(t, s, Change{Add: []lake.Object{b, next}})
	publish(t, s, Change{Add: []lake.Object{c}})
	want := map[string][2]int64{"a": {1, 1}, "b": {2, 2}, "c": {3, 3}, "next": {2, 2}}
	if diff := cmp.Diff(want, changes(noon, noon+1)); diff != "" {
		t.Fatal(diff)
	}
	merged := objectIn(noon, "merged")
	publish(t, s, Change{Add: []lake.Object{merged}, Remove: []Name{nameOf(b), nameOf(c)}})
	if diff := cmp.Diff(map[string][2]int64{"a": {1, 1}, "merged": {2, 3}}, changes(noon, noon)); diff != "" {
		t.Error(diff)
	}
	file := hourPath(dir, noon)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	earlier := strings.Replace(string(raw), `,"first_change":1,"last_change":1`, "", 1)
	if err := os.WriteFile(file, []byte(earlier), 0o600); err != nil || earlier == string(raw) {
		t.Fatalf("%v: %s", err, raw)
	}
	s = open(t, dir)
	whole := objectIn(noon, "whole")
	if diff := cmp.Diff(map[string][2]int64{"a": {}, "merged": {2, 3}}, changes(noon, noon)); diff != "" {
		t.Error(diff)
	}
	publish(t, s, Change{Add: []lake.Object{whole}, Remove: []Name{nameOf(a), nameOf(merged)}})
	if diff := cmp.Diff(map[string][2]int64{"whole": {0, 3}}, changes(noon, noon)); diff != "" {
		t.Error(diff)
	}
}

func TestHourKeepsSupersededObjects(t *testing.T) {
	s := open(t, t.TempDir())
	at := time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC)
	a, b := objectIn(noon, "a"), objectIn(noon, "b")
	merged := objectIn(noon, "merged")
	publish(t, s, Change{Add: []lake.Object{a, b}})
	publish(t, s, Change{Add: []lake.Object{merged}, Remove: []Name{nameOf(a), nameOf(b)}, At: at})
	hour := readHourOf(t, s, noon)
	want := []SupersededObject{{nameOf(a), at}, {nameOf(b), at}}
	if diff := cmp.Diff(want, hour.Superseded); diff != "" {
		t.Fatal(diff)
	}
	publish(t, s, Change{Add: []lake.Object{a}})
	if diff := cmp.Diff([]string{merged.Path}, names(t, s, noon, noon)); diff != "" {
		t.Fatalf("an object that is published again after its compaction is listed again:\n%s", diff)
	}
	publish(t, s, Change{Forget: []Name{nameOf(a)}})
	if diff := cmp.Diff(want[1:], readHourOf(t, s, noon).Superseded); diff != "" {
		t.Error(diff)
	}
}

func readHourOf(t *testing.T, s *Store, p lake.Partition) Hour {
	t.Helper()
	u, err := s.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h, err := u.Hour(p)
	if err := errors.Join(err, u.Close()); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestPublishRefusesToRemoveUnlistedObjects(t *testing.T) {
	s := open(t, t.TempDir())
	publish(t, s, Change{Add: []lake.Object{objectIn(noon, "a")}})
	u, err := s.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	missing := objectIn(noon, "missing")
	err = u.Publish(Change{Remove: []Name{nameOf(missing)}, Add: []lake.Object{objectIn(noon, "b")}})
	if err == nil || !strings.Contains(err.Error(), missing.Path) {
		t.Errorf("got %v", err)
	}
	if err := u.Close(); err != nil {
		t.Fatal(err)
	}
	if got := names(t, s, noon, noon); len(got) != 1 {
		t.Errorf("a refused change left %v", got)
	}
}

// crash is the value with which the tests panic instead of killing a process.
type crash struct{}

// publishUntil publishes and dies at the n-th step. It leaves the files as a killed process would, and reports whether
// it died.
func publishUntil(t *testing.T, s *Store, c Change, n int) (died bool) {
	t.Helper()
	u, err := s.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		died = recover() != nil
		s.OnStep = nil
		if err := u.Close(); err != nil { // as the kernel would
			t.Fatal(err)
		}
	}()
	steps := 0
	s.OnStep = func(string) {
		if steps++; steps > n {
			panic(crash{})
		}
	}
	if err := u.Publish(c); err != nil {
		t.Fatal(err)
	}
	return false
}

func TestPublishIsAtomicWhenTheWriterDies(t *testing.T) {
	for n, died := 0, true; died; n++ {
		t.Run(fmt.Sprintf("after %d steps", n), func(t *testing.T) {
			dir := t.TempDir()
			writer := open(t, dir)
			publish(t, writer, Change{Add: []lake.Object{objectIn(noon, "old"), objectIn(noon+1, "old")}})
			before := len(names(t, writer, noon, noon+9))
			var add []lake.Object
			for p := noon; p < noon+5; p++ {
				add = append(add, objectIn(p, "new"))
			}
			watching := open(t, dir) // has read the index before the crash
			died = publishUntil(t, writer, Change{Add: add}, n)
			wanted := before + len(add)
			if n == 0 {
				wanted = before // the head was not replaced
			}
			for name, s := range map[string]*Store{"a reader from before": watching, "a new reader": open(t, dir)} {
				if got := len(names(t, s, noon, noon+9)); got != wanted {
					t.Errorf("%s sees %d objects, want %d", name, got, wanted)
				}
			}
			other := open(t, dir)
			publish(t, other, Change{Add: []lake.Object{objectIn(noon+2, "later")}})
			if got := len(names(t, watching, noon, noon+9)); got != wanted+1 {
				t.Errorf("after recovery %d objects, want %d", got, wanted+1)
			}
			extent, err := other.Extent(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if want := int64(wanted+1) * 10; extent.Rows != want {
				t.Errorf("the extent has %d rows, want %d", extent.Rows, want)
			}
		})
	}
}

func TestObjectsDuringPublish(t *testing.T) {
	dir := t.TempDir()
	writer := open(t, dir)
	const hours, rounds = 6, 40
	state := func(round int) (objects []lake.Object) {
		for p := noon; p < noon+hours; p++ {
			objects = append(objects, objectIn(p, fmt.Sprint(round)))
		}
		return objects
	}
	publish(t, writer, Change{Add: state(0)})
	var done sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		reader := open(t, dir)
		done.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				objects, err := reader.Objects(context.Background(), noon, noon+hours)
				if err != nil {
					t.Error(err)
					return
				}
				sources := map[string]bool{}
				for _, o := range objects {
					sources[filepath.Base(o.Path)] = true
				}
				if len(objects) != hours || len(sources) != 1 {
					t.Errorf("a reader saw %d objects of %v", len(objects), sources)
					return
				}
			}
		})
	}
	for round := 1; round <= rounds; round++ {
		var remove []Name
		for _, o := range state(round - 1) {
			remove = append(remove, nameOf(o))
		}
		publish(t, writer, Change{Add: state(round), Remove: remove})
	}
	close(stop)
	done.Wait()
}

func TestObjectsAfterMoreChangesThanTheHeadLists(t *testing.T) {
	dir := t.TempDir()
	writer, reader := open(t, dir), open(t, dir)
	publish(t, writer, Change{Add: []lake.Object{objectIn(noon, "a")}})
	if got := names(t, reader, noon, noon); len(got) != 1 {
		t.Fatal(got)
	}
	publish(t, writer, Change{Add: []lake.Object{objectIn(noon, "b")}})
	var many []lake.Object
	for p := noon + 10; p < noon+10+maxRecent; p++ {
		many = append(many, objectIn(p, "a"))
	}
	publish(t, writer, Change{Add: many})
	if got := len(names(t, reader, 0, noon+10+maxRecent)); got != 2+len(many) {
		t.Errorf("reader sees %d objects", got)
	}
	if got := len(names(t, reader, noon, noon)); got != 2 {
		t.Errorf("reader sees %d objects in the first hour", got)
	}
}

func TestErrorsNameTheManifest(t *testing.T) {
	tests := []struct {
		name, file, content, want string
	}{
		{"hour cut off", "2026-01-02-12.json", `{"version":1,"hour":"2026-01-02`, "2026-01-02-12.json is unreadable"},
		{"hour of another version", "2026-01-02-12.json", `{"version":9}`, "2026-01-02-12.json has version 9"},
		{"hour renamed", "2026-01-02-12.json", `{"version":1,"hour":"2026-01-02-13"}`,
			"2026-01-02-12.json is of another hour"},
		{"hour removed", "2026-01-02-12.json", "", "2026-01-02-12.json"},
		{"head cut off", "_head.json", `{"version":1,`, "_head.json is unreadable"},
		{"head empty", "_head.json", " ", "_head.json is unreadable"},
		{"head of another version", "_head.json", `{"version":2}`, "_head.json has version 2"},
		{"head removed", "_head.json", "", "_head.json is missing"},
		{"another file", "notes.json", "{}", `"notes"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			publish(t, open(t, dir), Change{Add: []lake.Object{objectIn(noon, "a")}})
			path := filepath.Join(hoursDir(dir), test.file)
			err := os.WriteFile(path, []byte(test.content), 0o644)
			fresh, openErr := Open(dir)
			if test.content == "" {
				err = os.Remove(path)
				if test.file == "_head.json" {
					_, openErr = Open(dir)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			if openErr == nil {
				_, openErr = fresh.Objects(t.Context(), noon, noon)
			}
			if openErr == nil || !strings.Contains(openErr.Error(), test.want) {
				t.Errorf("got %v, want it to name %s", openErr, test.want)
			}
		})
	}
}

func TestBeginIsExclusive(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir)
	u, err := first.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := open(t, dir).Begin(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("second Begin: %v, want context.Canceled", err)
	}
	if _, err := filelock.TryAcquire(lockPath(dir)); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("got %v", err)
	}
	if err := u.Close(); err != nil {
		t.Fatal(err)
	}
	lock, err := filelock.TryAcquire(lockPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
}

func TestObjectsStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := open(t, t.TempDir()).Objects(ctx, 0, noon); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// BenchmarkObjects reads the manifests of a day: warm without changes since the last read, cold with a new Store.
func BenchmarkObjects(b *testing.B) {
	s, err := Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	columns := map[string]int64{}
	for i := range lake.Columns {
		columns[lake.Columns[i].Name] = int64(i) * 1000
	}
	var day []lake.Object
	for p := noon; p < noon+24; p++ {
		o := objectIn(p, "a")
		o.ColumnBytes = columns
		day = append(day, o)
	}
	u, err := s.Begin(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	if err := errors.Join(u.Publish(Change{Add: day}), u.Close()); err != nil {
		b.Fatal(err)
	}
	b.Run("warm", func(b *testing.B) {
		for b.Loop() {
			if objects, err := s.Objects(b.Context(), noon, noon+23); err != nil || len(objects) != 24 {
				b.Fatal(err, len(objects))
			}
		}
	})
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			cold, err := Open(s.dir)
			if err != nil {
				b.Fatal(err)
			}
			if objects, err := cold.Objects(b.Context(), noon, noon+23); err != nil || len(objects) != 24 {
				b.Fatal(err, len(objects))
			}
		}
	})
}
