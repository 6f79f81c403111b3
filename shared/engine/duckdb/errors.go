package duckdb

import (
	"context"
	"errors"
	"strings"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/sqlgen"
)

// mayBeAnObject reports whether a failure may come from an object that is gone or damaged, and not from the caller,
// the clock, the memory or the query.
func mayBeAnObject(ctx context.Context, err error) bool {
	var refused *sqlgen.ValueError
	if ctx.Err() != nil || errors.As(err, &refused) || isRegex(err) {
		return false
	}
	return !isType(err, duckdb.ErrorTypeOutOfMemory, duckdb.ErrorTypeInterrupt, duckdb.ErrorTypeParser, duckdb.ErrorTypeBinder,
		duckdb.ErrorTypePermission, duckdb.ErrorTypeConversion, duckdb.ErrorTypeOutOfRange)
}

// failure gives a failure its kind.
func failure(ctx context.Context, err error) error {
	if ended := engine.ContextError(ctx, err); ended != nil {
		return ended
	}
	switch {
	case isRegex(err):
		return engine.RegexError(err)
	case isType(err, duckdb.ErrorTypeOutOfMemory):
		return fault.Wrap(fault.EngineLimit, err,
			"the query needs more memory than the engine has; narrow the period or the filter")
	case isType(err, duckdb.ErrorTypeConversion, duckdb.ErrorTypeOutOfRange):
		return engine.OverflowError(err)
	}
	return err
}

func isType(err error, types ...duckdb.ErrorType) bool {
	var e *duckdb.Error
	if !errors.As(err, &e) {
		return false
	}
	for _, t := range types {
		if e.Type == t {
			return true
		}
	}
	return false
}

// isRegex knows RE2's complaints, which DuckDB passes on as invalid input, by their words.
func isRegex(err error) bool {
	if !isType(err, duckdb.ErrorTypeInvalidInput) {
		return false
	}
	for _, words := range []string{"pattern too large", "invalid repetition size", "bad repetition operator", "missing argument to repetition", "invalid escape sequence", "invalid character class", "no argument for repetition operator", "regex"} {
		if strings.Contains(err.Error(), words) {
			return true
		}
	}
	return false
}
