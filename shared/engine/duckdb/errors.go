package duckdb

import (
	"errors"
	"slices"
	"strings"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/sqlgen"
)

// MayBeObject reports whether a missing or damaged object may have caused an error of the engine. It returns false for
// errors of the memory or of the query. It does not look at the caller's context.
func (e *Engine) MayBeObject(err error) bool {
	var refused *sqlgen.ValueError
	if errors.As(err, &refused) || isRegex(err) {
		return false
	}
	return !isType(err, duckdb.ErrorTypeOutOfMemory, duckdb.ErrorTypeInterrupt, duckdb.ErrorTypeParser,
		duckdb.ErrorTypeBinder, duckdb.ErrorTypePermission, duckdb.ErrorTypeConversion, duckdb.ErrorTypeOutOfRange)
}

// Classify gives an error of the engine the kind that engine.Engine documents. It does not look at the caller's
// context.
func (e *Engine) Classify(err error) error {
	switch {
	case isRegex(err):
		return engine.RegexError(err)
	case isType(err, duckdb.ErrorTypeOutOfMemory):
		return fault.Wrap(fault.EngineLimit, err,
			"the query needs more memory than the engine has; narrow the period or the filter")
	}
	return err
}

func isType(err error, types ...duckdb.ErrorType) bool {
	var e *duckdb.Error
	return errors.As(err, &e) && slices.Contains(types, e.Type)
}

// regexErrors are parts of the messages of RE2.
var regexErrors = []string{
	"pattern too large",
	"invalid repetition size",
	"bad repetition operator",
	"missing argument to repetition",
	"invalid escape sequence",
	"invalid character class",
	"no argument for repetition operator",
	"regex",
}

// isRegex reports whether an error is about a regular expression. DuckDB returns RE2's messages as errors about invalid
// input, so the words decide.
func isRegex(err error) bool {
	if !isType(err, duckdb.ErrorTypeInvalidInput) {
		return false
	}
	message := err.Error()
	return slices.ContainsFunc(regexErrors, func(part string) bool { return strings.Contains(message, part) })
}
