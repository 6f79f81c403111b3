package athena

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/smithy-go"

	"github.com/orrery/orrery/shared/fault"
)

// maxCalls is the number of times that one request is sent to AWS. With the pauses between them, all attempts take
// some seconds.
const maxCalls = 6

// call sends a request to AWS and repeats it while AWS throttles it, fails or cannot be reached. A lost response may
// make AWS process the request twice, so every request must allow that.
func (e *Engine) call(ctx context.Context, what string, send func() error) error {
	for attempt := 0; ; attempt++ {
		err := send()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return contextError(ctx, err)
		case !retryable(err):
			return requestError(fmt.Errorf("%s: %w", what, err))
		case attempt == maxCalls-1:
			return &fault.Error{
				Kind:       fault.Unavailable,
				Message:    "the query engine is busy or cannot be reached",
				RetryAfter: retryAfter,
				Err:        fmt.Errorf("%s: %w", what, err),
			}
		}
		if err := e.Sleep(ctx, e.backOff(attempt)); err != nil {
			return contextError(ctx, err)
		}
	}
}

// retryAfter is the time after which callers may retry when Athena is throttled or down.
const retryAfter = 10 * time.Second

// backOff returns the pause before repetition n, counted from 0. Half of it is fixed and half is random, so that
// clients that were refused at the same time do not retry at the same time.
func (e *Engine) backOff(n int) time.Duration {
	longest := 200 * time.Millisecond << min(n, 5)
	return longest/2 + time.Duration(e.Random()*float64(longest/2))
}

// retryable reports whether an error is temporary according to the SDK, or the response was cut off.
func retryable(err error) bool {
	var unread *smithy.DeserializationError // its cause has no type if the end of a chunked response is missing
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &unread) {
		return true
	}
	return retry.IsErrorRetryables(retry.DefaultRetryables).IsErrorRetryable(err) == aws.TrueTernary
}

// noRetries keeps the SDK from retrying, because call does that itself and could not account for the time.
func noRetries(o *athena.Options) { o.Retryer = aws.NopRetryer{} }
