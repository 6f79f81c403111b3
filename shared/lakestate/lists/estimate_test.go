package lists_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/completionindex"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

func TestEstimate(t *testing.T) {
	w := newWorld(t)
	w.fill(enginetest.Records(t, 120, 3), hour+3) // an object in each compacted hour, and two in each other one
	e := w.engine()
	estimate := func(t *testing.T, period string, change func(*query.Values)) engine.Estimate {
		t.Helper()
		shape := valuesOf("country", 20)
		if change != nil {
			change(&shape)
		}
		got, err := e.Estimate(t.Context(), bound(t, period, shape, nil))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	const threeHours = "timestamp between 2026-01-01 22:10 and 2026-01-02 00:10"
	t.Run("the lists of the objects of the period are read at most", func(t *testing.T) {
		got := estimate(t, threeHours, nil)
		objects := 4
		want := engine.Estimate{
			By: "lists", Partitions: []lake.Partition{hour + 1, hour + 2, hour + 3}, Objects: &objects,
			Bytes: &engine.Bytes{High: 4 * completionindex.MaxBytes},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		_, cost, err := e.FindValues(t.Context(), bound(t, threeHours, valuesOf("country", 20), nil), never)
		if err != nil || cost.BytesScanned == 0 || cost.BytesScanned > got.Bytes.High {
			t.Errorf("%d bytes, %v", cost.BytesScanned, err)
		}
	})
	t.Run("of a period without objects nothing is read", func(t *testing.T) {
		got := estimate(t, "timestamp between 1999-01-01 and 1999-01-02", nil)
		if *got.Objects != 0 || *got.Bytes != (engine.Bytes{}) || len(got.Partitions) > 0 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("nothing is read if the lists cannot answer", func(t *testing.T) {
		got := estimate(t, threeHours, func(v *query.Values) { v.Counts = true })
		if *got.Bytes != (engine.Bytes{}) || len(got.Warnings) != 1 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("other queries have no estimate", func(t *testing.T) {
		q := bound(t, threeHours, valuesOf("country", 20), nil)
		q.Shape = query.Logs{Limit: 1}
		if _, err := e.Estimate(t.Context(), q); err == nil {
			t.Error("it has one")
		}
	})
}
