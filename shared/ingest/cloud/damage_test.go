package cloud_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
)

// content returns the bytes of an object in the bucket of the lake.
func (w *world) content(name string) string {
	w.t.Helper()
	body, info, err := w.lake.Get(w.t.Context(), name, "", 0)
	if err != nil {
		w.t.Fatal(err)
	}
	content := make([]byte, info.Size)
	if _, err := io.ReadFull(body, content); err != nil {
		w.t.Fatal(err)
	}
	if err := body.Close(); err != nil {
		w.t.Fatal(err)
	}
	return string(content)
}

// spoil replaces the content of an object by a damaged one.
func (w *world) spoil(name string, damage func(string) string) (damaged string) {
	w.t.Helper()
	damaged = damage(w.content(name))
	if err := w.lake.Put(w.t.Context(), name, strings.NewReader(damaged), blob.Always); err != nil {
		w.t.Fatal(err)
	}
	return damaged
}

// expectLost checks that the state lists n objects as lost and that the quarantine has each with a note.
func (w *world) expectLost(n int) {
	w.t.Helper()
	lost := slices.DeleteFunc(w.state().Lost, func(o engine.LostObject) bool { return !o.Rebuilt.IsZero() })
	if len(lost) != n {
		w.t.Errorf("the state lists the lost objects %v, want %d", lost, n)
	}
	var want []string
	kept := w.names("quarantine/damaged/")
	for _, o := range lost {
		i := slices.IndexFunc(kept, func(name string) bool {
			return strings.HasPrefix(name, "quarantine/damaged/"+strings.TrimSuffix(o.Name, "parquet"))
		})
		if i < 0 {
			w.t.Errorf("the quarantine has %v, but not %s", kept, o.Name)
			continue
		}
		want = append(want, kept[i], strings.TrimSuffix(kept[i], ".json")+".json")
		if !strings.Contains(o.Name, o.Partition.String()) {
			w.t.Errorf("%s is listed for hour %s", o.Name, o.Partition)
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, kept); diff != "" && n > 0 {
		w.t.Errorf("objects in quarantine differ (-want +got):\n%s", diff)
	}
}

// damages are the ways in which tests damage an object.
var damages = map[string]func(whole string) string{
	"not Parquet":             func(string) string { return "not Parquet" },
	"cut":                     func(whole string) string { return whole[:len(whole)/2] },
	"without its beginning":   func(whole string) string { return whole[len(whole)/3:] },
	"with a changed page":     func(whole string) string { return whole[:100] + "XXXXXXXX" + whole[108:] },
	"with a changed footer":   func(whole string) string { return whole[:len(whole)-300] + "XXXXXXXX" + whole[len(whole)-292:] },
	"with zeros, of any size": func(whole string) string { return strings.Repeat("\x00", len(whole)) },
}

func TestCompactionContinuesAfterDamage(t *testing.T) {
	hour := testTime.Format("2006/01/02/15")
	for name, damage := range damages {
		for spoiled := 1; spoiled <= 3; spoiled++ {
			t.Run(fmt.Sprintf("%d of 3 objects %s", spoiled, name), func(t *testing.T) {
				w := newWorld(t)
				want := map[string]int{}
				for i := range 3 {
					w.importLog(fmt.Sprintf("raw/%d", i), records(10*i, 10*i+4, time.Minute))
				}
				w.importLog("raw/later", records(60, 70, time.Minute))
				for id := range each(60, 70) {
					want[id] = 1
				}
				var damaged []string
				for i, name := range w.names("lake/fresh/" + hour) {
					if i < spoiled {
						damaged = append(damaged, w.spoil(name, damage))
						continue
					}
					ids, err := requestIDs(w.lake, name)
					if err != nil {
						t.Fatal(err)
					}
					for _, id := range ids {
						want[id] = 1
					}
				}
				w.time = testTime.Add(12 * time.Hour)
				report := w.compact()
				if report.Hours != 2 || len(report.Damaged) != spoiled {
					t.Errorf("%+v", report)
				}
				w.expect(want)
				w.expectLost(spoiled)
				for i, o := range slices.DeleteFunc(w.names("quarantine/damaged/"), isNote) {
					if w.content(o) != damaged[i] {
						t.Errorf("%s has another content than the damaged object", o)
					}
				}
				w.pass(24 * time.Hour)
				if again := w.compact(); len(again.Damaged) > 0 || len(again.Rebuilt) != spoiled {
					t.Errorf("again: %+v", again)
				}
				for i := range 3 {
					maps.Copy(want, each(10*i, 10*i+4))
				}
				w.expect(want)
				w.expectLost(0)
				if left := w.names("lake/fresh/"); len(left) > 0 {
					t.Errorf("superseded objects are left: %v", left)
				}
			})
		}
	}
}

// report records a suspect as a failing query does.
func (w *world) report(object string, hour lake.Partition) {
	w.t.Helper()
	e := &engine.DamageError{Object: object, From: hour, To: hour, Err: errors.New("page checksum differs")}
	if err := lakestate.NewDamageReports(w.table, w.now).Report(w.t.Context(), e); err != nil {
		w.t.Fatal(err)
	}
}

func TestCompactionExaminesSuspects(t *testing.T) {
	hour := lake.PartitionOf(testTime.UnixMilli())
	for folder, compacted := range map[string]bool{"fresh": false, "compact": true} {
		for _, named := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s object, named by the engine: %t", folder, named), func(t *testing.T) {
				w := newWorld(t)
				w.importLog("raw/a", records(0, 4, time.Minute))
				w.importLog("raw/b", records(60, 64, time.Minute))
				if compacted {
					w.time = testTime.Add(12 * time.Hour)
					w.compact()
				}
				name := w.names("lake/" + folder + "/" + hour.String())[0]
				whole := w.content(name)
				damaged := w.spoil(name, damages["cut"])
				object := ""
				if named {
					object = lake.NameOf(name)
				}
				w.report(object, hour)
				w.report(object, hour) // a second query fails
				report := w.compact()
				if diff := cmp.Diff([]string{name}, report.Damaged); diff != "" {
					t.Errorf("set aside (-want +got):\n%s", diff)
				}
				w.expect(each(60, 64))
				w.expectLost(1)
				if kept := w.names("quarantine/damaged/"); len(kept) != 2 || w.content(kept[0]) != damaged {
					t.Errorf("the quarantine has %v", kept)
				}
				if again := w.compact(); len(again.Damaged) > 0 {
					t.Errorf("the suspect is examined again: %+v", again)
				}
				w.report(object, hour)
				if err := w.lake.Put(t.Context(), name, strings.NewReader(whole), blob.Always); err != nil {
					t.Fatal(err)
				}
				if again := w.compact(); len(again.Damaged) > 0 {
					t.Errorf("a whole object is set aside: %+v", again)
				}
			})
		}
	}
}

// TestExaminationContinues reports a suspect without a name. Its hours have more objects than a run has time to read.
func TestExaminationContinues(t *testing.T) {
	w := newWorld(t)
	const objects, perRun = 20, 8
	for i := range objects {
		w.importLog(fmt.Sprintf("raw/%d", i), records(i%2*60, i%2*60+1, time.Minute))
	}
	names := w.names("lake/fresh/")
	w.spoil(names[objects-1], damages["cut"])
	first := lake.PartitionOf(testTime.UnixMilli())
	e := &engine.DamageError{From: first, To: first + 1, Err: errors.New("page checksum differs")}
	if err := lakestate.NewDamageReports(w.table, w.now).Report(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	config := w.config()
	config.Lake = &reading{Store: w.lake, read: func(name string) error {
		if strings.HasPrefix(name, "lake/fresh/") {
			w.pass(405 * time.Second / perRun) // half of the time is for other repairs
		}
		return nil
	}}
	for run := range 3 {
		ends := w.time.Add(15 * time.Minute)
		report, err := w.cloudOf(config).Compact(deadline{t.Context(), ends}, testTime)
		found := slices.Equal(report.Damaged, names[objects-1:])
		if last := run == 2; err != nil || report.Unfinished == last || found != last {
			t.Errorf("run %d: %+v, %v", run, report, err)
		}
	}
}

// TestRepairsShareTheTime has suspects that take more time than there is, or that cannot be read. A superseded object
// is removed and a lost one is rebuilt all the same.
func TestRepairsShareTheTime(t *testing.T) {
	for name, test := range map[string]struct {
		takes time.Duration
		err   error
	}{
		"suspects take all of the time": {100 * time.Second, nil},
		"suspects cannot be read":       {0, errors.New("access denied")},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.importLog("raw/a", records(0, 10, time.Minute))
			w.time = testTime.Add(12 * time.Hour)
			w.compact()
			w.lose(w.names("lake/compact/")[0])
			w.pass(engine.KeepSuperseded + time.Hour)
			const fresh = 18 * 60 // minutes after testTime
			for n := range 20 {
				w.importLog(fmt.Sprintf("raw/fresh%d", n), records(fresh+n, fresh+n+1, time.Minute))
			}
			hour := lake.PartitionOf(testTime.UnixMilli()) + fresh/60
			w.report("", hour)
			config := w.config()
			config.Lake = &reading{Store: w.lake, read: func(name string) error {
				if !strings.HasPrefix(name, "lake/fresh/"+hour.String()) {
					return nil
				}
				w.pass(test.takes)
				return test.err
			}}
			report, err := w.cloudOf(config).Compact(deadline{t.Context(), w.time.Add(15 * time.Minute)}, testTime)
			if !errors.Is(err, test.err) || report.Unfinished != (err == nil) {
				t.Errorf("%+v, %v", report, err)
			}
			if report.Removed != 1 || len(report.Rebuilt) != 1 {
				t.Errorf("%d objects were removed and %v rebuilt: %+v", report.Removed, report.Rebuilt, report)
			}
		})
	}
}

// reading is a bucket that reports the objects that are read. If the report fails, so does the reading.
type reading struct {
	blob.Store
	read func(name string) error
}

func (r *reading) Get(
	ctx context.Context, name, version string, offset int64,
) (io.ReadCloser, blob.Info, error) {
	if err := r.read(name); err != nil {
		return nil, blob.Info{}, err
	}
	return r.Store.Get(ctx, name, version, offset)
}

func TestSuspectThatIsWholeStays(t *testing.T) {
	w := newWorld(t)
	w.importLog("raw/a", records(0, 4, time.Minute))
	hour := lake.PartitionOf(testTime.UnixMilli())
	name := w.names("lake/fresh/")[0]
	before := w.state().Version
	w.report(lake.NameOf(name), hour)
	if report := w.compact(); len(report.Damaged) > 0 {
		t.Errorf("%+v", report)
	}
	w.expect(each(0, 4))
	w.expectLost(0)
	// The failed execution belongs to the earlier version, so the query must run again.
	if w.state().Version == before {
		t.Error("the version of the data is the same")
	}
}

func isNote(name string) bool { return strings.HasSuffix(name, ".json") }

// TestObjectDamagedBeforeItsImportIsPublished damages an object that was copied, before the import was complete.
func TestObjectDamagedBeforeItsImportIsPublished(t *testing.T) {
	w := newWorld(t)
	w.put("raw/a", records(0, 100, time.Minute))
	store := &damaging{Store: w.lake}
	store.harm = func(name string) {
		whole := w.content(name)
		if err := store.Store.Put(t.Context(), name, strings.NewReader(whole[:len(whole)/2]), blob.Always); err != nil {
			t.Error(err)
		}
	}
	config := w.config()
	config.Lake, config.Copies, config.Footers = store, 1, 1
	if _, err := w.cloudOf(config).Import(t.Context(), rawlog.Log{Key: "raw/a"}); err != nil {
		t.Error(err)
	}
	if store.harmed != 2 {
		t.Errorf("%d objects were damaged, want 2", store.harmed)
	}
	w.expectAlways(each(0, 100))
}

// damaging is a bucket in which objects are damaged right after they were copied to where readers read them.
type damaging struct {
	blob.Store
	harm   func(name string)
	harmed int
}

func (d *damaging) Copy(ctx context.Context, from, to string) error {
	err := d.Store.Copy(ctx, from, to)
	if err == nil && strings.HasPrefix(to, "lake/fresh/") {
		d.harm(to)
		d.harmed++
	}
	return err
}
