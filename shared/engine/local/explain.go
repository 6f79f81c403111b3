package local

import (
	"context"
	"slices"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// Explain returns what Run would do.
func (e *Engine) Explain(ctx context.Context, q query.Query) (engine.Plan, error) {
	objects, err := e.objects(ctx, q)
	if err != nil {
		return engine.Plan{}, e.failure(ctx, err)
	}
	statements, warnings, err := e.duckDB.Explain(q)
	if err != nil {
		return engine.Plan{}, err
	}
	plan := engine.Plan{
		By:         e.by(q),
		SQL:        statements,
		Partitions: partitions(objects),
		Objects:    len(objects),
		Bytes:      costOf(q, objects, maxRecords(q.Shape)).BytesScanned,
		Columns:    q.Columns(),
		Warnings:   warnings,
	}
	if plan.By == byScan {
		for i := range plan.SQL {
			plan.SQL[i].Title += " (run only if the scan cannot answer)"
		}
	}
	return plan, nil
}

func partitions(objects []lake.Object) []lake.Partition {
	var out []lake.Partition
	for _, o := range objects {
		out = append(out, o.Partition)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// maxRecords returns how many whole records an answer of the shape can have.
func maxRecords(shape query.Shape) int64 {
	if logs, ok := shape.(query.Logs); ok {
		return int64(logs.Limit)
	}
	return 0
}
