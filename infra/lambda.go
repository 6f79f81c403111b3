package main

import (
	"strconv"

	cdk "github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awseventstargets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambdaeventsources"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"
)

// logTerms is the terms CloudWatch keeps logs for that a deployment can choose, by days.
var logTerms = map[int]awslogs.RetentionDays{
	1: awslogs.RetentionDays_ONE_DAY, 3: awslogs.RetentionDays_THREE_DAYS, 5: awslogs.RetentionDays_FIVE_DAYS,
	7: awslogs.RetentionDays_ONE_WEEK, 14: awslogs.RetentionDays_TWO_WEEKS, 30: awslogs.RetentionDays_ONE_MONTH,
	60: awslogs.RetentionDays_TWO_MONTHS, 90: awslogs.RetentionDays_THREE_MONTHS, 180: awslogs.RetentionDays_SIX_MONTHS,
	365: awslogs.RetentionDays_ONE_YEAR,
}

// addFunction adds a function with a log and a role of its own: it may do what its row says and write its log.
func (a *apiStack) addFunction(p Props, data *dataStack, f function) awslambda.Function {
	id, name := f.name, functionName(p, f.name)
	logs := awslogs.NewLogGroup(a.stack, jsii.String(id+"-log"), &awslogs.LogGroupProps{
		LogGroupName: jsii.String(logGroup(p, f)), Retention: logTerms[p.LogDays], RemovalPolicy: cdk.RemovalPolicy_DESTROY,
	})
	if f.name == ingestName {
		countQuarantined(p, logs)
	}
	policy := awsiam.NewPolicyDocument(nil)
	policy.AddStatements(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions: jsii.Strings("logs:CreateLogStream", "logs:PutLogEvents"), Resources: &[]*string{logs.LogGroupArn()},
	}))
	for _, g := range f.grants {
		policy.AddStatements(data.statement(g))
	}
	role := awsiam.NewRole(a.stack, jsii.String(id+"-role"), &awsiam.RoleProps{
		AssumedBy:      awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
		InlinePolicies: &map[string]awsiam.PolicyDocument{"task": policy},
	})
	timeout := f.seconds
	if f.name == ingestName {
		timeout = float64(p.IngestSeconds)
	}
	made := awslambda.NewFunction(a.stack, &id, &awslambda.FunctionProps{
		FunctionName:                 &name,
		Description:                  jsii.String(f.doc),
		Runtime:                      awslambda.Runtime_PROVIDED_AL2023(),
		Architecture:                 architectures[p.Architecture](),
		Handler:                      jsii.String("bootstrap"),
		Code:                         awslambda.Code_FromAsset(jsii.String(p.zip(f)), nil),
		MemorySize:                   &f.memory,
		Timeout:                      seconds(timeout),
		LogGroup:                     logs,
		Role:                         role.WithoutPolicyUpdates(nil), // what the CDK would add has a row in grants.go
		Environment:                  environment(p, data),
		ReservedConcurrentExecutions: reserved(p, f),
	})
	if f.behindGateway() {
		made.AddPermission(jsii.String("gateway"), &awslambda.Permission{
			Principal: awsiam.NewServicePrincipal(jsii.String("apigateway.amazonaws.com"), nil),
			SourceArn: a.stack.FormatArn(&cdk.ArnComponents{Service: jsii.String("execute-api"), Resource: jsii.String("*")}),
		})
	}
	return made
}

// environment is what every function is told; a function reads what it needs.
func environment(p Props, data *dataStack) *map[string]*string {
	return &map[string]*string{
		"ORRERY_TABLE":           data.table.TableName(),
		"ORRERY_LAKE_BUCKET":     data.lake.BucketName(),
		"ORRERY_RAW_BUCKET":      data.raw.BucketName(),
		"ORRERY_RESULTS":         data.resultsURL(),
		"ORRERY_DATABASE":        &data.database,
		"ORRERY_WORKGROUP":       jsii.String(data.workgroups[interactive]),
		"ORRERY_PROJECTION_FROM": jsii.String(strconv.Itoa(p.ProjectionFrom)),
		"ORRERY_QUERY_TIMEOUT":   jsii.String("27s"),
		"ORRERY_VERSION":         &p.Version,
	}
}

// reserved keeps a flood of raw logs from taking the instances that answer requests, and compact from running twice.
func reserved(p Props, f function) *float64 {
	switch {
	case p.IngestConcurrency == 0:
		return nil
	case f.name == ingestName:
		return jsii.Number(float64(p.IngestConcurrency))
	case f.name == compactName:
		return jsii.Number(1)
	}
	return nil
}

// feedIngest gives ingest what lies in the queue, a few objects at a time. It tells which of them failed; the others
// of the batch are not read again.
func (a *apiStack) feedIngest(p Props, data *dataStack) {
	source := &awslambdaeventsources.SqsEventSourceProps{BatchSize: jsii.Number(10), ReportBatchItemFailures: jsii.Bool(true)}
	if p.IngestConcurrency >= 2 { // the least that can be said; more pollers than instances only get throttled
		source.MaxConcurrency = jsii.Number(float64(p.IngestConcurrency))
	}
	a.functions[ingestName].AddEventSource(awslambdaeventsources.NewSqsEventSource(data.queue, source))
}

func (a *apiStack) scheduleCompact(p Props) {
	dead := newQueue(a.stack, "CompactDeadLetters", p.Name+"-compact-dead-letters")
	awsevents.NewRule(a.stack, jsii.String("CompactSchedule"), &awsevents.RuleProps{
		RuleName:    jsii.String(p.Name + "-compact"),
		Description: jsii.String("Merges the objects of every finished hour"),
		Schedule:    awsevents.Schedule_Rate(cdk.Duration_Minutes(jsii.Number(float64(p.CompactMinutes)))),
		Targets: &[]awsevents.IRuleTarget{awseventstargets.NewLambdaFunction(a.functions[compactName], &awseventstargets.LambdaFunctionProps{
			DeadLetterQueue: dead, RetryAttempts: jsii.Number(0), // the next run is the retry
		})},
	})
	output(a.stack, "CompactDeadLettersURL", dead.QueueUrl(), "Runs of compact that could not be started")
}
