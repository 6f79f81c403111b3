package search

import (
	"fmt"
	"strconv"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/query"
)

// facetsOf returns a result for every dimension of the query.
func facetsOf(a query.FacetsAnswer, shape query.Facets) []FacetResult {
	results := make([]FacetResult, len(shape.By))
	for i, by := range shape.By {
		var f query.Facet
		if a.Facets != nil {
			f = a.Facets[i]
		}
		r := FacetResult{
			By:            by.String(),
			Type:          by.Type().String(),
			NumOfRequests: f.Requests,
			NumOfAbsent:   a.Requests - f.Requests,
			Distinct:      f.Distinct,
			Values:        make([]FacetValueResult, len(f.Values)),
		}
		for n, v := range f.Values {
			r.Values[n] = FacetValueResult{
				Value:                  typedValue(by, v.Value),
				NumOfRequests:          v.Requests,
				NumOfBlockedRequests:   v.Blocked,
				NumOfChallenges:        v.Challenges,
				NumOfMonitoredRequests: v.Monitored,
				NumOfHumanRequests:     v.Human,
			}
			r.Values[n].Condition, _, _ = by.Condition(v.Value)
		}
		if by.Single() {
			requests, blocked := f.Rest()
			r.Rest = &FacetRest{
				Distinct: f.Distinct - int64(len(f.Values)), NumOfRequests: requests, NumOfBlockedRequests: blocked,
			}
		}
		results[i] = r
	}
	return results
}

// typedValue returns a value of a dimension in the type of the field.
func typedValue(by query.Dimension, text string) any {
	var (
		value any
		err   error
	)
	switch by.Type() {
	case catalog.Int:
		value, err = strconv.ParseInt(text, 10, 64)
	case catalog.Bool:
		value, err = strconv.ParseBool(text)
	default:
		return text
	}
	if err != nil {
		panic(fmt.Sprintf("search: %s has the value %q", by, text)) // engines print integers and booleans
	}
	return value
}
