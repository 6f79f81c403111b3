package tabledynamo

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/orrery/orrery/shared/fault"
)

// wire is a transport that returns the same response to every request and counts the requests.
type wire struct {
	status   int
	body     string
	err      error
	requests int
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.requests++
	if w.err != nil {
		return nil, w.err
	}
	body := io.Reader(strings.NewReader(w.body))
	switch w.body {
	case "cut":
		body = io.MultiReader(strings.NewReader(`{"Item":{`), iotest.ErrReader(io.ErrUnexpectedEOF))
	case "without its end": // as net/http reports it
		body = io.MultiReader(strings.NewReader(`{}`), iotest.ErrReader(errors.New("http: unexpected EOF reading trailer")))
	}
	return &http.Response{StatusCode: w.status, Header: http.Header{}, Body: io.NopCloser(body), Request: r}, nil
}

func (w *wire) client() *dynamodb.Client {
	cfg := aws.Config{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("k", "s", "")}
	return NewClient(cfg, func(o *dynamodb.Options) {
		o.HTTPClient = &http.Client{Transport: w}
		o.Retryer = Retryer(func(r *retry.StandardOptions) {
			r.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	})
}

func refusal(code string) string {
	return `{"__type":"com.amazonaws.dynamodb.v20120810#` + code + `","message":"no"}`
}

func cancellation(reasons string) string {
	return `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","message":"no",` +
		`"CancellationReasons":[` + reasons + `]}`
}

var (
	getItem = &dynamodb.GetItemInput{TableName: aws.String("t"), Key: Key("a", "b")}
	putItem = &dynamodb.PutItemInput{TableName: aws.String("t"), Item: Key("a", "b")}
)

func TestFailureKinds(t *testing.T) {
	conflict := cancellation(`{"Code":"TransactionConflict"},{"Code":"None"}`)
	throttled := cancellation(`{"Code":"None"},{"Code":"ThrottlingError"}`)
	badRequest := func(body string) wire { return wire{status: 400, body: body} }
	tests := map[string]struct {
		wire     wire
		want     fault.Kind
		attempts int
	}{
		"throttled":                  {badRequest(refusal("ThrottlingException")), fault.Unavailable, 4},
		"over the account's limit":   {badRequest(refusal("RequestLimitExceeded")), fault.Unavailable, 4},
		"a failure of the service":   {wire{status: 500, body: refusal("InternalServerError")}, fault.Unavailable, 4},
		"a proxy without a service":  {wire{status: 503, body: "busy"}, fault.Unavailable, 4},
		"a broken connection":        {wire{err: errors.New("connection reset by peer")}, fault.Unavailable, 4},
		"a response that is cut off": {wire{status: 200, body: "cut"}, fault.Unavailable, 4},
		"a response without its end": {wire{status: 200, body: "without its end"}, fault.Unavailable, 4},
		"a conflicting transaction":  {badRequest(conflict), fault.Unavailable, 1},
		"a throttled transaction":    {badRequest(throttled), fault.Unavailable, 1},
		"a missing table":            {badRequest(refusal("ResourceNotFoundException")), fault.Internal, 1},
		"a missing permission":       {badRequest(refusal("AccessDeniedException")), fault.Internal, 1},
		"an invalid request":         {badRequest(refusal("ValidationException")), fault.Internal, 1},
		"over the table's capacity": {
			badRequest(refusal("ProvisionedThroughputExceededException")), fault.Unavailable, 4,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := test.wire.client().GetItem(t.Context(), getItem)
			got := failure(t.Context(), err)
			if fault.KindOf(got) != test.want {
				t.Errorf("kind %d, want %d: %v", fault.KindOf(got), test.want, got)
			}
			if test.wire.requests != test.attempts {
				t.Errorf("%d attempts, want %d", test.wire.requests, test.attempts)
			}
		})
	}
}

func TestRefusedAndcontended(t *testing.T) {
	none, conflict := `{"Code":"None"}`, `{"Code":"TransactionConflict"}`
	condition := `{"Code":"ConditionalCheckFailed"}`
	for name, test := range map[string]struct {
		body               string
		refused, contended bool
	}{
		"a condition":                  {refusal("ConditionalCheckFailedException"), true, false},
		"a condition in a transaction": {cancellation(none + "," + condition), true, false},
		"a transaction in conflict":    {cancellation(conflict), false, true},
		"a write in conflict":          {refusal("TransactionConflictException"), false, true},
		"a conflict and a condition":   {cancellation(conflict + "," + condition), true, false},
		"another error":                {refusal("ValidationException"), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := wire{status: 400, body: test.body}
			_, err := w.client().PutItem(t.Context(), putItem)
			if refused(err) != test.refused || contended(err) != test.contended {
				t.Errorf("refused %v, contended %v: %v", refused(err), contended(err), err)
			}
		})
	}
}

func TestFailureOfEndedContext(t *testing.T) {
	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	cancelled, stop := context.WithCancel(t.Context())
	stop()
	for _, test := range []struct {
		ctx   context.Context
		kind  fault.Kind
		cause error
	}{{late, fault.Timeout, context.DeadlineExceeded}, {cancelled, fault.Canceled, context.Canceled}} {
		w := wire{err: errors.New("connection reset by peer")}
		_, err := w.client().GetItem(test.ctx, getItem)
		got := failure(test.ctx, err)
		if fault.KindOf(got) != test.kind || !errors.Is(got, test.cause) {
			t.Errorf("kind %d, want %d: %v", fault.KindOf(got), test.kind, got)
		}
	}
}
