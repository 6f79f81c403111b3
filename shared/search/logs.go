package search

import (
	"encoding/json"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/record"
)

// Records are the records of a logs answer, newest first. They are printed when they are asked for, one at a
// time: an answer that stops at its size does not print the rest, and no record is held twice.
type Records struct {
	rows   []*lake.Row
	fields []string // nil: all
}

// Len is how many records there are.
func (r Records) Len() int { return len(r.rows) }

// AppendJSON appends record i to dst, as the API prints it.
func (r Records) AppendJSON(dst []byte, i int) []byte {
	return record.AppendJSON(dst, r.rows[i], r.fields)
}

// MarshalJSON prints all records as a list.
func (r Records) MarshalJSON() ([]byte, error) {
	list := make([]json.RawMessage, r.Len())
	for i := range list {
		list[i] = r.AppendJSON(nil, i)
	}
	return json.Marshal(list)
}

// logsOf takes the records of the answer. The engine was asked for one more than the limit: when it found that
// one, there are more than the answer holds.
func logsOf(rows []*lake.Row, shape query.Logs) (Records, *Truncated) {
	if len(rows) > shape.Limit {
		return Records{rows[:shape.Limit], shape.Fields}, &Truncated{Reason: "limit"}
	}
	return Records{rows, shape.Fields}, nil
}
