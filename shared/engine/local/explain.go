package local

import (
	"context"
	"slices"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
)

// Explain returns what Run would do. For logs, the plan lists all objects of the period. The scan usually finds the
// newest records in a few of them, but which ones is known only after reading.
func (e *Engine) Explain(ctx context.Context, q query.Query) (engine.Plan, error) {
	estimate, err := e.Estimate(ctx, q)
	if err != nil {
		return engine.Plan{}, err
	}
	plan := engine.Plan{
		By:         estimate.By,
		Partitions: estimate.Partitions,
		Objects:    *estimate.Objects,
		Bytes:      estimate.Bytes.High,
		Columns:    q.Columns(),
	}
	if _, values := q.Shape.(query.Values); values || e.duckDB == nil {
		return plan, nil
	}
	if plan.SQL, plan.Warnings, err = e.duckDB.Explain(q); err != nil {
		return engine.Plan{}, err
	}
	if e.scans(q) {
		for i := range plan.SQL {
			plan.SQL[i].Title += engine.IfScanFails
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
