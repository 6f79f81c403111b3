package local_test

import (
	"context"
	"testing"

	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/reference"
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
			for mark, arrived := range map[int64][]*lake.Row{1: second, 2: nil} {
				want := int64(len(reference.Evaluate(&all, arrived).Logs))
				n, known, err := e.Late(t.Context(), q, mark)
				if err != nil || !known || n != want {
					t.Errorf("%s: %d since change %d, known %v, %v; want %d", filter, n, mark, known, err, want)
				}
			}
		}
		q := bind(t, hours, query.Logs{Limit: 3, OlderThan: &place})
		for name, mark := range map[string]int64{"no mark": 0, "a mark of another folder": 3} {
			if n, known, err := e.Late(t.Context(), q, mark); known || err != nil {
				t.Errorf("%s: %d, %v, %v", name, n, known, err)
			}
		}
	})
	t.Run("objects with records from before and after the mark are not counted", func(t *testing.T) {
		e := openWithout(t, index)
		q := bind(t, hours, query.Logs{Limit: 3, OlderThan: &place})
		merged := lake.NameOf(objects[0].Path)
		before := index.changes[merged]
		defer func() { index.changes[merged] = before }()
		for changes, want := range map[[2]int64]bool{{1, 2}: false, {0, 2}: false, {2, 2}: true, {0, 1}: true} {
			index.changes[merged] = changes
			if _, known, err := e.Late(t.Context(), q, 1); known != want || err != nil {
				t.Errorf("%v: %v, %v", changes, known, err)
			}
		}
	})
	t.Run("an index without numbers has no mark", func(t *testing.T) {
		if mark, err := openWithout(t, store).Mark(t.Context()); mark != 0 || err != nil {
			t.Errorf("%d, %v", mark, err)
		}
		if mark, err := openWithout(t, index).Mark(t.Context()); mark != 2 || err != nil {
			t.Errorf("%d, %v", mark, err)
		}
	})
}
