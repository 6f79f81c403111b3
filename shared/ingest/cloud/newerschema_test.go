package cloud_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet/parquettest"
	"github.com/orrery/orrery/shared/testkit/testlevel"
)

// asNewer makes an object of the bucket one of a newer schema.
func (w *world) asNewer(name string) (content string) {
	w.t.Helper()
	return w.spoil(name, func(whole string) string { return string(parquettest.Newer(w.t, []byte(whole))) })
}

// compacted returns the contents of the compacted objects of an hour.
func (w *world) compacted(hour string) (contents []string) {
	w.t.Helper()
	for _, name := range w.names("lake/compact/" + hour) {
		contents = append(contents, w.content(name))
	}
	return contents
}

func TestCompactionCopiesNewerObjects(t *testing.T) {
	hour := testTime.Format("2006/01/02/15")
	for objects := 1; objects <= 3; objects++ {
		for newer := 1; newer <= objects; newer++ {
			t.Run(fmt.Sprintf("%d of %d objects are newer", newer, objects), func(t *testing.T) {
				w := newWorld(t)
				for i := range objects {
					w.importLog(fmt.Sprintf("raw/%d", i), records(10*i, 10*i+4, time.Minute))
				}
				w.importLog("raw/later", records(60, 70, time.Minute))
				want := each(60, 70)
				for i := range objects {
					for id := range each(10*i, 10*i+4) {
						want[id] = 1
					}
				}
				names := w.names("lake/fresh/" + hour)[:newer]
				var contents []string
				for _, name := range names {
					contents = append(contents, w.asNewer(name))
				}
				w.time = testTime.Add(12 * time.Hour)
				report := w.compact()
				if diff := cmp.Diff(names, report.Newer); diff != "" || report.Hours != 2 || len(report.Damaged) > 0 {
					t.Errorf("%+v; newer objects (-want +got):\n%s", report, diff)
				}
				w.expect(want)
				for i, content := range contents {
					if !slices.Contains(w.compacted(hour), content) {
						t.Errorf("%s is not copied byte for byte", names[i])
					}
				}
				w.pass(24 * time.Hour)
				if again := w.compact(); again.Hours > 0 || len(again.Newer) > 0 {
					t.Errorf("again: %+v", again)
				}
				w.expect(want)
				if left := append(w.names("lake/fresh/"), w.names("lake/_plans/")...); len(left) > 0 {
					t.Errorf("objects are left: %v", left)
				}
			})
		}
	}
}

func TestCompactionSetsDamagedNewerObjectsAside(t *testing.T) {
	w := newWorld(t)
	want := each(60, 70)
	for i := range 3 {
		w.importLog(fmt.Sprintf("raw/%d", i), records(10*i, 10*i+4, time.Minute))
	}
	w.importLog("raw/later", records(60, 70, time.Minute))
	names := w.names("lake/fresh/" + testTime.Format("2006/01/02/15"))
	for _, name := range names[1:] {
		ids, err := requestIDs(w.lake, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			want[id] = 1
		}
	}
	w.asNewer(names[0])
	w.spoil(names[0], damages["with a changed page"])
	w.asNewer(names[1])
	w.time = testTime.Add(12 * time.Hour)
	report := w.compact()
	if report.Hours != 2 || !slices.Equal(report.Damaged, names[:1]) || !slices.Equal(report.Newer, names[1:2]) {
		t.Errorf("%+v", report)
	}
	w.expect(want)
	w.expectLost(1)
}

func TestCompactionMergesOlderObjects(t *testing.T) {
	parquettest.AddColumns(t, "host", "status")
	w := newWorld(t)
	for i := range 3 {
		w.importLog(fmt.Sprintf("raw/%d", i), records(10*i, 10*i+4, time.Minute))
	}
	hour := testTime.Format("2006/01/02/15")
	older := w.names("lake/fresh/" + hour)[1]
	w.spoil(older, func(whole string) string { return string(parquettest.Older(t, []byte(whole))) })
	w.time = testTime.Add(12 * time.Hour)
	if report := w.compact(); report.Merged != 1 || len(report.Newer)+len(report.Damaged) > 0 {
		t.Errorf("%+v", report)
	}
	rows, err := parquettest.Rows([]byte(w.compacted(hour)[0]))
	if err != nil {
		t.Fatal(err)
	}
	without := 0
	for _, row := range rows {
		if row.Host == nil {
			without++
		}
	}
	if len(rows) != 12 || without != 4 {
		t.Errorf("%d rows, %d of them without a host", len(rows), without)
	}
}

// steps is a store that calls before in front of every call.
type steps struct {
	blob.Store
	before func() error
}

func (s *steps) Get(ctx context.Context, name, version string, offset int64) (io.ReadCloser, blob.Info, error) {
	if err := s.before(); err != nil {
		return nil, blob.Info{}, err
	}
	return s.Store.Get(ctx, name, version, offset)
}

func (s *steps) Head(ctx context.Context, name string) (blob.Info, error) {
	if err := s.before(); err != nil {
		return blob.Info{}, err
	}
	return s.Store.Head(ctx, name)
}

func (s *steps) Put(ctx context.Context, name string, body io.ReadSeeker, when blob.Condition) error {
	if err := s.before(); err != nil {
		return err
	}
	return s.Store.Put(ctx, name, body, when)
}

func (s *steps) Copy(ctx context.Context, from, to string) error {
	if err := s.before(); err != nil {
		return err
	}
	return s.Store.Copy(ctx, from, to)
}

func (s *steps) List(ctx context.Context, prefix, after string) iter.Seq2[blob.Info, error] {
	if err := s.before(); err != nil {
		return func(yield func(blob.Info, error) bool) { yield(blob.Info{}, err) }
	}
	return s.Store.List(ctx, prefix, after)
}

func (s *steps) Delete(ctx context.Context, names ...string) error {
	if err := s.before(); err != nil {
		return err
	}
	return s.Store.Delete(ctx, names...)
}

// asProgram calls do with the schema of a program of some version. The versions have the same columns.
func asProgram(version int, do func()) {
	before := lake.Additions
	defer func() { lake.Additions = before }()
	lake.Additions = make([][]string, version-1)
	do()
}

// TestProgramsOfSeveralVersionsCompactTogether compacts an hour with objects of several versions by two programs: at
// some step of the first, the second does all of its work. Then the first continues or dies. Every row must be visible
// exactly once.
func TestProgramsOfSeveralVersionsCompactTogether(t *testing.T) {
	if testing.Short() {
		t.Skip("long and sequential: left out with -short, for the race detector")
	}
	errDead := errors.New("the process is dead")
	interrupted := 0
	for _, c := range []struct{ objects, programs []int }{
		{[]int{1, 2}, []int{1, 2}},
		{[]int{2, 2}, []int{1, 2}},
		{[]int{2, 2}, []int{2, 1}},
		{[]int{3, 1, 2}, []int{2, 1}},
	} {
		for _, dies := range []bool{false, true} {
			for at, done := 0, false; !done; at += testlevel.Of(1, 3, 1) {
				w, want := newWorld(t), map[string]int{}
				for i, version := range c.objects {
					asProgram(version, func() { w.importLog(fmt.Sprint("raw/", i), records(10*i, 10*i+4, time.Minute)) })
					for id := range each(10*i, 10*i+4) {
						want[id] = 1
					}
				}
				w.time = testTime.Add(12 * time.Hour)
				step, other := 0, func() { asProgram(c.programs[1], func() { w.compact() }) }
				config := w.config()
				config.Copies, config.Footers = 1, 1 // the steps are one after another
				config.Lake = &steps{w.lake, func() error {
					if step++; step == at+1 {
						other()
					}
					if dies && step > at {
						return errDead
					}
					return nil
				}}
				var err error
				asProgram(c.programs[0], func() { _, err = w.cloudOf(config).Compact(t.Context(), time.Time{}) })
				if done = step <= at; !done {
					interrupted++
				}
				if failed := err != nil; failed != (dies && !done) {
					t.Fatalf("%+v, step %d: %v", c, at, err)
				}
				w.expect(want)
				asProgram(c.programs[1], func() { w.compact() })
				asProgram(c.programs[0], func() { w.compact() })
				w.expect(want)
				if t.Failed() {
					t.Fatalf("objects %v, programs %v, the first dies: %t, step %d:\n%s", c.objects, c.programs, dies, at,
						strings.Join(w.names("lake/compact/"), "\n"))
				}
			}
		}
	}
	if interrupted < 100 {
		t.Errorf("only %d compactions were interrupted", interrupted)
	}
}
