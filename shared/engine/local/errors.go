package local

import (
	"context"

	"github.com/orrery/orrery/shared/engine"
)

// mayBeObject reports whether an object that is gone or damaged may have caused an error, and not the caller, the
// deadline, the memory or the query.
func (e *Engine) mayBeObject(ctx context.Context, err error) bool {
	return ctx.Err() == nil && e.duckDB.MayBeObject(err)
}

// failure gives an error the kind that engine.Engine documents.
func (e *Engine) failure(ctx context.Context, err error) error {
	if ended := engine.ContextError(ctx, err); ended != nil {
		return ended
	}
	return e.duckDB.Classify(err)
}
