package reference

import (
	"cmp"
	"slices"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// evaluateFacets returns the most frequent values of every dimension.
func evaluateFacets(shape query.Facets, rows []*lake.Row) query.FacetsAnswer {
	if len(rows) == 0 {
		return query.FacetsAnswer{}
	}
	answer := query.FacetsAnswer{Requests: int64(len(rows))}
	for _, by := range shape.By {
		answer.Facets = append(answer.Facets, facetOf(by, shape, rows))
	}
	return answer
}

func facetOf(by query.Dimension, shape query.Facets, rows []*lake.Row) query.Facet {
	groups := map[string][]*lake.Row{}
	var facet query.Facet
	for _, r := range rows {
		values := by.Values(r)
		if len(values) > 0 {
			facet.Requests++
		}
		for _, value := range values {
			groups[value] = append(groups[value], r)
		}
	}
	var all []query.FacetValue
	for value, in := range groups {
		all = append(all, query.FacetValue{Value: value, Flagged: flagged(in)})
		facet.Distinct++
		facet.Sum += int64(len(in))
		facet.SumBlocked += count(in, isBlocked)
	}
	slices.SortFunc(all, func(a, b query.FacetValue) int {
		blocked := 0
		if shape.ByBlocked {
			blocked = cmp.Compare(b.Blocked, a.Blocked)
		}
		return cmp.Or(blocked, cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Value, b.Value))
	})
	facet.Values = all[:min(len(all), shape.Limit)]
	return facet
}

func flagged(rows []*lake.Row) query.Flagged {
	return query.Flagged{
		Requests:   int64(len(rows)),
		Blocked:    count(rows, isBlocked),
		Challenges: count(rows, isChallenged),
		Monitored:  count(rows, isMonitored),
		Human:      count(rows, isHuman),
	}
}
