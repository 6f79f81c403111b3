package reference

import (
	"cmp"
	"slices"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// evaluateValues returns the different values of the rows that pass the test.
func evaluateValues(shape query.Values, rows []*lake.Row) query.ValuesAnswer {
	in := map[string][]*lake.Row{}
	for _, r := range rows {
		for _, value := range shape.By.Values(r) {
			if shape.Find.Passes(value) {
				in[value] = append(in[value], r)
			}
		}
	}
	var all []query.FacetValue
	for value, rows := range in {
		v := query.FacetValue{Value: value}
		if shape.Counts {
			v.Flagged = flagged(rows)
		}
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b query.FacetValue) int {
		if shape.Counts {
			return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Value, b.Value))
		}
		return shape.Find.Compare(a.Value, b.Value)
	})
	return query.ValuesAnswer{Values: all[:min(len(all), shape.Limit)], More: len(all) > shape.Limit}
}
