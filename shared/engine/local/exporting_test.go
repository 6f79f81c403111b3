package local_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/local"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/testkit/reference"
)

// exported returns all records of an export and the cost. It checks the sizes of the parts.
func exported(t *testing.T, e *local.Engine, q query.Query) ([]*lake.Row, engine.Cost) {
	t.Helper()
	var (
		all   []*lake.Row
		cost  engine.Cost
		ended bool
	)
	err := e.Export(t.Context(), q, func(part engine.ExportPart) error {
		if ended || part.Last != (len(part.Rows) == 0) {
			t.Errorf("a part of %d records, last %t, after the last one %t", len(part.Rows), part.Last, ended)
		}
		all, cost, ended = append(all, part.Rows...), part.Cost, part.Last
		return nil
	})
	if err != nil || !ended {
		t.Fatalf("%v, ended %t", err, ended)
	}
	return all, cost
}

// TestExport: the parts of an export are the answer of the reference evaluation, whatever their sizes are.
func TestExport(t *testing.T) {
	rows := enginetest.Records(t, 400, 12)
	eachEngine(t, func(t *testing.T, open openFunc) {
		e := open(t, enginetest.NewStore(t, rows))
		for _, size := range []struct {
			part         int64
			rows, places int
		}{{4 << 20, 2000, 30_000}, {4 << 20, 7, 50}, {1, 2000, 3}, {20_000, 2000, 100}} {
			e.SetSizes(1<<30, size.part, size.rows, size.places)
			for _, text := range []string{hours, hours + oneAddress, hours + ", status<400", hours + ", status=99999"} {
				q := bind(t, text, query.Logs{Limit: len(rows)})
				want := reference.Evaluate(&q, pointers(rows))
				got, cost := exported(t, e, q)
				if diff := enginetest.Diff(want, query.Answer{Logs: got}); diff != "" {
					t.Fatalf("%s in parts of %+v (-reference +export):\n%s", text, size, diff)
				}
				if cost.By != "rows" || cost.Objects == nil || len(got) > 0 && cost.BytesScanned == 0 {
					t.Errorf("the cost is %+v", cost)
				}
				q.Shape = query.Logs{Limit: len(rows), Fields: []string{"ip", "headers"}}
				if want, _, err := e.Run(t.Context(), q); err != nil {
					t.Fatal(err)
				} else if got, _ = exported(t, e, q); enginetest.Diff(want, query.Answer{Logs: got}) != "" {
					t.Errorf("two fields of %s in parts of %+v differ from the fields of Run", text, size)
				}
			}
		}
		q := bind(t, hours, query.Logs{Limit: len(rows)})
		all := reference.Evaluate(&q, pointers(rows)).Logs
		newest, oldest := query.PlaceOf(all[20]), query.PlaceOf(all[90])
		q.Shape = query.Logs{Limit: 1, OlderThan: &newest, NewerThan: &oldest}
		got, _ := exported(t, e, q)
		if diff := enginetest.Diff(query.Answer{Logs: all[21:90]}, query.Answer{Logs: got}); diff != "" {
			t.Errorf("between two places (-reference +export):\n%s", diff)
		}
	})
}

// TestExportWhileObjectsAreReplaced: compaction replaces the objects between the parts of an export, again and again.
func TestExportWhileObjectsAreReplaced(t *testing.T) {
	rows := enginetest.Records(t, 300, 1)
	eachEngine(t, func(t *testing.T, open openFunc) {
		store := enginetest.NewStore(t, rows)
		e := open(t, store)
		e.SetSizes(1<<30, 1<<20, 20, 70)
		q := bind(t, hours, query.Logs{Limit: len(rows)})
		var got []*lake.Row
		err := e.Export(t.Context(), q, func(part engine.ExportPart) error {
			got = append(got, part.Rows...)
			for _, o := range allObjects(t, store) {
				renamed := o
				renamed.Path = strings.TrimSuffix(o.Path, ".parquet") + "x.parquet"
				if err := os.Rename(o.Path, renamed.Path); err != nil {
					return err
				}
				store.Replace(o.Path, renamed)
			}
			if len(part.Cost.Skipped) > 0 {
				t.Errorf("replaced objects are skipped: %v", part.Cost.Skipped)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := enginetest.Diff(reference.Evaluate(&q, pointers(rows)), query.Answer{Logs: got}); diff != "" {
			t.Errorf("export while objects are replaced (-want +got):\n%s", diff)
		}
	})
}

// TestExportLeavesOutDamagedObjects and names them.
func TestExportLeavesOutDamagedObjects(t *testing.T) {
	rows := enginetest.Records(t, 300, 1)
	eachEngine(t, func(t *testing.T, open openFunc) {
		for _, damage := range damages {
			store := enginetest.NewStore(t, rows)
			objects := allObjects(t, store)
			bad := objects[len(objects)/2]
			if err := damage.harm(bad.Path); err != nil {
				t.Fatal(err)
			}
			e := open(t, store)
			e.SetSizes(1<<30, 1<<20, 20, 70)
			q := bind(t, hours, query.Logs{Limit: len(rows)})
			got, cost := exported(t, e, q)
			want, _, err := e.Run(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if diff := enginetest.Diff(want, query.Answer{Logs: got}); diff != "" || len(got) == 0 {
				t.Errorf("%s: %d records, export (-Run +Export):\n%s", damage.name, len(got), diff)
			}
			if !slices.Equal(cost.Skipped, []string{lake.NameOf(bad.Path)}) {
				t.Errorf("%s: skipped %v", damage.name, cost.Skipped)
			}
		}
	})
}

func TestExportEnds(t *testing.T) {
	e := openWithout(t, enginetest.NewStore(t, enginetest.Records(t, 300, 1)))
	e.SetSizes(1<<30, 1<<20, 20, 70)
	q := bind(t, hours, query.Logs{Limit: 1})
	t.Run("with the error of visit", func(t *testing.T) {
		enough, visits := errors.New("enough"), 0
		err := e.Export(t.Context(), q, func(engine.ExportPart) error {
			visits++
			return enough
		})
		if !errors.Is(err, enough) || err.Error() != "enough" || visits != 1 {
			t.Errorf("%v after %d parts", err, visits)
		}
	})
	t.Run("when the caller is gone", func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		err := e.Export(ctx, q, func(engine.ExportPart) error {
			leave()
			return nil
		})
		if fault.KindOf(err) != fault.Canceled {
			t.Errorf("%v, want an error of kind Canceled", err)
		}
	})
}

// TestRecordsOfAnAnswerTakeBoundedMemory: an answer has as many of the newest records as its memory allows, and is
// truncated. A single record is always in it. The pages have all records.
func TestRecordsOfAnAnswerTakeBoundedMemory(t *testing.T) {
	rows := enginetest.Records(t, 300, 1)
	eachEngine(t, func(t *testing.T, open openFunc) {
		e := open(t, enginetest.NewStore(t, rows))
		e.SetSizes(40_000, 1, 1, 1)
		q := bind(t, hours, query.Logs{Limit: len(rows)})
		want := reference.Evaluate(&q, pointers(rows)).Logs
		var all []*lake.Row
		for pages := 1; ; pages++ {
			answer, _, err := e.Run(t.Context(), q)
			if err != nil || len(answer.Logs) == 0 {
				t.Fatalf("%d records, %v", len(answer.Logs), err)
			}
			all = append(all, answer.Logs...)
			if !answer.Truncated {
				if pages < 3 {
					t.Errorf("all records are on %d pages", pages)
				}
				break
			}
			last := query.PlaceOf(answer.Logs[len(answer.Logs)-1])
			q.Shape = query.Logs{Limit: len(rows), OlderThan: &last}
		}
		if diff := enginetest.Diff(query.Answer{Logs: want}, query.Answer{Logs: all}); diff != "" {
			t.Errorf("all pages (-reference +local):\n%s", diff)
		}
	})
}
