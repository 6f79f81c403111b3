package search

import (
	"fmt"
	"strconv"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/query"
)

// FacetResult has the most frequent values of one field.
type FacetResult struct {
	By            string             `json:"by" doc:"The field, with its key if it has members" example:"country"`
	Type          string             `json:"type" enum:"string,integer,boolean" doc:"Type of the values"`
	NumOfRequests int64              `json:"num_of_requests" doc:"Requests that have a value"`
	NumOfAbsent   int64              `json:"num_of_absent" doc:"Requests without one"`
	Distinct      int64              `json:"distinct" doc:"Different values, exact"`
	Values        []FacetValueResult `json:"values" doc:"A request counts once for each different value"`
	Rest          *FacetRest         `json:"rest" doc:"The other values; null if a request can have several"`
}

// FacetValueResult counts the requests that have a value.
type FacetValueResult struct {
	Value                  any    `json:"value" doc:"Text, an integer or a boolean"`
	NumOfRequests          int64  `json:"num_of_requests"`
	NumOfBlockedRequests   int64  `json:"num_of_blocked_requests"`
	NumOfChallenges        int64  `json:"num_of_challenges"`
	NumOfMonitoredRequests int64  `json:"num_of_monitored_requests"`
	NumOfHumanRequests     int64  `json:"num_of_human_requests"`
	Condition              string `json:"condition,omitempty" doc:"Selects these requests, if a filter can"`
	ValueTruncated         bool   `json:"value_truncated,omitempty" doc:"The value is cut and ends with its hash"`
}

// FacetRest counts the requests with the values that are not listed.
type FacetRest struct {
	Distinct             int64 `json:"distinct"`
	NumOfRequests        int64 `json:"num_of_requests"`
	NumOfBlockedRequests int64 `json:"num_of_blocked_requests"`
}

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
			r.Rest = &FacetRest{f.Distinct - int64(len(f.Values)), requests, blocked}
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
