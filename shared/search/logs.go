package search

import (
	"encoding/json"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/record"
)

// Records are the records of a logs answer, newest first. Each record is printed only when it is needed, so that an
// answer with limited size does not print the remaining records, and no record is in memory twice.
type Records struct {
	rows   []*lake.Row
	fields []string // nil: all
}

// Len returns the number of records.
func (r Records) Len() int { return len(r.rows) }

// Fields returns the names of the fields that the records are limited to, or nil if they have all.
func (r Records) Fields() []string { return r.fields }

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

// logsOf returns the records of the answer. The query has a limit that is one higher than the request's. If the engine
// found as many records, or more than it can hold, the answer is truncated.
func logsOf(a query.Answer, shape query.Logs) (Records, *Truncated) {
	rows := a.Logs[:min(len(a.Logs), shape.Limit)]
	switch {
	case len(a.Logs) > shape.Limit, a.Truncated && len(rows) == shape.Limit:
		return Records{rows, shape.Fields}, &Truncated{Reason: "limit"}
	case a.Truncated:
		return Records{rows, shape.Fields}, &Truncated{Reason: "bytes"}
	}
	return Records{rows, shape.Fields}, nil
}
