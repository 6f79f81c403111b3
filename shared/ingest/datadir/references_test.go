package datadir

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lake/parquet/parquettest"
)

// refs returns the reference to each record, by its request id and the number of records before with that id. It checks
// that no two records have the same one.
func refs(t *testing.T, s *Store) map[string]lake.Ref {
	t.Helper()
	all, owners, seen := map[string]lake.Ref{}, map[lake.Ref]string{}, map[string]int{}
	rows := rowsOf(t, s)
	for i := range rows {
		id := *rows[i].RequestID
		seen[id]++
		id = fmt.Sprintf("%s number %d", id, seen[id])
		ref := lake.RefOf(&rows[i])
		if other, taken := owners[ref]; taken {
			t.Errorf("the records %s and %s have the same reference", id, other)
		}
		all[id], owners[ref] = ref, id
	}
	return all
}

// TestReferencesStay: a record keeps its reference whatever happens to its object.
func TestReferencesStay(t *testing.T) {
	parquettest.AddColumns(t, "path", "status")
	importAll := func(s *Store) {
		importInSteps(t, s, 600, 200)
		importText(t, s, lines(100, 50), ingest.Options{}) // another source, with records of the same times
	}
	s := openStore(t, t.TempDir())
	importAll(s)
	before := refs(t, s)
	if len(before) != 650 {
		t.Fatalf("%d records", len(before))
	}
	unchanged := func(t *testing.T, s *Store) {
		t.Helper()
		if diff := cmp.Diff(before, refs(t, s)); diff != "" {
			t.Errorf("references (-before +after):\n%s", diff)
		}
	}
	t.Run("if its log is imported again", func(t *testing.T) {
		importText(t, s, lines(0, 600), ingest.Options{})
		unchanged(t, s)
	})
	t.Run("if its object is written again", func(t *testing.T) {
		other := openStore(t, t.TempDir())
		importAll(other)
		unchanged(t, other)
	})
	t.Run("if its hour is compacted, from an older schema into the present one", func(t *testing.T) {
		for i, path := range objectPaths(t, s) {
			if i%2 == 0 {
				rewrite(t, path, parquettest.Older)
			}
		}
		if report := compact(t, s, CompactOptions{}); report.Hours == 0 {
			t.Errorf("nothing was compacted: %+v", report)
		}
		unchanged(t, s)
		for _, path := range objectPaths(t, s) {
			if version, err := ingest.SchemaVersion(path); version != lake.SchemaVersion() || err != nil {
				t.Errorf("%s has version %d, %v", path, version, err)
			}
		}
	})
}
