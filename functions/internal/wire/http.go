package wire

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/api/page"
	"github.com/orrery/orrery/shared/doctor"
	"github.com/orrery/orrery/shared/lambdahttp"
	"github.com/orrery/orrery/shared/lambdas"
	planettable "github.com/orrery/orrery/shared/planet/dynamo"
)

// NotFound wires the function for every path that no other has. It asks nobody.
func NotFound(lookup Lookup, logs io.Writer) (*Function, error) {
	f, e, log, err := begin("not-found", lookup, logs)
	if err != nil {
		return nil, err
	}
	return answering(f, e, log, api.Config{Keys: api.StaticKeys{}, Page: page.Files}, nil), nil
}

// Filters wires a function that needs nothing but to know its callers: parse, fields.
func Filters(ctx context.Context, name string, lookup Lookup, logs io.Writer) (*Function, error) {
	f, e, log, err := begin(name, lookup, logs)
	if err != nil {
		return nil, err
	}
	c, err := account(ctx)
	if err != nil {
		return nil, err
	}
	client, callers := tableClient(c, e)
	return answering(f, e, log, api.Config{Keys: callers}, tableChecks(client, e)), nil
}

// Planets wires a function for planet settings: planet-get, planet-put, planet-versions.
func Planets(ctx context.Context, name string, lookup Lookup, logs io.Writer) (*Function, error) {
	f, e, log, err := begin(name, lookup, logs)
	if err != nil {
		return nil, err
	}
	c, err := account(ctx)
	if err != nil {
		return nil, err
	}
	client, callers := tableClient(c, e)
	parts := api.Config{Keys: callers, Planets: planettable.New(client, e.table, time.Now)}
	return answering(f, e, log, parts, tableChecks(client, e)), nil
}

// answering is a function that answers requests with its part of the surface.
func answering(f lambdas.Function, e environment, log *slog.Logger, c api.Config, checks []doctor.Check) *Function {
	c.Serves, c.Log, c.Now, c.Version = f.Serves, log, time.Now, e.version
	return &Function{
		name: f.Name, version: e.version,
		events: lambdahttp.New(api.New(c), log),
		checks: append([]doctor.Check{configured(f)}, checks...),
	}
}
