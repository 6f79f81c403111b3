package query_test

import (
	"slices"
	"testing"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

func TestTopXPartsHaveEachLabelOnce(t *testing.T) {
	var all []string
	for _, part := range query.TopXParts {
		all = append(all, part.Labels...)
	}
	slices.Sort(all)
	if !slices.Equal(all, query.Labels) {
		t.Errorf("the parts have the labels %v, want %v", all, query.Labels)
	}
}

func TestLabelsNameColumns(t *testing.T) {
	for _, l := range query.TopXLabels {
		for _, column := range []string{l.Column, l.Time} {
			if _, ok := lake.ColumnByName(column); !ok && column != "" {
				t.Errorf("label %s: no column %q", l.Name, column)
			}
		}
	}
}
