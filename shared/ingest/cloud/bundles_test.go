package cloud_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/ingest/cloud"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/lakestate/bundle"
	"github.com/orrery/orrery/shared/testkit/testlevel"
)

// importMany imports n logs with ten records each, of which all records are of one hour.
func (w *world) importMany(first, n int) {
	w.t.Helper()
	for i := first; i < first+n; i++ {
		w.importLog(fmt.Sprintf("raw/%d", i), records(i*10, i*10+10, time.Second))
	}
}

// opened returns the names of the objects that a question about the hours around testTime opens, and checks that they
// have the records 0…n-1.
func (w *world) opened(n int) []string {
	w.t.Helper()
	s := w.state()
	hour := lake.PartitionOf(testTime.UnixMilli())
	listing := bundle.NewListing(lakestate.NewListing(w.lake), w.table, w.now)
	var names []string
	seen := map[string]int{}
	for info, err := range listing.Objects(w.t.Context(), s.Watermark, hour-1, hour+1) {
		if err != nil {
			w.t.Fatal(err)
		}
		head, err := w.lake.Head(w.t.Context(), info.Name)
		if err != nil || head.Size != info.Size || head.ETag != info.ETag {
			w.t.Errorf("%s is listed as %+v and is %+v, %v", info.Name, info, head, err)
		}
		names = append(names, info.Name)
		ids, err := requestIDs(w.lake, info.Name)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, id := range ids {
			seen[id]++
		}
	}
	if diff := cmp.Diff(each(0, n), seen); diff != "" {
		w.t.Errorf("(-imported +listed):\n%s", diff)
	}
	return names
}

func bundlesIn(names []string) (n int) {
	for _, name := range names {
		if strings.HasPrefix(name, bundle.Root) {
			n++
		}
	}
	return n
}

// TestBundles bundles the objects of an hour while it is open, after it has ended, and late ones after it was
// compacted.
func TestBundles(t *testing.T) {
	w := newWorld(t)
	check := func(step string, records, objects, bundles int) {
		t.Helper()
		names := w.opened(records)
		if len(names) != objects || bundlesIn(names) != bundles {
			t.Errorf("%s: a question opens %d objects, of which %d are bundles, want %d and %d:\n%s",
				step, len(names), bundlesIn(names), objects, bundles, strings.Join(names, "\n"))
		}
		w.expect(each(0, records)) // what Athena reads
	}
	w.importMany(0, 15)
	if report := w.compact(); report.Bundled != 0 {
		t.Errorf("%+v", report)
	}
	check("too few objects", 150, 15, 0)
	w.importMany(15, 55)
	if report := w.compact(); report.Bundled != 64 || report.Hours != 0 {
		t.Errorf("%+v", report)
	}
	check("an open hour", 700, 7, 1)
	if report := w.compact(); report.Bundled != 0 {
		t.Errorf("the second run: %+v", report)
	}
	w.pass(time.Hour)
	w.compact()
	check("an hour that has ended", 700, 2, 2)

	w.pass(3 * time.Hour)
	w.lake = unread{w.lake, "lake/fresh/", t}
	if report := w.compact(); report.Hours != 1 || report.Objects != 70 || report.Merged != 1 {
		t.Errorf("%+v", report)
	}
	check("a compacted hour", 700, 1, 0)
	w.lake = w.lake.(unread).Store
	w.pass(7 * time.Hour)
	w.importMany(70, 7)
	w.compact()
	check("few late objects", 770, 8, 0)
	w.importMany(77, 3)
	// The records of a later day make this one a day whose hours are all compacted.
	w.importLog("raw/later", strings.ReplaceAll(records(0, 1, time.Second), "2026-03-01T10", "2026-03-02T00"))
	w.pass(24 * time.Hour)
	if report := w.compact(); report.Bundled != 10+1 {
		t.Errorf("%+v", report)
	}
	names := w.opened(800)
	if len(names) != 1 || bundlesIn(names) != 1 {
		t.Errorf("late objects: a question opens %v", names)
	}
	w.pass(7 * time.Hour)
	w.compact()
	if n := len(w.names(bundle.Root)); n != 1 {
		t.Errorf("%d bundles exist", n)
	}
}

// unread is a bucket of which objects with a prefix must not be read.
type unread struct {
	blob.Store
	prefix string
	t      *testing.T
}

func (u unread) Get(
	ctx context.Context, name, version string, offset int64,
) (io.ReadCloser, blob.Info, error) {
	if strings.HasPrefix(name, u.prefix) {
		u.t.Errorf("%s was read although a bundle has its records", name)
	}
	return u.Store.Get(ctx, name, version, offset)
}

// TestBundleOfDamagedObjects checks that a bundle is not read if one of its members was replaced or removed since, and
// that a compaction does without a bundle that is damaged itself.
func TestBundleOfDamagedObjects(t *testing.T) {
	w := newWorld(t)
	w.importMany(0, 20)
	w.compact()
	names := w.opened(200)
	if len(names) != 1 || bundlesIn(names) != 1 {
		t.Fatalf("a question opens %v", names)
	}
	members := readable(t, w.lake, w.state())
	content := w.content(members[3])
	w.spoil(members[3], func(text string) string { return text[:len(text)/2] })
	listing := bundle.NewListing(lakestate.NewListing(w.lake), w.table, w.now)
	hour := lake.PartitionOf(testTime.UnixMilli())
	listed := func() (all []string) {
		for info, err := range listing.Objects(t.Context(), w.state().Watermark, hour, hour) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, info.Name)
		}
		return all
	}
	if diff := cmp.Diff(members, listed()); diff != "" {
		t.Errorf("with a damaged member (-want +got):\n%s", diff)
	}
	if err := w.lake.Delete(t.Context(), members[3]); err != nil {
		t.Fatal(err)
	}
	if n := len(listed()); n != 19 {
		t.Errorf("without a member, %d objects are listed", n)
	}
	if err := w.lake.Put(t.Context(), members[3], strings.NewReader(content), blob.Always); err != nil {
		t.Fatal(err)
	}
	if n := len(listed()); n != 1 {
		t.Errorf("with all members, %d objects are listed", n)
	}
	listing.Doubt()
	if n := len(listed()); n != 20 {
		t.Errorf("while bundles are doubted, %d objects are listed", n)
	}
	w.pass(time.Hour)
	if n := len(listed()); n != 1 {
		t.Errorf("an hour later, %d objects are listed", n)
	}
	w.time = testTime.Add(40 * time.Minute)
	for _, change := range []func(){
		func() { w.spoil(names[0], func(string) string { return "x" }) },
		func() { _ = w.lake.Delete(t.Context(), names[0]) },
	} {
		change()
		if report := w.compact(); report.Bundled != 20 || len(report.Unbundled) > 0 {
			t.Errorf("after its bundle was changed: %+v", report)
		}
		if again := w.opened(200); len(again) != 1 || again[0] != names[0] {
			t.Errorf("a question opens %v", again)
		}
	}
	w.spoil(names[0], func(string) string { return "x" })
	w.pass(4 * time.Hour)
	if report := w.compact(); report.Hours != 1 || len(report.Damaged) > 0 {
		t.Errorf("%+v", report)
	}
	w.expect(each(0, 200))
}

// TestFreshObjects counts the objects that a question about the newest hours opens, while logs arrive and compaction
// runs every 3 minutes.
func TestFreshObjects(t *testing.T) {
	cases := []struct {
		logs, bundle int // of an hour; of a bundle, by their bytes
		most         int // objects of a question
	}{
		{167, 64, 50},   // 100 million records a day, in logs with 25,000
		{42, 17, 50},    // with 100,000
		{1667, 64, 200}, // a billion
		{417, 17, 200},
	}
	for _, c := range cases[:testlevel.Of(1, 2, 4)] {
		t.Run(fmt.Sprint(c.logs), func(t *testing.T) {
			w := newWorld(t)
			w.time = testTime
			config := w.config()
			config.Bundling = cloud.DefaultBundling
			config.Bundling.Most = c.bundle
			store := w.cloudOf(config)
			first := lake.PartitionOf(testTime.UnixMilli())
			listing := bundle.NewListing(lakestate.NewListing(w.lake), w.table, w.now)
			open := func() (n int) {
				for _, err := range listing.Objects(t.Context(), w.state().Watermark, first, first+10) {
					if err != nil {
						t.Fatal(err)
					}
					n++
				}
				return n
			}
			const interval = 4 * time.Minute // between the listings of two runs: what arrives during a run waits for the next
			most, next := 0, testTime.Add(interval)
			for i := range c.logs * 7 / 2 {
				w.pass(time.Hour / time.Duration(c.logs))
				key := fmt.Sprintf("raw/%d", i)
				line := `{"processing_stage":6,"timestamp":%q,"request_id":"r%d"}` + "\n"
				w.put(key, fmt.Sprintf(line, w.now().Format(time.RFC3339), i))
				if _, err := store.Import(t.Context(), rawlog.Log{Key: key}); err != nil {
					t.Fatal(err)
				}
				if w.now().Before(next) {
					continue
				}
				next = next.Add(interval)
				most = max(most, open())
				if _, err := store.Compact(t.Context(), time.Time{}); err != nil {
					t.Fatal(err)
				}
			}
			t.Logf("%d logs an hour: a question opens %d objects at most", c.logs, most)
			if most > c.most {
				t.Errorf("a question opens %d objects, want %d at most", most, c.most)
			}
		})
	}
}
