package cloud_test

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet/parquettest"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/permissions"
)

// lose damages an object, and lets a query report it and a compaction set it aside.
func (w *world) lose(name string) {
	w.t.Helper()
	w.spoil(name, damages["cut"])
	w.report(lake.NameOf(name), hourIn(w.t, name))
	if report := w.compact(); !slices.Equal(report.Damaged, []string{name}) {
		w.t.Fatalf("set aside %q, want %s", report.Damaged, name)
	}
}

func hourIn(t testing.TB, name string) lake.Partition {
	t.Helper()
	at, err := time.Parse("2006/01/02/15", strings.Join(strings.Split(name, "/")[2:6], "/"))
	if err != nil {
		t.Fatal(err)
	}
	return lake.PartitionOf(at.UnixMilli())
}

// expectAlways checks the rows now, and again after compactions have merged and removed everything that they can.
func (w *world) expectAlways(want map[string]int) {
	w.t.Helper()
	w.expect(want)
	for range 3 {
		w.pass(26 * time.Hour)
		w.compact()
		w.expect(want)
	}
}

func TestRebuild(t *testing.T) {
	compacted := testTime.Add(12 * time.Hour)
	for name, test := range map[string]struct {
		prepare func(w *world)
		object  string // prefix of the object that is lost
		row     string // of that object
		want    map[string]int
	}{
		"a fresh object of the present hour": {
			prepare: func(w *world) { w.importLog("raw/a", records(0, 100, time.Minute)) },
			object:  "lake/fresh/2026/03/01/10/",
			row:     "r0",
			want:    each(0, 100),
		},
		"a compacted object, before its fresh objects are removed": {
			prepare: func(w *world) {
				w.importLog("raw/a", records(0, 100, time.Minute))
				w.importLog("raw/b", records(100, 110, time.Second))
				w.time = compacted
				w.compact()
			},
			object: "lake/compact/2026/03/01/10/",
			row:    "r0",
			want:   each(0, 110),
		},
		"a compacted object, after its fresh objects are removed": {
			prepare: func(w *world) {
				w.importLog("raw/a", records(0, 100, time.Minute))
				w.importLog("raw/b", records(100, 110, time.Second))
				w.time = compacted
				w.compact()
				w.pass(7 * time.Hour)
				w.compact()
			},
			object: "lake/compact/2026/03/01/10/",
			row:    "r0",
			want:   each(0, 110),
		},
		"an object of late records": {
			prepare: func(w *world) {
				w.importLog("raw/a", records(0, 10, time.Minute))
				w.time = compacted
				w.compact()
				w.importLog("raw/b", records(10, 30, time.Minute))
			},
			object: "lake/compact/2026/03/01/10/",
			row:    "r20",
			want:   each(0, 30),
		},
		"one import of a log that has grown": {
			prepare: func(w *world) {
				w.importLog("raw/a", records(0, 10, time.Second))
				w.importLog("raw/a", records(0, 25, time.Second))
				w.importLog("raw/a", records(0, 27, time.Second))
			},
			object: "lake/fresh/2026/03/01/10/",
			row:    "r15",
			want:   each(0, 27),
		},
		"a log that was compressed and has lines that are no records": {
			prepare: func(w *world) {
				w.importLog("raw/a.gz", zipped(records(0, 10, time.Second)+"no record\n"+records(10, 15, time.Second)))
			},
			object: "lake/fresh/2026/03/01/10/",
			row:    "r0",
			want:   each(0, 15),
		},
		"a log whose end was changed": {
			prepare: func(w *world) {
				head := records(0, 1000, time.Second)
				w.importLog("raw/a", head)
				w.importLog("raw/a", head+records(1000, 1010, time.Second))
				w.importLog("raw/a", head+records(1010, 1020, time.Second))
				// The lines before the last common import are in another object.
				w.put("raw/a", head+records(1010, 1020, time.Second))
			},
			object: "lake/fresh/2026/03/01/10/",
			row:    "r1015",
			want:   each(0, 1020),
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			test.prepare(w)
			refs := w.refs()
			lost := objectWith(t, w, w.names(test.object), test.row)
			w.lose(lost)
			if len(w.rows(w.state())) == len(test.want) {
				t.Error("no row is lost")
			}
			if report := w.compact(); len(report.Rebuilt) > 0 {
				t.Errorf("rebuilt before the hour is over: %q", report.Rebuilt)
			}
			w.pass(65 * time.Minute)
			report := w.compact()
			if !slices.Equal(report.Rebuilt, []string{lake.NameOf(lost)}) || len(report.NotRebuilt) > 0 {
				t.Errorf("rebuilt %q, not rebuilt %v; want %s", report.Rebuilt, report.NotRebuilt, lost)
			}
			w.expectLost(0)
			if diff := cmp.Diff(refs, w.refs()); diff != "" {
				t.Errorf("references of records (-before +rebuilt):\n%s", diff)
			}
			w.expectAlways(test.want)
			if diff := cmp.Diff(refs, w.refs()); diff != "" {
				t.Errorf("references of records (-before +compacted):\n%s", diff)
			}
			if rest := w.stateItem().Lost; len(rest) > 0 {
				t.Errorf("the state still has %+v", rest)
			}
		})
	}
}

// refs returns the references to the records that a reader sees, by request id.
func (w *world) refs() map[string]string {
	w.t.Helper()
	refs := map[string]string{}
	for _, name := range readable(w.t, w.lake, w.state()) {
		rows, err := parquettest.Rows([]byte(w.content(name)))
		if err != nil {
			w.t.Fatal(err)
		}
		for i := range rows {
			refs[*rows[i].RequestID] = lake.RefOf(&rows[i]).String()
		}
	}
	return refs
}

// objectWith returns the object with a row.
func objectWith(t testing.TB, w *world, objects []string, id string) string {
	t.Helper()
	for _, name := range objects {
		ids, err := requestIDs(w.lake, name)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(ids, id) {
			return name
		}
	}
	t.Fatalf("no object has %s", id)
	return ""
}

func (w *world) stateItem() lakestate.State {
	w.t.Helper()
	s, _, err := lakestate.Load(w.t.Context(), w.table)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// TestRebuildAgain loses an object, and again what was rebuilt.
func TestRebuildAgain(t *testing.T) {
	for _, compacted := range []bool{false, true} {
		w := newWorld(t)
		w.importLog("raw/a", records(0, 10, time.Second))
		w.importLog("raw/b", records(10, 20, time.Second))
		folder := "lake/fresh/"
		if compacted {
			folder = "lake/compact/"
			w.time = testTime.Add(12 * time.Hour)
			w.compact()
		}
		for range 2 { // the hour of the fresh objects is compacted after that
			w.lose(w.names(folder)[0])
			w.pass(62 * time.Minute)
			if report := w.compact(); len(report.Rebuilt) != 1 {
				t.Fatalf("compacted %t: %+v", compacted, report)
			}
			w.expect(each(0, 20))
		}
		w.expectAlways(each(0, 20))
	}
}

func TestRebuildNeedsTheLog(t *testing.T) {
	text := records(0, 10, time.Minute)
	for name, change := range map[string]func(w *world){
		"the log is gone":        func(w *world) { w.remove("raw/a") },
		"the log has changed":    func(w *world) { w.put("raw/a", records(1, 11, time.Minute)) },
		"the log is shorter":     func(w *world) { w.put("raw/a", records(0, 9, time.Minute)) },
		"the log is cut":         func(w *world) { w.put("raw/a", "\x1f\x8b\x08") },
		"a line is a record now": func(w *world) { w.put("raw/a", strings.Replace(text, "r5", "r6", 1)) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.importLog("raw/a", text)
			object := w.names("lake/fresh/")[0]
			w.lose(object)
			change(w)
			w.pass(2 * time.Hour)
			const reason = "the bucket of raw logs does not have its log with the content that was imported"
			want := map[string]string{lake.NameOf(object): reason}
			if diff := cmp.Diff(want, w.compact().NotRebuilt); diff != "" {
				t.Errorf("not rebuilt (-want +got):\n%s", diff)
			}
			w.expect(map[string]int{})
			w.expectLost(1)
			if lost := w.state().Lost[0]; lost.Reason != reason {
				t.Errorf("the state has %+v", lost)
			}
			if again := w.compact(); len(again.NotRebuilt) > 0 {
				t.Errorf("it is tried again at once: %+v", again)
			}
			w.put("raw/a", text)
			w.pass(25 * time.Hour)
			if again := w.compact(); len(again.Rebuilt) != 1 {
				t.Errorf("the log is there again: %+v", again)
			}
			w.expectAlways(each(0, 10))
		})
	}
	t.Run("an earlier version has imported the log", func(t *testing.T) {
		w := newWorld(t)
		w.importLog("raw/a", text)
		object := w.names("lake/fresh/")[0]
		source, _, _ := lake.SourceOf(object)
		item, err := w.table.Get(t.Context(), lakestate.Key{Partition: "ingest#source#" + source, Sort: "family"})
		if err == nil {
			err = w.table.Write(t.Context(), lakestate.Change{Key: item.Key, Seen: item.Revision, Body: []byte("{}")})
		}
		if err != nil {
			t.Fatal(err)
		}
		w.lose(object)
		w.pass(2 * time.Hour)
		if reason := w.compact().NotRebuilt[lake.NameOf(object)]; !strings.Contains(reason, "an earlier version") {
			t.Errorf("the reason is %q", reason)
		}
	})
}

func (w *world) remove(key string) {
	w.t.Helper()
	if err := w.raw.Delete(w.t.Context(), key); err != nil {
		w.t.Fatal(err)
	}
}

// TestRebuildFindsTheLogUnderALaterName rebuilds the first import of a log that was renamed when it had grown.
func TestRebuildFindsTheLogUnderALaterName(t *testing.T) {
	w := newWorld(t)
	w.importLog("raw/access.log", records(0, 10, time.Second))
	first := w.names("lake/fresh/")[0]
	w.importLog("raw/access.log.1", records(0, 15, time.Second))
	w.put("raw/access.log", records(500, 510, time.Second))
	w.lose(first)
	w.pass(2 * time.Hour)
	w.compact()
	w.expectAlways(each(0, 15))
}

// TestRebuildKeepsRejectedLinesOut rebuilds the object of a log with a record that the horizon rejected.
func TestRebuildKeepsRejectedLinesOut(t *testing.T) {
	w := newWorld(t)
	config := w.config()
	config.Horizon = time.Hour
	text := records(0, 30, time.Minute)
	w.put("raw/a", text)
	w.time = testTime.Add(70 * time.Minute)
	if _, err := w.cloudOf(config).Import(t.Context(), rawlog.Log{Key: "raw/a"}); err != nil {
		t.Fatal(err)
	}
	w.expect(each(10, 30))
	w.lose(w.names("lake/fresh/")[0])
	w.pass(65 * time.Minute)
	w.compact()
	w.expectAlways(each(10, 30))
}

// TestRebuildOfLogInSeveralParts rebuilds one of several objects of an hour that one import has made.
func TestRebuildOfLogInSeveralParts(t *testing.T) {
	w := newWorld(t)
	config := w.config()
	config.Options = ingest.Options{Memory: 4 << 20, Workers: 1}
	w.put("raw/a", records(0, 20_000, 100*time.Millisecond))
	if _, err := w.cloudOf(config).Import(t.Context(), rawlog.Log{Key: "raw/a"}); err != nil {
		t.Fatal(err)
	}
	objects := w.names("lake/fresh/")
	if len(objects) < 3 {
		t.Fatalf("the import has made only %d objects", len(objects))
	}
	w.spoil(objects[0], damages["cut"])
	w.spoil(objects[2], damages["cut"])
	hour := lake.PartitionOf(testTime.UnixMilli())
	w.report(lake.NameOf(objects[0]), hour)
	w.report(lake.NameOf(objects[2]), hour)
	w.compact()
	w.expectLost(2)
	w.pass(65 * time.Minute)
	if report := w.compact(); len(report.Rebuilt) != 2 {
		t.Errorf("%+v", report)
	}
	w.expectAlways(each(0, 20_000))
}

// TestRestoredObjectIsNotLostAnyMore puts the whole object back under its name, as an operator may do.
func TestRestoredObjectIsNotLostAnyMore(t *testing.T) {
	w := newWorld(t)
	w.importLog("raw/a", records(0, 10, time.Minute))
	name := w.names("lake/fresh/")[0]
	whole := w.content(name)
	w.lose(name)
	if err := w.lake.Put(t.Context(), name, strings.NewReader(whole), blob.Always); err != nil {
		t.Fatal(err)
	}
	w.pass(65 * time.Minute)
	if report := w.compact(); len(report.Rebuilt) != 1 {
		t.Errorf("%+v", report)
	}
	w.expectLost(0)
	w.expectAlways(each(0, 10))
}

func TestRebuildStopsWhenTheTimeIsUp(t *testing.T) {
	w := newWorld(t)
	w.importLog("raw/a", records(0, 10, time.Minute))
	w.lose(w.names("lake/fresh/")[0])
	w.pass(65 * time.Minute)
	ctx := deadline{t.Context(), w.time.Add(time.Minute)}
	w.raw = slowly{w.raw, func() { w.pass(2 * time.Minute) }}
	report, err := w.cloud().Compact(ctx, time.Time{})
	if err != nil || !report.Unfinished || len(report.Rebuilt) > 0 {
		t.Errorf("%+v, %v", report, err)
	}
	w.expectLost(1)
	w.compact()
	w.expectAlways(each(0, 10))
}

// TestRebuildsTakeTurns loses the objects of two logs. Reading the first log takes longer than a run, which must not
// keep the second one waiting.
func TestRebuildsTakeTurns(t *testing.T) {
	w := newWorld(t)
	w.importLog("raw/a", records(0, 10, time.Minute))
	w.importLog("raw/b", records(60, 70, time.Minute))
	names := w.names("lake/fresh/")
	w.lose(names[0])
	w.lose(names[1])
	w.pass(65 * time.Minute)
	config := w.config()
	config.Raw = &reading{Store: w.raw, read: func(name string) error {
		if name == "raw/a" {
			w.pass(20 * time.Minute)
		}
		return nil
	}}
	var rebuilt []string
	for range 2 {
		report, err := w.cloudOf(config).Compact(deadline{t.Context(), w.time.Add(15 * time.Minute)}, testTime)
		if err != nil || !report.Unfinished {
			t.Errorf("%+v, %v", report, err)
		}
		rebuilt = append(rebuilt, report.Rebuilt...)
	}
	if !slices.Equal(rebuilt, []string{lake.NameOf(names[1])}) {
		t.Errorf("%v were rebuilt, want %s", rebuilt, names[1])
	}
	w.compact()
	want := each(0, 10)
	maps.Copy(want, each(60, 70))
	w.expectAlways(want)
}

// slowly is a bucket in which time passes when an object is opened.
type slowly struct {
	blob.Store
	pass func()
}

func (s slowly) Get(
	ctx context.Context, name, version string, offset int64,
) (io.ReadCloser, blob.Info, error) {
	s.pass()
	return s.Store.Get(ctx, name, version, offset)
}

// TestRebuildReadsTheImportedVersion rebuilds the object of a log whose key has another log since, in a bucket that
// keeps versions. The functions have their permissions, which all must be needed to read versions.
func TestRebuildReadsTheImportedVersion(t *testing.T) {
	d := newDeployment(t)
	_, err := d.client.PutBucketVersioning(t.Context(), &awss3.PutBucketVersioningInput{
		Bucket:                  aws.String("raw"),
		VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled},
	})
	if err != nil {
		t.Fatal(err)
	}
	key := "raw/a"
	d.put(key, records(0, 10, time.Minute))
	first, err := d.client.HeadObject(t.Context(), &awss3.HeadObjectInput{Bucket: aws.String("raw"), Key: &key})
	if err != nil {
		t.Fatal(err)
	}
	end := d.guard.As("ingest")
	_, err = d.cloud().Import(t.Context(), rawlog.Log{Key: key, Version: aws.ToString(first.VersionId)})
	end()
	if err != nil {
		t.Fatal(err)
	}
	d.put(key, records(500, 510, time.Minute))
	d.lose(d.names("lake/fresh/")[0])
	d.time = d.time.Add(65 * time.Minute)
	end = d.guard.As("compact")
	d.compact()
	end()
	d.expectAlways(each(0, 10))
	judged := func(a permissions.Atom) bool { return a.Action == "s3:GetObjectVersion" }
	for _, mistake := range permissions.Review(d.guard.Names.Resources(), d.guard.Calls(), judged) {
		t.Error(mistake)
	}
}
