package local_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/lake/parquet/parquettest"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/query/querytest"
)

// TestVersions compares the scan, DuckDB and the reading of single rows with the reference.
func TestVersions(t *testing.T) {
	needDuckDB(t)
	enginetest.Versions(t, func(rows []lake.Row) (engine.Engine, *enginetest.Store) {
		store := enginetest.NewStore(t, rows)
		return bothWays(t, store), store
	})
}

func TestVersionsWithoutDuckDB(t *testing.T) {
	enginetest.Versions(t, func(rows []lake.Row) (engine.Engine, *enginetest.Store) {
		store := enginetest.NewStore(t, rows)
		return openWithout(t, store), store
	})
}

// TestEstimateCountsObjectsWithoutAColumn: an object of version 1 does not have log_rest, which matters to the
// questions that depend on it.
func TestEstimateCountsObjectsWithoutAColumn(t *testing.T) {
	var objects []lake.Object
	for _, version := range []int{1, lake.SchemaVersion(), 1} {
		content := parquettest.Stored(t, version)
		o, err := parquet.Verify(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, o)
	}
	e := openWithout(t, enginetest.StoreOf(t.TempDir(), objects))
	two := []engine.LackingColumn{{Name: "log_rest", Objects: 2}}
	for _, c := range []struct {
		conditions string
		shape      query.Shape
		want       []engine.LackingColumn
	}{
		{"", query.Logs{Limit: 1}, nil},
		{"", query.Logs{Limit: 1, Fields: []string{"ip"}}, nil},
		{"", query.Logs{Limit: 1, Fields: []string{"log_rest"}}, two},
		{`, log_rest["level"]="error"`, query.Logs{Limit: 1}, two},
		{`, not log_rest~"x"`, query.Stats{SegmentSeconds: 86_400}, two},
		{"", query.Facets{Limit: 1, By: querytest.Dimensions(`status,log_rest["level"]`)}, two},
		{`, status=200`, query.Facets{Limit: 1, By: querytest.Dimensions("country")}, nil},
		{`, timestamp between 2026-02-01 and 2026-02-02, log_rest="x"`, query.Logs{Limit: 1}, nil},
	} {
		q := bind(t, "timestamp between 2026-01-01 and 2026-01-03"+c.conditions, c.shape)
		estimate, err := e.Estimate(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, estimate.Lacking); diff != "" {
			t.Errorf("%T%s (-want +got):\n%s", c.shape, c.conditions, diff)
		}
	}
}
