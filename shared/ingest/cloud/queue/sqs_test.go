package queue_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"
	"github.com/orrery/orrery/shared/fakeaws/iamproxytest"
	"github.com/orrery/orrery/shared/ingest/cloud/queue"
	"github.com/orrery/orrery/shared/permissions"
)

// newSQS returns a queue on a server that answers every request with the status and the body. requests returns the
// operations and bodies of the requests. The network between them may be nil.
func newSQS(t *testing.T, network http.RoundTripper, status int, body string) (q *queue.SQS, requests func() []string) {
	t.Helper()
	var all []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		all = append(all, strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "AmazonSQS.")+" "+string(text))
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	client := sqs.New(sqs.Options{
		HTTPClient:   &http.Client{Transport: network},
		BaseEndpoint: &server.URL, Region: "us-east-1", Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider("k", "s", ""), DisableMessageChecksumValidation: true,
	})
	return queue.NewSQS(client, "https://sqs.example/1/raw"), func() []string { return all }
}

// TestSQSRequests sends the requests with the permissions of ingest, and looks for grants on the queue that they do not
// need.
func TestSQSRequests(t *testing.T) {
	network := iamproxytest.New(t, permissions.Names{RawQueue: "raw"}, nil)
	network.As("ingest")
	q, requests := newSQS(t, network, http.StatusOK, `{"Attributes":{"ApproximateNumberOfMessages":"3",
		"ApproximateNumberOfMessagesNotVisible":"4","ApproximateNumberOfMessagesDelayed":"5"}}`)
	if err := q.Send(t.Context(), "body", testTime); err != nil {
		t.Error(err)
	}
	if err := q.Hide(t.Context(), "receipt", 2500*time.Millisecond); err != nil {
		t.Error(err)
	}
	if n, err := q.Waiting(t.Context()); n != 12 || err != nil {
		t.Error(n, err)
	}
	want := []string{
		`SendMessage {"MessageAttributes":{"first_sent":{"DataType":"Number","StringValue":"1772359200000"}},` +
			`"MessageBody":"body","QueueUrl":"https://sqs.example/1/raw"}`,
		`ChangeMessageVisibility {"QueueUrl":"https://sqs.example/1/raw","ReceiptHandle":"receipt",` +
			`"VisibilityTimeout":3}`,
		`GetQueueAttributes {"AttributeNames":["ApproximateNumberOfMessages","ApproximateNumberOfMessagesNotVisible",` +
			`"ApproximateNumberOfMessagesDelayed"],"QueueUrl":"https://sqs.example/1/raw"}`,
	}
	if diff := cmp.Diff(want, requests()); diff != "" {
		t.Error(diff)
	}
	judged := func(a permissions.Atom) bool { return a.Task == "ingesting" && a.On == permissions.RawQueue }
	for _, mistake := range permissions.Review(network.Names.Resources(), network.Calls(), judged) {
		t.Error(mistake)
	}
}

func TestSQSReturnsErrors(t *testing.T) {
	q, _ := newSQS(t, nil, http.StatusBadRequest, `{"__type":"QueueDoesNotExist","message":"no such queue"}`)
	_, waiting := q.Waiting(t.Context())
	for _, err := range []error{
		q.Send(t.Context(), "body", testTime), q.Hide(t.Context(), "receipt", time.Second), waiting,
	} {
		if err == nil || !strings.Contains(err.Error(), "https://sqs.example/1/raw") {
			t.Error(err)
		}
	}
	q, _ = newSQS(t, nil, http.StatusOK, `{"Attributes":{"ApproximateNumberOfMessages":"3"}}`)
	if n, err := q.Waiting(t.Context()); err == nil {
		t.Errorf("%d messages wait, without all attributes", n)
	}
}
