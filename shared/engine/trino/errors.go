package trino

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
)

// clusterError is a failure as the cluster reports it.
type clusterError struct {
	Message   string
	ErrorName string // INVALID_FUNCTION_ARGUMENT
	ErrorType string // USER_ERROR, INSUFFICIENT_RESOURCES, EXTERNAL, INTERNAL_ERROR
}

func (e *clusterError) Error() string {
	return fmt.Sprintf("%s (%s): %s", e.ErrorName, e.ErrorType, e.Message)
}

// busyError is a request that got no answer of its own: the cluster was not there, or had no time.
type busyError struct{ err error }

func (e *busyError) Error() string { return e.err.Error() }
func (e *busyError) Unwrap() error { return e.err }

// What the cluster's errors mean, by their names (StandardErrorCode and HiveErrorCode in its source).
var (
	// Nodes come and go, and compaction removes objects some time after it has replaced them.
	passingNames = []string{"NO_NODES_AVAILABLE", "SERVER_STARTING_UP", "SERVER_SHUTTING_DOWN", "REMOTE_TASK_MISMATCH", "REMOTE_TASK_ERROR",
		"PAGE_TRANSPORT_ERROR", "PAGE_TRANSPORT_TIMEOUT", "REMOTE_HOST_GONE", "TOO_MANY_REQUESTS_FAILED", "HIVE_FILE_NOT_FOUND", "HIVE_CANNOT_OPEN_SPLIT"}
	unavailableNames = []string{"QUERY_QUEUE_FULL", "QUERY_REJECTED", "ADMINISTRATIVELY_KILLED", "ADMINISTRATIVELY_PREEMPTED", "CLUSTER_HAS_TOO_MANY_RUNNING_QUERIES",
		"HIVE_FILESYSTEM_ERROR", "HIVE_METASTORE_ERROR"}
	timeNames     = []string{"EXCEEDED_TIME_LIMIT", "EXCEEDED_QUEUED_TIME_LIMIT", "ABANDONED_QUERY", "ABANDONED_TASK"}
	compilerNames = []string{"QUERY_EXCEEDED_COMPILER_LIMIT", "COMPILER_ERROR", "QUERY_HAS_TOO_MANY_STAGES", "QUERY_TEXT_TOO_LARGE", "TOO_MANY_ARGUMENTS", "STACK_OVERFLOW"}
)

const outOfResources = "INSUFFICIENT_RESOURCES"

// passing reports whether a failure is temporary.
func passing(err error) bool {
	var e *clusterError
	return errors.As(err, &e) && slices.Contains(passingNames, e.ErrorName)
}

// exhausted reports whether a query failed for lack of memory or other resources than time: its parts may succeed.
func exhausted(err error) bool {
	var e *clusterError
	return errors.As(err, &e) && e.ErrorType == outOfResources && !slices.Contains(timeNames, e.ErrorName) && !slices.Contains(unavailableNames, e.ErrorName)
}

// retryAfter is when callers may retry while the cluster is unavailable.
const retryAfter = 5 * time.Second

// failure gives a failure its kind.
func failure(ctx context.Context, err error) error {
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
	is := func(names []string) bool { return slices.Contains(names, e.ErrorName) }
	switch {
	case e.ErrorName == "INVALID_FUNCTION_ARGUMENT": // of all that the statements call, only regular expressions can be
		return engine.RegexError(err)
	case e.ErrorName == "NUMERIC_VALUE_OUT_OF_RANGE":
		return engine.OverflowError(err)
	case is(timeNames):
		return fault.Wrap(fault.Timeout, err, "the query took longer than the engine allows; narrow the period or the filter")
	case is(compilerNames):
		return engine.ConditionsError(err)
	case is(passingNames), is(unavailableNames):
		return unavailable(err)
	case e.ErrorType == outOfResources:
		return engine.ResourcesError(err)
	}
	return err
}

func unavailable(err error) error {
	return &fault.Error{Kind: fault.Unavailable, Message: "the query engine cannot be reached or has no room; try again later", RetryAfter: retryAfter, Err: err}
}
