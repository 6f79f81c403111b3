// Package wire assembles the functions that answer requests. It creates clients from the environment, services from the
// clients, and from the services the functions that main packages start. Each function gets only the parts it needs.
package wire

import (
	"context"
	"log/slog"
	"time"

	awsathena "github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/orrery/orrery/functions/internal/doctor"
	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/api/page"
	"github.com/orrery/orrery/shared/blob/s3"
	"github.com/orrery/orrery/shared/console"
	"github.com/orrery/orrery/shared/document/documentdynamo"
	"github.com/orrery/orrery/shared/engine/athena"
	"github.com/orrery/orrery/shared/engine/lists"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/lakestate/statedynamo"
	"github.com/orrery/orrery/shared/lambdahttp"
	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/planet/planetdynamo"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/search/pending/pendingdynamo"
)

// NotFound wires the function for every path that no other function has. It uses no service.
func NotFound(lookup function.Lookup, log *slog.Logger) (*function.Function, error) {
	f, e, err := function.Begin("not-found", lookup)
	if err != nil {
		return nil, err
	}
	return newHTTP(f, e, log, api.Config{Keys: keys.Static{}, Console: console.Files, Page: page.Files}, nil)
}

// Filters wires a function that only needs the API keys: parse, fields.
func Filters(ctx context.Context, name string, lookup function.Lookup, log *slog.Logger) (*function.Function, error) {
	return overTable(ctx, name, lookup, log, func(*dynamodb.Client, function.Environment) (none api.Config) { return none })
}

// Planets wires a function for planet settings: planet-get, planet-put, planet-versions.
func Planets(ctx context.Context, name string, lookup function.Lookup, log *slog.Logger) (*function.Function, error) {
	return overTable(ctx, name, lookup, log, func(client *dynamodb.Client, e function.Environment) api.Config {
		return api.Config{Planets: planetdynamo.New(client, e.Table, time.Now)}
	})
}

// SavedFilters wires a function for saved filters: filter-get, filter-put.
func SavedFilters(
	ctx context.Context, name string, lookup function.Lookup, log *slog.Logger,
) (*function.Function, error) {
	return overTable(ctx, name, lookup, log, func(client *dynamodb.Client, e function.Environment) api.Config {
		return api.Config{Documents: documentdynamo.New(client, e.Table)}
	})
}

// overTable wires a function that needs only the API keys and other parts in the table.
func overTable(
	ctx context.Context, name string, lookup function.Lookup, log *slog.Logger,
	parts func(client *dynamodb.Client, e function.Environment) api.Config,
) (*function.Function, error) {
	f, e, err := function.Begin(name, lookup)
	if err != nil {
		return nil, err
	}
	c, err := function.LoadAWS(ctx)
	if err != nil {
		return nil, err
	}
	client, callers := tableClient(c, e)
	with := parts(client, e)
	with.Keys = callers
	return newHTTP(f, e, log, with, tableChecks(client, e, time.Now))
}

// Searching wires a function that queries Athena: topx, stats, timeline, facets, histogram, diff, logs,
// query-status.
func Searching(ctx context.Context, name string, lookup function.Lookup, log *slog.Logger) (*function.Function, error) {
	f, e, err := function.Begin(name, lookup)
	if err != nil {
		return nil, err
	}
	c, err := function.LoadAWS(ctx)
	if err != nil {
		return nil, err
	}
	client, callers := tableClient(c, e)
	state := statedynamo.New(client, e.Table)
	states := lakestate.NewStates(state, time.Now)
	athenaClient := awsathena.NewFromConfig(c)
	objects := function.NewS3(c)
	engine, err := athena.New(athena.Config{
		Client: athenaClient, S3: objects, States: states, Workgroup: e.Workgroup, Database: e.Database,
		Sizes:    lakestate.NewListing(s3.New(objects, e.LakeBucket)),
		FromYear: e.ProjectionFrom, Suspects: lakestate.NewSuspects(state, time.Now), ReuseFor: reuseResults, Now: time.Now,
	})
	if err != nil {
		return nil, err
	}
	service, err := search.New(engine, search.Options{
		Store:   pendingdynamo.New(client, e.Table, lambdas.KeepQueries, time.Now),
		Timeout: e.QueryTimeout, Now: time.Now,
	})
	if err != nil {
		return nil, err
	}
	checks := append(tableChecks(client, e, time.Now), queryChecks(athenaClient, states, e, time.Now)...)
	return newHTTP(f, e, log, api.Config{Keys: callers, Search: service, Queries: service}, checks)
}

// Values wires the function values, which reads lists of values in the bucket of the lake.
func Values(ctx context.Context, lookup function.Lookup, log *slog.Logger) (*function.Function, error) {
	f, e, err := function.Begin("values", lookup)
	if err != nil {
		return nil, err
	}
	c, err := function.LoadAWS(ctx)
	if err != nil {
		return nil, err
	}
	client, callers := tableClient(c, e)
	states := lakestate.NewStates(statedynamo.New(client, e.Table), time.Now)
	finder := lists.New(s3.New(function.NewS3(c), e.LakeBucket), states, time.Now)
	service, err := search.New(finder, search.Options{Timeout: e.QueryTimeout, Now: time.Now})
	if err != nil {
		return nil, err
	}
	checks := append(tableChecks(client, e, time.Now), valueChecks(states, finder, time.Now)...)
	return newHTTP(f, e, log, api.Config{Keys: callers, Search: service}, checks)
}

// reuseResults is the maximum age of a result that Athena reuses for an equal statement over the same version of the
// data.
const reuseResults = time.Hour

// newHTTP returns a function that answers requests to its routes.
func newHTTP(
	f lambdas.Function, e function.Environment, log *slog.Logger, c api.Config, checks []doctor.Check,
) (*function.Function, error) {
	c.Serves, c.Log, c.Version = f.Serves, log, e.Version
	if c.Now == nil {
		c.Now = time.Now
	}
	handler, err := api.New(c)
	if err != nil {
		return nil, err
	}
	return function.New(f, e, lambdahttp.New(handler, api.WriteError, log), checks...), nil
}
