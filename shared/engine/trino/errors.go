package trino

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/query"
)

// clusterError is an error that the cluster reports for a statement.
type clusterError struct {
	Message   string
	ErrorName string // INVALID_FUNCTION_ARGUMENT
	ErrorType string // USER_ERROR, INSUFFICIENT_RESOURCES, EXTERNAL, INTERNAL_ERROR
}

func (e *clusterError) Error() string {
	return fmt.Sprintf("%s (%s): %s", e.ErrorName, e.ErrorType, e.Message)
}

// busyError is the error of a request that the cluster did not process because it was busy or could not be reached.
type busyError struct{ err error }

func (e *busyError) Error() string { return e.err.Error() }
func (e *busyError) Unwrap() error { return e.err }

// The names of the cluster's errors (StandardErrorCode and HiveErrorCode in its source) by meaning.
var (
	// Temporary errors: nodes start and stop, and compaction removes objects some time after it has replaced them.
	retryableNames = []string{
		"NO_NODES_AVAILABLE", "SERVER_STARTING_UP", "SERVER_SHUTTING_DOWN",
		"REMOTE_TASK_MISMATCH", "REMOTE_TASK_ERROR", "REMOTE_HOST_GONE",
		"PAGE_TRANSPORT_ERROR", "PAGE_TRANSPORT_TIMEOUT", "TOO_MANY_REQUESTS_FAILED",
		"HIVE_FILE_NOT_FOUND", "HIVE_CANNOT_OPEN_SPLIT",
	}
	unavailableNames = []string{
		"QUERY_QUEUE_FULL", "QUERY_REJECTED", "CLUSTER_HAS_TOO_MANY_RUNNING_QUERIES",
		"ADMINISTRATIVELY_KILLED", "ADMINISTRATIVELY_PREEMPTED",
		"HIVE_FILESYSTEM_ERROR", "HIVE_METASTORE_ERROR",
	}
	timeoutNames = []string{
		"EXCEEDED_TIME_LIMIT", "EXCEEDED_QUEUED_TIME_LIMIT", "ABANDONED_QUERY", "ABANDONED_TASK",
	}
	compilerNames = []string{
		"QUERY_EXCEEDED_COMPILER_LIMIT", "COMPILER_ERROR", "QUERY_HAS_TOO_MANY_STAGES",
		"QUERY_TEXT_TOO_LARGE", "TOO_MANY_ARGUMENTS", "STACK_OVERFLOW",
	}
)

const outOfResources = "INSUFFICIENT_RESOURCES"

// retryable reports whether a failure is temporary. The error of a damaged object may have the same name as the error
// of an object that is being replaced.
func retryable(err error) bool {
	var e *clusterError
	return errors.As(err, &e) && (slices.Contains(retryableNames, e.ErrorName) || e.ErrorName == "HIVE_CURSOR_ERROR") &&
		engine.DamageIn(query.Query{}, e.ErrorName, e.Message, err) == nil
}

// exhausted reports whether a query exhausted the cluster's memory or another resource except time. Its parts may
// succeed.
func exhausted(err error) bool {
	var e *clusterError
	return errors.As(err, &e) && e.ErrorType == outOfResources &&
		!slices.Contains(timeoutNames, e.ErrorName) && !slices.Contains(unavailableNames, e.ErrorName)
}

// retryAfter is the time after which callers may retry when the cluster is unavailable.
const retryAfter = 5 * time.Second

// failure returns err, the failure of q, with the kind that Engine documents for its cause.
func failure(ctx context.Context, q query.Query, err error) error {
	var (
		e     *clusterError
		busy  *busyError
		known *fault.Error
	)
	if ended := engine.ContextError(ctx, err); ended != nil {
		return ended
	}
	switch {
	case errors.As(err, &known):
		return err
	case errors.As(err, &busy):
		return unavailable(err)
	case !errors.As(err, &e):
		return err
	}
	if damage := engine.DamageIn(q, e.ErrorName, e.Message, err); damage != nil {
		return engine.DamagedError(damage)
	}
	if damage := engine.UnreadableIn(q, e.ErrorName, e.Message, err); damage != nil {
		return unavailable(damage)
	}
	is := func(names []string) bool { return slices.Contains(names, e.ErrorName) }
	switch {
	case e.ErrorName == "INVALID_FUNCTION_ARGUMENT": // regular expressions are the only arguments that can be invalid
		return engine.RegexError(err)
	case is(timeoutNames):
		return fault.Wrap(fault.Timeout, err,
			"the query took longer than the engine allows; narrow the period or the filter")
	case is(compilerNames):
		return engine.ConditionsError(err)
	case is(retryableNames), is(unavailableNames):
		return unavailable(err)
	case e.ErrorType == outOfResources:
		return engine.ResourcesError(err)
	}
	return err
}

func unavailable(err error) error {
	return &fault.Error{
		Kind:       fault.Unavailable,
		Message:    "the query engine is busy or cannot be reached; try again later",
		RetryAfter: retryAfter,
		Err:        err,
	}
}
