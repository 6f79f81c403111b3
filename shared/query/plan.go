package query

import (
	"fmt"
	"slices"

	"github.com/orrery/orrery/shared/catalog"
	"github.com/orrery/orrery/shared/lake"
)

// This file defines the columns that a query reads. Engines, estimates and error messages use them. The time is in
// reach.go, and the labels of topx are in labels.go.

// Columns lists the top-level columns that the query reads, in the order of the table.
func (q Query) Columns() []string {
	return inTableOrder(shapeColumns(q.Shape), q.ConditionColumns())
}

// ConditionColumns lists the columns that decide whether a record matches, in the order of the table.
func (q Query) ConditionColumns() []string {
	always := []string{"ts_ms"}
	if logs, ok := q.Shape.(Logs); ok && logs.bounded() {
		always = slices.Clone(OrderColumns)
	}
	return inTableOrder(always, columnsOf(q.Conditions))
}

func columnsOf(conditions []Condition) []string {
	var columns []string
	for _, c := range conditions {
		for _, t := range c.AllTerms() {
			columns = append(columns, t.Source.Columns()...)
		}
	}
	return columns
}

// FindingColumns lists the columns needed to find the newest matching records, in the order of the table.
func (q Query) FindingColumns() []string {
	return inTableOrder(OrderColumns, q.ConditionColumns())
}

// OrderColumns are the columns that define the order of records: the newest first, and at equal times the later line
// first.
var OrderColumns = []string{"ts_ms", "ts_nanos", "source", "line"}

// wholeRecord lists the columns of a record with all fields. log_rest repeats others.
var wholeRecord = slices.DeleteFunc(slices.Clone(lake.ColumnNames), func(name string) bool {
	return name == catalog.LogRest
})

// RecordColumns lists the columns of the returned records, in the order of the table.
func (s Logs) RecordColumns() []string {
	if s.Fields == nil {
		return wholeRecord
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
		return s.columns()
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
	case Diff:
		return append(dimensionColumns(s.By), columnsOf(s.Select.Conditions)...)
	case Histogram:
		if s.By == nil {
			return s.Measure.columns()
		}
		return append(dimensionColumns([]Dimension{*s.By}), s.Measure.columns()...)
	case Counts:
		return s.columns()
	case Sequences:
		return s.columns()
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
			columns = append(columns, s.Columns()...)
		}
	}
	return columns
}

// HasMembers reports whether a column has members that an engine can read by themselves.
func HasMembers(column string) bool {
	return slices.ContainsFunc(catalog.Fields, func(f catalog.Field) bool {
		return slices.ContainsFunc(f.Sources, func(s catalog.Source) bool {
			return s.Column == column && s.Layout == catalog.Scalar && s.Member != ""
		})
	})
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

// Windows divides the span of a query for logs, newest part first. The first part is the newest hour that the span
// touches, and each further one has four times as many hours. An engine that is charged for what it reads searches the
// parts one after the other until it has enough records. It then reads about four times what the answer needs, whatever
// the length of the span. Other queries, an empty span, and references to records, which are in few hours, have one
// part.
func (q Query) Windows() []Period {
	span := q.Span()
	_, logs := q.Shape.(Logs)
	if _, refs := q.refs(); !logs || refs || span.Empty() {
		return []Period{q.Scope.Period}
	}
	var windows []Period
	for hours := lake.Partition(1); ; hours *= 4 {
		first := lake.PartitionOf(span.ToMs) - hours + 1
		window := Period{FromMs: max(span.FromMs, first.Start()), ToMs: span.ToMs}
		windows = append(windows, window)
		if window.FromMs == span.FromMs {
			return windows
		}
		span.ToMs = window.FromMs - 1
	}
}
