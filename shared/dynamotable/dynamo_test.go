package dynamotable_test

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
	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/dynamotable"
	"github.com/orrery/orrery/shared/dynamotable/dynamotest"
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
	return dynamotable.NewClient(cfg, func(o *dynamodb.Options) {
		o.HTTPClient = &http.Client{Transport: w}
		o.Retryer = dynamotable.Retryer(func(r *retry.StandardOptions) {
			r.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	})
}

func failure(code string) string {
	return `{"__type":"com.amazonaws.dynamodb.v20120810#` + code + `","message":"no"}`
}

func cancelledFor(reasons string) string {
	return `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","message":"no",` +
		`"CancellationReasons":[` + reasons + `]}`
}

var (
	getItem = &dynamodb.GetItemInput{TableName: aws.String("t"), Key: dynamotable.Key("a", "b")}
	putItem = &dynamodb.PutItemInput{TableName: aws.String("t"), Item: dynamotable.Key("a", "b")}
)

func TestFailureKinds(t *testing.T) {
	conflict := cancelledFor(`{"Code":"TransactionConflict"},{"Code":"None"}`)
	throttled := cancelledFor(`{"Code":"None"},{"Code":"ThrottlingError"}`)
	badRequest := func(body string) wire { return wire{status: 400, body: body} }
	tests := map[string]struct {
		wire     wire
		want     fault.Kind
		attempts int
	}{
		"throttled":                  {badRequest(failure("ThrottlingException")), fault.Unavailable, 4},
		"over the account's limit":   {badRequest(failure("RequestLimitExceeded")), fault.Unavailable, 4},
		"a failure of the service":   {wire{status: 500, body: failure("InternalServerError")}, fault.Unavailable, 4},
		"a proxy without a service":  {wire{status: 503, body: "busy"}, fault.Unavailable, 4},
		"a broken connection":        {wire{err: errors.New("connection reset by peer")}, fault.Unavailable, 4},
		"a response that is cut off": {wire{status: 200, body: "cut"}, fault.Unavailable, 4},
		"a response without its end": {wire{status: 200, body: "without its end"}, fault.Unavailable, 4},
		"a conflicting transaction":  {badRequest(conflict), fault.Unavailable, 1},
		"a throttled transaction":    {badRequest(throttled), fault.Unavailable, 1},
		"a missing table":            {badRequest(failure("ResourceNotFoundException")), fault.Internal, 1},
		"a missing permission":       {badRequest(failure("AccessDeniedException")), fault.Internal, 1},
		"an invalid request":         {badRequest(failure("ValidationException")), fault.Internal, 1},
		"over the table's capacity": {
			badRequest(failure("ProvisionedThroughputExceededException")), fault.Unavailable, 4,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := test.wire.client().GetItem(t.Context(), getItem)
			got := dynamotable.Failure(t.Context(), err, "read %s", "a")
			if fault.KindOf(got) != test.want || !strings.HasPrefix(got.Error(), "read a: ") {
				t.Errorf("kind %d, want %d: %v", fault.KindOf(got), test.want, got)
			}
			if test.wire.requests != test.attempts {
				t.Errorf("%d attempts, want %d", test.wire.requests, test.attempts)
			}
		})
	}
}

func TestRefusedAndContended(t *testing.T) {
	none, conflict := `{"Code":"None"}`, `{"Code":"TransactionConflict"}`
	condition := `{"Code":"ConditionalCheckFailed"}`
	for name, test := range map[string]struct {
		body               string
		refused, contended bool
	}{
		"a condition":                  {failure("ConditionalCheckFailedException"), true, false},
		"a condition in a transaction": {cancelledFor(none + "," + condition), true, false},
		"a transaction in conflict":    {cancelledFor(conflict), false, true},
		"a write in conflict":          {failure("TransactionConflictException"), false, true},
		"a conflict and a condition":   {cancelledFor(conflict + "," + condition), true, false},
		"another error":                {failure("ValidationException"), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := wire{status: 400, body: test.body}
			_, err := w.client().PutItem(t.Context(), putItem)
			if dynamotable.Refused(err) != test.refused || dynamotable.Contended(err) != test.contended {
				t.Errorf("refused %v, contended %v: %v", dynamotable.Refused(err), dynamotable.Contended(err), err)
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
		got := dynamotable.Failure(test.ctx, err, "read a")
		if fault.KindOf(got) != test.kind || !errors.Is(got, test.cause) {
			t.Errorf("kind %d, want %d: %v", fault.KindOf(got), test.kind, got)
		}
	}
}

func TestReader(t *testing.T) {
	item := dynamotable.NewItem("planet#prod", "head", dynamotable.Item{
		"name": dynamotable.String("x"),
		"size": dynamotable.Number(-9007199254740993),
		"list": dynamotable.Strings([]string{"a", ""}),
	})
	r := dynamotable.Read(item)
	if r.String("name") != "x" || r.Int64("size") != -9007199254740993 {
		t.Error("required values differ")
	}
	if r.OptionalInt64("none") != 0 || r.Strings("none") != nil {
		t.Error("missing optional values are not zero")
	}
	if diff := cmp.Diff([]string{"a", ""}, r.Strings("list")); diff != "" || r.Err() != nil {
		t.Errorf("%s%v", diff, r.Err())
	}
	for name, read := range map[string]func(*dynamotable.Reader){
		"attribute size is not a string":       func(r *dynamotable.Reader) { r.String("size") },
		"attribute none is not a number":       func(r *dynamotable.Reader) { r.Int64("none"); r.String("none too") },
		"attribute name is not a number":       func(r *dynamotable.Reader) { r.OptionalInt64("name") },
		"attribute name is not a list":         func(r *dynamotable.Reader) { r.Strings("name") },
		"item planet#prod head: attribute pk2": func(r *dynamotable.Reader) { r.String("pk2") },
	} {
		r := dynamotable.Read(item)
		read(r)
		if r.Err() == nil || !strings.Contains(r.Err().Error(), name) {
			t.Errorf("%v, want %q", r.Err(), name)
		}
	}
}

// TestCreateTable creates the table in a real DynamoDB.
func TestCreateTable(t *testing.T) {
	client, table := dynamotest.Client(t)
	item := dynamotable.NewItem("a", "b", dynamotable.Item{dynamotable.Expires: dynamotable.Number(1)})
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
		t.Fatal(err)
	}
	got, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: &table, Key: dynamotable.Key("a", "b"), ConsistentRead: aws.Bool(true),
	})
	if err != nil || dynamotable.Read(got.Item).Int64(dynamotable.Expires) != 1 {
		t.Errorf("%v, %v", got, err)
	}
	ttl, err := client.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: &table})
	if err != nil || aws.ToString(ttl.TimeToLiveDescription.AttributeName) != dynamotable.Expires {
		t.Errorf("the time to live is %v, %v", ttl, err)
	}
}
