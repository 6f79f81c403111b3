package cloud_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
)

// checkDayCounts checks that each count of a day that holds is what a listing has, unless objects of an open import may
// be among them.
func (p *play) checkDayCounts() {
	p.t.Helper()
	ctx := context.Background()
	s, _, err := lakestate.Load(ctx, p.table)
	day := lake.PartitionOf(playTime.UnixMilli()).Day()
	var counts map[lake.Day]lakestate.DayCount
	if err == nil {
		counts, err = lakestate.ReadDayCounts(ctx, p.table, day-2, day+2)
	}
	if err != nil {
		p.t.Error(err)
	}
	for day, count := range counts {
		if !count.Holds(s.OfEngines()) || openOn(s, day) {
			continue
		}
		p.sum.DayCounts++
		want := map[lake.Partition]engine.Sizes{}
		for found, err := range lakestate.NewListing(p.lake).Days(ctx, day, day, nil) {
			if err != nil {
				p.t.Error(err)
			}
			want = found.Hours
		}
		if p.damaging { // which changes the bytes of objects
			want, count.Hours = withoutBytes(want), withoutBytes(count.Hours)
		}
		if diff := cmp.Diff(want, count.Hours); diff != "" {
			p.t.Errorf("the count of %s holds although its objects differ (-listed +counted):\n%s", day, diff)
		}
	}
}

func openOn(s lakestate.State, day lake.Day) bool {
	for _, o := range s.Open {
		if lake.PartitionOf(o.Extent.MinTsMs).Day() <= day && day <= lake.PartitionOf(o.Extent.MaxTsMs).Day() {
			return true
		}
	}
	return false
}

func withoutBytes(hours map[lake.Partition]engine.Sizes) map[lake.Partition]engine.Sizes {
	all := map[lake.Partition]engine.Sizes{}
	for hour, sizes := range hours {
		all[hour] = engine.Sizes{Objects: sizes.Objects}
	}
	return all
}

// daysOf returns a log with one record in each of some days.
func daysOf(first, n int) string {
	var b strings.Builder
	for day := first; day < first+n; day++ {
		at := testTime.AddDate(0, 0, day)
		fmt.Fprintf(&b, `{"processing_stage":6,"timestamp":%q,"request_id":"day%d"}`+"\n", at.Format(time.RFC3339), day)
	}
	return b.String()
}

// footers is a bucket that counts the objects of the lake that are read.
type footers struct {
	blob.Store
	mu   sync.Mutex
	read map[string]bool
}

func (f *footers) Get(ctx context.Context, name, version string, offset int64) (io.ReadCloser, blob.Info, error) {
	if strings.HasPrefix(name, "lake/compact/") {
		f.mu.Lock()
		f.read[name] = true
		f.mu.Unlock()
	}
	return f.Store.Get(ctx, name, version, offset)
}

// TestRecordsAreCountedByDay: the daily count reads the footers of days that have changed, and of the newest hours.
func TestRecordsAreCountedByDay(t *testing.T) {
	w := newWorld(t)
	w.pass(41 * 24 * time.Hour)
	w.importLog("raw/a.log", daysOf(0, 40))
	w.compact()
	counted := func() (read int) {
		t.Helper()
		ordinary := w.lake
		footers := &footers{Store: ordinary, read: map[string]bool{}}
		w.lake = footers
		w.compact()
		w.lake = ordinary
		return len(footers.read)
	}
	w.pass(24 * time.Hour)
	if n := counted(); n != 1 { // of the day that the watermark cuts
		t.Errorf("%d footers were read although no day has changed", n)
	}
	w.importLog("raw/b.log", daysOf(7, 1)+daysOf(30, 1))
	w.pass(24 * time.Hour)
	if n := counted(); n != 5 {
		t.Errorf("%d footers were read besides those of two days with two objects each", n-4)
	}
	if got := w.status(); got.Records == nil || *got.Records != 42 || *got.Objects != 42 {
		t.Errorf("%v records, %v objects", got.Records, got.Objects)
	}
	t.Run("objects that the bucket removes between others are missing within a day", func(t *testing.T) {
		at := testTime.AddDate(0, 0, 20).Format("2006/01/02")
		if err := w.lake.Delete(t.Context(), w.names("lake/compact/"+at+"/")...); err != nil {
			t.Fatal(err)
		}
		w.pass(24 * time.Hour)
		if n := counted(); n != 1 {
			t.Errorf("%d footers were read", n)
		}
		if got := w.status(); got.Records == nil || *got.Records != 41 || *got.Objects != 41 {
			t.Errorf("%v records, %v objects", got.Records, got.Objects)
		}
	})
	t.Run("those at the beginning are missing at once", func(t *testing.T) {
		if err := w.lake.Delete(t.Context(), w.names("lake/compact/"+testTime.Format("2006/01/02")+"/")...); err != nil {
			t.Fatal(err)
		}
		if got := w.status(); got.Records != nil || *got.Objects != 40 {
			t.Errorf("%v records, %v objects", got.Records, got.Objects)
		}
		w.compact()
		if got := w.status(); got.Records == nil || *got.Records != 40 || *got.Objects != 40 {
			t.Errorf("%v records, %v objects", got.Records, got.Objects)
		}
	})
}

// TestADayThatCannotBeReadKeepsNoOthersFromTheirCount: the next attempt reads the footers of that day, and of none that was read.
func TestADayThatCannotBeReadKeepsNoOthersFromTheirCount(t *testing.T) {
	w := newWorld(t)
	w.pass(11 * 24 * time.Hour)
	w.importLog("raw/a.log", daysOf(0, 10))
	broken := testTime.AddDate(0, 0, 4)
	ordinary := w.lake
	w.lake = &hooked{Store: ordinary, hour: broken, always: true, get: func(int64) error { return blob.ErrNotFound }}
	w.compact()
	w.pass(6 * time.Hour)
	footers := &footers{Store: ordinary, read: map[string]bool{}}
	w.lake = footers
	w.compact()
	if len(footers.read) != 2 { // one of them of the day that the watermark cuts
		t.Errorf("%d footers were read", len(footers.read))
	}
}

// TestCountsAfterInterruptions: wherever a compaction is interrupted, also between the publication of late records and
// the count of their day, no count that holds is wrong, and the next compactions count everything.
func TestCountsAfterInterruptions(t *testing.T) {
	for _, made := range []bool{false, true} {
		for n := 1; ; n++ {
			w := newWorld(t)
			w.pass(11 * 24 * time.Hour)
			w.importLog("raw/a.log", daysOf(0, 10))
			w.compact()
			w.importLog("raw/b.log", daysOf(2, 2))
			whole := w.table
			failing := &failingWrite{Table: whole, left: n, made: made}
			w.table = failing
			_, err := w.cloud().Compact(t.Context(), time.Time{})
			w.table = whole
			w.importLog("raw/c.log", daysOf(3, 1)) // before the next compaction
			if got := w.status(); *got.Objects != 13 {
				t.Errorf("write %d, made %t: %d objects", n, made, *got.Objects)
			}
			w.pass(24 * time.Hour)
			w.compact()
			if got := w.status(); got.Records == nil || *got.Records != 13 || *got.Objects != 13 {
				t.Errorf("write %d, made %t: %v records, %v objects", n, made, got.Records, got.Objects)
			}
			if failing.left > 0 {
				if err != nil {
					t.Fatal(err)
				}
				break
			}
			if n > 100 {
				t.Fatal("there is no end of writes")
			}
		}
	}
}

// keeping is a lake that removes nothing.
type keeping struct{ blob.Store }

var errKept = errors.New("nothing is removed")

func (keeping) Delete(context.Context, ...string) error { return errKept }

// TestCountWhileADamagedObjectIsRemoved: an object that is set aside is listed as lost before it is removed, and a
// compaction that runs between the two does not count it.
func TestCountWhileADamagedObjectIsRemoved(t *testing.T) {
	w := newWorld(t)
	w.pass(11 * 24 * time.Hour)
	w.importLog("raw/a.log", daysOf(0, 10))
	w.compact()
	name := w.names("lake/compact/")[2]
	hour, _ := lakestate.HourOf(name)
	w.spoil(name, func(content string) string { return content[:len(content)/2] })
	w.report(lake.NameOf(name), hour)
	config := w.config()
	config.Pause = func(ctx context.Context, _ time.Duration) error {
		ordinary := w.lake
		w.lake = keeping{ordinary} // or it would remove the object itself
		_, err := w.cloud().Compact(ctx, time.Time{})
		w.lake = ordinary
		if !errors.Is(err, errKept) {
			t.Error(err)
		}
		return nil
	}
	w.pass(24 * time.Hour)
	if report, err := w.cloudOf(config).Compact(t.Context(), time.Time{}); err != nil || len(report.Damaged) != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	if got := w.status(); *got.Objects != 9 || got.Records != nil {
		t.Errorf("%d objects, records %v", *got.Objects, got.Records)
	}
	w.pass(24 * time.Hour)
	w.compact()
	if got := w.status(); *got.Objects != 10 || got.Records == nil || *got.Records != 10 {
		t.Errorf("rebuilt: %d objects, records %v", *got.Objects, got.Records)
	}
}
