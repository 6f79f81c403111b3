// Package rows converts the result of an engine over object storage, named columns of text, to an answer. It reads the
// results of the statements of sqlgen.Athena, and relies on nothing but the names of their columns.
package rows

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/orrery/orrery/shared/query"
)

// Answer reads the result of the one statement that sqlgen.Athena returns for q.
//
// columns are the names of the columns, in the order of the cells; Answer ignores columns that it does not need. next
// returns the next row, or io.EOF after the last. A cell is as Athena prints it (an integer in digits, JSON and text as
// they are), nil for NULL. Answer does not use a row's cells after the following call of next. It may stop before the
// last row: see MaxLogsMemory.
//
// Errors of next are returned as they are. Other errors name the row, the column and what is wrong with the cell: the
// result is not one of the statement.
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
		answer.Logs, answer.Truncated, err = records(in)
	case query.Stats:
		answer.Stats, err = all(in, func(r *result) query.StatsRow { return statsOf(r, shape) })
	case query.Timeline:
		answer.Timeline, err = all(in, timelineOf)
	case query.TopX:
		answer.TopX, err = all(in, func(r *result) query.TopXRow { return topXOf(r, shape) })
	case query.Facets:
		var list []query.FacetRow
		list, err = all(in, func(r *result) query.FacetRow { return facetRowOf(r, len(shape.By)) })
		answer.Facets = query.FacetsOf(list, len(shape.By))
	case query.Histogram:
		var list []query.HistogramRow
		list, err = all(in, histogramRowOf)
		answer.Histogram = query.SeriesOf(list, shape)
	case query.Diff:
		var list []query.DiffRow
		if list, err = all(in, func(r *result) query.DiffRow { return diffRowOf(r, len(shape.By)) }); err == nil {
			answer.Diff, err = query.DiffOf(list, shape)
		}
	case query.Counts:
		answer.Counts, err = all(in, func(r *result) query.CountsRow { return countsOf(r, shape) })
	case query.Sequences:
		var list []query.SequenceRow
		known := texts{}
		list, err = all(in, func(r *result) query.SequenceRow { return sequenceRowOf(r, shape, known) })
		answer.Sequences = shape.SequencesOf(list)
	default:
		panic(fmt.Sprintf("rows: no answer for %T", shape))
	}
	if err != nil {
		return query.Answer{}, err
	}
	return answer, nil
}

// all reads all rows.
func all[T any](in *result, rowOf func(*result) T) ([]T, error) {
	var list []T
	err := each(in, rowOf, func(row T) bool {
		list = append(list, row)
		return true
	})
	return list, err
}

// each reads row after row and passes them to keep, until the last row or until keep returns false.
func each[T any](in *result, rowOf func(*result) T, keep func(T) bool) error {
	for number := 1; ; number++ {
		cells, err := in.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case len(cells) != in.width:
			return fmt.Errorf("result row %d has %d cells for %d columns", number, len(cells), in.width)
		}
		in.row = cells
		row := rowOf(in)
		if in.err != nil {
			return fmt.Errorf("result row %d: %w", number, in.err)
		}
		if !keep(row) {
			return nil
		}
	}
}

// result is a result while it is read. It keeps the first error of a row, so that a function can read all columns of a
// row and check once.
type result struct {
	next   func() ([]*string, error)
	places map[string]int // index of each column, by name
	width  int
	row    []*string
	err    error
}

// fail keeps an error in a column, unless the row has one already.
func (r *result) fail(column, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("column %s: %w", column, fmt.Errorf(format, args...))
	}
}

// cell returns the text of a column, nil for NULL.
func (r *result) cell(column string) *string {
	at, ok := r.places[column]
	if !ok {
		r.fail(column, "the result has no column of that name")
		return nil
	}
	return r.row[at]
}

// text returns the text of a column that is never NULL.
func (r *result) text(column string) string {
	cell := r.cell(column)
	if cell == nil {
		r.fail(column, "it is NULL")
		return ""
	}
	return *cell
}

// integer returns the value of an integer column that is never NULL.
func (r *result) integer(column string) int64 {
	text := r.text(column)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		r.fail(column, "%q is not an integer of 64 bits", shortened(text))
	}
	return n
}

// shortened returns as much of a cell as an error needs to identify it.
func shortened(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	return text[:most] + "…"
}
