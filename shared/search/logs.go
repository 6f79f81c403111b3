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
	cursor cursor   // of the next page, without the place of the last record
	more   bool     // older records match
}

// Len returns the number of records.
func (r Records) Len() int { return len(r.rows) }

// Fields returns the names of the fields that the records are limited to, or nil if they have all.
func (r Records) Fields() []string { return r.fields }

// AppendJSON appends record i to dst, as the API prints it.
func (r Records) AppendJSON(dst []byte, i int) []byte {
	return record.AppendJSON(dst, r.rows[i], r.fields)
}

// Size returns about how many bytes record i has in memory. It has fewer as JSON.
func (r Records) Size(i int) int { return int(r.rows[i].Memory()) }

// MarshalJSON prints all records as a list.
func (r Records) MarshalJSON() ([]byte, error) {
	list := make([]json.RawMessage, r.Len())
	for i := range list {
		list[i] = r.AppendJSON(nil, i)
	}
	return json.Marshal(list)
}

// Next returns the cursor of the page after the first n records, or nil if no older record matches.
func (r Records) Next(n int) *string {
	if n == 0 || n == len(r.rows) && !r.more {
		return nil
	}
	r.cursor.Last = query.PlaceOf(r.rows[n-1])
	token := r.cursor.token()
	return &token
}

// LongestNext returns the length of the longest cursor that Next returns.
func (r Records) LongestNext() int {
	for _, row := range r.rows {
		if len(row.Source) >= len(r.cursor.Last.Source) {
			r.cursor.Last.Source = row.Source
		}
	}
	return len(r.cursor.token())
}

// logsOf returns the records of the answer. The query has a limit that is one higher than the request's. If the engine
// found as many records, or more than it can hold, the answer is truncated.
func logsOf(r Request, q query.Query, a query.Answer, meta *Meta) Records {
	shape := q.Shape.(query.Logs)
	rows := a.Logs[:min(len(a.Logs), shape.Limit)]
	records := Records{rows: rows, fields: shape.Fields, cursor: cursorAfter(r, q, rows)}
	switch {
	case len(a.Logs) > shape.Limit, a.Truncated && len(rows) == shape.Limit:
		meta.Truncated = &Truncated{Reason: "limit"}
	case a.Truncated:
		meta.Truncated = &Truncated{Reason: "bytes"}
	}
	records.more = meta.Truncated != nil
	if shape.NewerThan != nil {
		meta.Late = new(*int64)
	}
	next := records.Next(len(rows))
	meta.Next, meta.Head = &next, tokenOfHead(head{Place: records.cursor.Head})
	return records
}
