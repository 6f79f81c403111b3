package duckdb

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/sqlgen"
)

// Answer answers a query for figures (stats, timeline, topx, facets, histogram, diff, counts, sequences) over exactly the given objects.
func (e *Engine) Answer(ctx context.Context, q query.Query, objects []lake.Object) (query.Answer, error) {
	script, err := sqlgen.DuckDB(q, objects)
	if err != nil {
		return query.Answer{}, err
	}
	defer e.lists.use(q)()
	switch shape := q.Shape.(type) {
	case query.Stats:
		rows, err := e.stats(ctx, script, shape)
		return query.Answer{Stats: rows}, err
	case query.Timeline:
		rows, err := e.timeline(ctx, script)
		return query.Answer{Timeline: rows}, err
	case query.TopX:
		rows, err := e.topX(ctx, script, shape)
		return query.Answer{TopX: rows}, err
	case query.Facets:
		facets, err := e.facets(ctx, script, len(shape.By))
		return query.Answer{Facets: facets}, err
	case query.Histogram:
		series, err := e.histogram(ctx, script, shape)
		return query.Answer{Histogram: series}, err
	case query.Diff:
		counts, err := e.diff(ctx, script, shape)
		return query.Answer{Diff: counts}, err
	case query.Counts:
		rows, err := e.counts(ctx, script, shape)
		return query.Answer{Counts: rows}, err
	case query.Sequences:
		list, err := e.sequences(ctx, script, shape)
		return query.Answer{Sequences: list}, err
	}
	panic(fmt.Sprintf("duckdb: no answer for %T", q.Shape))
}

// Newest returns the places of the records that answer a query for logs over exactly the given objects, newest first.
func (e *Engine) Newest(ctx context.Context, q query.Query, objects []lake.Object) ([]engine.Place, error) {
	script, err := sqlgen.DuckDB(q, objects)
	if err != nil {
		return nil, err
	}
	defer e.lists.use(q)()
	var places []engine.Place
	err = e.each(ctx, script.Statements[0].SQL, func(rows *sql.Rows) error {
		var (
			place engine.Place
			order lake.Row // the values that the statement sorts by; they are not needed
		)
		err := rows.Scan(&place.Path, &place.Row, &order.TsMs, &order.TsNanos, &order.Source, &order.Line)
		places = append(places, place)
		return err
	})
	return places, err
}

// Explain returns the statements that answer a query and warnings about them. The objects, which can be hundreds, are
// one name in the SQL: "…".
func (e *Engine) Explain(q query.Query) (statements []engine.Statement, warnings []string, err error) {
	script, err := sqlgen.DuckDB(q, []lake.Object{{Path: "…"}})
	if err != nil {
		return nil, nil, err
	}
	for _, s := range script.Statements {
		statements = append(statements, engine.Statement(s))
	}
	return statements, script.Warnings, nil
}

// Probe reads all values of some columns of an object. It returns an error if one of them cannot be read.
func (e *Engine) Probe(ctx context.Context, o lake.Object, columns []string) error {
	statement, err := sqlgen.Probe(o, columns)
	if err != nil {
		return err
	}
	return e.each(ctx, statement, func(rows *sql.Rows) error {
		var checksum any
		return rows.Scan(&checksum)
	})
}

// each runs a statement and calls row for each of its rows.
func (e *Engine) each(ctx context.Context, statement string, row func(*sql.Rows) error) (err error) {
	rows, err := e.db.QueryContext(ctx, statement)
	if err != nil {
		return err
	}
	defer func() {
		if closing := rows.Close(); err == nil {
			err = closing
		}
	}()
	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
