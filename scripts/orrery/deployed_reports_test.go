package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/ses"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/orrery/orrery/scripts/internal/localaws"
	"github.com/orrery/orrery/shared/api/resource"
	"github.com/orrery/orrery/shared/report/runs"
)

// deployedReports is the property reports of the deployment. A webhook on this machine is refused.
const deployedReports = `{"mail":{"ses":true,"from":"Orrery <orrery@shop.example>","domains":["shop.example"]},` +
	`"destination":{"archive":{"bucket":"shop-archive","prefix":"reports"},"chat":{"slack-parameter":"/orrery/chat"},` +
	`"topic":{"topic":"arn:aws:sns:` + localaws.Region + `:` + localaws.Account + `:shop-reports"}}}`

// testScheduling schedules reports, and requests runs, which the schedule queues within a minute. Meanwhile, other tests can
// run. It returns the test of what arrives at each destination.
func testScheduling(t *testing.T, d *localaws.Deployment, s *targets) (delivery func(t *testing.T)) {
	everyMinute(t, d, localaws.Name+"-report-tick")
	messages := reportDestinations(t, d)
	put := func(name, deliver string) {
		t.Helper()
		body := `{"period":"day","title":"The shop","deliver":` + deliver + `}`
		if r, answer := s.report(t, "PUT", "/"+name, body); r.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %s", name, r.StatusCode, answer)
		}
	}
	put("daily", `[{"mail":["ops@shop.example"]},{"to":"archive"},{"to":"topic"}]`)
	put("chat", `[{"to":"chat"}]`)
	if r, answer := s.report(t, "PUT", "/other", `{"period":"day","deliver":[{"to":"none"}]}`); r.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("a destination that does not exist: %d %s", r.StatusCode, answer)
	}
	request := func(name string) (run resource.ReportRun) {
		t.Helper()
		const period = `{"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z"}`
		for _, status := range []int{http.StatusAccepted, http.StatusOK} {
			r, answer := s.report(t, "POST", "/"+name+"/run", period)
			if err := json.Unmarshal(answer, &run); r.StatusCode != status || err != nil {
				t.Fatalf("%s: %d %s", name, r.StatusCode, answer)
			}
		}
		return run
	}
	daily, chat := request("daily"), request("chat") // the next run of report-tick sends messages about them
	return func(t *testing.T) { testDelivery(t, d, s, daily, chat, messages) }
}

// testDelivery waits for the runs of two reports, and reads what arrives at each destination.
func testDelivery(t *testing.T, d *localaws.Deployment, s *targets, daily, chat resource.ReportRun, messages string) {
	until := func(run *resource.ReportRun, there func() bool) {
		t.Helper()
		waitFor(t, d, "the report "+run.Report, func() bool {
			_, answer := s.report(t, "GET", "/"+run.Report+"/runs/"+run.ID, "")
			return json.Unmarshal(answer, run) == nil && there()
		})
	}
	until(&daily, func() bool { return daily.State == runs.Delivered || daily.State == runs.Failed })
	until(&chat, func() bool { return chat.Deliveries[0].Reason != "" || chat.State == runs.Delivered })
	if daily.State != runs.Delivered || daily.Partial || slices.ContainsFunc(daily.Deliveries, func(d resource.ReportDelivery) bool {
		return d.State != runs.Sent
	}) {
		t.Errorf("%+v", daily)
	}
	if chat.State == runs.Delivered {
		t.Errorf("a webhook on this machine: %+v", chat.Deliveries)
	}
	checkArchive(t, d, daily.ID)
	checkMailbox(t, d, daily.ID)
	waitFor(t, d, "the message of the topic", func() bool {
		got, err := sqs.NewFromConfig(d.Config()).ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &messages})
		if err != nil {
			t.Fatal(err)
		}
		return len(got.Messages) > 0 && strings.Contains(aws.ToString(got.Messages[0].Body), daily.ID)
	})
	if _, answer := s.report(t, "GET", "/daily/runs", ""); !strings.Contains(string(answer), daily.ID) {
		t.Errorf("the runs: %s", answer)
	}
	if _, answer := s.report(t, "GET", "/daily/versions/1", ""); !strings.Contains(string(answer), `"The shop"`) {
		t.Errorf("the first version: %s", answer)
	}
	left, err := s3Client(d).ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{
		Bucket: aws.String(d.Outputs["ResultsBucketName"]), Prefix: aws.String("_reports/" + daily.ID),
	})
	if err != nil || len(left.Contents) > 0 {
		t.Errorf("%d files of the report are left, %v", len(left.Contents), err)
	}
	// A report at once has the same figures as that of the server on this machine.
	parameters := url.Values{"filters": {wholeDay}, "format": {"csv"}}.Encode()
	waitFor(t, d, "the report of a request", func() bool {
		r, answer := s.askOne(t, s.deployed, apiRequest{method: "GET", path: bases[0] + "/data/report?" + parameters})
		if r.StatusCode == http.StatusGatewayTimeout && r.Header.Get("Retry-After") != "" {
			return false
		}
		if r.StatusCode != http.StatusOK || !strings.Contains(string(answer), "\nfigure,requests,") {
			t.Errorf("%d %.500s", r.StatusCode, answer)
		}
		return true
	})
}

// everyMinute makes a rule start its targets each minute. LocalStack schedules a rule when it gets targets.
func everyMinute(t *testing.T, d *localaws.Deployment, rule string) {
	t.Helper()
	ask := func(operation, body string) []byte {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.Endpoint, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", authorization("events"))
		request.Header.Set("Content-Type", "application/x-amz-json-1.1")
		request.Header.Set("X-Amz-Target", "AWSEvents."+operation)
		answer, text := send(t, request)
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("%s of the rule %s: %d %s", operation, rule, answer.StatusCode, text)
		}
		return text
	}
	ask("PutRule", `{"Name":"`+rule+`","ScheduleExpression":"rate(1 minute)","State":"ENABLED"}`)
	var all struct{ Targets []json.RawMessage }
	if err := json.Unmarshal(ask("ListTargetsByRule", `{"Rule":"`+rule+`"}`), &all); err != nil || len(all.Targets) != 1 {
		t.Fatalf("the rule %s has %d targets, %v", rule, len(all.Targets), err)
	}
	ask("PutTargets", `{"Rule":"`+rule+`","Targets":[`+string(all.Targets[0])+`]}`)
}

// testPoisonedRun sends a message that names no run. It becomes a dead letter, and an alarm with a runbook watches the
// queue that has it.
func testPoisonedRun(t *testing.T, d *localaws.Deployment) {
	client, queue := sqs.NewFromConfig(d.Config()), aws.String(d.Outputs["ReportQueueURL"])
	const name = "VisibilityTimeout"
	before, err := client.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{
		QueueUrl: queue, AttributeNames: []types.QueueAttributeName{name},
	})
	if err != nil {
		t.Fatal(err)
	}
	hidden := func(seconds string) {
		t.Helper()
		in := &sqs.SetQueueAttributesInput{QueueUrl: queue, Attributes: map[string]string{name: seconds}}
		if _, err := client.SetQueueAttributes(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	hidden("1") // instead of the hour of the stack
	defer hidden(before.Attributes[name])
	in := &sqs.SendMessageInput{QueueUrl: queue, MessageBody: aws.String(`{"report":"daily"}`)}
	if _, err := client.SendMessage(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	waitFor(t, d, "a dead letter about a report", func() bool {
		got, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: aws.String(d.Outputs["ReportDeadLettersURL"])})
		if err != nil {
			t.Fatal(err)
		}
		return len(got.Messages) > 0 && aws.ToString(got.Messages[0].Body) == *in.MessageBody
	})
	waitFor(t, d, "the end of all messages in the queue, which may have runs that were due meanwhile", func() bool {
		return waiting(t, d, "ReportQueueURL", bothStates...) == 0
	})
	form := url.Values{"Action": {"DescribeAlarms"}, "Version": {"2010-08-01"}, "AlarmNames.member.1": {localaws.Name + "-report-dead-letters"}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.Endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", authorization("monitoring"))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, alarm := send(t, request)
	for _, want := range []string{path.Base(d.Outputs["ReportDeadLettersURL"]), "ApproximateNumberOfMessagesVisible", "events/RUNBOOKS.md#reports"} {
		if !strings.Contains(string(alarm), want) {
			t.Errorf("the alarm does not have %s: %d %s", want, answer.StatusCode, alarm)
		}
	}
}

// report sends a request about scheduled reports to the deployment.
func (s *targets) report(t *testing.T, method, path, body string) (reply, []byte) {
	t.Helper()
	header := map[string]string{}
	if body != "" {
		header["Content-Type"] = "application/json"
	}
	return s.askOne(t, s.deployed, apiRequest{method, bases[0] + "/conf/prod/reports" + path, body, header})
}

// reportDestinations creates what the property reports names, and returns the URL of a queue that gets the messages of
// the topic.
func reportDestinations(t *testing.T, d *localaws.Deployment) (messages string) {
	t.Helper()
	topics, queues := sns.NewFromConfig(d.Config()), sqs.NewFromConfig(d.Config())
	_, err := s3Client(d).CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("shop-archive")})
	if err == nil {
		_, err = ses.NewFromConfig(d.Config()).VerifyDomainIdentity(t.Context(), &ses.VerifyDomainIdentityInput{
			Domain: aws.String("shop.example"),
		})
	}
	if err == nil {
		_, err = ssm.NewFromConfig(d.Config()).PutParameter(t.Context(), &ssm.PutParameterInput{
			Name: aws.String("/orrery/chat"), Value: aws.String("https://localhost:1/chat"), Type: ssmtypes.ParameterTypeSecureString,
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	topic, err := topics.CreateTopic(t.Context(), &sns.CreateTopicInput{Name: aws.String("shop-reports")})
	if err != nil {
		t.Fatal(err)
	}
	queue, err := queues.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("shop-reports")})
	if err != nil {
		t.Fatal(err)
	}
	of, err := queues.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{
		QueueUrl: queue.QueueUrl, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn},
	})
	if err == nil {
		_, err = topics.Subscribe(t.Context(), &sns.SubscribeInput{
			TopicArn: topic.TopicArn, Protocol: aws.String("sqs"), Endpoint: aws.String(of.Attributes["QueueArn"]),
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return aws.ToString(queue.QueueUrl)
}

// checkArchive checks that the bucket has the files of a run.
func checkArchive(t *testing.T, d *localaws.Deployment, run string) {
	t.Helper()
	list, err := s3Client(d).ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String("shop-archive")})
	if err != nil {
		t.Fatal(err)
	}
	var forms []string
	for _, o := range list.Contents {
		if name := aws.ToString(o.Key); strings.HasPrefix(name, "reports/prod-daily-") && strings.Contains(name, run[:8]) {
			forms = append(forms, path.Ext(name))
		}
	}
	if got := strings.Join(forms, " "); got != ".csv .html .json .txt" {
		t.Errorf("the bucket has the files %q of the run", got)
	}
}

// checkMailbox checks that SES has sent one mail of a run.
func checkMailbox(t *testing.T, d *localaws.Deployment, run string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.Endpoint+"/_aws/ses", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, body := send(t, request)
	var mailbox struct {
		Messages []struct{ RawData string } `json:"messages"`
	}
	if err := json.Unmarshal(body, &mailbox); err != nil {
		t.Fatal(err)
	}
	sent := 0
	for _, m := range mailbox.Messages {
		if strings.Contains(m.RawData, "X-Orrery-Run: "+run) && strings.Contains(m.RawData, "ops@shop.example") {
			sent++
		}
	}
	if sent != 1 {
		t.Errorf("%d mails of the run were sent; SES has %d", sent, len(mailbox.Messages))
	}
}
