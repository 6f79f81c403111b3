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

// SubsetFields are the fields by whose values a day is rolled up besides as a whole, and FilterField.
var SubsetFields = []string{BranchField, HostField, FilterField}

// BranchField is the field of the subsets that have Unions.
const BranchField = "branch"

// HostField is the field of the subsets whose lists are shorter.
const HostField = "host"

// Division tells the subsets of a day by the values of a field.
type Division struct {
	Subsets  []Subset // those with most requests
	Complete bool     // each record is of one of these
}

// SubsetsOf returns the subsets that conditions select; none for all records. If the conditions are about several of
// SubsetFields, all has the subsets by the last of these fields, and rest those by each other field: the conditions
// select the records that are of both. ok is false if the conditions select other records, or none. The conditions of a
// caller may select fewer subsets than those of the caller's key.
func SubsetsOf(conditions []query.Condition) (all []Subset, rest [][]Subset, ok bool) {
	byField := map[string][]Subset{}
	var others []query.Condition
	for _, c := range conditions {
		of := subsetsOf(c)
		if len(of) == 0 {
			others = append(others, c)
			continue
		}
		field := of[0].Field
		if before, several := byField[field]; several {
			of = slices.DeleteFunc(of, func(s Subset) bool { return !slices.Contains(before, s) })
		}
		if len(of) == 0 {
			return nil, nil, false
		}
		byField[field] = of
	}
	if len(others) > 0 {
		of, found := filtersByIdentity()[query.ConditionsIdentity(others)]
		if !found {
			return nil, nil, false
		}
		byField[FilterField] = []Subset{of}
	}
	for _, field := range SubsetFields {
		if of := byField[field]; of != nil {
			if all != nil {
				rest = append(rest, all)
			}
			all = of
		}
	}
	return all, rest, true
}

func subsetsOf(c query.Condition) (all []Subset) {
	if c.Any != nil || c.Negated || c.Key != nil || len(c.Terms) != 1 {
		return nil
	}
	t := c.Terms[0]
	in, isExact := t.Test.(query.TextIn)
	if !isExact || t.Key != nil || t.Source.Layout != catalog.Scalar || !slices.Contains(SubsetFields, t.Source.Column) {
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
	by := d.dividedAs(subsets)
	return by.Complete && !slices.ContainsFunc(by.Subsets, func(s Subset) bool { return !slices.Contains(subsets, s) })
}

// Lacks reports whether a rollup is of a day without records of the subsets.
func (d *Day) Lacks(subsets []Subset) bool {
	return d.dividedAs(subsets).Complete && len(d.Of(subsets)) == 0
}

// Tells reports whether the rollup of all records of a day tells which of some subsets the day has.
func (d *Day) Tells(subsets []Subset) bool {
	by := d.dividedAs(subsets)
	return by.Complete || len(subsets) > 0 && len(d.Of(subsets)) == len(subsets)
}

// Of returns the subsets of a day among some subsets by the same field.
func (d *Day) Of(subsets []Subset) (of []Subset) {
	there := d.dividedAs(subsets).Subsets
	for _, s := range subsets {
		if slices.Contains(there, s) {
			of = append(of, s)
		}
	}
	return of
}

// dividedAs returns the division of a day by the field of some subsets.
func (d *Day) dividedAs(subsets []Subset) (by Division) {
	if len(subsets) > 0 {
		if i := slices.Index(SubsetFields, subsets[0].Field); i >= 0 && i < len(d.Divisions) {
			by = d.Divisions[i]
		}
	}
	return by
}

// Branches returns the branches of a day.
func (d *Day) Branches() Division { return d.dividedAs([]Subset{{Field: BranchField}}) }

// IsDivided reports whether a day tells its subsets, and has those of all Filters. A day without records need not.
func (d *Day) IsDivided() bool {
	n := len(SubsetFields)
	return len(d.Segments) == 0 || len(d.Divisions) == n && slices.Equal(d.Divisions[n-1].Subsets, FilterDivision().Subsets)
}

// Parts returns the subsets of a day that have rollups of their own. The only subset of a field needs none.
func (d *Day) Parts() (parts []Subset) {
	for _, by := range d.Divisions {
		if !by.Complete || len(by.Subsets) != 1 {
			parts = append(parts, by.Subsets...)
		}
	}
	return parts
}

// HasCounts reports whether the rollup of the subset has counts of minutes. A host needs none, because the counts of all
// records are by host.
func (s Subset) HasCounts() bool { return s.Field != HostField && s.Field != FilterField }

// HasKeys reports whether the rollup of the subset has the keys of topx.
func (s Subset) HasKeys() bool { return s.Field != FilterField }

// HasRest reports whether the rollup of the subset in a day has the figures of all keys of topx.
func (s Subset) HasRest() bool { return s.Field == HostField }

// Conditions returns the conditions that select the subset.
func (s Subset) Conditions() ([]query.Condition, error) {
	if s == (Subset{}) {
		return nil, nil
	}
	if f, ok := FilterOf(s); ok {
		return f.conditions()
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
