// Package searching builds the read path of the functions that query Athena.
package searching

import (
	"context"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsathena "github.com/aws/aws-sdk-go-v2/service/athena"

	"github.com/orrery/orrery/functions/internal/counting"
	"github.com/orrery/orrery/functions/internal/doctor"
	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/shared/awscall"
	"github.com/orrery/orrery/shared/blob/s3"
	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/athena"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/lakestate/bundle"
	"github.com/orrery/orrery/shared/lakestate/hybrid"
	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/search/pending"
	"github.com/orrery/orrery/shared/table"
	"github.com/orrery/orrery/shared/valuelist"
)

// Path is the read path.
type Path struct {
	Service *search.Service
	States  engine.States
	Athena  *awsathena.Client
	Engine  *hybrid.Engine
	Invoke  Invoker
}

// reuseResults is the maximum age of a result that Athena reuses for an equal statement over the same version of the
// days that it reads.
const reuseResults = time.Hour

// New returns the read path of a function with an environment.
func New(c aws.Config, items table.Table, e function.Environment, log *slog.Logger) (Path, error) {
	state := lakestate.Over(items)
	states := lakestate.NewStates(state, time.Now)
	client := awsathena.NewFromConfig(c)
	invoke := func(ctx context.Context, function string, event []byte) ([]byte, bool, error) {
		return awscall.Invoke(ctx, c, function, event)
	}
	objects := function.NewS3(c, counting.KeepConnections)
	bucket := s3.New(objects, e.LakeBucket)
	listing, columns := lakestate.NewListing(bucket), lakestate.NewColumns(state, time.Now)
	service, err := athena.New(athena.Config{
		Client: client, S3: objects, States: states, Workgroup: e.Workgroup, Database: e.Database,
		Sizes: lakestate.NewSizes(state, listing), Columns: columns,
		FromYear: e.ProjectionFrom, DamageReports: lakestate.NewDamageReports(state, time.Now), ReuseFor: reuseResults,
		Now: time.Now,
	})
	if err != nil {
		return Path{}, err
	}
	bundles := bundle.NewListing(listing, state, time.Now)
	engine, err := hybrid.New(hybrid.Config{
		Service: service, States: states, Listing: bundles, Columns: columns, Bucket: bucket, Now: time.Now,
		MostBytes: int64(e.ScanMegabytes) << 20, Kept: scan.NewPartials(lambdas.KeptFigures), Rollups: bucket,
		Parts: partsOf(c, invoke, e),
		Failed: func(err error) {
			bundles.Doubt()
			log.Warn("Athena answers instead of a scan", slog.Any("error", err))
		},
	})
	if err != nil {
		return Path{}, err
	}
	searches, err := search.New(engine, search.Options{
		Store:   pending.Over(items, lambdas.KeepQueries, time.Now),
		Timeout: e.QueryTimeout, Now: time.Now,
	})
	if err == nil {
		searches.UseLists(valuelist.NewFinder(document.Over(items), valuelist.In(bucket)))
	}
	return Path{searches, states, client, engine, invoke}, err
}

// Checks returns the checks of a function that queries Athena.
func Checks(
	client *awsathena.Client, states engine.States, scans doctor.Prober, crew Invoker, e function.Environment,
	now func() time.Time,
) []doctor.Check {
	checks := []doctor.Check{doctor.Workgroup(client, e.Workgroup, e.Results)}
	for _, t := range lake.Tables("s3://"+e.LakeBucket+"/lake/", e.Database, e.ProjectionFrom) {
		checks = append(checks, doctor.Partitions(client, t))
	}
	return append(checks, doctor.FirstYear(states, e.ProjectionFrom), doctor.Scan(scans, e.ScanMegabytes),
		checkCrew(crew, e), doctor.Lake(states, now), doctor.Damage(states))
}
