package local_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
	"github.com/orrery/orrery/shared/testkit/reference"
)

func never() bool { return false }

func valuesOf(field string) query.Values {
	return query.Values{By: querytest.Dimensions(field)[0], Find: query.Beginning(""), Limit: 1 << 20}
}

// TestFindValuesWhileObjectsAreReplaced: compaction replaces all objects after the engine has listed them.
func TestFindValuesWhileObjectsAreReplaced(t *testing.T) {
	rows := enginetest.Records(t, 300, 1)
	for _, field := range []string{"country", "tags"} {
		store := enginetest.NewStore(t, rows)
		q := bind(t, hours, valuesOf(field))
		found, cost, err := openWithout(t, &replacing{Store: store, t: t}).FindValues(t.Context(), q, never)
		if err != nil {
			t.Fatal(err)
		}
		objects := len(allObjects(t, store))
		want := engine.FoundValues{
			ValuesAnswer: reference.Evaluate(&q, pointers(rows)).Values, Exact: true, Looked: objects, Of: objects,
		}
		if diff := cmp.Diff(want, found); diff != "" {
			t.Errorf("%s (-want +got):\n%s", field, diff)
		}
		if *cost.Objects != objects || *cost.RowsConsidered != int64(len(rows)) || cost.BytesScanned == 0 {
			t.Errorf("%s: the cost is %d objects, %d rows, %d bytes",
				field, *cost.Objects, *cost.RowsConsidered, cost.BytesScanned)
		}
	}
}

// TestFindValuesWithoutDamagedObjects: an object that cannot be read is named, and the answer is not exact.
func TestFindValuesWithoutDamagedObjects(t *testing.T) {
	rows := enginetest.Records(t, 300, 2)
	for _, field := range []string{"country", "tags"} {
		store := enginetest.NewStore(t, rows)
		objects := allObjects(t, store)
		damaged := objects[1]
		if err := os.Truncate(damaged.Path, damaged.Bytes/2); err != nil {
			t.Fatal(err)
		}
		q := bind(t, hours, valuesOf(field))
		found, cost, err := openWithout(t, store).FindValues(t.Context(), q, never)
		if err != nil {
			t.Fatal(err)
		}
		want := engine.FoundValues{
			ValuesAnswer: reference.Evaluate(&q, without(rows, damaged)).Values,
			Looked:       len(objects) - 1, Of: len(objects),
		}
		if diff := cmp.Diff(want, found); diff != "" {
			t.Errorf("%s (-want +got):\n%s", field, diff)
		}
		if diff := cmp.Diff([]string{lake.NameOf(damaged.Path)}, cost.Skipped); diff != "" {
			t.Errorf("%s: skipped (-want +got):\n%s", field, diff)
		}
	}
}

func TestFindValuesWithoutData(t *testing.T) {
	q := bind(t, "timestamp between 1999-01-01 and 1999-01-02", valuesOf("country"))
	found, _, err := openWithout(t, enginetest.NewStore(t, nil)).FindValues(t.Context(), q, never)
	if diff := cmp.Diff(engine.FoundValues{Exact: true}, found, cmpopts.EquateEmpty()); diff != "" || err != nil {
		t.Errorf("%v, %s", err, diff)
	}
}

func TestFindValuesInLessTimeThanItTakes(t *testing.T) {
	store := enginetest.NewStore(t, enginetest.Records(t, 300, 3))
	found, _, err := openWithout(t, store).FindValues(t.Context(), bind(t, hours, valuesOf("country")),
		func() bool { return true })
	if err != nil || found.Exact || found.Looked != 1 || found.Of != len(allObjects(t, store)) {
		t.Errorf("%v: %+v", err, found)
	}
}

// TestExplainValues: the plan names a scan and counts whole columns, which include their dictionaries.
func TestExplainValues(t *testing.T) {
	store := enginetest.NewStore(t, enginetest.Records(t, 100, 4))
	eachEngine(t, func(t *testing.T, open openFunc) {
		plan, err := open(t, store).Explain(t.Context(), bind(t, hours, valuesOf("country")))
		if err != nil || plan.By != "scan" || len(plan.SQL) > 0 || plan.Objects != len(allObjects(t, store)) {
			t.Errorf("%v: %+v", err, plan)
		}
		if diff := cmp.Diff([]string{"ts_ms", "country"}, plan.Columns); diff != "" {
			t.Error(diff)
		}
	})
}
