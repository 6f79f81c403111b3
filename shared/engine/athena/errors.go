package athena

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/athena/types"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/query"
)

// errExhausted marks failures for want of the engine's resources: less at a time may do.
var errExhausted = errors.New("the engine's resources were exhausted")

// failureOf returns what the end of an execution of q means.
//
// Athena gives failures a category (1 its own, 2 the user's, 3 other), a type
// (docs.aws.amazon.com/athena/latest/ug/error-reference.html) and a sentence that begins with the engine's name of
// the error. Types are not given by every region and for every failure, so names count as much.
func failureOf(x *types.QueryExecution, q query.Query) error {
	reason := aws.ToString(x.Status.StateChangeReason)
	e := x.Status.AthenaError
	if e == nil {
		e = &types.AthenaError{}
	}
	number := int32(-1)
	if e.ErrorType != nil {
		number = *e.ErrorType
	}
	if reason == "" {
		reason = aws.ToString(e.ErrorMessage)
	}
	cause := fmt.Errorf("athena query %s %s (category %d, type %d): %s", aws.ToString(x.QueryExecutionId), x.Status.State, aws.ToInt32(e.ErrorCategory), number, reason)
	named := func(names ...string) bool {
		for _, name := range names {
			if strings.HasPrefix(reason, name) {
				return true
			}
		}
		return false
	}
	switch {
	case strings.Contains(reason, "Bytes scanned limit was exceeded"):
		return fault.Wrap(fault.EngineLimit, cause, "%s", tooMuch(scanned(x), q))
	case x.Status.State == types.QueryExecutionStateCancelled:
		return fault.Wrap(fault.Canceled, errors.Join(cause, context.Canceled), "the query was stopped")
	case named("NUMERIC_VALUE_OUT_OF_RANGE"):
		return engine.OverflowError(cause)
	case number == 1106, named("INVALID_FUNCTION_ARGUMENT"):
		return engine.RegexError(cause)
	case number >= 0 && number <= 8, named("EXCEEDED_", "INSUFFICIENT_RESOURCES", "Query exhausted resources"):
		return engine.ResourcesError(errors.Join(errExhausted, cause))
	case named("QUERY_EXCEEDED_COMPILER_LIMIT", "COMPILER_ERROR", "QUERY_HAS_TOO_MANY_STAGES"):
		return engine.ConditionsError(cause)
	case number >= 1400 && number < 1500, e.Retryable, aws.ToInt32(e.ErrorCategory) == 1:
		return &fault.Error{Kind: fault.Unavailable, Message: "the query engine failed; the same query may do well later", RetryAfter: retryAfter, Err: cause}
	}
	return cause
}

// tooMuch is the message when a query would scan more than the workgroup lets one query scan. How much it
// would have scanned is not known, but that it is more than these bytes; so half the period, in proportion, is
// the first to try.
func tooMuch(bytes int64, q query.Query) string {
	span := q.Span()
	half := (time.Duration(span.ToMs-span.FromMs) * time.Millisecond / 2).Truncate(time.Minute)
	text := fmt.Sprintf("the query would scan more than one query may: it was stopped after %d bytes", bytes)
	if half < time.Minute {
		return text + "; narrow the filter, or ask for fewer fields"
	}
	from := time.UnixMilli(span.ToMs).Add(-half).UTC().Format(time.DateTime)
	to := time.UnixMilli(span.ToMs).UTC().Format(time.DateTime)
	return fmt.Sprintf("%s. Half the period should fit: timestamp between %s and %s", text, from, to)
}

// errOutlived is the failure of an execution that may have outlived objects that it read.
func errOutlived(x *types.QueryExecution) error {
	cause := fmt.Errorf("athena query %s took longer than superseded objects are kept", aws.ToString(x.QueryExecutionId))
	return &fault.Error{
		Kind: fault.Unavailable, Message: "the query took so long that data may have moved under it; the same query may do well later",
		RetryAfter: retryAfter, Err: cause,
	}
}

func scanned(x *types.QueryExecution) int64 {
	if x.Statistics == nil {
		return 0
	}
	return aws.ToInt64(x.Statistics.DataScannedInBytes)
}

// ended gives a failure that came with the end of ctx the kind of that end.
func ended(ctx context.Context, err error) error {
	if ended := engine.ContextError(ctx, err); ended != nil {
		return ended
	}
	return err
}

// refused gives a request that Athena does not take its kind.
func refused(err error) error {
	var invalid *types.InvalidRequestException
	if errors.As(err, &invalid) && strings.Contains(invalid.ErrorMessage(), "was not found") {
		return fault.Wrap(fault.NotFound, err, "the query is not known any more")
	}
	return err
}

// stoppedByOthers reports whether another caller stopped the execution, and not the end of ctx.
func stoppedByOthers(ctx context.Context, err error) bool {
	return fault.KindOf(err) == fault.Canceled && ctx.Err() == nil
}
