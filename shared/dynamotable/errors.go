package dynamotable

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/orrery/orrery/shared/fault"
)

// Why a part of a transaction was cancelled, as DynamoDB spells it.
const (
	conditionFailed = "ConditionalCheckFailed"
	conflict        = "TransactionConflict"
	throttled       = "ThrottlingError"
	overCapacity    = "ProvisionedThroughputExceeded"
)

// Refused tells whether a write, or a part of a transaction, was refused because its condition does not hold.
func Refused(err error) bool {
	var one *types.ConditionalCheckFailedException
	return errors.As(err, &one) || cancelledFor(err, conditionFailed)
}

// Contended tells whether a write came to nothing because a transaction over one of its items was under way. No
// condition was looked at; the same write may be tried again.
func Contended(err error) bool {
	var one *types.TransactionConflictException
	return errors.As(err, &one) || !Refused(err) && cancelledFor(err, conflict)
}

func cancelledFor(err error, codes ...string) bool {
	var cancelled *types.TransactionCanceledException
	return errors.As(err, &cancelled) && slices.ContainsFunc(cancelled.CancellationReasons, func(r types.CancellationReason) bool {
		return slices.Contains(codes, aws.ToString(r.Code))
	})
}

// Failure is a failed call as the rest of the program knows it: what was being done, the cause, and a kind.
// Throttling, contention, failures of the service and lost answers are fault.Unavailable; a context that ended is
// fault.Timeout or fault.Canceled; what is left (a table that is not there, a permission that lacks) has no kind.
func Failure(ctx context.Context, err error, doing string, args ...any) error {
	doing = fmt.Sprintf(doing, args...)
	switch ended := ctx.Err(); {
	case errors.Is(ended, context.DeadlineExceeded):
		return fault.Wrap(fault.Timeout, errors.Join(ended, err), "%s", doing)
	case ended != nil:
		return fault.Wrap(fault.Canceled, errors.Join(ended, err), "%s", doing)
	case transient(err) || Contended(err) || cancelledFor(err, throttled, overCapacity):
		return fault.Wrap(fault.Unavailable, err, "%s", doing)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// transient tells what was worth another attempt, had there been one left.
func transient(err error) bool {
	return retry.IsErrorRetryables(retryables).IsErrorRetryable(err).Bool()
}
