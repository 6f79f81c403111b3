package cloud_test

import (
	"strings"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/status"
)

func (w *world) status() status.Status {
	w.t.Helper()
	found, err := lakestate.NewOverview(w.table, lakestate.NewListing(w.lake)).Status(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// TestStatusOfTheLake: imports and compactions leave what the status of the lake is made of.
func TestStatusOfTheLake(t *testing.T) {
	t.Run("the newest import and its rejected lines", func(t *testing.T) {
		w := newWorld(t)
		text := records(0, 3, time.Minute) + "garbage\n" + `{"timestamp":"yesterday"}` + "\n"
		w.importLog("raw/a.log", text)
		w.time = w.time.Add(time.Minute)
		at := w.time
		w.importLog("raw/b.log", records(3, 5, time.Minute))
		w.time = w.time.Add(time.Minute)
		w.importLog("raw/a.log.1", text) // is known
		got := w.status().Ingest
		if got.LastSource != "raw/b.log" || !got.LastAt.Equal(at) || got.Rejected == nil || *got.Rejected != 2 ||
			got.Code != "bad_timestamp" {
			t.Errorf("%+v", got)
		}
	})
	t.Run("the objects are those that readers see, before and after a compaction", func(t *testing.T) {
		w := newWorld(t)
		w.importLog("raw/a.log", records(0, 20, 10*time.Minute))
		w.importLog("raw/b.log", records(20, 40, 10*time.Minute))
		check := func(when string, compacted int) {
			t.Helper()
			names := readable(t, w.lake, w.state())
			got := w.status()
			if *got.Records != 40 || *got.Objects != len(names) {
				t.Errorf("%s: %d records in %d objects, %v", when, *got.Records, *got.Objects, names)
			}
			var objects, merged int
			var bytes int64
			for _, h := range got.Hours {
				objects, bytes = objects+h.Objects, bytes+h.Bytes
				if h.Compacted {
					merged++
				}
			}
			if objects != len(names) || bytes != *got.Bytes || merged != compacted {
				t.Errorf("%s: %d objects, %d bytes in the hours, %d compacted: %+v", when, objects, bytes, merged, got)
			}
		}
		check("imported", 0)
		w.time = w.time.Add(24 * time.Hour)
		w.compact()
		check("compacted", 7)
	})
	t.Run("the number of records is not known after objects were removed", func(t *testing.T) {
		w := newWorld(t)
		w.importLog("raw/a.log", strings.ReplaceAll(records(0, 1, time.Minute), "2026-", "2001-")+
			records(1, 5, time.Minute))
		w.time = w.time.Add(24 * time.Hour)
		w.compact()
		if got := w.status(); got.Records == nil || *got.Records != 5 {
			t.Fatalf("%+v", got)
		}
		for _, name := range w.names("lake/compact/2001/") {
			if err := w.lake.Delete(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
		w.compact()
		if got := w.status(); got.Records != nil || *got.Objects != 1 {
			t.Errorf("%+v", got)
		}
	})
}
