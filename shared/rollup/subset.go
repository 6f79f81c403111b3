package rollup

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
)

// Subset selects some records of a day: those with a value of a field. The zero Subset selects all records.
type Subset struct{ Field, Value string }

// SubsetFields are the fields by whose values a day is rolled up besides as a whole. Rollups of the 20 busiest hosts would
// take a quarter of the bytes of the records, so there are none.
var SubsetFields = []string{"branch"}

// SubsetOf returns the subset that conditions select. ok is false if they select other records.
func SubsetOf(conditions []query.Condition) (s Subset, ok bool) {
	for i, c := range conditions {
		of, isSubset := subsetOf(c)
		if !isSubset || i > 0 && of != s {
			return Subset{}, false
		}
		s = of
	}
	return s, true
}

func subsetOf(c query.Condition) (Subset, bool) {
	if c.Any != nil || c.Negated || c.Key != nil || len(c.Terms) != 1 {
		return Subset{}, false
	}
	t := c.Terms[0]
	in, isExact := t.Test.(query.TextIn)
	if !isExact || len(in.Values) != 1 || t.Key != nil || t.Source.Layout != catalog.Scalar ||
		!slices.Contains(SubsetFields, t.Source.Column) {
		return Subset{}, false
	}
	return Subset{t.Source.Column, in.Values[0]}, true
}

// Conditions returns the conditions that select the subset.
func (s Subset) Conditions() ([]query.Condition, error) {
	if s == (Subset{}) {
		return nil, nil
	}
	value := filter.Value{Kind: filter.Text, Text: s.Value, Quoted: true}
	selection, err := query.BindSelection(filter.Filter{Conditions: []filter.Condition{
		{Field: filter.Word{Text: s.Field}, Op: filter.Eq, Values: []filter.Value{value}},
	}})
	if err != nil {
		return nil, fmt.Errorf("bind the subset %q of a day: %w", s, err)
	}
	return selection.Conditions, nil
}

// ID is a name for the subset that can be a part of a file name.
func (s Subset) ID() string {
	sum := sha256.Sum256([]byte(s.Field + "\x00" + s.Value))
	return hex.EncodeToString(sum[:8])
}
