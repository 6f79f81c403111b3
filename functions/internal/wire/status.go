package wire

import (
	"context"
	"log/slog"
	"time"

	"github.com/orrery/orrery/functions/internal/doctor"
	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/s3"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/athena"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/status"
)

// Status wires the function that reports what the deployment has: status.
func Status(ctx context.Context, name string, lookup function.Lookup, log *slog.Logger) (*function.Function, error) {
	p, err := begin(ctx, name, lookup)
	if err != nil {
		return nil, err
	}
	e := p.environment
	state := lakestate.Over(p.table)
	bucket := s3.New(function.NewS3(p.aws), e.LakeBucket)
	states := lakestate.NewStates(state, time.Now)
	checks := append(tableChecks(p.client, e, time.Now), statusChecks(states, bucket, e, time.Now)...)
	return newHTTP(
		p.row, e, log, describing(api.Config{Keys: p.callers, Status: newDeployed(state, bucket, e)}), checks,
	)
}

// deployed is a deployment that knows its status.
type deployed struct {
	lake *lakestate.Overview
	wait time.Duration
}

func newDeployed(table lakestate.Table, bucket blob.Store, e function.Environment) deployed {
	return deployed{lakestate.NewOverview(table, lakestate.NewListing(bucket)), e.QueryTimeout}
}

// Status implements status.Source.
func (d deployed) Status(ctx context.Context) (status.Status, error) {
	found, err := d.lake.Status(ctx)
	found.Engine, found.Wait = "athena", d.wait
	found.Price = &status.Price{USDPerTB: athena.USDPerTB, MinimumBytes: athena.MinimumBytes}
	found.Values = true // from the lists beside the objects
	return found, err
}

// statusChecks returns the checks of a function that reads the state of the lake and lists its bucket.
func statusChecks(
	states engine.States, bucket blob.Store, e function.Environment, now func() time.Time,
) []doctor.Check {
	return []doctor.Check{
		doctor.Bucket("lake bucket", bucket, e.LakeBucket, "lake/"), doctor.Lake(states, now), doctor.Damage(states),
	}
}
