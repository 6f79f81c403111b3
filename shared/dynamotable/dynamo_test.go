package dynamotable_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
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

// wire answers every request in the same way and counts them.
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
	if w.body == "cut" {
		body = io.MultiReader(strings.NewReader(`{"Item":{`), broken{})
	}
	return &http.Response{StatusCode: w.status, Header: http.Header{}, Body: io.NopCloser(body), Request: r}, nil
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

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
	return `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","message":"no","CancellationReasons":[` + reasons + `]}`
}

func TestFailuresHaveTheKindThatTheirCauseDeserves(t *testing.T) {
	tests := map[string]struct {
		wire     wire
		want     fault.Kind
		attempts int
	}{
		"throttled":                  {wire{status: 400, body: failure("ThrottlingException")}, fault.Unavailable, 4},
		"over_the_table's_capacity":  {wire{status: 400, body: failure("ProvisionedThroughputExceededException")}, fault.Unavailable, 4},
		"over_the_account's_limit":   {wire{status: 400, body: failure("RequestLimitExceeded")}, fault.Unavailable, 4},
		"a_failure_of_the_service":   {wire{status: 500, body: failure("InternalServerError")}, fault.Unavailable, 4},
		"a_proxy_without_a_service":  {wire{status: 503, body: "busy"}, fault.Unavailable, 4},
		"a_connection_that_breaks":   {wire{err: errors.New("connection reset by peer")}, fault.Unavailable, 4},
		"an_answer_that_breaks_off":  {wire{status: 200, body: "cut"}, fault.Unavailable, 4},
		"a_transaction_in_the_way":   {wire{status: 400, body: cancelledFor(`{"Code":"TransactionConflict"},{"Code":"None"}`)}, fault.Unavailable, 1},
		"a_transaction_throttled":    {wire{status: 400, body: cancelledFor(`{"Code":"None"},{"Code":"ThrottlingError"}`)}, fault.Unavailable, 1},
		"a_table_that_is_not_there":  {wire{status: 400, body: failure("ResourceNotFoundException")}, fault.Internal, 1},
		"a_permission_that_lacks":    {wire{status: 400, body: failure("AccessDeniedException")}, fault.Internal, 1},
		"a_request_that_is_mistaken": {wire{status: 400, body: failure("ValidationException")}, fault.Internal, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := test.wire.client().GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("t"), Key: dynamotable.Key("a", "b")})
			failed := dynamotable.Failure(t.Context(), err, "read %s", "a")
			if fault.KindOf(failed) != test.want || !strings.HasPrefix(failed.Error(), "read a: ") {
				t.Errorf("kind %d, want %d: %v", fault.KindOf(failed), test.want, failed)
			}
			if test.wire.requests != test.attempts {
				t.Errorf("%d attempts, want %d", test.wire.requests, test.attempts)
			}
		})
	}
}

func TestConditionsAndContentionAreToldApart(t *testing.T) {
	for name, test := range map[string]struct {
		body               string
		refused, contended bool
	}{
		"a_condition":                         {failure("ConditionalCheckFailedException"), true, false},
		"a_condition_in_a_transaction":        {cancelledFor(`{"Code":"None"},{"Code":"ConditionalCheckFailed"}`), true, false},
		"a_transaction_in_the_way":            {cancelledFor(`{"Code":"TransactionConflict"}`), false, true},
		"a_transaction_in_the_way_of_a_write": {failure("TransactionConflictException"), false, true},
		"both":                                {cancelledFor(`{"Code":"TransactionConflict"},{"Code":"ConditionalCheckFailed"}`), true, false},
		"neither":                             {failure("ValidationException"), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := wire{status: 400, body: test.body}
			_, err := w.client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("t"), Item: dynamotable.Key("a", "b")})
			if dynamotable.Refused(err) != test.refused || dynamotable.Contended(err) != test.contended {
				t.Errorf("refused %v, contended %v: %v", dynamotable.Refused(err), dynamotable.Contended(err), err)
			}
		})
	}
}

func TestAContextThatEndedIsTheCause(t *testing.T) {
	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	gone, leave := context.WithCancel(t.Context())
	leave()
	for _, test := range []struct {
		ctx   context.Context
		kind  fault.Kind
		cause error
	}{{late, fault.Timeout, context.DeadlineExceeded}, {gone, fault.Canceled, context.Canceled}} {
		w := wire{err: errors.New("connection reset by peer")}
		_, err := w.client().GetItem(test.ctx, &dynamodb.GetItemInput{TableName: aws.String("t"), Key: dynamotable.Key("a", "b")})
		failed := dynamotable.Failure(test.ctx, err, "read a")
		if fault.KindOf(failed) != test.kind || !errors.Is(failed, test.cause) {
			t.Errorf("kind %d, want %d: %v", fault.KindOf(failed), test.kind, failed)
		}
	}
}

func TestItemsAreReadAndCheckedOnce(t *testing.T) {
	item := dynamotable.NewItem("planet#prod", "head", dynamotable.Item{
		"name": dynamotable.String("x"), "size": dynamotable.Number(-9007199254740993), "list": dynamotable.Strings([]string{"a", ""}),
	})
	r := dynamotable.Read(item)
	if r.String("name") != "x" || r.Int64("size") != -9007199254740993 || r.OptionalInt64("none") != 0 || r.Strings("none") != nil {
		t.Error("values do not come back")
	}
	if diff := cmp.Diff([]string{"a", ""}, r.Strings("list")); diff != "" || r.Err() != nil {
		t.Errorf("%s%v", diff, r.Err())
	}
	for name, read := range map[string]func(*dynamotable.Reader){
		"attribute size is no string":          func(r *dynamotable.Reader) { r.String("size") },
		"attribute none is no number":          func(r *dynamotable.Reader) { r.Int64("none"); r.String("none too") },
		"attribute name is no number":          func(r *dynamotable.Reader) { r.OptionalInt64("name") },
		"attribute name is no list":            func(r *dynamotable.Reader) { r.Strings("name") },
		"item planet#prod head: attribute pk2": func(r *dynamotable.Reader) { r.String("pk2") },
	} {
		r := dynamotable.Read(item)
		read(r)
		if r.Err() == nil || !strings.Contains(r.Err().Error(), name) {
			t.Errorf("%v, want %q", r.Err(), name)
		}
	}
}

// TestTableIsAsItIsPrinted makes the table in a real DynamoDB.
func TestTableIsAsItIsPrinted(t *testing.T) {
	client, table := dynamotest.Client(t)
	item := dynamotable.NewItem("a", "b", dynamotable.Item{dynamotable.Expires: dynamotable.Number(1)})
	if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
		t.Fatal(err)
	}
	got, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: dynamotable.Key("a", "b"), ConsistentRead: aws.Bool(true)})
	if err != nil || dynamotable.Read(got.Item).Int64(dynamotable.Expires) != 1 {
		t.Errorf("%v, %v", got, err)
	}
	ttl, err := client.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: &table})
	if err != nil || aws.ToString(ttl.TimeToLiveDescription.AttributeName) != dynamotable.Expires {
		t.Errorf("items are forgotten by %v, %v", ttl, err)
	}
}
