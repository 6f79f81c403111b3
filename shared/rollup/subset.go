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

// SubsetField is the field by whose values a day is rolled up besides as a whole. Rollups of the 20 busiest hosts would
// take a quarter of the bytes of the records, so there are none.
const SubsetField = "branch"

// SubsetsOf returns the subsets whose records conditions select; none for all records. ok is false if they select others,
// or no records. The conditions of a caller may select fewer subsets than those of the caller's key.
func SubsetsOf(conditions []query.Condition) (all []Subset, ok bool) {
	for i, c := range conditions {
		of := subsetsOf(c)
		if i > 0 {
			of = slices.DeleteFunc(of, func(s Subset) bool { return !slices.Contains(all, s) })
		}
		if len(of) == 0 {
			return nil, false
		}
		all = of
	}
	return all, true
}

func subsetsOf(c query.Condition) (all []Subset) {
	if c.Any != nil || c.Negated || c.Key != nil || len(c.Terms) != 1 {
		return nil
	}
	t := c.Terms[0]
	in, isExact := t.Test.(query.TextIn)
	if !isExact || t.Key != nil || t.Source.Layout != catalog.Scalar || t.Source.Column != SubsetField {
		return nil
	}
	for _, value := range slices.Compact(slices.Sorted(slices.Values(in.Values))) {
		all = append(all, Subset{t.Source.Column, value})
	}
	return all
}

// Has reports whether a rollup has the records of subsets, and no others.
func (d *Day) Has(subsets []Subset) bool {
	switch {
	case len(subsets) == 0:
		return d.Subset == Subset{}
	case d.Subset != Subset{}:
		return len(subsets) == 1 && d.Subset == subsets[0]
	}
	return d.Complete && !slices.ContainsFunc(d.Subsets, func(s Subset) bool { return !slices.Contains(subsets, s) })
}

// Lacks reports whether a rollup is of a day without records of the subsets.
func (d *Day) Lacks(subsets []Subset) bool {
	return len(subsets) > 0 && d.Complete && !slices.ContainsFunc(d.Subsets, func(s Subset) bool { return slices.Contains(subsets, s) })
}

// Tells reports whether the rollup of all records of a day tells which of some subsets the day has.
func (d *Day) Tells(subsets []Subset) bool {
	return d.Subset == Subset{} && d.Divided &&
		(d.Complete || !slices.ContainsFunc(subsets, func(s Subset) bool { return !slices.Contains(d.Subsets, s) }))
}

// Parts returns the subsets of a day that have rollups of their own. The only subset with records needs none.
func (d *Day) Parts() []Subset {
	if d.Complete && len(d.Subsets) == 1 {
		return nil
	}
	return d.Subsets
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
