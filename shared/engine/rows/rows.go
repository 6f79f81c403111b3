// Package rows turns what an engine over object storage prints, named columns of text, into an answer. The
// statements of sqlgen.Athena are what it reads the results of; it trusts nothing about them but their names.
package rows

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/orrery/orrery/shared/query"
)

// Answer reads the result of the one statement that sqlgen.Athena makes of q.
//
// columns are the names in the order of the cells; further ones are ignored. next gives row after row, each cell as
// Athena prints it (an integer in digits, JSON and text as they are) and nil for NULL; io.EOF ends them. A row's
// cells are not looked at after the following call.
//
// Errors are next's own, and else tell the row, the column and what is wrong with the cell: the engine has answered
// something other than what it was asked.
func Answer(q query.Query, columns []string, next func() ([]*string, error)) (query.Answer, error) {
	in := &result{next: next, width: len(columns), places: make(map[string]int, len(columns))}
	for i, name := range columns {
		name = strings.ToLower(name)
		if _, twice := in.places[name]; twice {
			return query.Answer{}, fmt.Errorf("result has two columns %s", name)
		}
		in.places[name] = i
	}
	var (
		answer query.Answer
		err    error
	)
	switch shape := q.Shape.(type) {
	case query.Logs:
		answer.Logs, err = each(in, recordOf)
	case query.Stats:
		answer.Stats, err = each(in, statsOf)
	case query.Timeline:
		answer.Timeline, err = each(in, timelineOf)
	case query.TopX:
		answer.TopX, err = each(in, topXOf)
	default:
		panic(fmt.Sprintf("rows: no answer for %T", shape))
	}
	if err != nil {
		return query.Answer{}, err
	}
	return answer, nil
}

// each reads all rows.
func each[T any](in *result, rowOf func(*result) T) ([]T, error) {
	var all []T
	for {
		row, err := in.next()
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		case len(row) != in.width:
			return nil, fmt.Errorf("result row %d has %d cells for %d columns", len(all)+1, len(row), in.width)
		}
		in.row = row
		all = append(all, rowOf(in))
		if in.err != nil {
			return nil, fmt.Errorf("result row %d: %w", len(all), in.err)
		}
	}
}

// result is a result while it is read. The first mistake of a row is kept, so that reading one is a list of its
// columns.
type result struct {
	next   func() ([]*string, error)
	places map[string]int // of the columns, by name
	width  int
	row    []*string
	err    error
}

func (r *result) fail(column, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("column %s: %w", column, fmt.Errorf(format, args...))
	}
}

// cell is the text of a column, nil for NULL.
func (r *result) cell(column string) *string {
	at, ok := r.places[column]
	if !ok {
		r.fail(column, "the result has none of that name")
		return nil
	}
	return r.row[at]
}

// text is a column that is never NULL.
func (r *result) text(column string) string {
	cell := r.cell(column)
	if cell == nil {
		r.fail(column, "it is NULL")
		return ""
	}
	return *cell
}

// integer is a column of whole numbers that is never NULL.
func (r *result) integer(column string) int64 {
	text := r.text(column)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		r.fail(column, "%q is not an integer of 64 bits", shortened(text))
	}
	return n
}

// shortened is enough of a cell to recognise it by.
func shortened(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	return text[:most] + "…"
}
