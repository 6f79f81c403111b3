// Package sqlgen writes a bound query as SQL. There is one plan (which records count, which figures are made of
// them, which columns that touches) and there are two printers of it, because the fastest way to the same answer
// differs: Athena bills every scan and inlines WITH, DuckDB reads for nothing and rewards a narrow materialised base.
// README.md beside this file tells the differences with the figures behind them.
package sqlgen

import (
	"fmt"
	"slices"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// Script is a query in one engine's SQL.
type Script struct {
	Statements []Statement // in the order run
	Columns    []string    // top-level columns it touches, in the order of the table
	Warnings   []string    // why this engine might not stand it: an engine that would not survive must refuse
}

// Statement is one SQL text and what it is for.
type Statement struct{ Title, SQL string }

// Athena writes a query for Athena (engine version 3) and Trino over the tables traffic_compact and
// traffic_fresh.
//
// Errors: *ValueError for a value that no SQL text can hold, *LimitError for a query above Athena's limits.
func Athena(q query.Query) (Script, error) {
	p := &printer{dialect: athena{}, query: q}
	return p.script(p.athenaStatements)
}

// DuckDB writes a query for DuckDB over the Parquet objects at the given paths, in that order. For Logs it finds
// the rows and names their place: reading whole rows is left to whoever reads objects best.
//
// Errors: *ValueError for a value that no SQL text can hold.
func DuckDB(q query.Query, paths []string) (Script, error) {
	p := &printer{dialect: duckDB{}, query: q, paths: paths}
	return p.script(p.duckDBStatements)
}

// printer holds what is needed while one query is printed. Mistakes are kept and reported at the end, so that
// printing reads as the SQL it makes.
type printer struct {
	dialect  dialect
	query    query.Query
	paths    []string // DuckDB only
	warnings []string
	err      error
}

func (p *printer) script(statements func() []titled) (Script, error) {
	s := Script{Columns: Columns(p.query)}
	for _, one := range statements() {
		text := one.body.String()
		if limit := p.dialect.maxBytes(); limit > 0 && len(text) > limit {
			p.fail(&LimitError{What: "bytes of SQL", Got: len(text), Limit: limit})
		}
		s.Statements = append(s.Statements, Statement{Title: one.title, SQL: text})
	}
	if p.err != nil {
		return Script{}, p.err
	}
	s.Warnings = p.warnings
	return s, nil
}

type titled struct {
	title string
	body  block
}

func (p *printer) athenaStatements() []titled {
	switch shape := p.query.Shape.(type) {
	case query.Logs:
		return []titled{{"newest records", p.athenaLogs(shape)}}
	case query.Stats:
		return []titled{{"figures per segment", p.athenaStats(shape)}}
	case query.Timeline:
		return []titled{{"figures per segment", p.athenaTimeline(shape)}}
	case query.TopX:
		return []titled{{"top keys per label", p.athenaTopX(shape)}}
	}
	panic(fmt.Sprintf("sqlgen: no rendering for %T", p.query.Shape))
}

func (p *printer) duckDBStatements() []titled {
	switch shape := p.query.Shape.(type) {
	case query.Logs:
		return []titled{{"place of the newest records", p.duckDBLogs(shape)}}
	case query.Stats:
		return []titled{{"figures per segment", p.duckDBStats(shape)}}
	case query.Timeline:
		return p.duckDBTimeline(shape)
	case query.TopX:
		return []titled{{"top keys per label", p.duckDBTopX(shape)}}
	}
	panic(fmt.Sprintf("sqlgen: no rendering for %T", p.query.Shape))
}

// fail keeps the first mistake.
func (p *printer) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// warn keeps a warning once.
func (p *printer) warn(text string) {
	if !slices.Contains(p.warnings, text) {
		p.warnings = append(p.warnings, text)
	}
}

// Columns lists the top-level columns that a query touches, in the order of the table.
func Columns(q query.Query) []string {
	touched := append(shapeColumns(q.Shape), conditionColumns(q)...)
	return inTableOrder(touched)
}

// FindingColumns lists the columns that finding the place of matching records touches, in the order of the table.
func FindingColumns(q query.Query) []string {
	return inTableOrder(append(conditionColumns(q), placeColumns...))
}

// Probe writes a statement for DuckDB that reads every value of some columns of an object and gives one row.
func Probe(path string, columns []string) (string, error) {
	p := &printer{dialect: duckDB{}, paths: []string{path}}
	from, _ := p.objects()
	return selection{columns: []fragment{"bit_xor(hash(" + join(names(columns), ", ") + "))"}, from: from}.block().String(), p.err
}

func conditionColumns(q query.Query) []string {
	columns := []string{"ts_ms"}
	for _, c := range q.Conditions {
		for _, t := range c.Terms {
			columns = append(columns, t.Source.Column)
		}
	}
	return columns
}

func shapeColumns(shape query.Shape) []string {
	switch s := shape.(type) {
	case query.Logs:
		return append(slices.Clone(placeColumns), recordColumns(s.Fields)...)
	case query.Stats:
		return []string{"hostname", "host", "bytes_sent", "request_length", "total_us"}
	case query.Timeline:
		return []string{"status", "upstream_status", "blocked", "challenge", "ichallenge", "human", "ip", "session", "bytes_sent"}
	case query.TopX:
		return []string{"country", "host", "ip", "organization", "svcid", "referer", "url", "user_agent", "reason", "monitor_reasons",
			"blocked", "bot", "human", "challenge", "ichallenge", "monitor", "bytes_sent", "request_length", "origin_us", "svc_us", "total_us", "asn"}
	}
	panic(fmt.Sprintf("sqlgen: no columns for %T", shape))
}

func inTableOrder(names []string) []string {
	wanted := make(map[string]bool, len(names))
	for _, name := range names {
		wanted[name] = true
	}
	var ordered []string
	for _, name := range lake.ColumnNames {
		if wanted[name] {
			ordered = append(ordered, name)
		}
	}
	return ordered
}
