package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/sqlgen"
)

// Run answers q. An object that cannot be read may have been replaced by compaction, so the index is asked once
// more; one that still cannot be read is left out and named in Cost.Skipped.
func (e *Engine) Run(ctx context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	var skipped []string
	for attempt := 0; ; attempt++ {
		objects, err := e.objects(ctx, q)
		if err != nil {
			return query.Answer{}, engine.Cost{}, failure(ctx, err)
		}
		objects = without(objects, skipped)
		answer, by, err := e.answer(ctx, q, objects)
		if err == nil {
			cost := costOf(q, objects, int64(len(answer.Logs)))
			cost.By, cost.Skipped = by, names(skipped)
			return answer, cost, nil
		}
		if !mayBeAnObject(ctx, err) {
			return query.Answer{}, engine.Cost{}, failure(ctx, err)
		}
		if attempt == 0 {
			continue
		}
		damaged := e.damaged(ctx, q, objects, err)
		if len(damaged) == 0 {
			return query.Answer{}, engine.Cost{}, failure(ctx, err)
		}
		skipped = append(skipped, damaged...)
	}
}

func without(objects []lake.Object, skipped []string) []lake.Object {
	return slices.DeleteFunc(objects, func(o lake.Object) bool { return slices.Contains(skipped, o.Path) })
}

// names is what callers may know of objects: their names, not their folders.
func names(paths []string) []string {
	var list []string
	for _, path := range paths {
		list = append(list, lake.NameOf(path))
	}
	return list
}

// answer answers q over exactly these objects: by a scan of their columns if it can, which is several times faster,
// else by DuckDB. It returns the way that was taken.
func (e *Engine) answer(ctx context.Context, q query.Query, objects []lake.Object) (_ query.Answer, by string, _ error) {
	by = e.by(q)
	if len(objects) == 0 {
		return query.Answer{}, by, nil
	}
	if by == byScan {
		answer, err := scan.Answer(ctx, q, objects, e.scan)
		if !errors.Is(err, scan.ErrUnsupported) {
			return answer, by, err
		}
		by = byDuckDB
	}
	answer, err := e.ask(ctx, q, objects)
	return answer, by, err
}

// ask has DuckDB answer q over exactly these objects.
func (e *Engine) ask(ctx context.Context, q query.Query, objects []lake.Object) (query.Answer, error) {
	script, err := sqlgen.DuckDB(q, paths(objects))
	if err != nil {
		return query.Answer{}, err
	}
	switch shape := q.Shape.(type) {
	case query.Logs:
		rows, err := e.logs(ctx, shape, script)
		return query.Answer{Logs: rows}, err
	case query.Stats:
		rows, err := e.stats(ctx, script)
		return query.Answer{Stats: rows}, err
	case query.Timeline:
		rows, err := e.timeline(ctx, script)
		return query.Answer{Timeline: rows}, err
	case query.TopX:
		rows, err := e.topX(ctx, script)
		return query.Answer{TopX: rows}, err
	}
	panic(fmt.Sprintf("duckdb: no answer for %T", q.Shape))
}

// damaged names the objects behind a failure: the one that the error names, or those whose touched columns cannot
// be read one object at a time.
func (e *Engine) damaged(ctx context.Context, q query.Query, objects []lake.Object, failed error) []string {
	var named *engine.ObjectError
	if errors.As(failed, &named) {
		return []string{named.Path}
	}
	var bad []string
	for _, o := range objects {
		if err := e.probe(ctx, o, q.Columns()); err != nil && ctx.Err() == nil {
			bad = append(bad, o.Path)
		}
	}
	return bad
}

// probe reads all values of some columns of an object.
func (e *Engine) probe(ctx context.Context, o lake.Object, columns []string) error {
	statement, err := sqlgen.Probe(o.Path, columns)
	if err != nil {
		return err
	}
	return e.each(ctx, statement, func(rows *sql.Rows) error {
		var checksum any
		return rows.Scan(&checksum)
	})
}

// each runs a statement and hands over its rows one by one.
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
