package athena

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/athena/types"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/query"
)

// errExhausted marks failures of queries that exhausted the engine's resources. A part of such a query may succeed.
var errExhausted = errors.New("the engine's resources were exhausted")

// failedError is the failure of a part that is not started again. Other errors are about the requests to Athena, which
// can be sent again.
type failedError struct{ error }

func (e *failedError) Unwrap() error { return e.error }

// failed returns the progress of a query after an error.
func failed(err error) engine.Progress {
	return engine.Progress{Done: errors.As(err, new(*failedError))}
}

// failureOf returns the error for an execution of q that failed or was stopped.
//
// Athena gives a failure a category (1 Athena's, 2 the user's, 3 other), a type
// (docs.aws.amazon.com/athena/latest/ug/error-reference.html) and a message that begins with the engine's name of the
// error. Not every region sets the type, and not for every failure, so failureOf looks at both the type and the name.
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
	cause := fmt.Errorf("athena query %s %s (category %d, type %d): %s",
		aws.ToString(x.QueryExecutionId), x.Status.State, aws.ToInt32(e.ErrorCategory), number, reason)
	hasName := func(names ...string) bool {
		for _, name := range names {
			if strings.HasPrefix(reason, name) {
				return true
			}
		}
		return false
	}
	if damage := engine.DamageIn(q, reason, reason, cause); damage != nil {
		return engine.DamagedError(damage)
	}
	if damage := engine.UnreadableIn(q, reason, reason, cause); damage != nil {
		return failedTemporarily(damage)
	}
	switch {
	case strings.Contains(reason, "Bytes scanned limit was exceeded"):
		return fault.Wrap(fault.EngineLimit, cause, "%s", scanLimitMessage(bytesScanned(x), q))
	case x.Status.State == types.QueryExecutionStateCancelled:
		return fault.Wrap(fault.Canceled, errors.Join(cause, context.Canceled), "the query was stopped")
	case number == 1106, hasName("INVALID_FUNCTION_ARGUMENT"):
		return engine.RegexError(cause)
	case number >= 0 && number <= 8, hasName("EXCEEDED_", "INSUFFICIENT_RESOURCES", "Query exhausted resources"):
		return engine.ResourcesError(errors.Join(errExhausted, cause))
	case hasName("QUERY_EXCEEDED_COMPILER_LIMIT", "COMPILER_ERROR", "QUERY_HAS_TOO_MANY_STAGES"):
		return engine.ConditionsError(cause)
	case number >= 1400 && number < 1500, e.Retryable, aws.ToInt32(e.ErrorCategory) == 1:
		return failedTemporarily(cause)
	}
	return cause
}

// reportDamage records the object if err reports that the query failed at a damaged one. It does so even if ctx has
// ended.
func (e *Engine) reportDamage(ctx context.Context, err error) error {
	var damage *engine.DamageError
	if e.DamageReports == nil || !errors.As(err, &damage) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTimeout)
	defer cancel()
	return e.DamageReports.Report(ctx, damage)
}

// reportTimeout is the longest time that the record of a suspect may take.
const reportTimeout = 3 * time.Second

func failedTemporarily(cause error) error {
	return &fault.Error{
		Kind:       fault.Unavailable,
		Message:    "the query engine failed; the same query may succeed later",
		RetryAfter: retryAfter,
		Err:        cause,
	}
}

// scanLimitMessage returns the message for a query that was stopped because it scanned more bytes than the workgroup
// allows. It suggests half the period, because it is not known how many bytes the whole query would have scanned.
func scanLimitMessage(bytes int64, q query.Query) string {
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

// staleError returns the error for an execution that ran so long that objects may have been removed before it read
// them.
func staleError(x *types.QueryExecution) error {
	id := aws.ToString(x.QueryExecutionId)
	return &fault.Error{
		Kind: fault.Unavailable,
		Message: "the query took so long that its data may have been moved meanwhile; " +
			"the same query may succeed later",
		RetryAfter: retryAfter,
		Err:        fmt.Errorf("athena query %s took longer than superseded objects are kept", id),
	}
}

func bytesScanned(x *types.QueryExecution) int64 {
	if x.Statistics == nil {
		return 0
	}
	return aws.ToInt64(x.Statistics.DataScannedInBytes)
}

// contextError returns engine.ContextError if ctx has ended, and err otherwise.
func contextError(ctx context.Context, err error) error {
	if ended := engine.ContextError(ctx, err); ended != nil {
		return ended
	}
	return err
}

// requestError gives the error of a request for an unknown execution the kind fault.NotFound. It returns other errors
// unchanged.
func requestError(err error) error {
	var invalid *types.InvalidRequestException
	if errors.As(err, &invalid) && strings.Contains(invalid.ErrorMessage(), "was not found") {
		return fault.Wrap(fault.NotFound, err, "the query is no longer known")
	}
	return err
}

// isGone reports whether err is the error of a request for the result of an execution that has succeeded, and the
// result is not in its bucket. Athena calls the request invalid, with various messages.
func isGone(err error) bool {
	var invalid *types.InvalidRequestException
	var missing *s3types.NoSuchKey
	return errors.As(err, &invalid) || errors.As(err, &missing)
}

// removedAfter is the age from which a result may have been removed. If a newer one cannot be read, the caller lacks a
// permission, which Athena reports like a missing result, and another execution would cost money and not help.
const removedAfter = 30 * time.Second

// resultError returns the error of reading the result of an execution. If the result was removed, the kind is
// fault.Canceled, as if the execution had been stopped: the query can be started again.
func (e *Engine) resultError(x *types.QueryExecution, err error) error {
	err = fmt.Errorf("read the result of query %s: %w", aws.ToString(x.QueryExecutionId), err)
	if isGone(err) && e.Now().Sub(aws.ToTime(x.Status.CompletionDateTime)) >= removedAfter {
		return fault.Wrap(fault.Canceled, err, "the result of the query was removed")
	}
	return err
}

// stoppedByOthers reports whether err is the error of an execution that another caller stopped, or whose result was
// removed.
func stoppedByOthers(ctx context.Context, err error) bool {
	return fault.KindOf(err) == fault.Canceled && ctx.Err() == nil
}
