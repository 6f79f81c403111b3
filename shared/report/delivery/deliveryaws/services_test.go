package deliveryaws

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"

	"github.com/orrery/orrery/shared/report/delivery"
	"github.com/orrery/orrery/shared/report/destination"
	"github.com/orrery/orrery/shared/report/runs"
)

// asked is a request that a server got.
type asked struct {
	method, path string
	header       http.Header
	body         []byte
}

// form returns the members of a request of the query protocol.
func (a asked) form(t *testing.T) url.Values {
	t.Helper()
	values, err := url.ParseQuery(string(a.body))
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// server answers requests, and keeps them.
type server struct {
	mutex   sync.Mutex
	asked   []asked
	status  int
	content string // media type
	answer  string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.asked = append(s.asked, asked{r.Method, r.URL.Path, r.Header, body})
	w.Header().Set("Content-Type", s.content)
	w.WriteHeader(s.status)
	if _, err := io.WriteString(w, s.answer); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// start starts a server that gives one answer, and returns services that ask it once per request.
func start(t *testing.T, status int, content, answer string) (*server, *Services) {
	t.Helper()
	s := &server{status: status, content: content, answer: answer}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	return s, New(aws.Config{
		Region: "eu-central-1", BaseEndpoint: &h.URL,
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
		Retryer:     func() aws.Retryer { return aws.NopRetryer{} },
	})
}

// queryError is an error of SES and SNS.
func queryError(code, message string) string {
	return fmt.Sprintf("<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error></ErrorResponse>", code, message)
}

var bySES = destination.Mail{SES: true, From: "Orrery <orrery@example.com>", ConfigurationSet: "bounces"}

func TestSendMail(t *testing.T) {
	server, services := start(t, 200, "text/xml",
		"<SendRawEmailResponse><SendRawEmailResult><MessageId>1</MessageId></SendRawEmailResult></SendRawEmailResponse>")
	message := []byte("Subject: a\r\n\r\nb\r\n")
	if err := services.SendMail(t.Context(), bySES, []string{"a@example.com", "b@example.com"}, message); err != nil {
		t.Fatal(err)
	}
	got := server.asked[0].form(t)
	want := url.Values{
		"Action": {"SendRawEmail"}, "Version": {"2010-12-01"}, "Source": {"orrery@example.com"},
		"Destinations.member.1": {"a@example.com"}, "Destinations.member.2": {"b@example.com"},
		"ConfigurationSetName": {"bounces"}, "RawMessage.Data": {base64.StdEncoding.EncodeToString(message)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if authorization := server.asked[0].header.Get("Authorization"); !strings.Contains(authorization, "/eu-central-1/ses/aws4_request") {
		t.Error(authorization)
	}
}

// TestErrors: what the operator can correct, and what passes, can be tried again. Messages with names of roles are
// only in the log.
func TestErrors(t *testing.T) {
	mail := func(s *Services) error {
		return s.SendMail(context.Background(), bySES, []string{"a@example.com"}, []byte("a"))
	}
	publish := func(s *Services) error {
		topic := destination.Topic{ARN: "arn:aws:sns:us-east-1:123456789012:reports"}
		return s.Publish(context.Background(), topic, delivery.Message{Subject: "a", Text: "b"})
	}
	for _, test := range []struct {
		rule, code, message string
		call                func(*Services) error
		want                string
		refused             bool
	}{
		{"an address that is not verified", "MessageRejected", "Email address is not verified.", mail,
			"send mail by SES: MessageRejected: Email address is not verified.", false},
		{"a domain that is not verified", "MailFromDomainNotVerifiedException", "no MX", mail,
			"send mail by SES: MailFromDomainNotVerifiedException: no MX", false},
		{"too many mails", "Throttling", "Maximum sending rate exceeded.", mail, "send mail by SES: Throttling: Maximum sending rate exceeded.", false},
		{"a mail that is too large", "InvalidParameterValue", "too long", mail, "refused: send mail by SES: InvalidParameterValue: too long", true},
		{"no permission for mail", "AccessDenied", "User arn:aws:sts::123456789012:assumed-role/x is not authorized", mail,
			"send mail by SES: AccessDenied: User arn:aws:sts::123456789012:assumed-role/x is not authorized", false},
		{"no permission for a topic", "AuthorizationError", "User arn:aws:sts::123456789012:assumed-role/x is not authorized", publish,
			"publish to reports: AuthorizationError: User arn:aws:sts::123456789012:assumed-role/x is not authorized", false},
		{"a topic that is not there", "NotFound", "Topic does not exist", publish, "publish to reports: NotFound: Topic does not exist", false},
		{"a message that is not valid", "InvalidParameter", "Invalid parameter: Subject", publish, "refused: publish to reports: InvalidParameter: Invalid parameter: Subject", true},
	} {
		t.Run(test.rule, func(t *testing.T) {
			_, services := start(t, 400, "text/xml", queryError(test.code, test.message))
			err := test.call(services)
			if err == nil || err.Error() != test.want || errors.Is(err, delivery.ErrRefused) != test.refused {
				t.Errorf("got %v, want %s", err, test.want)
			}
			var known interface{ Reason() string }
			if !errors.As(err, &known) || !strings.HasPrefix(known.Reason(), "AWS answers "+test.code) ||
				strings.Contains(known.Reason(), "assumed-role") {
				t.Errorf("the reason of %v for readers of runs: %v", err, known)
			}
		})
	}
}

func TestServiceThatIsDown(t *testing.T) {
	h := httptest.NewServer(nil)
	address := h.URL
	h.Close()
	services := New(aws.Config{
		Region: "eu-central-1", BaseEndpoint: &address, Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
		Retryer: func() aws.Retryer { return aws.NopRetryer{} },
	})
	err := services.SendMail(t.Context(), bySES, []string{"a@example.com"}, []byte("a"))
	if err == nil || errors.Is(err, delivery.ErrRefused) {
		t.Errorf("%v", err)
	}
}

func TestConfigurationThatIsNotThere(t *testing.T) {
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", t.TempDir()+"/config")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", t.TempDir()+"/credentials")
	err := Default().SendMail(t.Context(), bySES, []string{"a@example.com"}, []byte("a"))
	if err == nil || !strings.Contains(err.Error(), "set AWS_REGION") || errors.Is(err, delivery.ErrRefused) {
		t.Errorf("%v", err)
	}
}

func sumOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return base64.StdEncoding.EncodeToString(sum[:])
}

func TestPut(t *testing.T) {
	server, services := start(t, 200, "", "")
	files := []runs.File{{Name: "prod-weekly.html", Content: []byte("<p>")}, {Name: "prod-weekly.json", Content: []byte("{}")}, {Name: "x", Content: nil}}
	for range 2 { // a repetition writes the same objects
		if err := services.Put(t.Context(), destination.Bucket{Name: "reports-bucket", Prefix: "a/b/"}, files); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, a := range server.asked {
		got = append(got, fmt.Sprintf("%s %s %s %s %s", a.method, a.path, a.header.Get("Content-Type"), a.header.Get("X-Amz-Checksum-Sha256"),
			a.header.Get("Content-Disposition")))
	}
	want := []string{
		"PUT /reports-bucket/a/b/prod-weekly.html text/html; charset=utf-8 " + sumOf("<p>") + " inline; filename=prod-weekly.html",
		"PUT /reports-bucket/a/b/prod-weekly.json application/json " + sumOf("{}") + " inline; filename=prod-weekly.json",
		"PUT /reports-bucket/a/b/x application/octet-stream " + sumOf("") + " inline; filename=x",
	}
	if diff := cmp.Diff(append(want, want...), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !bytes.Contains(server.asked[0].body, []byte("<p>")) {
		t.Errorf("%q", server.asked[0].body)
	}
}

func TestPutIntoABucketThatRefuses(t *testing.T) {
	_, services := start(t, 403, "application/xml", "<Error><Code>AccessDenied</Code><Message>User arn:aws:x is not authorized</Message></Error>")
	err := services.Put(t.Context(), destination.Bucket{Name: "reports-bucket"}, []runs.File{{Name: "a.csv", Content: []byte("1")}})
	if err == nil || err.Error() != "put s3://reports-bucket/a.csv: AccessDenied: User arn:aws:x is not authorized" || errors.Is(err, delivery.ErrRefused) {
		t.Errorf("%v", err)
	}
}

func TestPublish(t *testing.T) {
	server, services := start(t, 200, "text/xml", "<PublishResponse><PublishResult><MessageId>1</MessageId></PublishResult></PublishResponse>")
	topic := destination.Topic{ARN: "arn:aws:sns:us-east-1:123456789012:reports"}
	m := delivery.Message{Subject: "Orrery: quiet (prod/weekly)", Text: "ORRERY · a\n", Attributes: map[string]string{"run": "3f1c"}}
	if err := services.Publish(t.Context(), topic, m); err != nil {
		t.Fatal(err)
	}
	want := url.Values{
		"Action": {"Publish"}, "Version": {"2010-03-31"}, "TopicArn": {topic.ARN}, "Subject": {m.Subject}, "Message": {m.Text},
		"MessageAttributes.entry.1.Name": {"run"}, "MessageAttributes.entry.1.Value.DataType": {"String"},
		"MessageAttributes.entry.1.Value.StringValue": {"3f1c"},
	}
	if diff := cmp.Diff(want, server.asked[0].form(t)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if authorization := server.asked[0].header.Get("Authorization"); !strings.Contains(authorization, "/us-east-1/sns/aws4_request") {
		t.Errorf("the region is not the region of the topic: %s", authorization)
	}
}

// TestParameter: parameters are decrypted, and read again after some minutes, or when they must be fresh.
func TestParameter(t *testing.T) {
	server, services := start(t, 200, "application/x-amz-json-1.1", `{"Parameter":{"Name":"/orrery/slack","Value":"https://hooks.example/1"}}`)
	now := time.Now()
	services.now = func() time.Time { return now }
	ask := func(fresh bool, requests int) {
		t.Helper()
		value, err := services.Parameter(t.Context(), "/orrery/slack", fresh)
		if value != "https://hooks.example/1" || err != nil || len(server.asked) != requests {
			t.Errorf("%q, %v, %d requests, want %d", value, err, len(server.asked), requests)
		}
	}
	ask(false, 1)
	now = now.Add(parameterAge - time.Second)
	ask(false, 1)
	ask(true, 2)
	now = now.Add(parameterAge - time.Second)
	ask(false, 2)
	now = now.Add(time.Second)
	ask(false, 3)
	var in map[string]any
	if err := json.Unmarshal(server.asked[0].body, &in); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"Name": "/orrery/slack", "WithDecryption": true}, in); diff != "" {
		t.Error(diff)
	}
	server.status, server.answer = 400, `{"__type":"ParameterNotFound"}`
	_, err := services.Parameter(t.Context(), "/orrery/other", false)
	if err == nil || err.Error() != "read the parameter /orrery/other: ParameterNotFound" || errors.Is(err, delivery.ErrRefused) {
		t.Errorf("%v", err)
	}
}
