package search

import (
	"encoding/json"
	"fmt"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
)

// CountsResult has the numbers of requests with a value in a segment.
type CountsResult struct {
	TimePeriod int64   `json:"time_period"` // segment start, Unix seconds
	Value      *string `json:"value"`       // null: of the requests without a value
	N          []int64 `json:"n"`           // of all requests, then of the selections
}

// SelectionsText returns the value of the parameter of for lists of conditions.
func SelectionsText(conditions []string) string {
	text, err := json.Marshal(conditions)
	if err != nil {
		panic("search: encode conditions: " + err.Error()) // texts can always be encoded
	}
	return string(text)
}

func (r Request) counts() (query.Shape, error) {
	by, err := dimensionsOf("by", r.By)
	if err != nil {
		return nil, err
	}
	if len(by) != 1 {
		return nil, &ParamError{Param: "by", Message: fmt.Sprintf("counts are by one field, not by %d", len(by))}
	}
	shape := query.Counts{By: by[0]}
	var texts []string
	if err := json.Unmarshal([]byte(r.Of), &texts); err != nil {
		return nil, &ParamError{Param: "of", Message: "it is not a list of conditions in JSON: " + err.Error()}
	}
	for _, text := range texts {
		s, err := query.BindSelection(filter.ParseQueryString(text))
		if err != nil {
			return nil, err
		}
		shape.Of = append(shape.Of, s)
	}
	shape.SegmentSeconds, err = segmentOf(r.Segment)
	return shape, err
}

func countsOf(rows []query.CountsRow) []CountsResult {
	results := make([]CountsResult, len(rows))
	for i, row := range rows {
		results[i] = CountsResult{TimePeriod: row.Segment, N: row.N}
		if row.HasValue {
			results[i].Value = &row.Value
		}
	}
	return results
}
