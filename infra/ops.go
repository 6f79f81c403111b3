package main

import (
	"strings"

	cdk "github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsbudgets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssnssubscriptions"
	"github.com/aws/aws-cdk-go/awscdk/v2/interfaces/interfacesawscloudwatch"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// opsStack is what watches the others. It names what it watches instead of importing it, so that it never stands in
// the way of a change of theirs.
type opsStack struct {
	stack cdk.Stack
	props Props
	topic awssns.Topic
}

func newOpsStack(app constructs.Construct, p Props) cdk.Stack {
	o := &opsStack{stack: newStack(app, p, "ops", "dashboard, alarms, saved queries, budget"), props: p}
	o.addTopic()
	var alarms []interfacesawscloudwatch.IAlarmRef
	for _, a := range o.alarms() {
		alarms = append(alarms, o.addAlarm(a))
	}
	o.addDashboard(alarms)
	o.addQueries()
	o.addBudget()
	output(o.stack, "AlarmTopicARN", o.topic.TopicArn(), "Subscribe here to hear of alarms")
	return o.stack
}

// addTopic adds the topic of all alarms. It is not encrypted by a key of ours: alarms hold names and figures only,
// and CloudWatch could not publish with the key that costs nothing.
func (o *opsStack) addTopic() {
	o.topic = awssns.NewTopic(o.stack, jsii.String("Topic"), &awssns.TopicProps{
		TopicName: jsii.String(o.props.Name + "-alarms"), EnforceSSL: jsii.Bool(true),
	})
	o.topic.GrantPublish(awsiam.NewServicePrincipal(jsii.String("cloudwatch.amazonaws.com"), nil))
	if o.props.AlarmEmail != "" {
		o.topic.AddSubscription(awssnssubscriptions.NewEmailSubscription(&o.props.AlarmEmail, nil))
	}
}

// alarm is one thing worth waking somebody for.
type alarm struct {
	name    string
	metric  awscloudwatch.IMetric
	above   float64 // fires above this, or below it if under is set
	under   bool
	periods float64
	missing awscloudwatch.TreatMissingData
	says    string // what has happened
	runbook string // section of the runbooks
}

// runbooks is where the sections are.
const runbooks = "events/RUNBOOKS.md#"

func (o *opsStack) alarms() []alarm {
	p := o.props
	quiet := awscloudwatch.TreatMissingData_NOT_BREACHING
	all := []alarm{
		{"gateway-5xx", o.gateway("5XXError", "Average", 5), 0.01, false, 2, quiet, "More than 1 % of requests failed for 10 minutes.", "5xx"},
		{"gateway-slow", o.gateway("IntegrationLatency", "p95", 5), 25_000, false, 3, quiet, "One request in 20 takes longer than 25 s, close to the gateway's limit.", "5xx"},
		{"ingest-lag", o.queue("raw", "ApproximateAgeOfOldestMessage", "Maximum", 5), 900, false, 2, quiet, "Raw logs wait longer than 15 minutes.", "lag"},
		{"compact-stopped", o.function(compactName, "Invocations", "Sum", 60), 1, true, 3, awscloudwatch.TreatMissingData_BREACHING, "No compaction has run for 3 hours: queries read ever more small objects.", "lag"},
		{"raw-dead-letters", o.queue("raw-dead-letters", "ApproximateNumberOfMessagesVisible", "Maximum", 5), 0, false, 1, quiet, "Raw objects were given up.", "dlq"},
		{"compact-dead-letters", o.queue("compact-dead-letters", "ApproximateNumberOfMessagesVisible", "Maximum", 5), 0, false, 1, quiet, "Compaction could not be started.", "dlq"},
		{"no-logs", o.queue("raw", "NumberOfMessagesSent", "Sum", 60), 1, true, float64(p.QuietHours), awscloudwatch.TreatMissingData_BREACHING, "No raw log has arrived for hours.", "empty-results"},
		{"quarantined", o.metric(logMetrics, quarantinedMetric(p), "Sum", 5, nil), 0, false, 1, quiet, "A raw log, or lines of one, could not be read and lies in quarantine.", "corrupted-file"},
	}
	for _, use := range []string{interactive, reports} {
		all = append(all, alarm{
			use + "-cost", o.metric("AWS/Athena", "ProcessedBytes", "Sum", 60, map[string]string{"WorkGroup": p.Name + "-" + use}),
			float64(p.ScannedAlarmGB) * 1e9, false, 1, quiet, "The queries of an hour scanned far more than usual.", "cost-spike",
		})
	}
	for _, f := range functions() {
		all = append(all, alarm{
			f.Name + "-errors", o.function(f.Name, "Errors", "Sum", 5), 0, false, 1, quiet,
			"Function " + f.Name + " crashed, ran out of time or gave up.", "5xx",
		})
	}
	return all
}

func (o *opsStack) addAlarm(a alarm) awscloudwatch.Alarm {
	comparison := awscloudwatch.ComparisonOperator_GREATER_THAN_THRESHOLD
	if a.under {
		comparison = awscloudwatch.ComparisonOperator_LESS_THAN_THRESHOLD
	}
	made := awscloudwatch.NewAlarm(o.stack, jsii.String(a.name), &awscloudwatch.AlarmProps{
		AlarmName:          jsii.String(o.props.Name + "-" + a.name),
		AlarmDescription:   jsii.String(a.says + " What to do: " + runbooks + a.runbook),
		Metric:             a.metric,
		Threshold:          &a.above,
		ComparisonOperator: comparison,
		EvaluationPeriods:  &a.periods,
		TreatMissingData:   a.missing,
	})
	made.AddAlarmAction(awscloudwatchactions.NewSnsAction(o.topic))
	return made
}

// addDashboard answers, from top to bottom: is something wrong, what do callers see, is data coming in, what does it cost.
func (o *opsStack) addDashboard(alarms []interfacesawscloudwatch.IAlarmRef) {
	graph := func(title string, metrics ...awscloudwatch.IMetric) awscloudwatch.IWidget {
		return awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{Title: &title, Left: &metrics, Width: jsii.Number(8)})
	}
	perFunction := func(metric, statistic string, pick func(function) bool) (all []awscloudwatch.IMetric) {
		for _, f := range functions() {
			if pick(f) {
				all = append(all, o.function(f.Name, metric, statistic, 5))
			}
		}
		return all
	}
	behindQueue := func(f function) bool { return !f.behindGateway() }
	scanned := func(use string) awscloudwatch.IMetric {
		return o.metric("AWS/Athena", "ProcessedBytes", "Sum", 60, map[string]string{"WorkGroup": o.props.Name + "-" + use})
	}
	row := func(widgets ...awscloudwatch.IWidget) *[]awscloudwatch.IWidget { return &widgets }
	awscloudwatch.NewDashboard(o.stack, jsii.String("Dashboard"), &awscloudwatch.DashboardProps{
		DashboardName: &o.props.Name,
		Widgets: &[]*[]awscloudwatch.IWidget{
			row(awscloudwatch.NewAlarmStatusWidget(&awscloudwatch.AlarmStatusWidgetProps{Alarms: &alarms, Width: jsii.Number(24), Title: jsii.String("Alarms")})),
			row(
				graph("Requests", o.gateway("Count", "Sum", 5)),
				graph("Refused and failed", o.gateway("4XXError", "Sum", 5), o.gateway("5XXError", "Sum", 5)),
				graph("Time of an answer, ms", o.gateway("Latency", "p50", 5), o.gateway("Latency", "p95", 5), o.gateway("Latency", "p99", 5)),
			),
			row(
				graph("Time per route, ms (p95)", perFunction("Duration", "p95", function.behindGateway)...),
				graph("Failures of functions", perFunction("Errors", "Sum", func(function) bool { return true })...),
				graph("Held back for lack of instances", perFunction("Throttles", "Sum", func(function) bool { return true })...),
			),
			row(
				graph("Raw logs arriving", o.queue("raw", "NumberOfMessagesSent", "Sum", 5)),
				graph("Oldest raw log waiting, s", o.queue("raw", "ApproximateAgeOfOldestMessage", "Maximum", 5)),
				graph("Time of ingest and compact, ms", perFunction("Duration", "p95", behindQueue)...),
			),
			row(
				graph("Scanned by queries, bytes an hour", scanned(interactive), scanned(reports)),
				graph("Dead letters", o.queue("raw-dead-letters", "ApproximateNumberOfMessagesVisible", "Maximum", 5), o.queue("compact-dead-letters", "ApproximateNumberOfMessagesVisible", "Maximum", 5)),
				graph("Put into quarantine", o.metric(logMetrics, quarantinedMetric(o.props), "Sum", 5, nil)),
			),
		},
	})
}

// savedQuery is a question to the functions' logs that a runbook starts with.
type savedQuery struct {
	name  string
	of    func(function) bool
	lines []string
}

var savedQueries = []savedQuery{
	{"failed requests", function.behindGateway, []string{
		`fields @timestamp, request_id, route, error`, `filter msg = "failed" or level = "ERROR"`, `sort @timestamp desc`, `limit 100`,
	}},
	{"one request", function.behindGateway, []string{
		`fields @timestamp, @message`, `filter request_id = "put the request_id of the answer here"`, `sort @timestamp asc`,
	}},
	{"slowest routes", function.behindGateway, []string{
		`filter msg = "request"`, `stats count(*) as requests, pct(ms, 50), pct(ms, 95), max(ms) by route`, `sort requests desc`,
	}},
	{"most expensive questions", function.asksAthena, []string{
		`filter msg = "request" and ispresent(bytes_scanned)`,
		`stats sum(bytes_scanned) as scanned, count(*) as asked by fingerprint, route, key`, `sort scanned desc`, `limit 50`,
	}},
	{"what ingest did", func(f function) bool { return f.Name == ingestName }, []string{
		`fields @timestamp, @message`, `filter level in ["WARN", "ERROR"]`, `sort @timestamp desc`, `limit 200`,
	}},
}

func (o *opsStack) addQueries() {
	for _, q := range savedQueries {
		var names []any
		for _, f := range functions() {
			if q.of(f) {
				names = append(names, logGroup(o.props, f))
			}
		}
		text := strings.Join(q.lines, "\n| ")
		awslogs.NewCfnQueryDefinition(o.stack, jsii.String("Query-"+q.name), &awslogs.CfnQueryDefinitionProps{
			Name: jsii.String(o.props.Name + "/" + q.name), QueryString: &text, LogGroupNames: &names,
		})
	}
}

// addBudget warns when the month's cost passes 80 % of the budget, and when it is foreseen to pass it. It counts what
// carries the deployment's tag, which an account has to activate once as a cost allocation tag.
func (o *opsStack) addBudget() {
	var notify any
	if o.props.AlarmEmail != "" {
		subscriber := []any{&awsbudgets.CfnBudget_SubscriberProperty{SubscriptionType: jsii.String("EMAIL"), Address: &o.props.AlarmEmail}}
		warning := func(kind string, percent float64) any {
			return &awsbudgets.CfnBudget_NotificationWithSubscribersProperty{
				Notification: &awsbudgets.CfnBudget_NotificationProperty{
					NotificationType: &kind, ComparisonOperator: jsii.String("GREATER_THAN"), Threshold: &percent, ThresholdType: jsii.String("PERCENTAGE"),
				},
				Subscribers: subscriber,
			}
		}
		notify = []any{warning("ACTUAL", 80), warning("FORECASTED", 100)}
	}
	awsbudgets.NewCfnBudget(o.stack, jsii.String("Budget"), &awsbudgets.CfnBudgetProps{
		Budget: &awsbudgets.CfnBudget_BudgetDataProperty{
			BudgetName:  &o.props.Name,
			BudgetType:  jsii.String("COST"),
			TimeUnit:    jsii.String("MONTHLY"),
			BudgetLimit: &awsbudgets.CfnBudget_SpendProperty{Amount: jsii.Number(float64(o.props.BudgetUSD)), Unit: jsii.String("USD")},
			CostFilters: map[string]any{"TagKeyValue": []string{"user:" + tagKey + "$" + o.props.Name}},
		},
		NotificationsWithSubscribers: notify,
	})
}

// The ways metrics are named. minutes is the length of a period.

func (o *opsStack) gateway(metric, statistic string, minutes float64) awscloudwatch.IMetric {
	return o.metric("AWS/ApiGateway", metric, statistic, minutes, map[string]string{"ApiName": o.props.Name, "Stage": o.props.Stage})
}

func (o *opsStack) function(name, metric, statistic string, minutes float64) awscloudwatch.IMetric {
	return o.metric("AWS/Lambda", metric, statistic, minutes, map[string]string{"FunctionName": functionName(o.props, name)})
}

func (o *opsStack) queue(name, metric, statistic string, minutes float64) awscloudwatch.IMetric {
	return o.metric("AWS/SQS", metric, statistic, minutes, map[string]string{"QueueName": o.props.Name + "-" + name})
}

func (o *opsStack) metric(namespace, metric, statistic string, minutes float64, dimensions map[string]string) awscloudwatch.IMetric {
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
		Namespace: &namespace, MetricName: &metric, Statistic: &statistic, Period: cdk.Duration_Minutes(&minutes),
		DimensionsMap: jsiiMap(dimensions),
	})
}

func jsiiMap(of map[string]string) *map[string]*string {
	all := map[string]*string{}
	for k, v := range of {
		all[k] = &v
	}
	return &all
}
