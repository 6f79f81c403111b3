package duckdb

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/sqlgen"
)

// Explain tells what Run would do, first whether a scan answers, and how Athena would be asked the same.
func (e *Engine) Explain(ctx context.Context, q query.Query) (engine.Plan, error) {
	objects, err := e.objects(ctx, q)
	if err != nil {
		return engine.Plan{}, failure(ctx, err)
	}
	script, err := sqlgen.DuckDB(q, paths(objects))
	if err != nil {
		return engine.Plan{}, err
	}
	plan := engine.Plan{Objects: len(objects), Partitions: partitions(objects), Columns: q.Columns()}
	plan.Bytes = costOf(q, objects, most(q.Shape)).BytesScanned
	if scan.Takes(q) {
		plan.SQL = append(plan.SQL, engine.Statement{Title: "Scan of dictionary codes", SQL: "-- No SQL is run: " + strings.Join(plan.Columns, ", ") +
			" are read as they are stored.\n-- Only if that takes too much memory, patterns meet too many different texts, or a sum passes 64 bits, DuckDB is asked."})
	}
	addScript(&plan, "DuckDB", script)

	athena, err := sqlgen.Athena(q)
	var limit *sqlgen.LimitError
	switch {
	case errors.As(err, &limit):
		plan.Warnings = append(plan.Warnings, "Athena: "+limit.Error())
	case err != nil:
		return engine.Plan{}, err
	default:
		addScript(&plan, "Athena", athena)
	}
	return plan, nil
}

func addScript(plan *engine.Plan, name string, script sqlgen.Script) {
	for _, s := range script.Statements {
		plan.SQL = append(plan.SQL, engine.Statement{Title: name + ": " + s.Title, SQL: s.SQL})
	}
	for _, w := range script.Warnings {
		plan.Warnings = append(plan.Warnings, name+": "+w)
	}
}

func partitions(objects []lake.Object) []lake.Partition {
	var out []lake.Partition
	for _, o := range objects {
		out = append(out, o.Partition)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// most is how many whole records the shape can read.
func most(shape query.Shape) int64 {
	if logs, ok := shape.(query.Logs); ok {
		return int64(logs.Limit)
	}
	return 0
}
