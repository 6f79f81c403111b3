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

	"github.com/orrery/orrery/shared/fault"
)

// maxCalls is how often one thing is asked of AWS: with the waits between, some seconds.
const maxCalls = 6

// call asks something of AWS, again while it is throttled, failing or out of reach. Everything asked here may be
// carried out twice.
func (e *Engine) call(ctx context.Context, what string, ask func() error) error {
	for asked := 0; ; asked++ {
		err := ask()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ended(ctx, err)
		case !passing(err):
			return refused(fmt.Errorf("%s: %w", what, err))
		case asked == maxCalls-1:
			return &fault.Error{Kind: fault.Unavailable, Message: "the query engine is busy or cannot be reached", RetryAfter: retryAfter, Err: fmt.Errorf("%s: %w", what, err)}
		}
		if err := e.Sleep(ctx, e.backOff(asked)); err != nil {
			return ended(ctx, err)
		}
	}
}

// retryAfter is when callers may retry while Athena is throttled or down.
const retryAfter = 10 * time.Second

// backOff is how long to wait before asking for the n-th time again: half of it for sure, half of it by chance, so
// that those who were refused together do not come back together.
func (e *Engine) backOff(n int) time.Duration {
	longest := 200 * time.Millisecond << min(n, 5)
	return longest/2 + time.Duration(e.Random()*float64(longest/2))
}

// passing reports whether a failure is one that passes by itself, by the SDK's own list.
func passing(err error) bool {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return true // the connection ended within the answer
	}
	return retry.IsErrorRetryables(retry.DefaultRetryables).IsErrorRetryable(err) == aws.TrueTernary
}

// oneTry keeps the SDK from retrying, which would take time that call does not know of.
func oneTry(o *athena.Options) { o.Retryer = aws.NopRetryer{} }
