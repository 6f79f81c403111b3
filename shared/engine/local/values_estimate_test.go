package local_test

import (
	"fmt"
	"testing"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// TestEstimateOfValues: the bytes that finding values reads are within the estimate, whether the scan reads
// dictionaries or columns, and whenever it stops. Counting reads exactly the estimate.
func TestEstimateOfValues(t *testing.T) {
	store := enginetest.NewStore(t, enginetest.Records(t, 400, 31))
	e := openWithout(t, store)
	for _, field := range []string{"country", "path", "status", "tags", `headers["x"]`} {
		for _, branches := range [][]string{nil, {"main"}} {
			for _, counts := range []bool{false, true} {
				for name, enough := range map[string]func() bool{"all": never, "the first": func() bool { return true }} {
					shape := valuesOf(field)
					shape.Counts = counts
					if counts {
						shape.Limit = 50
					}
					q, err := query.Bind(filter.ParseQueryString(hours), shape, query.WithBranches(branches))
					if err != nil {
						t.Fatal(err)
					}
					t.Run(fmt.Sprint(field, branches, counts, name), func(t *testing.T) {
						estimate, err := e.Estimate(t.Context(), q)
						if err != nil {
							t.Fatal(err)
						}
						_, cost, err := e.FindValues(t.Context(), q, enough)
						if err != nil {
							t.Fatal(err)
						}
						b := *estimate.Bytes
						if cost.BytesScanned < b.Low || cost.BytesScanned > b.High || counts && b.Low != b.High {
							t.Errorf("%d bytes, estimated were %+v", cost.BytesScanned, b)
						}
						if *cost.Objects > *estimate.Objects || *cost.RowsConsidered > *estimate.Rows {
							t.Errorf("%d objects and %d rows, estimated were %d and %d",
								*cost.Objects, *cost.RowsConsidered, *estimate.Objects, *estimate.Rows)
						}
					})
				}
			}
		}
	}
	t.Run("at most 20 objects are looked at", func(t *testing.T) {
		few, err := e.Estimate(t.Context(), bind(t, hours, valuesOf("country")))
		if err != nil {
			t.Fatal(err)
		}
		var listed []lake.Object
		for i := range 3 {
			for _, o := range allObjects(t, store) {
				o.Path = fmt.Sprint(o.Path, i)
				listed = append(listed, o)
			}
		}
		got, err := openWithout(t, enginetest.StoreOf(store.Dir, listed)).Estimate(t.Context(), bind(t, hours, valuesOf("country")))
		if err != nil || *got.Objects != 20 || got.Bytes.High <= few.Bytes.High {
			t.Errorf("%v: %d objects, %+v", err, *got.Objects, got.Bytes)
		}
	})
	t.Run("nothing is read of a period without data", func(t *testing.T) {
		got, err := e.Estimate(t.Context(), bind(t, "timestamp between 1999-01-01 and 1999-01-02", valuesOf("country")))
		if err != nil || *got.Objects != 0 || *got.Bytes != (engine.Bytes{}) {
			t.Errorf("%v: %+v", err, got)
		}
	})
}
