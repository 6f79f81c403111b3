package deliveryaws

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/ses"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/orrery/orrery/shared/report/delivery"
	"github.com/orrery/orrery/shared/report/destination"
	"github.com/orrery/orrery/shared/report/runs"
)

// TestLocalStack delivers to another implementation of the services, and reads back what arrived.
func TestLocalStack(t *testing.T) {
	base := os.Getenv("ORRERY_TEST_LOCALSTACK")
	if base == "" {
		t.Skip("ORRERY_TEST_LOCALSTACK is not set; start a server with scripts/servers/localstack.sh start DIR")
	}
	c := aws.Config{
		Region: "us-east-1", BaseEndpoint: &base, Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	}
	services, name := New(c), "test-"+strings.ToLower(rand.Text())
	t.Run("mail", func(t *testing.T) { localMail(t, c, services, base, name+".example") })
	t.Run("bucket", func(t *testing.T) { localBucket(t, c, services, name) })
	t.Run("topic", func(t *testing.T) { localTopic(t, c, services, name) })
	t.Run("parameter", func(t *testing.T) { localParameter(t, c, services, "/"+name) })
}

// localMail sends a mail before and after the domain of the sender is verified.
func localMail(t *testing.T, c aws.Config, services *Services, base, domain string) {
	m := destination.Mail{SES: true, From: "Orrery <orrery@" + domain + ">"}
	message := []byte("From: Orrery <orrery@" + domain + ">\r\nTo: a@example.com\r\nSubject: a report\r\nX-Orrery-Run: 3f1c\r\n\r\nbody\r\n")
	err := services.SendMail(t.Context(), m, []string{"a@example.com"}, message)
	if err == nil || !strings.HasPrefix(err.Error(), "send mail by SES: MessageRejected: ") {
		t.Errorf("a sender that is not verified: %v", err)
	}
	if _, err := ses.NewFromConfig(c).VerifyDomainIdentity(t.Context(), &ses.VerifyDomainIdentityInput{Domain: &domain}); err != nil {
		t.Fatal(err)
	}
	if err := services.SendMail(t.Context(), m, []string{"a@example.com", "b@example.com"}, message); err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/_aws/ses?email="+url.QueryEscape("orrery@"+domain), nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	var mailbox struct {
		Messages []struct {
			Source  string
			RawData string
		} `json:"messages"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&mailbox); err != nil {
		t.Fatal(err)
	}
	if len(mailbox.Messages) != 1 || !strings.Contains(mailbox.Messages[0].RawData, "X-Orrery-Run: 3f1c") {
		t.Errorf("%+v", mailbox)
	}
}

// localBucket writes files twice.
func localBucket(t *testing.T, c aws.Config, services *Services, name string) {
	client := s3.NewFromConfig(c, func(o *s3.Options) { o.UsePathStyle = true })
	if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &name}); err != nil {
		t.Fatal(err)
	}
	files := []runs.File{{Name: "prod-daily.html", Content: []byte("<p>")}, {Name: "prod-daily.csv", Content: []byte("a,b\r\n")}}
	for range 2 {
		if err := services.Put(t.Context(), destination.Bucket{Name: name, Prefix: "waf/"}, files); err != nil {
			t.Fatal(err)
		}
	}
	list, err := client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: &name})
	if err != nil || len(list.Contents) != 2 {
		t.Fatalf("%v %v", list, err)
	}
	out, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &name, Key: aws.String("waf/prod-daily.html")})
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(out.Body)
	if err != nil || string(content) != "<p>" || aws.ToString(out.ContentType) != "text/html; charset=utf-8" {
		t.Errorf("%q %s %v", content, aws.ToString(out.ContentType), err)
	}
	err = services.Put(t.Context(), destination.Bucket{Name: name + "-none"}, files)
	if err == nil || !strings.Contains(err.Error(), "NoSuchBucket") {
		t.Errorf("a bucket that is not there: %v", err)
	}
}

// localTopic publishes to a topic with a queue that wants only reports about attacks.
func localTopic(t *testing.T, c aws.Config, services *Services, name string) {
	topics, queues := sns.NewFromConfig(c), sqs.NewFromConfig(c)
	topic, err := topics.CreateTopic(t.Context(), &sns.CreateTopicInput{Name: &name})
	if err != nil {
		t.Fatal(err)
	}
	queue, err := queues.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name})
	if err != nil {
		t.Fatal(err)
	}
	got, err := queues.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{
		QueueUrl: queue.QueueUrl, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = topics.Subscribe(t.Context(), &sns.SubscribeInput{
		TopicArn: topic.TopicArn, Protocol: aws.String("sqs"), Endpoint: aws.String(got.Attributes["QueueArn"]),
		Attributes: map[string]string{"RawMessageDelivery": "true", "FilterPolicy": `{"verdict":["attacked, look"]}`},
	})
	if err != nil {
		t.Fatal(err)
	}
	to := destination.Topic{ARN: *topic.TopicArn}
	for _, verdict := range []string{"quiet", "attacked, look"} {
		m := delivery.Message{
			Subject: "Orrery: " + verdict + " (prod/daily)", Text: "ORRERY · " + verdict,
			Attributes: map[string]string{"run": "3f1c", "verdict": verdict},
		}
		if err := services.Publish(t.Context(), to, m); err != nil {
			t.Fatal(err)
		}
	}
	received, err := queues.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: queue.QueueUrl, WaitTimeSeconds: 10, MaxNumberOfMessages: 10, MessageAttributeNames: []string{"All"},
	})
	if err != nil || len(received.Messages) != 1 {
		t.Fatalf("%d messages, %v", len(received.Messages), err)
	}
	m := received.Messages[0]
	if *m.Body != "ORRERY · attacked, look" || aws.ToString(m.MessageAttributes["run"].StringValue) != "3f1c" {
		t.Errorf("%s %v", *m.Body, m.MessageAttributes)
	}
	err = services.Publish(t.Context(), destination.Topic{ARN: to.ARN + "-none"}, delivery.Message{Subject: "a", Text: "b"})
	if err == nil || !strings.Contains(err.Error(), "NotFound") {
		t.Errorf("a topic that is not there: %v", err)
	}
}

// localParameter reads a parameter that is encrypted.
func localParameter(t *testing.T, c aws.Config, services *Services, name string) {
	_, err := ssm.NewFromConfig(c).PutParameter(t.Context(), &ssm.PutParameterInput{
		Name: &name, Value: aws.String("https://hooks.example/1"), Type: ssmtypes.ParameterTypeSecureString,
	})
	if err != nil {
		t.Fatal(err)
	}
	if value, err := services.Parameter(t.Context(), name, false); value != "https://hooks.example/1" || err != nil {
		t.Errorf("%q %v", value, err)
	}
	if _, err := services.Parameter(t.Context(), name+"-none", false); err == nil || !strings.Contains(err.Error(), "ParameterNotFound") {
		t.Errorf("a parameter that is not there: %v", err)
	}
}
