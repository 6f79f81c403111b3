package wire

import (
	"context"
	"log/slog"

	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/functions/internal/searching"
	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/inquiry"
)

const incidentsName = "incidents"

// Incidents wires the function that finds the incidents of a period: incidents.
func Incidents(ctx context.Context, lookup function.Lookup, log *slog.Logger) (*function.Function, error) {
	p, err := begin(ctx, incidentsName, lookup)
	if err != nil {
		return nil, err
	}
	path, err := searching.New(p.aws, p.table, p.environment)
	if err != nil {
		return nil, err
	}
	return newHTTP(p.row, p.environment, log, withinARequest(p.environment, api.Config{
		Keys: p.callers, Search: path.Service,
	}), searchChecks(p, path))
}

// withinARequest returns the configuration of a function whose answers are made of several questions: all questions of
// an answer together have the time of a request.
func withinARequest(e function.Environment, c api.Config) api.Config {
	c.ReportTimeout, c.AtOnce = e.QueryTimeout, inquiry.Many
	return c
}
