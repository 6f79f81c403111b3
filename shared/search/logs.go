package search

import (
	"encoding/json"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/record"
)

// usualRecord is the size of a usual record in bytes: room made at once is cheaper than room that grows.
const usualRecord = 3 << 10

// logsOf prints the records. The engine was asked for one more than the limit: when it found that one, there
// are more than the answer holds.
func logsOf(rows []*lake.Row, shape query.Logs) ([]json.RawMessage, *Truncated) {
	var more *Truncated
	if len(rows) > shape.Limit {
		rows, more = rows[:shape.Limit], &Truncated{Reason: "limit"}
	}
	records := make([]json.RawMessage, len(rows))
	text := make([]byte, 0, len(rows)*usualRecord)
	for i, row := range rows {
		start := len(text)
		text = record.AppendJSON(text, row, shape.Fields)
		records[i] = text[start:len(text):len(text)]
	}
	return records, more
}
