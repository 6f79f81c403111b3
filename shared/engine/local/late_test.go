package local_test

import (
	"context"
	"testing"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/testkit/reference"
)

// numbered is an index that numbers its changes.
type numbered struct {
	*enginetest.Store
	sequence int64
	changes  map[string][2]int64 // of the objects, by name
}

func (n *numbered) Sequence(context.Context) (int64, error) { return n.sequence, nil }

func (n *numbered) Objects(ctx context.Context, from, to lake.Partition) ([]lake.Object, error) {
	objects, err := n.Store.Objects(ctx, from, to)
	for i := range objects {
		o := &objects[i]
		of := n.changes[lake.NameOf(o.Path)]
		o.FirstChange, o.LastChange = of[0], of[1]
	}
	return objects, err
}

// TestLate compares the number of the late records with the reference, over the objects of two imports: of the first
// source in the first change, and of the second one in the second.
func TestLate(t *testing.T) {
	rows := enginetest.Records(t, 400, 37)
	store := enginetest.NewStore(t, rows)
	sources := map[string]int64{rows[0].Source: 1, rows[len(rows)-1].Source: 2}
	index := &numbered{Store: store, sequence: 2, changes: map[string][2]int64{}}
	objects := allObjects(t, store)
	for _, o := range objects {
		source, _, ok := lake.SourceOf(o.Path)
		if !ok || sources[source] == 0 {
			t.Fatalf("%s of %s", source, o.Path)
		}
		index.changes[lake.NameOf(o.Path)] = [2]int64{sources[source], sources[source]}
	}
	second := pointers(rows)[len(rows)/2:]
	middle := *second[len(second)/3]
	shared := 0 // records of the second source at one time, so that only their places tell which one is older
	for i, r := range second {
		if i > 0 && r.TsMs == second[i-1].TsMs {
			middle = *r
			shared++
		}
	}
	if shared == 0 {
		t.Fatal("no records have the same time")
	}
	place := query.PlaceOf(&middle)
	eachEngine(t, func(t *testing.T, open openFunc) {
		e := open(t, index)
		for _, filter := range []string{
			hours, hours + ", status>=400", hours + `, headers["x"]!="1"`,
			"timestamp between 2026-01-01 22:00 and 2026-01-01 23:30", "timestamp between 1999-01-01 and 1999-01-02",
		} {
			q := bind(t, filter, query.Logs{Limit: 3, OlderThan: &place})
			all := q
			all.Shape = query.Logs{Limit: len(rows), OlderThan: &place}
			for change, arrived := range map[int64][]*lake.Row{1: second, 2: nil} {
				want := int64(len(reference.Evaluate(&all, arrived).Logs))
				late, err := e.Late(t.Context(), q, change)
				if err != nil || !late.Known || late.Records != want {
					t.Errorf("%s: %+v since change %d, %v; want %d", filter, late, change, err, want)
				}
				estimate, err := e.EstimateLate(t.Context(), q, change)
				if err != nil || late.BytesScanned < estimate.Low || late.BytesScanned > estimate.High {
					t.Errorf("%s: %d bytes since change %d, %v; the estimate is %+v",
						filter, late.BytesScanned, change, err, estimate)
				}
				if late.Records > 0 && late.BytesScanned == 0 {
					t.Errorf("%s: %d records were counted without reading", filter, late.Records)
				}
			}
		}
		q := bind(t, hours, query.Logs{Limit: 3, OlderThan: &place})
		for name, change := range map[string]int64{"no change": 0, "a change of another folder": 3} {
			if late, err := e.Late(t.Context(), q, change); late != (engine.Late{}) || err != nil {
				t.Errorf("%s: %+v, %v", name, late, err)
			}
		}
	})
	t.Run("objects with records from before and after the change are not counted", func(t *testing.T) {
		e := openWithout(t, index)
		q := bind(t, hours, query.Logs{Limit: 3, OlderThan: &place})
		merged := lake.NameOf(objects[0].Path)
		before := index.changes[merged]
		defer func() { index.changes[merged] = before }()
		for changes, want := range map[[2]int64]bool{{1, 2}: false, {0, 2}: false, {2, 2}: true, {0, 1}: true} {
			index.changes[merged] = changes
			if late, err := e.Late(t.Context(), q, 1); late.Known != want || err != nil {
				t.Errorf("%v: %v, %v", changes, late.Known, err)
			}
		}
	})
	t.Run("an index may have no numbers", func(t *testing.T) {
		if change, err := openWithout(t, store).Sequence(t.Context()); change != 0 || err != nil {
			t.Errorf("%d, %v", change, err)
		}
		if change, err := openWithout(t, index).Sequence(t.Context()); change != 2 || err != nil {
			t.Errorf("%d, %v", change, err)
		}
	})
}
