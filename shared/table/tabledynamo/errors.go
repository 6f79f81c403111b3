package tabledynamo

import (
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/orrery/orrery/shared/fault"
)

// DynamoDB's codes for the reasons why a part of a transaction was cancelled.
const (
	conditionFailed = "ConditionalCheckFailed"
	conflict        = "TransactionConflict"
	throttled       = "ThrottlingError"
	overCapacity    = "ProvisionedThroughputExceeded"
)

// refused reports whether a write or a transaction was refused because a condition is false.
func refused(err error) bool {
	var one *types.ConditionalCheckFailedException
	return errors.As(err, &one) || cancelledFor(err, conditionFailed)
}

// contended reports whether a write was refused because another transaction was using one of its items. DynamoDB did
// not check the conditions, and the same write may be repeated.
func contended(err error) bool {
	var one *types.TransactionConflictException
	return errors.As(err, &one) || !refused(err) && cancelledFor(err, conflict)
}

func cancelledFor(err error, codes ...string) bool {
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) {
		return false
	}
	return slices.ContainsFunc(cancelled.CancellationReasons, func(r types.CancellationReason) bool {
		return slices.Contains(codes, aws.ToString(r.Code))
	})
}

// failure returns the error of a failed request with a kind. Throttling, contention, failures of the service and lost
// responses are fault.Unavailable. If ctx has ended, the kind is fault.Timeout or fault.Canceled. Other errors, such as a
// missing table or permission, have no kind. The caller says what failed.
func failure(ctx context.Context, err error) error {
	switch ended := ctx.Err(); {
	case errors.Is(ended, context.DeadlineExceeded):
		return &fault.Error{Kind: fault.Timeout, Err: errors.Join(ended, err)}
	case ended != nil:
		return &fault.Error{Kind: fault.Canceled, Err: errors.Join(ended, err)}
	case transient(err) || contended(err) || cancelledFor(err, throttled, overCapacity):
		return &fault.Error{Kind: fault.Unavailable, Err: err}
	}
	return err
}

// transient reports whether the client would have repeated the request if it had had attempts left.
func transient(err error) bool {
	return retry.IsErrorRetryables(retryables).IsErrorRetryable(err).Bool()
}
