package local

import (
	"context"
	"errors"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/engine/scan"
	"github.com/orrery/orrery/shared/fault"
)

// mayBeObject reports whether a missing or damaged object may have caused an error. It returns false for errors of the
// caller, the deadline, the memory or the query. The scan names the object in its error; DuckDB may not.
func (e *Engine) mayBeObject(ctx context.Context, err error) bool {
	var (
		named *engine.ObjectError
		known *fault.Error // of the query
	)
	switch {
	case ctx.Err() != nil:
		return false
	case errors.As(err, &named):
		return true
	case errors.As(err, &known):
		return false
	}
	return e.duckDB != nil && e.duckDB.MayBeObject(err)
}

// failure gives an error the kind that engine.Engine documents.
func (e *Engine) failure(ctx context.Context, err error) error {
	if ended := engine.ContextError(ctx, err); ended != nil {
		return ended
	}
	if e.duckDB == nil {
		return err
	}
	return e.duckDB.Classify(err)
}

// busyRetry is the time after which to repeat a query that was refused because other queries use the memory.
const busyRetry = 2 * time.Second

// busy returns the error of a query that was refused because other queries use the memory.
func busy(cause error) error {
	return &fault.Error{
		Kind:       fault.Unavailable,
		Message:    "other queries, usually your own, use the memory; send this one again when they have ended",
		RetryAfter: busyRetry,
		Err:        cause,
	}
}

// needsDuckDB returns the error of a query that the scan does not support, in a program without DuckDB.
func needsDuckDB(unsupported error) error {
	if errors.Is(unsupported, scan.ErrBusy) {
		return busy(unsupported)
	}
	return fault.Wrap(fault.EngineLimit, unsupported, "the query needs DuckDB, and this program was built without it; "+
		"narrow the period or the filter, or install a C compiler (Debian: apt-get install gcc g++; "+
		"macOS: xcode-select --install) and build the program again with CGO_ENABLED=1")
}
