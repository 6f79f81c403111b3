package record_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/record"
)

// TestFieldNamesMatchTheCatalogue checks that fields lists exactly the fields of the catalogue.
func TestFieldNamesMatchTheCatalogue(t *testing.T) {
	var want []string
	for _, f := range catalog.Fields {
		want = append(want, f.Name)
	}
	got := record.FieldNames()
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-catalogue +record):\n%s", diff)
	}
}
