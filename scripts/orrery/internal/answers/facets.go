package answers

import (
	"encoding/json"
	"fmt"

	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/search"
)

// facetRow is a row of the table of facets.
type facetRow struct {
	By       string          `json:"by"`
	Value    json.RawMessage `json:"value"`
	Requests int64           `json:"num_of_requests"`
	Blocked  *int64          `json:"num_of_blocked_requests"`
	Share    string          `json:"share"`
}

// facetRows returns a row for each value of each facet, then one for its other values and one for the requests without
// a value, if there are any. The bars of a facet show the shares of all requests.
func facetRows(facets []json.RawMessage) ([]json.RawMessage, error) {
	var rows []json.RawMessage
	for _, text := range facets {
		var f struct {
			search.FacetResult
			Values []struct {
				Value json.RawMessage `json:"value"`
				search.FacetValueResult
			} `json:"values"`
		}
		if err := json.Unmarshal(text, &f); err != nil {
			return nil, fmt.Errorf("a result is not a facet: %w", err)
		}
		all := f.NumOfRequests + f.NumOfAbsent
		add := func(value json.RawMessage, requests int64, blocked *int64) error {
			row, err := json.Marshal(facetRow{f.By, value, requests, blocked, terminal.Bar(requests, all)})
			rows = append(rows, row)
			return err
		}
		for _, v := range f.Values {
			if err := add(v.Value, v.NumOfRequests, &v.NumOfBlockedRequests); err != nil {
				return nil, err
			}
		}
		if rest := f.Rest; rest != nil && rest.Distinct > 0 {
			others := fmt.Sprintf(`"(%s)"`, terminal.Counted(rest.Distinct, "other"))
			if err := add(json.RawMessage(others), rest.NumOfRequests, &rest.NumOfBlockedRequests); err != nil {
				return nil, err
			}
		}
		if f.NumOfAbsent > 0 {
			if err := add(json.RawMessage(`"(absent)"`), f.NumOfAbsent, nil); err != nil {
				return nil, err
			}
		}
	}
	return rows, nil
}
