package query

import (
	"fmt"
	"slices"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/lake"
)

// This file defines the time span and the columns that a query reads. Engines, estimates and error messages use them.
// The labels of topx are in labels.go.

// Span returns the time in which records can match: the scope, narrowed by every further condition on the timestamp.
// It is empty when no record can match.
func (q Query) Span() Period {
	span := q.Scope.Period
	for _, c := range q.Conditions {
		if c.Negated || len(c.Terms) != 1 || c.Terms[0].Source.Type != catalog.Time {
			continue
		}
		between, ok := c.Terms[0].Test.(IntRange)
		if !ok {
			continue
		}
		if between.Min != nil {
			span.FromMs = max(span.FromMs, *between.Min)
		}
		if between.Max != nil {
			span.ToMs = min(span.ToMs, *between.Max)
		}
	}
	return span
}

// Columns lists the top-level columns that the query reads, in the order of the table.
func (q Query) Columns() []string {
	return inTableOrder(shapeColumns(q.Shape), q.ConditionColumns())
}

// ConditionColumns lists the columns that decide whether a record matches, in the order of the table.
func (q Query) ConditionColumns() []string {
	columns := []string{"ts_ms"}
	for _, c := range q.Conditions {
		for _, t := range c.Terms {
			columns = append(columns, t.Source.Column)
		}
	}
	return inTableOrder(columns)
}

// FindingColumns lists the columns needed to find the newest matching records, in the order of the table.
func (q Query) FindingColumns() []string {
	return inTableOrder(OrderColumns, q.ConditionColumns())
}

// OrderColumns are the columns that define the order of records: the newest first, and at equal times the later line
// first.
var OrderColumns = []string{"ts_ms", "ts_nanos", "source", "line"}

// RecordColumns lists the columns of the returned records, in the order of the table.
func (s Logs) RecordColumns() []string {
	if s.Fields == nil {
		return lake.ColumnNames
	}
	columns := slices.Clone(OrderColumns)
	for _, name := range s.Fields {
		if f, ok := catalog.Lookup(name); ok {
			columns = append(columns, f.Output()...)
		}
	}
	return inTableOrder(columns)
}

// shapeColumns lists the columns from which the figures or records of an answer are computed.
func shapeColumns(shape Shape) []string {
	switch s := shape.(type) {
	case Logs:
		return s.RecordColumns()
	case Stats:
		return []string{"hostname", "host", "bytes_sent", "request_length", "total_us"}
	case Timeline:
		return []string{
			"status", "upstream_status", "blocked", "challenge", "ichallenge", "human", "ip", "session", "bytes_sent",
		}
	case TopX:
		columns := []string{
			"monitor_reasons", "blocked", "bot", "human", "challenge", "ichallenge", "monitor",
			"bytes_sent", "request_length", "origin_us", "svc_us", "total_us",
			"asn", "country", "organization",
		}
		for _, part := range TopXParts {
			columns = append(columns, part.Column)
		}
		return columns
	case Facets:
		return append(dimensionColumns(s.By), flagColumns...)
	case Histogram:
		if s.By == nil {
			return s.Measure.columns()
		}
		return append(dimensionColumns([]Dimension{*s.By}), s.Measure.columns()...)
	case Values:
		columns := dimensionColumns([]Dimension{s.By})
		if s.Counts {
			columns = append(columns, flagColumns...)
		}
		return columns
	}
	panic(fmt.Sprintf("query: unknown shape %T", shape))
}

// flagColumns are the columns of the flags that Flagged counts.
var flagColumns = []string{"blocked", "human", "challenge", "ichallenge", "monitor", "monitor_reasons"}

func dimensionColumns(list []Dimension) []string {
	var columns []string
	for _, d := range list {
		for _, s := range d.Sources {
			columns = append(columns, s.Column)
		}
	}
	return columns
}

// inTableOrder lists each of the columns once, in the order of the table.
func inTableOrder(lists ...[]string) []string {
	wanted := map[string]bool{}
	for _, list := range lists {
		for _, name := range list {
			wanted[name] = true
		}
	}
	var ordered []string
	for _, name := range lake.ColumnNames {
		if wanted[name] {
			ordered = append(ordered, name)
		}
	}
	return ordered
}
