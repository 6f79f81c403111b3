package sqlgen

import (
	"slices"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

const newestFirst fragment = "ts_ms DESC, ts_nanos DESC, source DESC, line DESC"

// athenaLogs finds the time of the oldest record of the answer first. This inner scan reads the time and the filter's
// columns. The outer scan reads only the pages at or after that time: 3 MB instead of the 77 MB of a single scan. Many
// records can share the cut-off's millisecond, so the outer scan repeats order and limit.
func (p *printer) athenaLogs(shape query.Logs) block {
	limit := integer(int64(shape.Limit))
	columns := shape.RecordColumns()

	times := selection{columns: []fragment{"ts_ms"}, order: "ts_ms DESC", limit: limit}
	newest := p.matching(times, p.query.ConditionColumns())
	cutOff := selection{columns: []fragment{"min(ts_ms)"}, from: newest.block().bracketed("", " AS newest")}

	records := p.matching(selection{
		columns: append(names(query.OrderColumns), recordAsJSON(columns)+" AS record"),
		order:   newestFirst,
		limit:   limit,
	}, p.query.Columns())
	records.where = append(records.where, cutOff.block().bracketed("ts_ms >= ", ""))
	return records.block()
}

// matching completes a SELECT on Athena with the source and the conditions of the query.
func (p *printer) matching(s selection, columns []string) selection {
	from, bounds := p.source(columns)
	s.from, s.where = from, append(bounds, p.conditions()...)
	s.where = append(s.where, p.places()...)
	return s
}

// places returns the conditions of a query for logs for records older than one place and newer than another.
func (p *printer) places() []block {
	var conditions []block
	shape, _ := p.query.Shape.(query.Logs)
	if shape.OlderThan != nil {
		conditions = append(conditions, p.beyond(*shape.OlderThan, " < "))
	}
	if shape.NewerThan != nil {
		conditions = append(conditions, p.beyond(*shape.NewerThan, " > "))
	}
	return conditions
}

// beyond compares records with a place, column by column in their order. Engines do not read objects of other hours,
// because the bounds of partition and time already end at the millisecond of the place.
func (p *printer) beyond(place query.Place, comparison fragment) block {
	values := []fragment{
		integer(place.TsMs), integer(place.TsNanos), p.text(place.Source), integer(place.Line),
	}
	var condition fragment
	for i, column := range slices.Backward(names(query.OrderColumns)) {
		further := column + comparison + values[i]
		if condition != "" {
			further = "(" + further + " OR " + column + " = " + values[i] + " AND " + condition + ")"
		}
		condition = further
	}
	return lines(condition)
}

// recordAsJSON returns the columns as one JSON text. The cast names the members of the ROW, without which their names
// would not be printed.
func recordAsJSON(columns []string) fragment {
	members := make([]fragment, len(columns))
	for i, column := range columns {
		c, _ := lake.ColumnByName(column)
		members[i] = name(column) + " " + typeName(c.Type)
	}
	row := "ROW(" + join(names(columns), ", ") + ")"
	return "json_format(CAST(CAST(" + row + " AS ROW(" + join(members, ", ") + ")) AS JSON))"
}

// duckDBLogs selects the place of the newest records: the object, the row in it, and the columns that order the
// records. The caller then reads the whole rows, because one statement that sorts whole rows takes five times as long
// as both steps.
func (p *printer) duckDBLogs(shape query.Logs) block {
	place := []fragment{"filename", "file_row_number"}
	s := selection{
		columns: append(slices.Clone(place), names(query.OrderColumns)...),
		order:   newestFirst,
		limit:   integer(int64(shape.Limit)),
	}
	from, bounds := p.objectSource(p.query.FindingColumns(), place...)
	s.from, s.where = from, append(bounds, p.conditions()...)
	s.where = append(s.where, p.places()...)
	return s.block()
}

// reading completes a SELECT of figures on DuckDB with the objects and the conditions of the query.
func (p *printer) reading(s selection) selection {
	from, bounds := p.objectSource(p.query.Columns())
	s.from, s.where = from, append(bounds, p.conditions()...)
	return s
}
