// Package wire assembles the functions that answer requests. It creates clients from the environment, services from the
// clients, and from the services the functions that main packages start. Each function gets only the parts it needs.
package wire

import (
	"context"
	"log/slog"
	"time"

	"github.com/orrery/orrery/functions/internal/doctor"
	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/functions/internal/searching"
	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/api/page"
	"github.com/orrery/orrery/shared/api/problem"
	"github.com/orrery/orrery/shared/blob/s3"
	"github.com/orrery/orrery/shared/console"
	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/lakestate"
	"github.com/orrery/orrery/shared/lakestate/lists"
	"github.com/orrery/orrery/shared/lambdahttp"
	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/planet"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/table"
	"github.com/orrery/orrery/shared/valuelist"
)

// NotFound wires the function for every path that no other function has. It uses no service.
func NotFound(lookup function.Lookup, log *slog.Logger) (*function.Function, error) {
	f, e, err := function.Begin("not-found", lookup)
	if err != nil {
		return nil, err
	}
	return newHTTP(f, e, log, describing(api.Config{Keys: keys.Static{}, Page: page.Files}), nil)
}

// Console wires the function for the browser console. Its files are part of the program, so it uses no service.
func Console(lookup function.Lookup, log *slog.Logger) (*function.Function, error) {
	f, e, err := function.Begin("console", lookup)
	if err != nil {
		return nil, err
	}
	return newHTTP(f, e, log, api.Config{Keys: keys.Static{}, Console: console.Files}, nil)
}

// Filters wires a function that only needs the API keys: parse, fields.
func Filters(ctx context.Context, name string, lookup function.Lookup, log *slog.Logger) (*function.Function, error) {
	return overTable(ctx, name, lookup, log, func(table.Table) (none api.Config) { return none })
}

// Planets wires a function for planet settings: planet-get, planet-put, planet-versions.
func Planets(ctx context.Context, name string, lookup function.Lookup, log *slog.Logger) (*function.Function, error) {
	return overTable(ctx, name, lookup, log, func(items table.Table) api.Config {
		return api.Config{Planets: planet.Over(document.Over(items), time.Now)}
	})
}

// SavedFilters wires a function for saved filters: filter-get, filter-put.
func SavedFilters(
	ctx context.Context, name string, lookup function.Lookup, log *slog.Logger,
) (*function.Function, error) {
	return overTable(ctx, name, lookup, log, func(items table.Table) api.Config {
		return api.Config{Documents: document.Over(items)}
	})
}

// Lists wires a function for lists of values: list-get, list-put.
func Lists(ctx context.Context, name string, lookup function.Lookup, log *slog.Logger) (*function.Function, error) {
	p, err := begin(ctx, name, lookup)
	if err != nil {
		return nil, err
	}
	with := api.Config{
		Keys: p.callers, Documents: document.Over(p.table),
		Lists: valuelist.In(s3.New(function.NewS3(p.aws), p.environment.LakeBucket)),
	}
	return newHTTP(p.row, p.environment, log, with, tableChecks(p.client, p.environment, time.Now))
}

// overTable wires a function that needs only the API keys and other documents in the table.
func overTable(
	ctx context.Context, name string, lookup function.Lookup, log *slog.Logger,
	config func(items table.Table) api.Config,
) (*function.Function, error) {
	p, err := begin(ctx, name, lookup)
	if err != nil {
		return nil, err
	}
	with := config(p.table)
	with.Keys = p.callers
	return newHTTP(p.row, p.environment, log, with, tableChecks(p.client, p.environment, time.Now))
}

// Searching wires a function that queries Athena: topx, stats, timeline, facets, histogram, diff, logs, why,
// query-status.
func Searching(ctx context.Context, name string, lookup function.Lookup, log *slog.Logger) (*function.Function, error) {
	p, err := begin(ctx, name, lookup)
	if err != nil {
		return nil, err
	}
	path, err := searching.New(p.aws, p.table, p.environment, log)
	if err != nil {
		return nil, err
	}
	with := api.Config{
		Keys: p.callers, TokenKeys: keys.Over(p.table), Search: path.Service, Queries: path.Service,
	}
	if name == "timeline" || name == "histogram" { // which have marks
		with.Planets = planet.Over(document.Over(p.table), time.Now)
	}
	return newHTTP(p.row, p.environment, log, together(p.environment, with), searchChecks(p, path))
}

// searchChecks returns the checks of a function with API keys that queries Athena.
func searchChecks(p parts, path searching.Path) []doctor.Check {
	return append(tableChecks(p.client, p.environment, time.Now),
		searching.Checks(path.Athena, path.States, path.Engine, path.Invoke, p.environment, time.Now)...)
}

// Values wires the function values, which reads lists of values in the bucket of the lake.
func Values(ctx context.Context, lookup function.Lookup, log *slog.Logger) (*function.Function, error) {
	p, err := begin(ctx, "values", lookup)
	if err != nil {
		return nil, err
	}
	e := p.environment
	states := lakestate.NewStates(lakestate.Over(p.table), time.Now)
	finder, service, err := finding(p, states)
	if err != nil {
		return nil, err
	}
	checks := append(tableChecks(p.client, e, time.Now), valueChecks(states, finder, time.Now)...)
	return newHTTP(p.row, e, log, api.Config{Keys: p.callers, Search: service}, checks)
}

// finding returns the engine over the lists of values, and the read path over it.
func finding(p parts, states engine.States) (*lists.Engine, *search.Service, error) {
	e := p.environment
	finder := lists.New(s3.New(function.NewS3(p.aws), e.LakeBucket), states, time.Now)
	service, err := search.New(finder, search.Options{Timeout: e.QueryTimeout, Now: time.Now})
	return finder, service, err
}

// newHTTP returns a function that answers requests to its routes.
func newHTTP(
	f lambdas.Function, e function.Environment, log *slog.Logger, c api.Config, checks []doctor.Check,
) (*function.Function, error) {
	c.Serves, c.Log, c.Version, c.PresentStep = f.Serves, log, e.Version, search.PaidPresentStep
	if c.Now == nil {
		c.Now = time.Now
	}
	handler, err := api.New(c)
	if err != nil {
		return nil, err
	}
	return function.New(f, e, lambdahttp.New(handler, problem.WriteError, log), checks...), nil
}
