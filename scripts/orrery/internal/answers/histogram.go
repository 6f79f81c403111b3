package answers

import (
	"encoding/json"
	"fmt"

	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/search"
)

// histogramRow is a row of the table of a histogram.
type histogramRow struct {
	Segment string `json:"timeperiod_string"`
	Local   string `json:"timeperiod_local"`
	Series  string `json:"series"`
	Value   int64  `json:"value"`
	Bar     string `json:"bar"`
}

// histogramRows returns a row for each result. The bars show the shares of the largest value.
func histogramRows(results []json.RawMessage) ([]json.RawMessage, error) {
	all := make([]search.HistogramResult, len(results))
	most := int64(0)
	for i, text := range results {
		if err := json.Unmarshal(text, &all[i]); err != nil {
			return nil, fmt.Errorf("a result is not one of a histogram: %w", err)
		}
		most = max(most, all[i].Value)
	}
	rows := make([]json.RawMessage, len(all))
	for i, r := range all {
		series := "(" + r.Kind + ")"
		if r.Series != nil {
			series = *r.Series
		}
		row, err := json.Marshal(
			histogramRow{r.TimeperiodString, r.TimeperiodLocal, series, r.Value, terminal.Bar(r.Value, most)},
		)
		if err != nil {
			return nil, err
		}
		rows[i] = row
	}
	return rows, nil
}
