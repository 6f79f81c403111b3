package sqlgen

import (
	"slices"
	"testing"

	"github.com/orrery/orrery/shared/query"
)

func TestTopXPartsAreEveryLabelOnce(t *testing.T) {
	var all []string
	for _, part := range TopXParts {
		all = append(all, part...)
	}
	slices.Sort(all)
	if !slices.Equal(all, query.Labels) {
		t.Errorf("the parts have the labels %v, want %v", all, query.Labels)
	}
}
