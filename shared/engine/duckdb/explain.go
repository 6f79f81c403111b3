package duckdb

import (
	"context"
	"slices"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/sqlgen"
)

// Explain returns what Run would do. The objects, which can be hundreds, are one name in the SQL: "…".
func (e *Engine) Explain(ctx context.Context, q query.Query) (engine.Plan, error) {
	objects, err := e.objects(ctx, q)
	if err != nil {
		return engine.Plan{}, failure(ctx, err)
	}
	script, err := sqlgen.DuckDB(q, []string{"…"})
	if err != nil {
		return engine.Plan{}, err
	}
	plan := engine.Plan{
		By: e.by(q), Objects: len(objects), Partitions: partitions(objects), Columns: q.Columns(), Warnings: script.Warnings,
		Bytes: costOf(q, objects, maxRecords(q.Shape)).BytesScanned,
	}
	for _, s := range script.Statements {
		if plan.By == byScan {
			s.Title += " (run only if the scan cannot answer)"
		}
		plan.SQL = append(plan.SQL, engine.Statement(s))
	}
	return plan, nil
}

// The ways to answer.
const (
	byScan   = "scan"   // a scan of the columns
	byRows   = "rows"   // DuckDB finds the records, which are then read row by row
	byDuckDB = "duckdb" // DuckDB alone
)

// by is the way to answer q that is tried first.
func (e *Engine) by(q query.Query) string {
	_, logs := q.Shape.(query.Logs)
	switch {
	case logs:
		return byRows
	case !e.onlySQL && scan.Supports(q):
		return byScan
	}
	return byDuckDB
}

func partitions(objects []lake.Object) []lake.Partition {
	var out []lake.Partition
	for _, o := range objects {
		out = append(out, o.Partition)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// maxRecords is how many whole records an answer of the shape can have.
func maxRecords(shape query.Shape) int64 {
	if logs, ok := shape.(query.Logs); ok {
		return int64(logs.Limit)
	}
	return 0
}
