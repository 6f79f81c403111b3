package cloud_test

import (
	"context"
	"io"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/ingest/cloud/rawlog"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/lakestate"
)

// TestCompactCountsRecords: the bucket may remove objects at any place of the lake.
func TestCompactCountsRecords(t *testing.T) {
	// filled returns a compacted lake with ten records in each of five hours.
	filled := func(t *testing.T) *world {
		w := newWorld(t)
		w.importLog("raw/a.log", records(0, 50, 6*time.Minute))
		w.pass(24 * time.Hour)
		w.compact()
		if got := w.status().Records; got == nil || *got != 50 {
			t.Fatalf("records %v", got)
		}
		return w
	}
	// expire removes the objects of an hour of the first record.
	expire := func(w *world, hour int) {
		w.t.Helper()
		at := testTime.Add(time.Duration(hour) * time.Hour).Format("2006/01/02/15")
		if err := w.lake.Delete(w.t.Context(), w.names("lake/compact/"+at+"/")...); err != nil {
			w.t.Fatal(err)
		}
	}
	shrunk := func(w *world) bool {
		w.t.Helper()
		s, _, err := lakestate.Load(w.t.Context(), w.table)
		if err != nil {
			w.t.Fatal(err)
		}
		return s.Shrunk
	}
	t.Run("after the oldest hours are removed", func(t *testing.T) {
		w := filled(t)
		expire(w, 0)
		if found := w.status(); found.Records != nil || found.Extent.MinTsMs != testTime.Add(time.Hour).UnixMilli() {
			t.Errorf("before the compaction: %+v", found)
		}
		w.compact()
		if got := w.status().Records; got == nil || *got != 40 || shrunk(w) {
			t.Errorf("records %v", got)
		}
	})
	t.Run("after hours between others are removed, within a day", func(t *testing.T) {
		w := filled(t)
		expire(w, 2)
		expire(w, 3)
		w.pass(23 * time.Hour)
		w.compact()
		if got := w.status().Records; got == nil || *got != 50 {
			t.Errorf("records %v although they were counted less than a day ago", got)
		}
		w.pass(time.Hour)
		w.compact()
		if got := w.status().Records; got == nil || *got != 30 {
			t.Errorf("records %v", got)
		}
	})
	t.Run("with those of imports since then", func(t *testing.T) {
		w := filled(t)
		expire(w, 0)
		w.compact()
		w.importLog("raw/b.log", records(300, 307, 6*time.Minute))
		if got := w.status().Records; got == nil || *got != 47 {
			t.Errorf("records %v", got)
		}
	})
	t.Run("not with an object that cannot be read", func(t *testing.T) {
		w := filled(t)
		expire(w, 0)
		hour := testTime.Add(2 * time.Hour).Format("2006/01/02/15")
		name := w.names("lake/compact/" + hour + "/")[0]
		whole := w.content(name)
		if err := w.lake.Put(t.Context(), name, strings.NewReader("not Parquet"), blob.Always); err != nil {
			t.Fatal(err)
		}
		w.compact()
		if got := w.status().Records; got != nil || !shrunk(w) {
			t.Errorf("records %d", *got)
		}
		if err := w.lake.Put(t.Context(), name, strings.NewReader(whole), blob.Always); err != nil {
			t.Fatal(err)
		}
		w.compact()
		if got := w.status().Records; got != nil {
			t.Errorf("records %d although the last count was just now", *got)
		}
		w.pass(6 * time.Hour)
		w.compact()
		if got := w.status().Records; got == nil || *got != 40 {
			t.Errorf("records %v six hours later", got)
		}
	})
	t.Run("once, although two compactions run at the same time", func(t *testing.T) {
		w := filled(t)
		expire(w, 0)
		w.put("raw/b.log", records(300, 320, 6*time.Minute))
		ordinary := w.lake
		w.lake = &hooked{Store: ordinary, hour: testTime.Add(2 * time.Hour), get: func(int64) error {
			w.lake = ordinary
			_, err := w.cloud().Compact(t.Context(), time.Time{})
			if err == nil {
				_, err = w.cloud().Import(t.Context(), rawlog.Log{Key: "raw/b.log"})
			}
			return err
		}}
		w.compact()
		if got := w.status().Records; got == nil || *got != 60 {
			t.Errorf("records %v", got)
		}
	})
	t.Run("an object that is removed meanwhile prevents no compaction", func(t *testing.T) {
		w := filled(t)
		expire(w, 0)
		ordinary := w.lake
		w.lake = &hooked{Store: ordinary, hour: testTime.Add(2 * time.Hour), always: true, get: func(offset int64) error {
			if offset == 0 {
				return nil
			}
			return blob.ErrNotFound
		}}
		w.compact()
		w.lake = ordinary
		if got := w.status().Records; got != nil || !shrunk(w) {
			t.Errorf("records %d", *got)
		}
	})
}

// TestCompactAddsUpColumns: the shares of the columns in the lake are those in the objects that readers see. They are
// added up when the records are counted.
func TestCompactAddsUpColumns(t *testing.T) {
	w := newWorld(t)
	const bytes = 1_000_000
	estimated := func() engine.ColumnBytes {
		t.Helper()
		// An hour that was not counted is taken to be like the lake.
		hours := map[lake.Partition]engine.Sizes{hourAt(-1): {Objects: 1, Bytes: bytes}}
		found, _, err := lakestate.NewColumns(w.table, w.now).Columns(t.Context(), hourAt(0), hours)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	w.importLog("raw/a.log", records(0, 50, 6*time.Minute))
	if found := estimated(); found != nil {
		t.Errorf("before the first count: %v", found)
	}
	w.pass(24 * time.Hour)
	w.compact()
	w.importLog("raw/b.log", records(300, 307, 6*time.Minute))
	w.pass(24 * time.Hour)
	w.compact()
	var whole int64
	columns := map[string]int64{}
	for _, name := range w.names("lake/compact/") {
		content := w.content(name)
		object, err := parquet.Verify(strings.NewReader(content), int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		whole += object.Bytes
		for column, bytes := range object.ColumnBytes {
			columns[column] += bytes
		}
	}
	want := engine.ColumnBytes{}
	for column, sum := range columns {
		want[column] = int64(math.Round(float64(sum) / float64(whole) * bytes))
	}
	if diff := cmp.Diff(want, estimated()); diff != "" || len(want) < 50 {
		t.Errorf("of %d columns (-want +got):\n%s", len(want), diff)
	}
}

// hooked is a lake that calls a function before the first read of an object of an hour, or before each.
type hooked struct {
	blob.Store
	hour   time.Time
	always bool
	get    func(offset int64) error
	once   sync.Once
}

func (h *hooked) Get(
	ctx context.Context, name, version string, offset int64,
) (body io.ReadCloser, info blob.Info, err error) {
	if strings.HasPrefix(name, "lake/compact/"+h.hour.Format("2006/01/02/15")+"/") {
		if h.always {
			err = h.get(offset)
		} else {
			h.once.Do(func() { err = h.get(offset) })
		}
	}
	if err != nil {
		return nil, blob.Info{}, err
	}
	return h.Store.Get(ctx, name, version, offset)
}
