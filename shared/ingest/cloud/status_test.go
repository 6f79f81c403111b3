package cloud_test

import (
	"context"
	"errors"
	"slices"
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

// disturbed is a table that loses the responses to commits, or has another writer before them.
type disturbed struct {
	lakestate.Table
	lost, conflicts int
}

func (d *disturbed) Write(ctx context.Context, changes ...lakestate.Change) error {
	isCommit := func(c lakestate.Change) bool { return strings.HasPrefix(c.Key.Sort, "import#") }
	if !slices.ContainsFunc(changes, isCommit) {
		return d.Table.Write(ctx, changes...)
	}
	if d.conflicts > 0 {
		d.conflicts--
		s, item, err := lakestate.Load(ctx, d.Table)
		if err == nil {
			err = lakestate.Replace(ctx, d.Table, item, s)
		}
		if err != nil {
			return err
		}
	}
	err := d.Table.Write(ctx, changes...)
	if err == nil && d.lost > 0 {
		d.lost--
		return errors.New("the response was lost")
	}
	return err
}

// TestStatusOfTheLake: imports and compactions leave what the status of the lake is made of.
func TestStatusOfTheLake(t *testing.T) {
	t.Run("the newest import and its rejected lines", func(t *testing.T) {
		w := newWorld(t)
		text := records(0, 3, time.Minute) + "garbage\n" + `{"processing_stage":6,"timestamp":"yesterday"}` + "\n"
		w.importLog("raw/a.log", text)
		w.pass(time.Minute)
		at := w.time
		w.importLog("raw/b.log", records(3, 5, time.Minute))
		w.pass(time.Minute)
		w.importLog("raw/a.log.1", text) // is known
		got := w.status().Ingest
		if got.LastSource != "raw/b.log" || !got.LastAt.Equal(at) || got.Rejected == nil || *got.Rejected != 2 ||
			got.Code != "bad_timestamp" {
			t.Errorf("%+v", got)
		}
	})
	t.Run("an import counts once, also if its commit is repeated", func(t *testing.T) {
		for name, disturb := range map[string]func(*disturbed){
			"because the response was lost":    func(d *disturbed) { d.lost = 1 },
			"because another writer was first": func(d *disturbed) { d.conflicts = 3 },
		} {
			t.Run(name, func(t *testing.T) {
				w := newWorld(t)
				d := &disturbed{Table: w.table}
				w.table = d
				disturb(d)
				w.importLog("raw/a.log", records(0, 3, time.Minute)+"garbage\n")
				got := w.status().Ingest
				if *got.Rejected != 1 || got.LastSource != "raw/a.log" || d.lost+d.conflicts != 0 {
					t.Errorf("%+v, %d rejected lines, %+v", got, *got.Rejected, d)
				}
			})
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
		w.pass(24 * time.Hour)
		w.compact()
		check("compacted", 7)
	})
	t.Run("the number of records is not wrong after all objects were lost and rebuilt", func(t *testing.T) {
		w := newWorld(t)
		w.importLog("raw/a.log", records(0, 20, 10*time.Minute))
		names := w.names("lake/fresh/")
		for _, name := range names {
			w.lose(name)
		}
		for range 3 {
			w.pass(2 * time.Hour)
			w.compact()
		}
		w.expectLost(0)
		w.expect(each(0, 20))
		if got := w.status(); len(names) < 2 || got.Records != nil && *got.Records != 20 {
			t.Errorf("%d objects were lost, records %v: %+v", len(names), got.Records, got)
		}
	})
	t.Run("records are counted after objects were removed", func(t *testing.T) {
		w := newWorld(t)
		w.importLog("raw/a.log", strings.ReplaceAll(records(0, 1, time.Minute), "2026-", "2001-")+
			records(1, 5, time.Minute))
		w.pass(24 * time.Hour)
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
		if got := w.status(); got.Records == nil || *got.Records != 4 || *got.Objects != 1 {
			t.Errorf("%+v", got)
		}
	})
}
