package lake_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/orrery/orrery/shared/lake"
)

// optional reports whether a column may be absent in a row.
func optional(t *testing.T, column string) bool {
	t.Helper()
	i := slices.Index(lake.ColumnNames, column)
	if i < 0 {
		t.Fatalf("Row has no column %s", column)
	}
	kind := reflect.TypeFor[lake.Row]().Field(i).Type.Kind()
	return kind == reflect.Pointer || kind == reflect.Slice
}

func TestAddedColumnsAreOptional(t *testing.T) {
	if optional(t, "ts_ms") || optional(t, "origin_null") || !optional(t, "country") || !optional(t, "tags") {
		t.Error("the columns that may be absent are wrong")
	}
	seen := map[string]bool{}
	for i, columns := range lake.Additions {
		for _, name := range columns {
			if !optional(t, name) || seen[name] {
				t.Errorf("version %d cannot add column %s", i+2, name)
			}
			seen[name] = true
		}
	}
}

func TestVersionOfColumns(t *testing.T) {
	before := lake.Additions
	t.Cleanup(func() { lake.Additions = before })
	lake.Additions = [][]string{{"country"}, {"tags", "host"}}
	if got := lake.SchemaVersion(); got != 3 {
		t.Errorf("the version is %d", got)
	}
	for column, want := range map[string]int{"ts_ms": 1, "country": 2, "tags": 3, "host": 3} {
		if got := lake.AddedIn(column); got != want {
			t.Errorf("%s was added in version %d, want %d", column, got, want)
		}
	}
}

func TestObjectHasColumn(t *testing.T) {
	known := lake.Object{ColumnBytes: map[string]int64{"host": 0}}
	if !known.Has("host") || known.Has("country") || !(lake.Object{}).Has("country") {
		t.Error("Has is wrong")
	}
}
