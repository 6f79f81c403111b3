package engine

import (
	"context"
	"errors"

	"github.com/orrery/orrery/shared/fault"
)

// The wording of failures that several engines have.

// ContextError gives a failure that came with the end of ctx the kind of that end. It returns nil while ctx lasts.
func ContextError(ctx context.Context, err error) error {
	cause := ctx.Err()
	switch {
	case cause == nil:
		return nil
	case errors.Is(cause, context.DeadlineExceeded):
		return fault.Wrap(fault.Timeout, err, "the query took longer than the time allowed; narrow the period or the filter")
	case !errors.Is(err, cause):
		err = errors.Join(err, cause)
	}
	return fault.Wrap(fault.Canceled, err, "the query was cancelled")
}

// RegexError is the failure of an engine that does not support a regular expression.
func RegexError(err error) error {
	return fault.Wrap(fault.RegexRefused, err, "the engine cannot take the regular expression")
}

// OverflowError is the failure of a sum.
func OverflowError(err error) error {
	return fault.Wrap(fault.EngineLimit, err, "a sum of the answer is larger than 64 bits hold")
}

// ResourcesError is the failure of an engine that has exhausted its resources.
func ResourcesError(err error) error {
	return fault.Wrap(fault.EngineLimit, err,
		"the query needs more memory or time than the engine has; narrow the period or the filter")
}

// ConditionsError is the failure of an engine that cannot compile so many conditions.
func ConditionsError(err error) error {
	return fault.Wrap(fault.EngineLimit, err, "the filter has more conditions than the engine can take; use fewer")
}

// StatementError is the failure of a query whose SQL passes a limit that limit describes.
func StatementError(limit error) error {
	return fault.Wrap(fault.EngineLimit, limit, "%s: use fewer or shorter conditions", limit)
}
