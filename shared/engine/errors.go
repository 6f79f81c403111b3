package engine

import (
	"context"
	"errors"

	"github.com/orrery/orrery/shared/fault"
)

// This file has the errors that several engines share.

// ContextError returns err with the kind that matches the end of ctx: fault.Timeout or fault.Canceled. It returns nil
// if ctx has not ended.
func ContextError(ctx context.Context, err error) error {
	cause := ctx.Err()
	switch {
	case cause == nil:
		return nil
	case errors.Is(cause, context.DeadlineExceeded):
		return fault.Wrap(fault.Timeout, err,
			"the query took longer than the time allowed; narrow the period or the filter")
	case !errors.Is(err, cause):
		err = errors.Join(err, cause)
	}
	return fault.Wrap(fault.Canceled, err, "the query was cancelled")
}

// RegexError returns the error for a regular expression that the engine does not support.
func RegexError(err error) error {
	return fault.Wrap(fault.RegexRefused, err, "the engine does not support the regular expression")
}

// PatternWorkError returns the error for patterns that would be matched with more text than their size allows.
func PatternWorkError() error {
	return fault.New(fault.RegexRefused, "the regular expressions of the filter are too large for the text that they would "+
		"be matched with; shorten their repeats, or narrow the period or the other conditions")
}

// ResourcesError returns the error for a query that exhausts the engine's resources.
func ResourcesError(err error) error {
	return fault.Wrap(fault.EngineLimit, err,
		"the query needs more memory or time than the engine has; narrow the period or the filter")
}

// GroupsError returns the error for stats that have more groups than allowed.
func GroupsError(most int) error {
	return fault.New(fault.EngineLimit,
		"there are more than %d segments and values; use longer segments, or a field with fewer values", most)
}

// SequencesError returns the error for sequences of more requests than allowed.
func SequencesError(most int) error {
	return fault.New(fault.EngineLimit,
		"more than %d requests have the values that are counted; narrow the period or the filter", most)
}

// DistinctError returns the error for facets and diffs of fields that have more different values than allowed.
func DistinctError(most int) error {
	return fault.New(fault.EngineLimit, "the fields have more than %d different values in the matching requests; "+
		"narrow the period or the filter, or use fewer fields, or fields with fewer values", most)
}

// SegmentDistinctError returns the error for a histogram of a field that has more different values, each counted in
// every segment that has it, than allowed.
func SegmentDistinctError(most int) error {
	return fault.New(fault.EngineLimit, "the segments have more than %d different values of the field, each counted in "+
		"every segment that has it; narrow the period or the filter, or use longer segments, or a field with fewer values",
		most)
}

// ConditionsError returns the error for a query that has more conditions than the engine can compile.
func ConditionsError(err error) error {
	return fault.Wrap(fault.EngineLimit, err, "the filter has more conditions than the engine supports; use fewer")
}

// StatementError returns the error for a query if its SQL exceeds a limit. The given error describes the limit and the
// remedy.
func StatementError(limit error) error { return fault.Wrap(fault.EngineLimit, limit, "%s", limit) }
