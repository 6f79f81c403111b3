// Package sqlgen writes a bound query as SQL. A query has one plan (see package query) and two printers, because the
// fastest way to the same answer differs: Athena bills every scan and inlines WITH, whereas DuckDB reads for free and
// is fastest on a narrow materialised base. README.md in this folder lists the differences, with measurements.
package sqlgen

import (
	"fmt"
	"slices"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// Script is a query in one engine's SQL.
type Script struct {
	Statements []Statement // in the order in which they run
	Warnings   []string    // why the query might overload the engine; Athena and Trino refuse it then
	// Scans is how many times the statement for Athena reads the hours of the query. Every scan is billed. A diff of
	// two periods that share an hour reads this hour once for each period.
	Scans int
}

// Statement is one SQL text and a title that describes its purpose.
type Statement struct{ Title, SQL string }

// Athena writes a query for Athena (engine version 3) and Trino over the tables traffic_compact and
// traffic_fresh.
//
// Errors: *ValueError for a value that no SQL text can hold, *LimitError for a query above Athena's limits. A query for
// values is an error, too: no engine answers it with SQL.
func Athena(q query.Query) (Script, error) {
	p := &printer{dialect: athena{}, query: q}
	return p.script(p.athenaStatements)
}

// DuckDB writes a query for DuckDB over the given Parquet objects, in that order. For Logs the statement returns only
// the place of each row, because DuckDB reads whole rows slowly. The caller reads them from the objects.
//
// Errors: *ValueError for a value that no SQL text can hold. A query for values is an error, as for Athena.
func DuckDB(q query.Query, objects []lake.Object) (Script, error) {
	p := &printer{dialect: duckDB{}, query: q, objects: objects}
	return p.script(p.duckDBStatements)
}

// printer is the state of printing one query. It keeps the first error until the end, so that the code that prints
// SQL is not interrupted by error handling.
type printer struct {
	dialect  dialect
	query    query.Query
	objects  []lake.Object // DuckDB only
	warnings []string
	scans    int // the number of calls of source
	err      error
}

func (p *printer) script(statements func() []statement) (Script, error) {
	var s Script
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
	s.Warnings, s.Scans = p.warnings, p.scans
	return s, nil
}

type statement struct {
	title string
	body  block
}

func (p *printer) athenaStatements() []statement {
	switch shape := p.query.Shape.(type) {
	case query.Logs:
		return []statement{{"newest records", p.athenaLogs(shape)}}
	case query.Stats:
		return []statement{{"figures per segment", p.athenaStats(shape)}}
	case query.Timeline:
		return []statement{{"figures per segment", p.athenaTimeline()}}
	case query.TopX:
		return []statement{{"top keys per label", p.athenaTopX(shape)}}
	case query.Facets:
		return []statement{{"top values per dimension", p.athenaFacets(shape)}}
	case query.Histogram:
		return []statement{{"series per segment", p.athenaHistogram(shape)}}
	case query.Diff:
		return []statement{{"counts of values on both sides", p.athenaDiff(shape)}}
	case query.Counts:
		return []statement{{"numbers per segment and value", p.athenaCounts(shape)}}
	case query.Sequences:
		return []statement{{"requests of each key", p.athenaSequences(shape)}}
	case query.Values:
		p.fail(errValues)
		return nil
	}
	panic(fmt.Sprintf("sqlgen: no rendering for %T", p.query.Shape))
}

func (p *printer) duckDBStatements() []statement {
	switch shape := p.query.Shape.(type) {
	case query.Logs:
		return []statement{{"place of the newest records", p.duckDBLogs(shape)}}
	case query.Stats:
		return []statement{{"figures per segment", p.duckDBStats(shape)}}
	case query.Timeline:
		return p.duckDBTimeline()
	case query.TopX:
		return []statement{{"top keys per label", p.duckDBTopX(shape)}}
	case query.Facets:
		return []statement{{"top values per dimension", p.duckDBFacets(shape)}}
	case query.Histogram:
		return []statement{{"series per segment", p.duckDBHistogram(shape)}}
	case query.Diff:
		return []statement{{"counts of values on both sides", p.duckDBDiff(shape)}}
	case query.Counts:
		return []statement{{"numbers per segment and value", p.duckDBCounts(shape)}}
	case query.Sequences:
		return []statement{{"requests of each key", p.duckDBSequences(shape)}}
	case query.Values:
		p.fail(errValues)
		return nil
	}
	panic(fmt.Sprintf("sqlgen: no rendering for %T", p.query.Shape))
}

// fail keeps the first error.
func (p *printer) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// warn adds a warning, unless it has been added before.
func (p *printer) warn(text string) {
	if !slices.Contains(p.warnings, text) {
		p.warnings = append(p.warnings, text)
	}
}

// Probe writes a statement for DuckDB that reads every value of some columns of an object and returns one row. It
// leaves out columns that the object does not have.
func Probe(o lake.Object, columns []string) (string, error) {
	p := &printer{dialect: duckDB{}}
	columns = slices.DeleteFunc(slices.Clone(columns), func(c string) bool { return !o.Has(c) })
	from := p.readParquet([]lake.Object{o})
	checksum := "bit_xor(hash(" + join(names(columns), ", ") + "))"
	return selection{columns: []fragment{checksum}, from: from}.block().String(), p.err
}
