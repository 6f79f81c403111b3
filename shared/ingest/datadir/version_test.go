package datadir

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet/parquettest"
)

// rewrite changes an object in its file.
func rewrite(t *testing.T, path string, change func(t testing.TB, object []byte) []byte) (changed []byte) {
	t.Helper()
	object, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed = change(t, object)
	if err := os.WriteFile(path, changed, 0o644); err != nil {
		t.Fatal(err)
	}
	return changed
}

func TestCompactWritesThePresentSchema(t *testing.T) {
	parquettest.AddColumns(t, "path", "status", "headers")
	s := openStore(t, t.TempDir())
	importInSteps(t, s, 1500, 100)
	var want []lake.Row
	for i, path := range objectPaths(t, s) {
		rows := readRows(t, path)
		if i%2 == 0 {
			rewrite(t, path, parquettest.Older)
			for n := range rows {
				if rows[n].Path == nil || rows[n].Status == nil {
					t.Fatal("the records do not have the columns")
				}
				parquettest.Forget(&rows[n])
			}
		}
		want = append(want, rows...)
	}
	slices.SortFunc(want, func(a, b lake.Row) int { return lake.Compare(&a, &b) })
	if report := compact(t, s, CompactOptions{}); report.Hours != 3 || len(report.Newer) > 0 {
		t.Errorf("%+v", report)
	}
	if diff := cmp.Diff(want, rowsOf(t, s)); diff != "" {
		t.Errorf("rows differ (-want +got):\n%s", diff)
	}
	for _, path := range objectPaths(t, s) {
		if version, err := ingest.SchemaVersion(path); version != lake.SchemaVersion() || err != nil {
			t.Errorf("%s has version %d, %v", path, version, err)
		}
	}
}

func TestCompactLeavesObjectsOfNewerSchema(t *testing.T) {
	s := openStore(t, t.TempDir())
	importInSteps(t, s, 1500, 100)
	before := records(t, s)
	paths := objectPaths(t, s)
	newer, name := paths[1], lake.NameOf(paths[1])
	content := rewrite(t, newer, parquettest.Newer)
	for range 2 { // the second compaction leaves it, too
		report := compact(t, s, CompactOptions{})
		if diff := cmp.Diff([]string{name}, report.Newer); diff != "" {
			t.Errorf("left objects (-want +got):\n%s", diff)
		}
		if now := objectPaths(t, s); len(now) != 4 || !slices.Contains(now, newer) {
			t.Errorf("objects %v", now)
		}
		if diff := cmp.Diff(before, records(t, s)); diff != "" {
			t.Errorf("records differ (-want +got):\n%s", diff)
		}
	}
	if got, err := os.ReadFile(newer); err != nil || !bytes.Equal(got, content) {
		t.Errorf("the object has changed: %v", err)
	}
}
