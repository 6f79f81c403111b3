package search

import (
	"crypto/sha256"
	"fmt"

	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// CursorOfOtherQuery is the code of the error for a cursor that belongs to another request.
const CursorOfOtherQuery = "cursor_of_other_query"

// paged returns the query for one page of logs: the records that are older than the place of the cursor and newer than
// the place of the token since.
func paged(r Request, q query.Query) (query.Query, error) {
	logs, ok := q.Shape.(query.Logs)
	if !ok {
		return q, nil
	}
	if r.Since != "" {
		since, ok := parseHead(r.Since)
		if !ok {
			return q, InvalidToken(sinceParam)
		}
		logs.NewerThan = &since.Place
	}
	if r.Cursor != "" {
		c, ok := parseCursor(r.Cursor)
		if !ok {
			return q, InvalidToken(cursorParam)
		}
		if c.Question != questionOf(r, q) || c.Period != q.Period {
			return q, &ParamError{
				Param: cursorParam, Code: CursorOfOtherQuery,
				Message: "this cursor continues another query; send the filters, fields and since of its first page, " +
					"or leave the cursor out for the first page of this query",
			}
		}
		logs.OlderThan = &c.Last
	}
	q.Shape = logs
	return q, nil
}

// The parameters that are tokens.
const (
	cursorParam = "cursor"
	sinceParam  = "since"
)

// InvalidToken returns the error for a parameter, cursor or since, that is not a token.
func InvalidToken(param string) *ParamError {
	if param == sinceParam {
		return &ParamError{Param: param, Message: "this is not a meta.head; " +
			"send the meta.head of an earlier answer unchanged, or leave the parameter out to begin anew"}
	}
	return &ParamError{Param: param, Message: "this is not a meta.next; " +
		"send the meta.next of the page before unchanged, or leave the parameter out for the first page"}
}

// questionOf returns a hash of everything that pages of one answer have in common, except the period: the conditions,
// which include the branches of the caller, the fields, and the token since.
func questionOf(r Request, q query.Query) (hash [16]byte) {
	conditions := q.Filter
	conditions.Conditions = conditions.Conditions[1:] // the first is the period
	logs := q.Shape.(query.Logs)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %q %q", filter.FormatJSON(conditions), logs.Fields, r.Since))
	copy(hash[:], sum[:])
	return hash
}

// cursorAfter returns the cursor of the page after one with the given records, without the place of the last record
// sent. Its head is the place of the newest record of the first page. If there is none, it is the place from which the
// first page began.
func cursorAfter(r Request, q query.Query, rows []*lake.Row) cursor {
	if c, ok := parseCursor(r.Cursor); ok {
		return c
	}
	c := cursor{Question: questionOf(r, q), Period: q.Period, Head: query.Place{TsMs: q.Period.FromMs}}
	if q.Relative != nil {
		c.Now = r.Now
	}
	switch logs := q.Shape.(query.Logs); {
	case len(rows) > 0:
		c.Head = query.PlaceOf(rows[0])
	case logs.NewerThan != nil:
		c.Head = *logs.NewerThan
	}
	return c
}
