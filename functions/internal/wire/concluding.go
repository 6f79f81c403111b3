package wire

import (
	"context"
	"log/slog"

	"github.com/orrery/orrery/functions/internal/function"
	"github.com/orrery/orrery/functions/internal/searching"
	"github.com/orrery/orrery/shared/api"
)

// Concluding wires a function whose answers several questions give: incidents, effect, whatif.
func Concluding(
	ctx context.Context, name string, lookup function.Lookup, log *slog.Logger,
) (*function.Function, error) {
	p, err := begin(ctx, name, lookup)
	if err != nil {
		return nil, err
	}
	path, err := searching.New(p.aws, p.table, p.environment, log)
	if err != nil {
		return nil, err
	}
	return newHTTP(p.row, p.environment, log, together(p.environment, api.Config{
		Keys: p.callers, Search: path.Service,
	}), searchChecks(p, path))
}
