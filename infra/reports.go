package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambdaeventsources"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"github.com/orrery/orrery/shared/lambdas"
	"github.com/orrery/orrery/shared/permissions"
	"github.com/orrery/orrery/shared/report/destination"
)

// tickMinutes is the number of minutes between two searches for scheduled reports that are due.
const tickMinutes = 5

// hiddenTimes is how many timeouts of report a received message stays hidden, as AWS recommends. No report waits for
// that: report-tick sends a message about each report that is unfinished and that no instance works on.
const hiddenTimes = 6

// addReportQueue adds the queue between report-tick and report. Its messages are not data: report-tick sends them
// again.
func (a *apiStack) addReportQueue(p Props) {
	dead := newQueue(a.stack, "ReportDeadLetters", p.Name+"-report-dead-letters")
	a.reportQueue = awssqs.NewQueue(a.stack, jsii.String("ReportQueue"), &awssqs.QueueProps{
		QueueName:         jsii.String(p.Name + "-report"),
		VisibilityTimeout: seconds(hiddenTimes * lambdas.LongestReport.Seconds()),
		RetentionPeriod:   days(1),
		Encryption:        awssqs.QueueEncryption_SQS_MANAGED,
		EnforceSSL:        jsii.Bool(true),
		DeadLetterQueue: &awssqs.DeadLetterQueue{
			MaxReceiveCount: jsii.Number(lambdas.ReportDeliveries), Queue: dead,
		},
	})
	output(a.stack, "ReportQueueURL", a.reportQueue.QueueUrl(), "Runs of scheduled reports that wait")
	output(a.stack, "ReportDeadLettersURL", dead.QueueUrl(), "Messages about runs that report gave up on")
}

// feedReports connects report to its queue. Each run of the function gets one message, and few of them run at once, so
// that reports leave instances and queries of Athena to requests.
func (a *apiStack) feedReports(report awslambda.Function) {
	report.AddEventSource(awslambdaeventsources.NewSqsEventSource(a.reportQueue,
		&awslambdaeventsources.SqsEventSourceProps{
			BatchSize:               jsii.Number(1),
			ReportBatchItemFailures: jsii.Bool(true),
			MaxConcurrency:          jsii.Number(lambdas.ReportConcurrency),
		}))
}

// mostReports is the maximum length of the property reports. All variables of a function together have at most 4 KB.
const mostReports = 3000

// mostPermissions is the maximum length of the permissions that destinations need. The policies of a role have at most
// 10,240 characters; the policies of report have about 5,000 without destinations.
const mostPermissions = 4500

// permissionsLength returns the length of the permissions that destinations need, in the region and account with the
// longest ARNs.
func permissionsLength(needs destination.Needs) (n int) {
	in := permissions.Names{Region: "ap-southeast-2", Account: "123456789012"}.Reaching(needs)
	all := slices.Concat(in.MailIdentities, in.ReportObjects, in.ReportTopics, in.ReportParameters)
	for _, c := range in.MailConditions {
		all = append(all, c.Patterns...)
	}
	for _, text := range all {
		n += len(text) + len(`"",`)
	}
	return n
}

// destinations returns the destinations of scheduled reports. check has made sure that they can be read.
func (p Props) destinations() destination.Settings {
	s, err := destination.ReadJSON(p.Reports)
	if err != nil {
		panic(err)
	}
	return s
}

// reportsText returns the text of the property reports: an object of the context of cdk.json, its text, or the name of
// a file with it. It is written without spaces.
func reportsText(given any) (string, error) {
	text, isText := given.(string)
	if !isText {
		object, err := json.Marshal(given)
		if err != nil {
			return "", err
		}
		text = string(object)
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", nil
	}
	if !strings.HasPrefix(text, "{") {
		content, err := os.ReadFile(text)
		if err != nil {
			return "", fmt.Errorf("it is neither a JSON object nor the name of a file: %w", err)
		}
		text = string(content)
	}
	if _, err := destination.ReadJSON(text); err != nil {
		return "", err
	}
	var object map[string]any
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		return "", err
	}
	short, err := json.Marshal(object)
	return string(short), err
}
