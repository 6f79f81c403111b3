package enginetest

import (
	"context"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/testkit/reference"
)

// Oracle is an engine that answers with the reference evaluation over rows in memory.
type Oracle struct{ Rows []*lake.Row }

// Name implements engine.Engine.
func (Oracle) Name() string { return "oracle" }

// Extent implements engine.Engine.
func (o Oracle) Extent(context.Context) (lake.Extent, error) {
	e := lake.Extent{Rows: int64(len(o.Rows))}
	for i, r := range o.Rows {
		if i == 0 {
			e.MinTsMs, e.MaxTsMs = r.TsMs, r.TsMs
		}
		e.MinTsMs, e.MaxTsMs = min(e.MinTsMs, r.TsMs), max(e.MaxTsMs, r.TsMs)
	}
	return e, nil
}

// Run implements engine.Engine. Each query has read 10 bytes.
func (o Oracle) Run(_ context.Context, q query.Query) (query.Answer, engine.Cost, error) {
	return reference.Evaluate(&q, o.Rows), engine.Cost{BytesScanned: 10}, nil
}

// Explain implements engine.Engine. There is nothing to explain.
func (Oracle) Explain(context.Context, query.Query) (engine.Plan, error) { return engine.Plan{}, nil }
