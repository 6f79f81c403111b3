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

// opsStack watches the other stacks. It refers to their resources by name, so that it never prevents a change of
// theirs. It imports only the name of the table, which AWS chooses and which the API stack imports, too.
type opsStack struct {
	stack cdk.Stack
	props Props
	table string
	topic awssns.Topic
}

func newOpsStack(app constructs.Construct, p Props, data *dataStack) cdk.Stack {
	stack := newStack(app, p, "ops", "dashboard, alarms, saved queries, budget")
	o := &opsStack{stack: stack, props: p, table: *data.table.TableName()}
	o.addTopic()
	var alarms []interfacesawscloudwatch.IAlarmRef
	for _, a := range o.alarms() {
		alarms = append(alarms, o.addAlarm(a))
	}
	o.addDashboard(alarms)
	o.addQueries()
	o.addBudget()
	output(o.stack, "AlarmTopicARN", o.topic.TopicArn(), "Subscribe here to be notified of alarms")
	return o.stack
}

// addTopic adds the topic of all alarms. It has no encryption key: alarms contain only names and figures, and
// CloudWatch cannot publish with the key that is free of charge.
func (o *opsStack) addTopic() {
	o.topic = awssns.NewTopic(o.stack, jsii.String("Topic"), &awssns.TopicProps{
		TopicName: jsii.String(o.props.Name + "-alarms"), EnforceSSL: jsii.Bool(true),
	})
	o.topic.GrantPublish(awsiam.NewServicePrincipal(jsii.String("cloudwatch.amazonaws.com"), nil))
	if o.props.AlarmEmail != "" {
		o.topic.AddSubscription(awssnssubscriptions.NewEmailSubscription(&o.props.AlarmEmail, nil))
	}
}

// alarm is one condition that needs a person's attention.
type alarm struct {
	name     string
	metric   awscloudwatch.IMetric
	limit    float64
	below    bool    // fires below the limit, else above it
	periods  float64 // of the metric, all of them beyond the limit
	onNoData bool    // fires without data as well
	says     string  // what has happened
	runbook  string  // section of the runbooks
}

// runbooks is the file that has the sections.
const runbooks = "events/RUNBOOKS.md#"

func (o *opsStack) alarms() []alarm {
	all := []alarm{
		{
			name: "gateway-5xx", metric: o.failedRequests(), limit: 1, periods: 2,
			says: "More than 1 % of requests, and at least 5 in 5 minutes, failed for 10 minutes.", runbook: "5xx",
		},
		{
			name: "gateway-slow", metric: o.slowRequests(), limit: 25_000, periods: 3,
			says:    "One request in 20, of at least 60 in 5 minutes, takes longer than 25 s, close to the gateway's limit.",
			runbook: "5xx",
		},
		{
			name: "ingest-lag", metric: o.queue("raw", "ApproximateAgeOfOldestMessage", "Maximum", 5), limit: 900,
			periods: 2,
			says:    "Raw logs wait longer than 15 minutes.", runbook: "lag",
		},
		{
			name: "compact-stopped", metric: o.function(compactName, "Invocations", "Sum", 60),
			limit: 1, below: true, periods: 3, onNoData: true,
			says: "No compaction has run for 3 hours. Queries read more and more small objects.", runbook: "lag",
		},
		{
			name: "raw-dead-letters", metric: o.deadLetters("raw"), periods: 1,
			says: "Ingest gave up on raw logs.", runbook: "dlq",
		},
		{
			name: "compact-dead-letters", metric: o.deadLetters("compact"), periods: 1,
			says: "Compaction could not be started.", runbook: "dlq",
		},
		{
			name: "reconcile-stopped", metric: o.function(reconcileName, "Invocations", "Sum", 60),
			limit: 1, below: true, periods: 48, onNoData: true,
			says: "Raw logs have not been compared with the imports for 2 days.", runbook: "lost-notifications",
		},
		{
			name: "reconcile-dead-letters", metric: o.deadLetters("reconcile"), periods: 1,
			says: "The search for lost logs could not be started.", runbook: "dlq",
		},
		{
			name: "lost-notifications", metric: o.logged(lostLogs, "Sum", 60), periods: 1,
			says:    "Raw logs had not been imported hours after they were put. They were sent again.",
			runbook: "lost-notifications",
		},
		{
			name: "no-logs", metric: o.queue("raw", "NumberOfMessagesSent", "Sum", 60),
			limit: 1, below: true, periods: float64(o.props.QuietHours), onNoData: true,
			says: "No raw log has arrived for hours.", runbook: "empty-results",
		},
		{
			name: "quarantined", metric: o.rejectedShare(), limit: 1, periods: 1,
			says:    "More than 1 % of the lines of an hour, and at least 10, could not be read and are in quarantine.",
			runbook: "corrupted-file",
		},
		{
			name: "refused", metric: o.logged(refusedLogs, "Sum", 5), periods: 1,
			says: "A raw log could not be read and was refused.", runbook: "corrupted-file",
		},
		{
			// When a log arrives, its records can be as old as the time between two logs. When the next one arrives,
			// they are older by that time again.
			name: "stale", metric: o.logged(newestAge, "Minimum", 60), limit: 2 * float64(o.props.QuietHours) * 3600,
			periods: 1,
			says:    "The newest record has been old for an hour, whether or not logs arrive.", runbook: "stale",
		},
		{
			name: "compact-behind", metric: o.logged(behind, "Minimum", 60), limit: 6 * 3600, periods: 3, onNoData: true,
			says:    "Compaction is more than 6 hours behind the newest record, or reports nothing.",
			runbook: "behind",
		},
		{
			name: "table-throttled", metric: o.tableThrottled(), periods: 2,
			says: "DynamoDB throttled requests for 10 minutes.", runbook: "throttled",
		},
		{
			name: "athena-throttled", metric: o.logged(athenaThrottled, "Sum", 5), periods: 1,
			says: "Requests failed because Athena throttled their queries.", runbook: "throttled",
		},
		{
			name: "damaged", metric: o.logged(damagedObjects, "Sum", 5), periods: 1,
			says: "An object of the lake is damaged. " +
				"Queries fail at it, or compaction has set it aside or cannot rebuild it.",
			runbook: "damaged-object",
		},
		{
			name: "failed-reports", metric: o.logged(failedReports, "Sum", 5), periods: 1,
			says: "A scheduled report could not be made, or could not be delivered to one of its destinations.", runbook: "reports",
		},
		{
			name: "report-dead-letters", metric: o.deadLetters("report"), periods: 1,
			says: "A run of a scheduled report could not be continued.", runbook: "reports",
		},
		{
			name: "report-tick-stopped", metric: o.function(tickName, "Invocations", "Sum", 60),
			limit: 1, below: true, periods: 3, onNoData: true,
			says: "Nothing has looked for scheduled reports that are due for 3 hours.", runbook: "reports",
		},
		{
			name: "report-tick-dead-letters", metric: o.deadLetters(tickName), periods: 1,
			says: "The search for scheduled reports that are due could not be started.", runbook: "dlq",
		},
		{
			name: "newer-schema", metric: o.logged(newerObjects, "Sum", 5), periods: 1,
			says:    "A newer version wrote objects with columns that this version does not know.",
			runbook: "newer-schema",
		},
	}
	for _, use := range []string{interactive, reports} {
		all = append(all, alarm{
			name: use + "-cost", metric: o.scanned(use), limit: float64(o.props.ScannedAlarmGB) * 1e9, periods: 1,
			says: "The queries of an hour scanned far more than usual.", runbook: "cost-spike",
		})
	}
	for _, f := range o.props.functions() {
		all = append(all, alarm{
			name: f.Name + "-errors", metric: o.function(f.Name, "Errors", "Sum", 5), periods: 1,
			says: "Function " + f.Name + " crashed, timed out or returned an error.", runbook: "5xx",
		}, alarm{
			name: f.Name + "-throttled", metric: o.function(f.Name, "Throttles", "Sum", 5), periods: 3,
			says: "Lambda has refused to run function " + f.Name + " for 15 minutes.", runbook: "throttled",
		})
	}
	return all
}

func (o *opsStack) addAlarm(a alarm) awscloudwatch.Alarm {
	comparison := awscloudwatch.ComparisonOperator_GREATER_THAN_THRESHOLD
	if a.below {
		comparison = awscloudwatch.ComparisonOperator_LESS_THAN_THRESHOLD
	}
	missing := awscloudwatch.TreatMissingData_NOT_BREACHING
	if a.onNoData {
		missing = awscloudwatch.TreatMissingData_BREACHING
	}
	added := awscloudwatch.NewAlarm(o.stack, jsii.String(a.name), &awscloudwatch.AlarmProps{
		AlarmName:          jsii.String(o.props.Name + "-" + a.name),
		AlarmDescription:   jsii.String(a.says + " What to do: " + runbooks + a.runbook),
		Metric:             a.metric,
		Threshold:          &a.limit,
		ComparisonOperator: comparison,
		EvaluationPeriods:  &a.periods,
		TreatMissingData:   missing,
	})
	added.AddAlarmAction(awscloudwatchactions.NewSnsAction(o.topic))
	return added
}

// addDashboard adds a dashboard. From top to bottom it shows the alarms, the requests, the functions, the arriving
// logs, the ages and the throttling, the scheduled reports, the cost, and the problems with logs and objects.
func (o *opsStack) addDashboard(alarms []interfacesawscloudwatch.IAlarmRef) {
	graph := func(title string, metrics ...awscloudwatch.IMetric) awscloudwatch.IWidget {
		return awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{
			Title: &title, Left: &metrics, Width: jsii.Number(8),
		})
	}
	perFunction := func(metric, statistic string, pick func(function) bool) (all []awscloudwatch.IMetric) {
		for _, f := range o.props.functions() {
			if pick(f) {
				all = append(all, o.function(f.Name, metric, statistic, 5))
			}
		}
		return all
	}
	every := func(function) bool { return true }
	behindQueue := func(f function) bool { return !f.behindGateway() && !f.makesReports() }
	row := func(widgets ...awscloudwatch.IWidget) *[]awscloudwatch.IWidget { return &widgets }
	status := awscloudwatch.NewAlarmStatusWidget(&awscloudwatch.AlarmStatusWidgetProps{
		Alarms: &alarms, Width: jsii.Number(24), Title: jsii.String("Alarms"),
	})
	awscloudwatch.NewDashboard(o.stack, jsii.String("Dashboard"), &awscloudwatch.DashboardProps{
		DashboardName: o.globalName(),
		Widgets: &[]*[]awscloudwatch.IWidget{
			row(status),
			row(
				graph("Requests", o.gateway("Count", "Sum", 5)),
				graph("Refused, failed and still running",
					o.gateway("4XXError", "Sum", 5), o.gateway("5XXError", "Sum", 5), o.logged(stillRunning, "Sum", 5)),
				graph("Response time, ms",
					o.gateway("Latency", "p50", 5), o.gateway("Latency", "p95", 5), o.gateway("Latency", "p99", 5)),
			),
			row(
				graph("Time per route, ms (p95)", perFunction("Duration", "p95", function.behindGateway)...),
				graph("Errors of functions", perFunction("Errors", "Sum", every)...),
				graph("Throttled functions", perFunction("Throttles", "Sum", every)...),
			),
			row(
				graph("Raw logs arriving", o.queue("raw", "NumberOfMessagesSent", "Sum", 5)),
				graph("Oldest raw log waiting, s", o.queue("raw", "ApproximateAgeOfOldestMessage", "Maximum", 5)),
				graph("Time of ingest, compact and reconcile, ms (p95)", perFunction("Duration", "p95", behindQueue)...),
			),
			row(
				graph("Age of the newest record, s", o.logged(newestAge, "Minimum", 15)),
				graph("Compaction behind the newest record, s", o.logged(behind, "Minimum", 15)),
				graph("Throttled by DynamoDB and Athena", o.tableThrottled(), o.logged(athenaThrottled, "Sum", 5)),
			),
			row(
				graph("Scheduled reports queued", o.queue("report", "NumberOfMessagesSent", "Sum", 5)),
				graph("Time of report and report-tick, ms (p95)", perFunction("Duration", "p95", function.makesReports)...),
				graph("Failed reports, and dead letters",
					o.logged(failedReports, "Sum", 5), o.deadLetters("report"), o.deadLetters(tickName)),
			),
			row(
				graph("Scanned by queries, bytes per hour", o.scanned(interactive), o.scanned(reports)),
				graph("Dead letters", o.deadLetters("raw"), o.deadLetters("compact"), o.deadLetters("reconcile")),
			),
			row(
				graph("Imported and rejected lines, and refused logs",
					o.logged(importedRecords, "Sum", 5), o.logged(rejectedLines, "Sum", 5), o.logged(refusedLogs, "Sum", 5)),
				graph("Copies of imported logs, and logs not checked for copies",
					o.logged(overlappingLogs, "Sum", 5), o.logged(uncheckedLogs, "Sum", 5)),
				graph("Damaged objects, lost logs, objects of a newer schema",
					o.logged(damagedObjects, "Sum", 5), o.logged(lostLogs, "Sum", 60), o.logged(newerObjects, "Sum", 5)),
			),
		},
	})
}

// savedQuery is a query over the functions' logs that a runbook starts with.
type savedQuery struct {
	name  string
	of    func(function) bool
	lines []string
}

var savedQueries = []savedQuery{
	{"failed requests", function.behindGateway, []string{
		`fields @timestamp, request_id, route, error`,
		`filter msg = "failed" or level = "ERROR"`,
		`sort @timestamp desc`,
		`limit 100`,
	}},
	{"one request", function.behindGateway, []string{
		`fields @timestamp, @message`,
		`filter request_id = "put the request_id of the answer here"`,
		`sort @timestamp asc`,
	}},
	{"slowest routes", function.behindGateway, []string{
		`filter msg = "request"`,
		`stats count(*) as requests, pct(ms, 50), pct(ms, 95), max(ms) by route`,
		`sort requests desc`,
	}},
	{"most expensive questions", function.asksAthena, []string{
		`filter msg = "request" and ispresent(bytes_scanned)`,
		`stats sum(bytes_scanned) as scanned, count(*) as asked by fingerprint, route, key`,
		`sort scanned desc`,
		`limit 50`,
	}},
	{"lost logs", func(f function) bool { return f.Name == reconcileName }, []string{
		`fields @timestamp, key, put`,
		`filter msg = "log sent again"`,
		`sort put desc`,
		`limit 1000`,
	}},
	{"failed reports", func(f function) bool { return f.Name == reportName }, []string{
		`fields @timestamp, config, report, run, state, reason, refused`,
		`filter msg = "scheduled report" and (state = "failed" or refused > 0)`,
		`sort @timestamp desc`,
		`limit 100`,
	}},
	{"what ingest did", func(f function) bool { return f.Name == ingestName }, []string{
		`fields @timestamp, @message`,
		`filter level in ["WARN", "ERROR"]`,
		`sort @timestamp desc`,
		`limit 200`,
	}},
}

func (o *opsStack) addQueries() {
	for _, q := range savedQueries {
		var names []any
		for _, f := range o.props.functions() {
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

// globalName returns the name for a resource that all regions of an account keep in one list.
func (o *opsStack) globalName() *string { return jsii.String(o.props.Name + "-" + *o.stack.Region()) }

// addBudget adds a budget that warns when the month's cost exceeds 80 % of it, and when the forecast exceeds it. It
// counts the resources with the deployment's tag, in all regions. An account must activate that tag once as a cost
// allocation tag.
func (o *opsStack) addBudget() {
	var notify any
	if o.props.AlarmEmail != "" {
		subscriber := []any{&awsbudgets.CfnBudget_SubscriberProperty{
			SubscriptionType: jsii.String("EMAIL"), Address: &o.props.AlarmEmail,
		}}
		warning := func(kind string, percent float64) any {
			return &awsbudgets.CfnBudget_NotificationWithSubscribersProperty{
				Notification: &awsbudgets.CfnBudget_NotificationProperty{
					NotificationType:   &kind,
					ComparisonOperator: jsii.String("GREATER_THAN"),
					Threshold:          &percent,
					ThresholdType:      jsii.String("PERCENTAGE"),
				},
				Subscribers: subscriber,
			}
		}
		notify = []any{warning("ACTUAL", 80), warning("FORECASTED", 100)}
	}
	amount := &awsbudgets.CfnBudget_SpendProperty{
		Amount: jsii.Number(float64(o.props.BudgetUSD)), Unit: jsii.String("USD"),
	}
	awsbudgets.NewCfnBudget(o.stack, jsii.String("Budget"), &awsbudgets.CfnBudgetProps{
		Budget: &awsbudgets.CfnBudget_BudgetDataProperty{
			BudgetName:  o.globalName(),
			BudgetType:  jsii.String("COST"),
			TimeUnit:    jsii.String("MONTHLY"),
			BudgetLimit: amount,
			CostFilters: map[string]any{"TagKeyValue": []string{"user:" + tagKey + "$" + o.props.Name}},
		},
		NotificationsWithSubscribers: notify,
	})
}

// The methods below return metrics, each by its namespace. minutes is the length of a period.

func (o *opsStack) gateway(metric, statistic string, minutes float64) awscloudwatch.IMetric {
	of := map[string]string{"ApiName": o.props.Name, "Stage": o.props.Stage}
	return o.metric("AWS/ApiGateway", metric, statistic, minutes, of)
}

func (o *opsStack) function(name, metric, statistic string, minutes float64) awscloudwatch.IMetric {
	of := map[string]string{"FunctionName": functionName(o.props, name)}
	return o.metric("AWS/Lambda", metric, statistic, minutes, of)
}

func (o *opsStack) queue(name, metric, statistic string, minutes float64) awscloudwatch.IMetric {
	return o.metric("AWS/SQS", metric, statistic, minutes, map[string]string{"QueueName": o.props.Name + "-" + name})
}

// deadLetters returns the number of messages in the dead-letter queue of a use.
func (o *opsStack) deadLetters(use string) awscloudwatch.IMetric {
	return o.queue(use+"-dead-letters", "ApproximateNumberOfMessagesVisible", "Maximum", 5)
}

// scanned returns the bytes that the queries of a workgroup scanned in an hour.
func (o *opsStack) scanned(use string) awscloudwatch.IMetric {
	of := map[string]string{"WorkGroup": o.props.Name + "-" + use}
	return o.metric("AWS/Athena", "ProcessedBytes", "Sum", 60, of)
}

// logged returns a metric of the functions' logs.
func (o *opsStack) logged(m logMetric, statistic string, minutes float64) awscloudwatch.IMetric {
	return o.metric(logMetrics, m.in(o.props), statistic, minutes, nil)
}

// tableThrottled returns the number of reads and writes that DynamoDB throttled.
func (o *opsStack) tableThrottled() awscloudwatch.IMetric {
	of := map[string]string{"TableName": o.table}
	return computed("ThrottleEvents", 5, "FILL(reads, 0) + FILL(writes, 0)", map[string]awscloudwatch.IMetric{
		"reads":  o.metric("AWS/DynamoDB", "ReadThrottleEvents", "Sum", 5, of),
		"writes": o.metric("AWS/DynamoDB", "WriteThrottleEvents", "Sum", 5, of),
	})
}

// failedRequests returns the percentage of requests that failed, or 0 for fewer than 5 failures. A 504 is a documented
// answer and not a failure if the query continues.
func (o *opsStack) failedRequests() awscloudwatch.IMetric {
	const failed = "(errors - FILL(running, 0))"
	return computed("Failed requests, %", 5, "IF("+failed+" >= 5, 100 * "+failed+" / requests, 0)",
		map[string]awscloudwatch.IMetric{
			"errors":   o.gateway("5XXError", "Sum", 5),
			"running":  o.logged(stillRunning, "Sum", 5),
			"requests": o.gateway("Count", "Sum", 5),
		})
}

// slowRequests returns the time in milliseconds that one request in 20 exceeds. It returns 0 for fewer than 60 requests,
// because one or two of them would decide.
func (o *opsStack) slowRequests() awscloudwatch.IMetric {
	return computed("Response time, ms", 5, "IF(requests >= 60, slow, 0)", map[string]awscloudwatch.IMetric{
		"slow":     o.gateway("IntegrationLatency", "p95", 5),
		"requests": o.gateway("Count", "Sum", 5),
	})
}

// rejectedShare returns the percentage of the lines of raw logs that were put into quarantine, or 0 for fewer than 10.
func (o *opsStack) rejectedShare() awscloudwatch.IMetric {
	return computed("Rejected lines, %", 60, "IF(rejected >= 10, 100 * rejected / (rejected + FILL(imported, 0)), 0)",
		map[string]awscloudwatch.IMetric{
			"rejected": o.logged(rejectedLines, "Sum", 60),
			"imported": o.logged(importedRecords, "Sum", 60),
		})
}

// computed returns a metric that is computed from others.
func computed(
	label string, minutes float64, expression string, of map[string]awscloudwatch.IMetric,
) awscloudwatch.IMetric {
	return awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
		Expression: &expression, Label: &label, Period: cdk.Duration_Minutes(&minutes), UsingMetrics: &of,
	})
}

func (o *opsStack) metric(
	namespace, metric, statistic string, minutes float64, dimensions map[string]string,
) awscloudwatch.IMetric {
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
