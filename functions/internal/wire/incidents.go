package wire

import (
	"context"
	"log/slog"

	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/functions/internal/searching"
	"github.com/orrery/orrery/shared/api"
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
	return newHTTP(p.row, p.environment, log, together(p.environment, api.Config{
		Keys: p.callers, Search: path.Service,
	}), searchChecks(p, path))
}
