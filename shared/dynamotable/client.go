package dynamotable

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// How long the table may take. An answer comes within milliseconds; a caller of the API waits 29 seconds at most, so
// that all attempts together, when each hangs, must stay below that.
const (
	attempts       = 4
	attemptTimeout = 5 * time.Second
	shortestPause  = 25 * time.Millisecond
	longestPause   = time.Second
)

// NewClient is a client that tries again what is worth it, a bounded number of times. Options of the caller come
// last and win.
func NewClient(cfg aws.Config, more ...func(*dynamodb.Options)) *dynamodb.Client {
	bounded := func(o *dynamodb.Options) {
		o.HTTPClient = awshttp.NewBuildableClient().WithTimeout(attemptTimeout)
		o.Retryer = Retryer()
	}
	return dynamodb.NewFromConfig(cfg, append([]func(*dynamodb.Options){bounded}, more...)...)
}

// Retryer decides what NewClient's clients try again. A test may take the pauses out.
func Retryer(more ...func(*retry.StandardOptions)) aws.Retryer {
	bounded := func(o *retry.StandardOptions) {
		o.MaxAttempts = attempts
		o.MaxBackoff = longestPause
		o.Retryables = retryables
	}
	return retry.NewStandard(append([]func(*retry.StandardOptions){bounded}, more...)...)
}

// retryables is what the SDK tries again, and answers that break off in the middle.
var retryables = append(slices.Clone(retry.DefaultRetryables), retry.IsErrorRetryableFunc(func(err error) aws.Ternary {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return aws.TrueTernary
	}
	return aws.UnknownTernary
}))

// Pause waits before the n-th repetition, from 0, of what the client does not repeat by itself: a random time that may
// double with n. The error is that of a context that ended meanwhile.
func Pause(ctx context.Context, n int) error {
	longest := min(shortestPause<<min(n, 10), longestPause)
	timer := time.NewTimer(rand.N(longest))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
