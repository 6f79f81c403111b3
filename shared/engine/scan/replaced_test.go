package scan_test

import (
	"maps"
	"os"
	"testing"
	"time"

	"github.com/orrery/orrery/shared/engine/enginetest"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/lake"
)

// TestCheckNoticesAnotherObjectOfTheSameSize: the other object is recognized by its rows, its times, or the size of a
// column.
func TestCheckNoticesAnotherObjectOfTheSameSize(t *testing.T) {
	store := enginetest.NewStore(t, enginetest.Records(t, 100, 1))
	objects, err := store.Objects(t.Context(), 0, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	object := objects[0]
	if object.ColumnBytes["ts_ms"] == 0 {
		t.Fatal("the sizes of the columns are not known")
	}
	for name, change := range map[string]func(o *lake.Object){
		"another size":              func(o *lake.Object) { o.Bytes++ },
		"another number of rows":    func(o *lake.Object) { o.Rows++ },
		"another first time":        func(o *lake.Object) { o.MinTsMs-- },
		"another last time":         func(o *lake.Object) { o.MaxTsMs++ },
		"another size of a column":  func(o *lake.Object) { o.ColumnBytes["ts_ms"]++ },
		"no size, and another time": func(o *lake.Object) { o.Bytes, o.MinTsMs = 0, o.MinTsMs-1 },
	} {
		listed := object
		listed.ColumnBytes = maps.Clone(object.ColumnBytes)
		change(&listed)
		if err := scan.Check(listed); err == nil {
			t.Errorf("%s is not noticed", name)
		}
	}
	unknown := object
	unknown.ColumnBytes = nil
	if err := scan.Check(unknown); err != nil {
		t.Errorf("without the sizes of columns: %v", err)
	}
	if err := scan.Check(object); err != nil {
		t.Error(err)
	}
}

// TestCheckOpensAFileOnce: a file that has not changed since it was checked is not read again, even when its footer is
// no longer in memory.
func TestCheckOpensAFileOnce(t *testing.T) {
	store := enginetest.NewStore(t, enginetest.Records(t, 100, 2))
	objects, err := store.Objects(t.Context(), 0, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	object := objects[0]
	if err := scan.Check(object); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(object.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(object.Path, make([]byte, info.Size()), 0o600); err != nil {
		t.Fatal(err)
	}
	scan.ForgetFooters()
	for _, changed := range []time.Time{info.ModTime(), info.ModTime().Add(time.Second)} {
		if err := os.Chtimes(object.Path, changed, changed); err != nil {
			t.Fatal(err)
		}
		if err := scan.Check(object); (err == nil) != changed.Equal(info.ModTime()) {
			t.Errorf("with the time %s: %v", changed, err)
		}
	}
	listed := object
	listed.Rows++
	if err := os.Chtimes(object.Path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if err := scan.Check(listed); err == nil {
		t.Error("another object of the same file is not noticed")
	}
}
