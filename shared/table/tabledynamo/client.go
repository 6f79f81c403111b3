package tabledynamo

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
	"github.com/aws/smithy-go"
)

// The limits of a request. Usually a response arrives within milliseconds. A caller of the API waits for at most 29
// seconds, so all attempts together must take less, even if none gets a response.
const (
	attempts       = 4
	attemptTimeout = 5 * time.Second
	shortestPause  = 25 * time.Millisecond
	longestPause   = time.Second
)

// NewClient returns a client that repeats requests after temporary errors, up to a fixed number of attempts. It applies
// the caller's options last.
func NewClient(cfg aws.Config, more ...func(*dynamodb.Options)) *dynamodb.Client {
	bounded := func(o *dynamodb.Options) {
		o.HTTPClient = awshttp.NewBuildableClient().WithTimeout(attemptTimeout)
		o.Retryer = Retryer()
	}
	return dynamodb.NewFromConfig(cfg, append([]func(*dynamodb.Options){bounded}, more...)...)
}

// Retryer returns the retryer of clients of NewClient. Tests may use options to remove the pauses.
func Retryer(more ...func(*retry.StandardOptions)) aws.Retryer {
	bounded := func(o *retry.StandardOptions) {
		o.MaxAttempts = attempts
		o.MaxBackoff = longestPause
		o.Retryables = retryables
	}
	return retry.NewStandard(append([]func(*retry.StandardOptions){bounded}, more...)...)
}

// retryables are the errors that the SDK retries by default, and responses that are cut off.
var retryables = append(slices.Clone(retry.DefaultRetryables), retry.IsErrorRetryableFunc(func(err error) aws.Ternary {
	var unread *smithy.DeserializationError // its cause has no type if the end of a chunked response is missing
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &unread) {
		return aws.TrueTernary
	}
	return aws.UnknownTernary
}))

// Pause waits before repetition n, counted from 0, of a request that the client does not repeat itself. The time is
// random, with a maximum that doubles with n. If ctx ends meanwhile, Pause returns its error.
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
